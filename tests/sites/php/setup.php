<?php
// php setup.php WORDPRESS NAME install|fill: makes the database of a site and installs WordPress in it, or fills it and
// prints one line of JSON: where the site is, its version, its people with their application passwords, and what is in it.
list( , $wordpress, $name, $what ) = $argv;
$url                        = getenv( 'SITE_URL' );
$_SERVER['HTTP_HOST']       = substr( $url, strlen( 'http://' ) );
$_SERVER['SERVER_NAME']     = parse_url( $url, PHP_URL_HOST );
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/';

/** Ends badly instead of going on with an error. */
function sound( $made ) {
	if ( is_wp_error( $made ) || ! $made ) {
		fwrite( STDERR, is_wp_error( $made ) ? $made->get_error_message() : 'nothing was made' );
		exit( 1 );
	}
	return $made;
}

if ( 'install' === $what ) {
	$database = new mysqli( null, 'root', '', '', 0, getenv( 'SITE_SOCKET' ) );
	$database->query( 'CREATE DATABASE ' . getenv( 'SITE_DATABASE' ) . ' CHARACTER SET utf8mb4' );
	$database->close();
	define( 'WP_INSTALLING', true );
	require "$wordpress/wp-load.php";
	require_once ABSPATH . 'wp-admin/includes/upgrade.php';
	wp_install( "Site $name", 'admin', "admin@$name.example.org", true, '', 'login-of-admin' );
	update_option( 'permalink_structure', '/%postname%/' );
	update_option( 'timezone_string', 'UTC' );
	if ( getenv( 'SITE_NETWORK' ) ) {
		foreach ( $wpdb->tables( 'ms_global' ) as $table => $prefixed ) {
			$wpdb->$table = $prefixed;
		}
		install_network();
		$populated = populate_network( 1, $_SERVER['HTTP_HOST'], "admin@$name.example.org", "Network $name", '/', 'subdomains' === getenv( 'SITE_NETWORK' ) );
		// It looks for a name of the network in vain, because only the gateway finds the names.
		if ( ! is_wp_error( $populated ) || 'no_wildcard_dns' !== $populated->get_error_code() ) {
			sound( $populated );
		}
	}
	exit( 0 );
}

require "$wordpress/wp-load.php";
require_once ABSPATH . 'wp-admin/includes/image.php';
if ( is_multisite() ) {
	require __DIR__ . '/network.php';
	exit( 0 );
}
global $wp_version, $wp_rewrite;
$wp_rewrite->flush_rules( false );

$roles = array( 'admin' => 'administrator', 'editor' => 'editor', 'author' => 'author', 'contributor' => 'contributor', 'subscriber' => 'subscriber' );
for ( $number = 1; $number <= 5; $number++ ) {
	$roles[ "writer$number" ] = 'author';
}
$people = array();
foreach ( $roles as $login => $role ) {
	$known = get_user_by( 'login', $login );
	$id    = $known ? $known->ID : sound(
		wp_insert_user(
			array(
				'user_login'   => $login,
				'user_pass'    => "login-of-$login",
				'user_email'   => "$login@$name.example.org",
				'role'         => $role,
				'display_name' => ucfirst( $login ) . " of $name",
			)
		)
	);
	list( $password ) = sound( WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'tests' ) ) );
	$people[ $login ] = array( 'id' => $id, 'password' => WP_Application_Passwords::chunk_password( $password ) );
}
wp_set_current_user( $people['admin']['id'] );

$news  = sound( wp_insert_term( 'News', 'category', array( 'description' => "News of $name" ) ) )['term_id'];
$local = sound( wp_insert_term( 'Local', 'category', array( 'parent' => $news ) ) )['term_id'];
$tag   = sound( wp_insert_term( 'alpha', 'post_tag' ) )['term_id'];

$write = function ( $title, $status, $author, array $more = array() ) use ( $people, $name ) {
	return sound(
		wp_insert_post(
			wp_slash(
				$more + array(
					'post_title'   => $title,
					'post_content' => "<p>Words of $name: fish &amp; chips, ünïcödé 漢字.</p>",
					'post_excerpt' => "Excerpt of $title",
					'post_status'  => $status,
					'post_author'  => $people[ $author ]['id'],
				)
			),
			true
		)
	);
};
$posts = array();
for ( $number = 1; $number <= 12; $number++ ) {
	$posts[] = $write( "Post $number of $name", 'publish', 'editor' );
}
$in_status = array();
foreach ( array( 'draft', 'pending', 'private' ) as $status ) {
	$in_status[ $status ] = $write( "A $status post of $name", $status, 'editor' );
}
$in_status['trash'] = $write( "A binned post of $name", 'publish', 'editor' );
wp_trash_post( $in_status['trash'] );
foreach ( array_keys( $people ) as $login ) {
	// What nobody but its author and the editors may see.
	$people[ $login ]['secret'] = "secret-$name-$login";
	$people[ $login ]['draft']  = $write( "secret-$name-$login", 'draft', $login );
}
$page = $write( "About $name", 'publish', 'editor', array( 'post_type' => 'page' ) );

$comments = array();
foreach ( array( 'approved' => 1, 'pending' => 0, 'spam' => 'spam' ) as $status => $kept ) {
	$comments[ $status ] = sound(
		wp_insert_comment(
			array(
				'comment_post_ID'      => $posts[0],
				'comment_author'       => "Visitor with $status words",
				'comment_author_email' => 'visitor@example.org',
				'comment_content'      => "These words at $name are $status.",
				'comment_approved'     => $kept,
			)
		)
	);
}

$image = imagecreatetruecolor( 64, 48 );
imagefilledrectangle( $image, 8, 8, 56, 40, imagecolorallocate( $image, 40, 120, 200 ) );
ob_start();
imagepng( $image );
$upload  = wp_upload_bits( "picture-$name.png", null, ob_get_clean() );
$picture = sound( wp_insert_attachment( array( 'post_mime_type' => 'image/png', 'post_title' => "Picture of $name", 'post_status' => 'inherit', 'post_author' => $people['editor']['id'] ), $upload['file'] ) );
wp_update_attachment_metadata( $picture, wp_generate_attachment_metadata( $picture, $upload['file'] ) );

// Plugins to be switched on, off and removed: one in a folder, one as a file.
wp_mkdir_p( WP_PLUGIN_DIR . '/greeter' );
file_put_contents( WP_PLUGIN_DIR . '/greeter/greeter.php', "<?php\n/* Plugin Name: Greeter\nVersion: 1.2\nDescription: Greets everybody. */\n" );
file_put_contents( WP_PLUGIN_DIR . '/lone.php', "<?php\n/* Plugin Name: Lone */\n" );

echo wp_json_encode(
	array(
		'name'     => $name,
		'url'      => $url,
		'version'  => $wp_version,
		'people'   => $people,
		'posts'    => $posts,
		'page'     => $page,
		'statuses' => $in_status,
		'terms'    => array( 'news' => $news, 'local' => $local, 'alpha' => $tag ),
		'comments' => $comments,
		'picture'  => array( 'id' => $picture, 'url' => $upload['url'] ),
	)
), "\n";

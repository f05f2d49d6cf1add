<?php
// What setup.php does instead of filling a single site: makes the other sites of a network, fills all of them, and prints one
// line of JSON: the sites with their content, and the people with their application passwords.
global $wp_version;
$_SERVER['REMOTE_ADDR'] = '127.0.0.1';
$on_subdomains = is_subdomain_install();
if ( ! $on_subdomains ) {
	// WordPress 6.1 drops the colon before a port.
	add_filter(
		'wp_normalize_site_data',
		static function ( $data ) {
			return array_merge( $data, array( 'domain' => $_SERVER['HTTP_HOST'] ) );
		},
		20
	);
}
$people = array(
	'admin' => array(), // The administrator of the network, who belongs to the main site alone.
	'owner' => array( 'one' => 'administrator', 'two' => 'administrator' ),
	'ann'   => array( 'main' => 'editor', 'one' => 'editor' ),
	'mia'   => array( 'main' => 'author' ),
	'olaf'  => array( 'one' => 'author' ),
);
foreach ( $people as $login => $roles ) {
	$known            = get_user_by( 'login', $login );
	$id               = $known ? $known->ID : sound( wpmu_create_user( $login, "login-of-$login", "$login@$name.example.org" ) );
	list( $password ) = sound( WP_Application_Passwords::create_new_application_password( $id, array( 'name' => 'tests' ) ) );
	$people[ $login ] = array( 'id' => $id, 'password' => WP_Application_Passwords::chunk_password( $password ), 'roles' => $roles );
}

$sites = array( 'main' => array( 'id' => get_main_site_id(), 'url' => $url ) );
foreach ( array( 'one', 'two' ) as $site ) {
	$domain = $on_subdomains ? "$site.{$_SERVER['HTTP_HOST']}" : $_SERVER['HTTP_HOST'];
	$folder = $on_subdomains ? '' : "/$site";
	$id     = sound( wpmu_create_blog( $domain, "$folder/", "Site $site", $people['owner']['id'], array( 'public' => 1 ) ) );
	wp_installing( false );
	$sites[ $site ] = array( 'id' => $id, 'url' => "http://$domain$folder" );
}
foreach ( $sites as $site => $made ) {
	foreach ( $people as $login => $person ) {
		if ( isset( $person['roles'][ $site ] ) ) {
			sound( add_user_to_blog( $made['id'], $person['id'], $person['roles'][ $site ] ) );
		}
	}
	switch_to_blog( $made['id'] );
	// The last site has plain permalinks.
	update_option( 'permalink_structure', 'two' === $site ? '' : '/%postname%/' );
	delete_option( 'rewrite_rules' );
	$author = $people[ 'main' === $site ? 'admin' : 'owner' ]['id'];
	$write  = function ( $title, $status ) use ( $author, $site ) {
		return sound( wp_insert_post( array( 'post_title' => "$title of $site", 'post_content' => "<p>Words of $site.</p>", 'post_status' => $status, 'post_author' => $author ), true ) );
	};
	// The posts of all sites have the same numbers; the main site begins with one page more.
	if ( 'main' !== $site ) {
		sound( wp_insert_post( array( 'post_title' => "Privacy of $site", 'post_type' => 'page', 'post_status' => 'draft' ), true ) );
	}
	$sites[ $site ]['posts'] = array( $write( 'Post 1', 'publish' ), $write( 'Post 2', 'publish' ) );
	$sites[ $site ]['draft'] = $write( 'A secret draft', 'draft' );
	restore_current_blog();
}
echo wp_json_encode(
	array(
		'name'    => $name,
		'url'     => $url,
		'version' => $wp_version,
		'people'  => $people,
		'sites'   => $sites,
	)
), "\n";

<?php
// What PHP's own web server asks for each request: uploads are of this site, all else is WordPress's.
// This server is also the proxy through which a gateway reaches its sites by name: requests to proxies begin with the host.
$_SERVER['REQUEST_URI'] = preg_replace( '#^http://[^/?]+(?=[/?])#', '', $_SERVER['REQUEST_URI'] );

$path = rawurldecode( (string) parse_url( $_SERVER['REQUEST_URI'], PHP_URL_PATH ) );
// The files of a network are those of its main site, below the folder of each site, too.
$file = getenv( 'SITE_NETWORK' ) ? preg_replace( '#^/[_0-9a-zA-Z-]+(/wp-(?:content|admin|includes)/.*|/wp-[a-z-]+\.php)$#', '$1', $path ) : $path;
$is_below = $file !== $path;
$path     = $file;
if ( 0 === strpos( $path, '/wp-content/uploads/' ) ) {
	$folder = realpath( getenv( 'SITE_FOLDER' ) . '/content/uploads' );
	$file   = realpath( getenv( 'SITE_FOLDER' ) . '/content' . substr( $path, strlen( '/wp-content' ) ) );
	if ( ! $file || 0 !== strpos( $file, "$folder/" ) || ! is_file( $file ) ) {
		http_response_code( 404 );
		return true;
	}
	header( 'Content-Type: ' . mime_content_type( $file ) );
	readfile( $file );
	return true;
}
if ( preg_match( '#^/stored/(\d+)$#', $path, $stored ) ) {
	// The bytes in the database, for comparisons.
	require $_SERVER['DOCUMENT_ROOT'] . '/wp-load.php';
	header( 'Content-Type: application/octet-stream' );
	echo $GLOBALS['wpdb']->get_var( $GLOBALS['wpdb']->prepare( "SELECT post_content FROM {$GLOBALS['wpdb']->posts} WHERE ID = %d", $stored[1] ) );
	return true;
}
if ( preg_match( '#^/(wp-login\.php|wp-admin/.+)$#', $path ) && is_file( $_SERVER['DOCUMENT_ROOT'] . $path ) ) {
	// The page for logging in, and the pages behind it.
	if ( ! $is_below || ! preg_match( '#\.php$#', $path ) ) {
		return false;
	}
	$_SERVER['SCRIPT_NAME']     = $path;
	$_SERVER['PHP_SELF']        = $path;
	$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . $path;
	chdir( dirname( $_SERVER['SCRIPT_FILENAME'] ) );
	require $_SERVER['SCRIPT_FILENAME'];
	return true;
}
$_SERVER['SCRIPT_NAME']     = '/index.php';
$_SERVER['PHP_SELF']        = '/index.php';
$_SERVER['SCRIPT_FILENAME'] = $_SERVER['DOCUMENT_ROOT'] . '/index.php';
chdir( $_SERVER['DOCUMENT_ROOT'] );
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';

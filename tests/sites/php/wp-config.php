<?php
// One WordPress for several sites: which one this process serves stands in its environment.
$site = static function ( $name ) {
	$value = getenv( "SITE_$name" );
	if ( false === $value ) {
		exit( "SITE_$name is not set\n" );
	}
	return $value;
};
define( 'DB_NAME', $site( 'DATABASE' ) );
define( 'DB_USER', 'root' );
define( 'DB_PASSWORD', '' );
define( 'DB_HOST', 'localhost:' . $site( 'SOCKET' ) );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
foreach ( array( 'AUTH', 'SECURE_AUTH', 'LOGGED_IN', 'NONCE' ) as $what ) {
	define( "{$what}_KEY", hash( 'sha256', "$what key " . DB_NAME ) );
	define( "{$what}_SALT", hash( 'sha256', "$what salt " . DB_NAME ) );
}
if ( getenv( 'SITE_NETWORK' ) && ! defined( 'WP_INSTALLING' ) ) {
	// A network of sites in folders or on subdomains, which has begun as a single site.
	define( 'MULTISITE', true );
	define( 'SUBDOMAIN_INSTALL', 'subdomains' === getenv( 'SITE_NETWORK' ) );
	define( 'DOMAIN_CURRENT_SITE', substr( $site( 'URL' ), strlen( 'http://' ) ) );
	define( 'PATH_CURRENT_SITE', '/' );
	define( 'SITE_ID_CURRENT_SITE', 1 );
	define( 'BLOG_ID_CURRENT_SITE', 1 );
} else {
	define( 'WP_HOME', $site( 'URL' ) );
	define( 'WP_SITEURL', $site( 'URL' ) );
}
define( 'WP_CONTENT_DIR', $site( 'FOLDER' ) . '/content' );
define( 'WP_CONTENT_URL', $site( 'URL' ) . '/wp-content' );
define( 'WP_ENVIRONMENT_TYPE', 'local' ); // Application passwords over plain http.
define( 'WP_DEBUG', true );
define( 'WP_DEBUG_DISPLAY', false );
define( 'WP_DEBUG_LOG', $site( 'FOLDER' ) . '/php.log' );
define( 'DISABLE_WP_CRON', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'WP_HTTP_BLOCK_EXTERNAL', true ); // Nothing leaves this machine.
define( 'FS_METHOD', 'direct' );
define( 'WP_POST_REVISIONS', 'south' !== DB_NAME ); // One site keeps no revisions.
$table_prefix = 'wp_';
if ( ! defined( 'ABSPATH' ) ) {
	define( 'ABSPATH', __DIR__ . '/' );
}
require_once ABSPATH . 'wp-settings.php';

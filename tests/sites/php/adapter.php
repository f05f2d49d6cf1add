<?php
// Must-use plugin of the tests: loads the classes of an MCP adapter from its source, which has no loader of its own.
if ( ! is_file( WP_PLUGIN_DIR . '/mcp-adapter/vendor/autoload.php' ) ) {
	defined( 'WP_MCP_AUTOLOAD' ) || define( 'WP_MCP_AUTOLOAD', false );
	spl_autoload_register(
		static function ( $name ) {
			if ( 0 === strpos( $name, 'WP\\MCP\\' ) ) {
				$file = WP_PLUGIN_DIR . '/mcp-adapter/includes/' . str_replace( '\\', '/', substr( $name, 7 ) ) . '.php';
				if ( is_file( $file ) ) {
					require $file;
				}
			}
		}
	);
}

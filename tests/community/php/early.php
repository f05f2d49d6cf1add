<?php
// Must-use plugin: application passwords count from the start of a request to the REST API. Else a plugin that asks who
// is there while WordPress is still loading takes everybody for a visitor, and keeps to that.
add_filter(
	'application_password_is_api_request',
	static function ( $is ) {
		$path = (string) parse_url( $_SERVER['REQUEST_URI'] ?? '', PHP_URL_PATH );
		return $is || isset( $_GET['rest_route'] ) || false !== strpos( $path, '/' . rest_get_url_prefix() . '/' );
	}
);

<?php
// php setup.php WORDPRESS PLUGIN activate|components|tables: switches a plugin on; of a community's plugin, then all its
// components, and makes their tables; of a shop, its tables. One step a process, since each step only loads what was switched on before.
list( , $wordpress, $main, $step ) = $argv;
$url                        = getenv( 'SITE_URL' );
$_SERVER['HTTP_HOST']       = substr( $url, strlen( 'http://' ) );
$_SERVER['SERVER_NAME']     = parse_url( $url, PHP_URL_HOST );
$_SERVER['SERVER_PROTOCOL'] = 'HTTP/1.1';
$_SERVER['REQUEST_METHOD']  = 'GET';
$_SERVER['REQUEST_URI']     = '/';
$_SERVER['REMOTE_ADDR']     = '127.0.0.1';
define( 'WP_ADMIN', true );

require "$wordpress/wp-load.php";
require_once ABSPATH . 'wp-admin/includes/admin.php';
require_once ABSPATH . 'wp-admin/includes/upgrade.php';
wp_set_current_user( get_user_by( 'login', 'admin' )->ID );

if ( 'activate' === $step ) {
	$done = activate_plugin( $main );
	if ( is_wp_error( $done ) ) {
		fwrite( STDERR, $done->get_error_message() );
		exit( 1 );
	}
	exit( 0 );
}

if ( 'woocommerce/woocommerce.php' === $main ) {
	if ( 'components' === $step ) {
		WC_Install::install();
		update_option( 'woocommerce_coming_soon', 'no' );
	}
	echo "\n", wp_json_encode( array( 'plugin' => 'WooCommerce', 'version' => WC()->version ) ), "\n";
	exit( 0 );
}

$boss = defined( 'BP_PLATFORM_VERSION' );
if ( 'components' === $step ) {
	$names = array_keys( bp_core_get_components( 'all' ) );
	if ( $boss ) {
		$names = array_merge( $names, array( 'forums', 'media', 'document', 'video', 'moderation', 'invites', 'search' ) );
	}
	// A network of sites is another thing.
	$active = array_fill_keys( array_diff( array_unique( $names ), array( 'blogs' ) ), 1 );
	// A first installation would take a few of its own choice.
	add_filter( 'bp_new_install_default_components', static fn() => $active );
	bp_update_option( 'bp-active-components', $active );
	buddypress()->active_components = $active;
	bp_setup_updater();
	if ( $boss && function_exists( 'bb_feature_registry' ) ) {
		bb_feature_registry()->bb_activate_feature( 'reactions' );
	}
	delete_option( 'rewrite_rules' );
	exit( 0 );
}

bp_setup_updater();
require_once buddypress()->plugin_dir . 'bp-core/admin/bp-core-admin-schema.php';
bp_core_install( bp_get_option( 'bp-active-components' ) );
if ( $boss ) {
	// What its owner has to allow first.
	foreach ( array( '_bp_enable_activity_edit', 'bp_media_profile_media_support', 'bp_media_profile_document_support', 'bp_video_profile_video_support', 'bpm_blocking_member_blocking', 'bb_blocking_member_reporting', '_bb_enable_activity_comment_edit', '_bp_enable_activity_link_preview', 'bb_enable_activity_topics', 'bp-disable-group-messages', 'bp-disable-group-type-creation', 'bp-member-type-enable-disable', 'bp-enable-profile-search', 'bp-enable-site-registration', 'users_can_register' ) as $allowed ) {
		bp_update_option( $allowed, 1 );
	}
	bp_update_option( '_bb_activity_comment_edit_time', -1 );
	bp_update_option( 'bp-disable-invite-member-type', 1 );
	// Types of members and of groups.
	foreach ( array( 'member' => bp_get_member_type_post_type(), 'group' => bp_groups_get_group_type_post_type() ) as $what => $post_type ) {
		for ( $number = 1; $number <= 10; $number++ ) {
			$type = wp_insert_post( array( 'post_type' => $post_type, 'post_title' => "Gardeners $number", 'post_name' => "gardener-$number", 'post_status' => 'publish' ) );
			foreach ( array( 'key' => "gardener-$number", 'label_name' => "Gardeners $number", 'label_singular_name' => "Gardener $number" ) as $name => $value ) {
				update_post_meta( $type, "_bp_{$what}_type_$name", $value );
			}
		}
	}
	bp_update_option( 'bpm_reporting_content_reporting', array_fill_keys( array( 'activity', 'activity_comment', 'groups', 'forum', 'forum_topic', 'forum_reply', 'document', 'media', 'video' ), 1 ) );
}
flush_rewrite_rules( false );
echo "\n", wp_json_encode(
	array(
		'plugin'  => $boss ? 'BuddyBoss Platform' : 'BuddyPress',
		'version' => $boss ? BP_PLATFORM_VERSION : bp_get_version(),
	)
), "\n";

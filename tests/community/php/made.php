<?php
// Must-use plugin for tests: makes a thing that a tool is then tried on (POST /made/v1/WHAT), and writes down what the
// site's REST API has answered.

function made_attachment( $user, $kind, $data ) {
	$upload = wp_upload_bits( "made-$kind-" . wp_generate_password( 6, false ) . '.' . $kind, null, $data );
	return wp_insert_attachment( array( 'post_mime_type' => wp_check_filetype( $upload['file'] )['type'], 'post_title' => "made $kind", 'post_status' => 'inherit', 'post_author' => $user ), $upload['file'] );
}

function made_member() {
	$name = 'made' . strtolower( wp_generate_password( 8, false ) );
	$id   = wp_insert_user( array( 'user_login' => $name, 'user_pass' => "login-of-$name", 'user_email' => "$name@example.org", 'display_name' => "Made $name", 'role' => 'subscriber' ) );
	bp_update_user_last_activity( $id, bp_core_current_time() );
	return $id;
}

function made_group( $user, $status, array $members ) {
	$id = groups_create_group( array( 'creator_id' => $user, 'name' => 'A group ' . wp_generate_password( 6, false ), 'description' => 'A group of few words.', 'status' => $status, 'date_created' => bp_core_current_time() ) );
	groups_update_groupmeta( $id, 'total_member_count', 1 );
	groups_update_groupmeta( $id, 'last_activity', bp_core_current_time() );
	array_map( static fn( $member ) => groups_join_group( $id, $member ), $members );
	return $id;
}

function made( $what, $user, $other, $status ) {
	$picture = base64_decode( 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' );
	switch ( $what ) {
		case 'member':
			return array( 'id' => made_member() );
		case 'group':
			return array( 'id' => made_group( $user, $status, $other ? array( $other ) : array() ) );
		case 'activity':
			return array( 'id' => bp_activity_add( array( 'user_id' => $user, 'component' => 'activity', 'type' => 'activity_update', 'content' => 'Good morning, 漢字 & all' ) ) );
		case 'friendship':
			$friend = made_member();
			friends_add_friend( $user, $friend, '1' === $status );
			return array( 'id' => (int) friends_get_friendship_id( $user, $friend ), 'friend' => $friend );
		case 'thread':
			return array( 'id' => messages_new_message( array( 'sender_id' => $other, 'recipients' => array( $user ), 'subject' => 'Saturday', 'content' => 'Shall we meet?' ) ) );
		case 'notification':
			return array( 'id' => bp_notifications_add_notification( array( 'user_id' => $user, 'item_id' => $other, 'component_name' => 'friends', 'component_action' => 'friendship_request', 'is_new' => 1, 'allow_duplicate' => true ) ) );
		case 'field':
			$part  = xprofile_insert_field_group( array( 'name' => 'More ' . wp_generate_password( 4, false ) ) );
			$field = xprofile_insert_field( array( 'field_group_id' => $part, 'type' => 'textbox', 'name' => 'City' ) );
			xprofile_set_field_data( $field, $user, 'Lisbon' );
			return array( 'id' => $field, 'part' => $part );
		case 'photo':
			return array( 'id' => bp_media_add( array( 'attachment_id' => made_attachment( $user, 'png', $picture ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'document':
			return array( 'id' => bp_document_add( array( 'attachment_id' => made_attachment( $user, 'txt', 'Words.' ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'video':
			return array( 'id' => bp_video_add( array( 'attachment_id' => made_attachment( $user, 'mp4', "\0\0\0\x18ftypmp42\0\0\0\0mp42isom" ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'folder':
			return array( 'id' => bp_folder_add( array( 'user_id' => $user, 'title' => 'A folder' ) ) );
		case 'forum':
			return array( 'id' => bbp_insert_forum( array( 'post_title' => 'Town square', 'post_content' => 'Talk here', 'post_author' => $user ) ) );
		case 'topic':
			$forum = bbp_insert_forum( array( 'post_title' => 'Gardens', 'post_content' => 'Talk here', 'post_author' => $user ) );
			$topic = bbp_insert_topic( array( 'post_title' => 'What grows', 'post_content' => 'What shall we grow?', 'post_parent' => $forum, 'post_author' => $user ), array( 'forum_id' => $forum ) );
			$reply = bbp_insert_reply( array( 'post_title' => 'Re: What grows', 'post_content' => 'Beans.', 'post_parent' => $topic, 'post_author' => $other ), array( 'forum_id' => $forum, 'topic_id' => $topic ) );
			return array( 'id' => $topic, 'forum' => $forum, 'reply' => $reply );
		case 'block':
			$member = made_member();
			bp_moderation_add( array( 'content_id' => $member, 'content_type' => 'user', 'user_id' => $user ) );
			return array( 'id' => $member );
	}
	return array( 'id' => 0 );
}

add_action(
	'rest_api_init',
	static function () {
		register_rest_route(
			'made/v1',
			'/(?P<what>[a-z]+)',
			array(
				'methods'             => 'POST',
				'permission_callback' => '__return_true',
				'callback'            => static function ( $request ) {
					$user = (int) $request['user'];
					wp_set_current_user( $user );
					// Newer versions ask WordPress who is there, each time.
					if ( ( buddypress()->loggedin_user ?? null ) instanceof stdClass ) {
						buddypress()->loggedin_user->id = $user;
					}
					return made( $request['what'], $user, (int) $request['other'], (string) ( $request['status'] ?? 'public' ) );
				},
			)
		);
	}
);
add_filter(
	'rest_post_dispatch',
	static function ( $response, $server, $request ) {
		if ( 0 !== strpos( $request->get_route(), '/made/' ) ) {
			$data = $response->get_data();
			$line = array(
				'method' => $request->get_method(),
				'route'  => $request->get_route(),
				'status' => $response->get_status(),
				'code'   => $response->is_error() && is_array( $data ) ? $data['code'] ?? '' : '',
				'said'   => $response->is_error() && is_array( $data ) ? $data['message'] ?? '' : '',
			);
			file_put_contents( getenv( 'SITE_FOLDER' ) . '/answers.jsonl', wp_json_encode( $line ) . "\n", FILE_APPEND | LOCK_EX );
		}
		return $response;
	},
	1000,
	3
);

<?php
// Must-use plugin for tests: makes a thing that a tool is then tried on (POST /made/v1/WHAT), and writes down what the
// site's REST API has answered. A thing that holds others holds so many of them (`entries`). The things of a shop are in shop.php.

function made_attachment( $user, $kind, $data ) {
	$upload = wp_upload_bits( "made-$kind-" . wp_generate_password( 6, false ) . '.' . $kind, null, $data );
	return wp_insert_attachment( array( 'post_mime_type' => wp_check_filetype( $upload['file'] )['type'], 'post_title' => "made $kind", 'post_status' => 'inherit', 'post_author' => $user ), $upload['file'] );
}

function made_words( $first ) {
	return $first . ' ' . str_repeat( 'The garden opens at nine, and everybody brings what grew over the summer: beans, marrows, apples. ', 6 );
}

function made_member() {
	$name = 'made' . strtolower( wp_generate_password( 8, false ) );
	$id   = wp_insert_user( array( 'user_login' => $name, 'user_pass' => "login-of-$name", 'user_email' => "$name@example.org", 'display_name' => "Made $name", 'role' => 'subscriber' ) );
	bp_update_user_last_activity( $id, bp_core_current_time() );
	return $id;
}

function made_group( $user, $status, array $members ) {
	$id = groups_create_group( array( 'creator_id' => $user, 'name' => 'A group ' . wp_generate_password( 6, false ), 'description' => made_words( 'A group of many words.' ), 'status' => $status, 'date_created' => bp_core_current_time() ) );
	groups_update_groupmeta( $id, 'total_member_count', 1 );
	groups_update_groupmeta( $id, 'last_activity', bp_core_current_time() );
	array_map( static fn( $member ) => groups_join_group( $id, $member ), $members );
	return $id;
}

function made( $what, $user, $other, $status, $entries ) {
	$picture = base64_decode( 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==' );
	switch ( $what ) {
		case 'member':
			return array( 'id' => made_member() );
		case 'group':
			$members = array_map( static fn() => made_member(), array_fill( 0, $entries - 1, 0 ) );
			return array( 'id' => made_group( $user, $status, array_merge( $other ? array( $other ) : array(), $members ) ) );
		case 'activity':
			return array( 'id' => bp_activity_add( array( 'user_id' => $user, 'component' => 'activity', 'type' => 'activity_update', 'content' => made_words( 'Good morning, 漢字 & all.' ) ) ) );
		case 'friendship':
			for ( $number = 0; $number < $entries; $number++ ) {
				$friend = made_member();
				friends_add_friend( $user, $friend, '1' === $status );
			}
			return array( 'id' => (int) friends_get_friendship_id( $user, $friend ), 'friend' => $friend );
		case 'thread':
			for ( $number = 1; $number < $entries; $number++ ) {
				messages_new_message( array( 'sender_id' => made_member(), 'recipients' => array( $user ), 'subject' => 'Sunday', 'content' => made_words( 'Or then?' ) ) );
			}
			$thread = messages_new_message( array( 'sender_id' => $other, 'recipients' => array( $user ), 'subject' => 'Saturday', 'content' => made_words( 'Shall we meet?' ) ) );
			return array( 'id' => $thread, 'message' => (int) ( new BP_Messages_Thread( $thread ) )->last_message_id );
		case 'notification':
			return array( 'id' => bp_notifications_add_notification( array( 'user_id' => $user, 'item_id' => $other, 'component_name' => 'friends', 'component_action' => 'friendship_request', 'is_new' => 1, 'allow_duplicate' => true ) ) );
		case 'field':
			$part  = xprofile_insert_field_group( array( 'name' => 'More ' . wp_generate_password( 4, false ) ) );
			for ( $number = 0; $number < $entries; $number++ ) {
				$field = xprofile_insert_field( array( 'field_group_id' => $part, 'type' => 'textbox', 'name' => $number ? "City $number" : 'City' ) );
				xprofile_set_field_data( $field, $user, 'Lisbon' );
			}
			return array( 'id' => $field, 'part' => $part );
		case 'photo':
			return array( 'id' => bp_media_add( array( 'attachment_id' => made_attachment( $user, 'png', $picture ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'document':
			return array( 'id' => bp_document_add( array( 'attachment_id' => made_attachment( $user, 'txt', 'Words.' ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'video':
			return array( 'id' => bp_video_add( array( 'attachment_id' => made_attachment( $user, 'mp4', "\0\0\0\x18ftypmp42\0\0\0\0mp42isom" ), 'user_id' => $user, 'title' => 'made' ) ) );
		case 'poster':
			$film    = made_attachment( $user, 'mp4', "\0\0\0\x18ftypmp42\0\0\0\0mp42isom" );
			$poster  = made_attachment( $user, 'png', $picture );
			update_post_meta( $film, 'video_preview_thumbnails', array( 'default_images' => array(), 'custom_image' => $poster ) );
			return array( 'id' => bp_video_add( array( 'attachment_id' => $film, 'user_id' => $user, 'title' => 'made' ) ), 'poster' => $poster );
		case 'folder':
			return array( 'id' => bp_folder_add( array( 'user_id' => $user, 'title' => 'A folder' ) ) );
		case 'forum':
			return array( 'id' => bbp_insert_forum( array( 'post_title' => 'Town square', 'post_content' => 'Talk here', 'post_author' => $user ) ) );
		case 'topic':
			$forum = bbp_insert_forum( array( 'post_title' => 'Gardens', 'post_content' => 'Talk here', 'post_author' => $user ) );
			$topic = bbp_insert_topic( array( 'post_title' => 'What grows', 'post_content' => made_words( 'What shall we grow?' ), 'post_parent' => $forum, 'post_author' => $user ), array( 'forum_id' => $forum ) );
			for ( $number = 0; $number < $entries; $number++ ) {
				$reply = bbp_insert_reply( array( 'post_title' => 'Re: What grows', 'post_content' => made_words( 'Beans.' ), 'post_parent' => $topic, 'post_author' => $other ), array( 'forum_id' => $forum, 'topic_id' => $topic ) );
				// More topics are beside the first one.
				$number && bbp_insert_topic( array( 'post_title' => "What else grows, $number", 'post_content' => made_words( 'What else?' ), 'post_parent' => $forum, 'post_author' => $user ), array( 'forum_id' => $forum ) );
			}
			return array( 'id' => $topic, 'forum' => $forum, 'reply' => $reply );
		case 'account':
			$member = made_member();
			get_user_by( 'id', $member )->set_role( user_can( $user, 'manage_options' ) ? 'administrator' : 'subscriber' );
			list( $password ) = WP_Application_Passwords::create_new_application_password( $member, array( 'name' => 'tests' ) );
			return array( 'id' => $member, 'login' => get_user_by( 'id', $member )->user_login, 'password' => $password );
		case 'asked':
			$member = made_member();
			friends_add_friend( $member, $user );
			return array( 'id' => (int) friends_get_friendship_id( $member, $user ), 'friend' => $member );
		case 'signup':
			for ( $number = 0; $number < $entries; $number++ ) {
				$key    = wp_generate_password( 20, false );
				$name   = 'made' . strtolower( wp_generate_password( 8, false ) );
				$signup = BP_Signup::add( array( 'user_login' => $name, 'user_email' => "$name@example.org", 'registered' => bp_core_current_time(), 'activation_key' => $key, 'meta' => array( 'password' => wp_hash_password( $key ) ) ) );
			}
			return array( 'id' => $signup, 'key' => $key );
		case 'invite':
			$invite = wp_insert_post( array( 'post_author' => $user, 'post_type' => bp_get_invite_post_type(), 'post_status' => 'publish', 'post_title' => 'Come' ) );
			update_post_meta( $invite, '_bp_invitee_email', 'ann@example.org' );
			return array( 'id' => $invite );
		case 'repeater':
			$part  = xprofile_insert_field_group( array( 'name' => 'Jobs ' . wp_generate_password( 4, false ) ) );
			$field = xprofile_insert_field( array( 'field_group_id' => $part, 'type' => 'textbox', 'name' => 'Job' ) );
			bp_xprofile_update_meta( $part, 'group', 'is_repeater_enabled', 'on' );
			bp_set_profile_field_set_count( $part, $user, 2 );
			return array( 'id' => $part, 'field' => $field, 'copies' => array_map( 'intval', bp_get_repeater_clone_field_ids_subset( $part, 2 ) ) );
		case 'invitation':
			$group = made_group( $other, 'private', array() );
			return array( 'id' => groups_invite_user( array( 'user_id' => $user, 'group_id' => $group, 'inviter_id' => $other, 'send_invite' => 1 ) ), 'group' => $group );
		case 'request':
			$group = made_group( $user, 'private', array() );
			$asks  = static fn() => groups_send_membership_request( array( 'user_id' => made_member(), 'group_id' => $group ) );
			return array( 'id' => max( array_map( $asks, array_fill( 0, $entries, 0 ) ) ), 'group' => $group );
		case 'comment':
			$activity = bp_activity_add( array( 'user_id' => $user, 'component' => 'activity', 'type' => 'activity_update', 'content' => 'Good morning' ) );
			$answer   = static fn( $number ) => bp_activity_new_comment( array( 'activity_id' => $activity, 'parent_id' => $activity, 'user_id' => $user, 'content' => "And to you $number" ) );
			return array( 'id' => max( array_map( $answer, range( 1, $entries ) ) ), 'activity' => $activity );
		case 'reaction':
			$activity = bp_activity_add( array( 'user_id' => $user, 'component' => 'activity', 'type' => 'activity_update', 'content' => 'Good morning' ) );
			$kind     = (int) array_column( bb_load_reaction()->bb_get_reactions(), 'id' )[0];
			$reacts   = static fn( $who ) => bb_load_reaction()->bb_add_user_item_reaction( array( 'reaction_id' => $kind, 'item_type' => 'activity', 'item_id' => $activity, 'user_id' => $who ) );
			$reaction = $reacts( $user );
			for ( $number = 1; $number < $entries; $number++ ) {
				$reacts( made_member() );
			}
			return array( 'id' => is_object( $reaction ) ? (int) $reaction->id : 0, 'kind' => $kind, 'activity' => $activity );
		case 'subject':
			// For those who run the site alone.
			wp_set_current_user( get_user_by( 'login', 'admin' )->ID );
			$topic = bb_topics_manager_instance()->bb_add_topic( array( 'name' => 'Garden ' . wp_generate_password( 4, false ), 'permission_type' => 'anyone', 'item_id' => 0, 'item_type' => 'activity', 'user_id' => $user ) );
			return array( 'id' => is_object( $topic ) ? (int) ( $topic->topic_id ?? $topic->id ) : 0 );
		case 'subscription':
			$forum = bbp_insert_forum( array( 'post_title' => 'Town square', 'post_content' => 'Talk here', 'post_author' => $other ) );
			return array( 'id' => bb_create_subscription( array( 'user_id' => $user, 'item_id' => $forum, 'type' => 'forum' ) ), 'forum' => $forum );
		case 'report':
			$activity = bp_activity_add( array( 'user_id' => $other, 'component' => 'activity', 'type' => 'activity_update', 'content' => 'Rude words' ) );
			$report   = bp_moderation_add( array( 'content_id' => $activity, 'content_type' => 'activity', 'user_id' => $user, 'note' => 'Rude' ) );
			return array( 'id' => is_object( $report ) ? (int) $report->id : (int) $report );
		case 'type':
			return array( 'id' => bp_set_member_type( $user, 'gardener-1' ) ? $user : 0 );
		case 'album':
			return array( 'id' => bp_album_add( array( 'user_id' => $user, 'title' => 'An album', 'privacy' => 'public' ) ) );
		case 'upload':
			$kind = in_array( $status, array( 'txt', 'mp4' ), true ) ? $status : 'png';
			return array( 'id' => made_attachment( $user, $kind, 'png' === $kind ? $picture : 'Words.' ) );
		case 'picture':
			// What an upload leaves behind: of a member, or of a group that is made for it; its picture, or the one above its page.
			$of     = 'group' === substr( $status, 0, 5 ) ? made_group( $user, 'public', array() ) : $user;
			$groups = $of !== $user || 'group' === substr( $status, 0, 5 );
			$uploads = wp_upload_dir()['basedir'];
			$folder  = 'cover' === substr( $status, -5 ) ? "$uploads/buddypress/" . ( $groups ? 'groups' : 'members' ) . "/$of/cover-image" : "$uploads/" . ( $groups ? 'group-avatars' : 'avatars' ) . "/$of";
			wp_mkdir_p( $folder );
			foreach ( 'cover' === substr( $status, -5 ) ? array( 'made-bp-cover-image' ) : array( 'made-bpfull', 'made-bpthumb' ) as $name ) {
				file_put_contents( "$folder/$name.png", $picture );
			}
			return array( 'id' => $of );
		case 'block':
			$member = made_member();
			bp_moderation_add( array( 'content_id' => $member, 'content_type' => 'user', 'user_id' => $user ) );
			return array( 'id' => $member );
	}
	return apply_filters( 'made_thing', array( 'id' => 0 ), $what, $user, $entries );
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
					if ( function_exists( 'buddypress' ) && ( buddypress()->loggedin_user ?? null ) instanceof stdClass ) {
						buddypress()->loggedin_user->id = $user;
					}
					return made( $request['what'], $user, (int) $request['other'], (string) ( $request['status'] ?? 'public' ), max( 1, (int) $request['entries'] ) );
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

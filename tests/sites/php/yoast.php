<?php
// Must-use plugin of the tests: a stand-in for Yoast SEO, where no real one is installed. It adds the members of an answer that
// Yoast's page "REST API" (developer documentation, customization) describes, and registers the fields that Yoast registers.
const YOAST_FIELDS = array( '_yoast_wpseo_title', '_yoast_wpseo_metadesc', '_yoast_wpseo_focuskw' );

add_action(
	'init',
	static function () {
		foreach ( YOAST_FIELDS as $key ) {
			register_meta(
				'post',
				$key,
				array(
					'object_subtype' => 'post',
					'type'           => 'string',
					'single'         => true,
					'show_in_rest'   => true,
					'auth_callback'  => static fn( $allowed, $key, $id ) => current_user_can( 'edit_post', $id ),
				)
			);
		}
	}
);
add_filter(
	'rest_prepare_post',
	static function ( $response, $post ) {
		$data = $response->get_data();
		if ( isset( $data['meta'] ) && ! current_user_can( 'edit_post', $post->ID ) ) {
			$data['meta'] = array_diff_key( $data['meta'], array_flip( YOAST_FIELDS ) );
		}
		$title = get_post_meta( $post->ID, '_yoast_wpseo_title', true );
		$title = $title ? $title : $post->post_title . ' - ' . get_bloginfo( 'name' );
		$text  = get_post_meta( $post->ID, '_yoast_wpseo_metadesc', true );
		$head  = array(
			'title'                  => $title,
			'robots'                 => array( 'index' => 'index', 'follow' => 'follow', 'max-snippet' => 'max-snippet:-1' ),
			'canonical'              => get_permalink( $post ),
			'og_locale'              => 'en_US',
			'og_type'                => 'article',
			'og_title'               => $title,
			'og_url'                 => get_permalink( $post ),
			'og_site_name'           => get_bloginfo( 'name' ),
			'article_published_time' => mysql2date( 'c', $post->post_date_gmt ),
			'author'                 => get_the_author_meta( 'display_name', $post->post_author ),
			'twitter_card'           => 'summary_large_image',
			'schema'                 => array( '@context' => 'https://schema.org', '@graph' => array( array( '@type' => 'WebPage', 'name' => $title ) ) ),
		);
		if ( $text ) {
			$head['description'] = $text;
		}
		$data['yoast_head']      = '<title>' . esc_html( $title ) . '</title>';
		$data['yoast_head_json'] = $head;
		$response->set_data( $data );
		return $response;
	},
	10,
	2
);

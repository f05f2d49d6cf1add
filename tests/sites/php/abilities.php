<?php
// Must-use plugin of the tests: abilities that compute, that need a right, and that fail (WordPress 6.9 and newer).
add_action(
	'wp_abilities_api_categories_init',
	static function () {
		wp_register_ability_category( 'tests', array( 'label' => 'Tests', 'description' => 'Abilities for tests' ) );
	}
);
add_action(
	'wp_abilities_api_init',
	static function () {
		$add = static function ( $name, $input, $run, $may, $annotations ) {
			wp_register_ability(
				"tests/$name",
				array(
					'label'               => ucfirst( $name ),
					'description'         => "The ability $name of the tests",
					'category'            => 'tests',
					'input_schema'        => array( 'type' => 'object', 'additionalProperties' => false ) + $input,
					'execute_callback'    => $run,
					'permission_callback' => $may,
					'meta'                => array( 'annotations' => $annotations, 'mcp' => array( 'public' => true ), 'show_in_rest' => true ),
				)
			);
		};
		$number = array( 'type' => 'number' );
		$text   = array( 'type' => 'string', 'minLength' => 1 );
		$sum    = array( 'properties' => array( 'a' => $number, 'b' => $number ), 'required' => array( 'a', 'b' ) );
		$add( 'sum', $sum, static fn( $in ) => array( 'sum' => $in['a'] + $in['b'] ), '__return_true', array( 'readonly' => true ) );
		$draft = array( 'properties' => array( 'title' => $text ), 'required' => array( 'title' ) );
		$write = static fn( $in ) => array( 'id' => wp_insert_post( array( 'post_title' => $in['title'], 'post_status' => 'draft' ) ) );
		$add( 'draft', $draft, $write, static fn() => current_user_can( 'edit_posts' ), array( 'readonly' => false, 'destructive' => false ) );
		$fail = array( 'properties' => array( 'why' => $text ) );
		$add( 'fail', $fail, static fn() => new WP_Error( 'tests_failed', 'It failed as asked.', array( 'status' => 500 ) ), '__return_true', array() );
	}
);

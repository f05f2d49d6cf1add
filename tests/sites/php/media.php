<?php
// Must-use plugin of the tests: browsers may make the sizes of images (WordPress 7.1 and newer). Without it, WordPress offers this
// only over https and on localhost, because browsers need a secure context for it.
add_filter( 'wp_client_side_media_processing_enabled', '__return_true' );

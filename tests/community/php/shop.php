<?php
// Must-use plugin for tests of a shop: makes a thing that a tool is then tried on.

function made_product( array $more = array() ) {
	$product = new WC_Product_Simple();
	$product->set_props( $more + array( 'name' => 'Tea ' . wp_generate_password( 5, false ), 'regular_price' => '9.90', 'manage_stock' => true, 'stock_quantity' => 20, 'description' => made_words( 'Strong tea.' ), 'status' => 'publish' ) );
	return $product->save();
}

function made_variation( $entries ) {
	$sizes     = array_merge( array( 'S', 'M' ), array_map( static fn( $number ) => "L $number", range( 1, $entries ) ) );
	$attribute = new WC_Product_Attribute();
	$attribute->set_name( 'Size' );
	$attribute->set_options( $sizes );
	$attribute->set_variation( true );
	$product = new WC_Product_Variable();
	$product->set_props( array( 'name' => 'Shirt ' . wp_generate_password( 5, false ), 'status' => 'publish', 'attributes' => array( $attribute ) ) );
	$parent = $product->save();
	foreach ( array_slice( $sizes, 0, $entries ) as $size ) {
		$variation = new WC_Product_Variation();
		$variation->set_props( array( 'parent_id' => $parent, 'regular_price' => '12.00', 'attributes' => array( 'size' => $size ) ) );
		$variation->save();
	}
	return array( 'id' => $variation->get_id(), 'product' => $parent );
}

function made_attribute( $word, $entries ) {
	$name     = "A $word";
	$id       = wc_create_attribute( array( 'name' => $name ) );
	$taxonomy = wc_attribute_taxonomy_name( wc_sanitize_taxonomy_name( $name ) );
	// Shops register it with the next request.
	register_taxonomy( $taxonomy, 'product' );
	for ( $number = 0; $number < $entries; $number++ ) {
		wp_insert_term( "Term $number of $word", $taxonomy );
	}
	return $id;
}

function made_order( $user ) {
	$order = wc_create_order( array( 'customer_id' => $user ) );
	$item  = $order->add_product( wc_get_product( made_product() ), 2 );
	$order->set_address( array( 'first_name' => 'Maria', 'last_name' => 'Sol', 'address_1' => 'Main 1', 'city' => 'Oslo', 'postcode' => '0150', 'country' => 'NO', 'email' => 'maria@example.org', 'phone' => '99 99' ), 'billing' );
	$order->calculate_totals();
	$order->set_status( 'processing' );
	$order->save();
	return array( 'id' => $order->get_id(), 'item' => $item );
}

// Two payment methods that can pay back: one does, the other's bank declines.
add_filter(
	'woocommerce_payment_gateways',
	static function ( $gateways ) {
		foreach ( array( 'made', 'declining' ) as $id ) {
			$gateway = new class() extends WC_Payment_Gateway {
				public function process_refund( $order_id, $amount = null, $reason = '' ) {
					return 'made' === $this->id ? true : new WP_Error( 'declined', "The bank declines $amount." );
				}
			};

			$gateway->id       = $id;
			$gateway->supports = array( 'products', 'refunds' );
			$gateways[]        = $gateway;
		}
		return $gateways;
	}
);

add_filter(
	'made_thing',
	static function ( $thing, $what, $user, $entries ) {
		$word = strtolower( wp_generate_password( 8, false ) );
		switch ( $what ) {
			case 'product':
				return array( 'id' => made_product() );
			case 'variation':
				return made_variation( $entries );
			case 'order':
				return made_order( $user );
			case 'refund':
				$order = made_order( $user );
				for ( $number = 0; $number < $entries; $number++ ) {
					$refund = wc_create_refund( array( 'order_id' => $order['id'], 'amount' => '1.00', 'reason' => 'Too late' ) );
				}
				return array( 'id' => $refund->get_id(), 'order' => $order['id'] );
			case 'note':
				$order = made_order( $user );
				for ( $number = 0; $number < $entries; $number++ ) {
					$note = wc_get_order( $order['id'] )->add_order_note( 'Packed.' );
				}
				return array( 'id' => $note, 'order' => $order['id'] );
			case 'customer':
				return array( 'id' => wc_create_new_customer( "$word@example.org", $word, $word ) );
			case 'coupon':
				$coupon = new WC_Coupon();
				$coupon->set_props( array( 'code' => $word, 'amount' => '5', 'discount_type' => 'percent' ) );
				return array( 'id' => $coupon->save() );
			case 'review':
				$product = made_product();
				return array( 'id' => wp_insert_comment( array( 'comment_post_ID' => $product, 'comment_type' => 'review', 'comment_content' => made_words( 'Good tea.' ), 'comment_author' => 'Maria', 'comment_author_email' => 'maria@example.org', 'comment_meta' => array( 'rating' => 5 ) ) ), 'product' => $product );
			case 'category':
				return array( 'id' => wp_insert_term( "Teas $word", 'product_cat' )['term_id'] );
			case 'tag':
				return array( 'id' => wp_insert_term( "green $word", 'product_tag' )['term_id'] );
			case 'attribute':
				return array( 'id' => made_attribute( $word, $entries ) );
			case 'rate':
				return array( 'id' => WC_Tax::_insert_tax_rate( array( 'tax_rate_country' => 'NO', 'tax_rate' => '25.0000', 'tax_rate_name' => "VAT $word", 'tax_rate_priority' => 1, 'tax_rate_shipping' => 1, 'tax_rate_class' => '' ) ) );
			case 'zone':
				$zone = new WC_Shipping_Zone();
				$zone->set_zone_name( "Zone $word" );
				$id = $zone->save();
				for ( $number = 0; $number < $entries; $number++ ) {
					$zone->add_shipping_method( 'flat_rate' );
				}
				return array( 'id' => $id );
		}
		return $thing;
	},
	10,
	4
);

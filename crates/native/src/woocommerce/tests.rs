//! Tests of the shop's tools: the offered tools, the shown data of customers, and the sent requests.

use std::sync::Arc;

use serde_json::{Value, json};

use super::{REDACTED, ShopSettings, server};
use crate::ToolServer;
use crate::port::Verb;
use crate::rest::tests::{Fake, asked, asked_by_mcp, content, login, refused, reply, request, shown};
use crate::site::SiteSettings;

fn settings() -> SiteSettings {
    SiteSettings { login: Some(login("https://shop.example", "ann", "p")), ..SiteSettings::default() }
}

fn shop(shop: ShopSettings, fake: Arc<Fake>) -> ToolServer {
    server(&settings(), shop, fake).unwrap()
}

fn all(personal_data: bool, fake: Arc<Fake>) -> ToolServer {
    shop(ShopSettings { write: true, personal_data }, fake)
}

fn order() -> Value {
    json!({
        "id": 7, "number": "7", "status": "processing", "total": "19.90", "customer_id": 3,
        "billing": {
            "first_name": "Maria", "last_name": "Sol", "company": "", "address_1": "Main 1", "address_2": "", "city": "Oslo",
            "state": "", "postcode": "0150", "country": "NO", "email": "maria@example.org", "phone": "99 99",
        },
        "shipping": {"first_name": "Maria", "address_1": "Main 1", "country": "NO"},
        "customer_ip_address": "192.0.2.7", "customer_user_agent": "Maria's browser", "customer_note": "Ring Maria",
        "transaction_id": "tx-maria", "order_key": "wc_maria", "payment_url": "https://shop.example/pay/maria",
        "line_items": [{"id": 1, "name": "Tea", "quantity": 2, "meta_data": [{"key": "engraving", "value": "Maria"}]}],
        "meta_data": [{"key": "_vat", "value": "Maria"}], "refunds": [{"id": 9}],
    })
}

fn customer() -> Value {
    json!({
        "id": 3, "email": "maria@example.org", "first_name": "Maria", "last_name": "Sol", "username": "maria", "role": "customer",
        "billing": order()["billing"], "shipping": order()["shipping"], "avatar_url": "https://a.example/maria", "meta_data": [],
        "is_paying_customer": true,
    })
}

/// Every call that reads data of a customer, with the site's answer.
fn readings() -> Vec<(&'static str, Value, Value)> {
    let review = json!({
        "id": 5, "product_id": 1, "reviewer": "Maria", "reviewer_email": "maria@example.org", "review": "<p>Good tea</p>",
        "rating": 5, "reviewer_avatar_urls": {"24": "https://a.example/maria"},
    });
    let mut all = Vec::new();
    for more in [json!({}), json!({"full": true})] {
        let with = |mut arguments: Value| {
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        all.push(("woo_get_order", with(json!({"id": 7})), order()));
        all.push(("woo_list_orders", with(json!({})), json!([order()])));
        all.push(("woo_get_customer", with(json!({"id": 3})), customer()));
        all.push(("woo_list_customers", with(json!({})), json!([customer()])));
        all.push(("woo_list_reviews", with(json!({})), json!([review])));
        all.push(("woo_update_order", with(json!({"id": 7, "status": "completed"})), order()));
    }
    all.push((
        "woo_list_orders",
        json!({"fields": ["billing.email", "billing", "customer_note"]}),
        json!([order()]),
    ));
    all
}

#[test]
fn nothing_personal_is_shown_unless_the_settings_say_so() {
    for (tool, arguments, answer) in readings() {
        let given = answer.clone();
        let hidden = asked(&all(false, Fake::new(move |_| Ok(reply(200, &given)))), tool, &arguments);
        let text = hidden.to_string();
        assert!(
            !text.to_lowercase().contains("maria") && !text.contains("99 99") && !text.contains("192.0.2.7"),
            "{tool} {arguments}: {text}"
        );
        let open = asked(&all(true, Fake::json(answer)), tool, &arguments);
        if tool != "woo_update_order" || arguments.get("full").is_some() {
            assert!(open.to_string().contains("aria"), "{tool} {arguments}: {open}");
        }
    }
}

#[test]
fn an_answer_names_what_is_missing_and_keeps_the_rest() {
    let order = shown(&asked(&all(false, Fake::json(order())), "woo_get_order", &json!({"id": 7})));
    assert_eq!((&order["total"], &order["billing"]["country"]), (&json!("19.90"), &json!("NO")));
    assert_eq!(order["line_items"][0]["name"], "Tea");
    let missing = order["billing"]["redacted"].as_array().unwrap();
    assert!(missing.contains(&json!("email")) && !missing.contains(&json!("company")), "{missing:?}");
    assert!(order["redacted"].as_array().unwrap().contains(&json!("customer_note")), "{order}");
    assert!(missing.iter().all(|name| REDACTED.contains(&name.as_str().unwrap())));
}

#[test]
fn a_product_is_shown_whole() {
    let product = json!({"id": 1, "name": "Tea", "meta_data": [{"key": "origin", "value": "Assam"}], "city": "x", "company": "y"});
    let full = json!({"id": 1, "full": true});
    assert_eq!(shown(&asked(&all(false, Fake::json(product.clone())), "woo_get_product", &full)), product);
}

#[test]
fn descriptions_are_shown_and_kept_as_source() {
    let source = "<!-- wp:paragraph -->\n<p>Fine tea from the first harvest.</p>\n<!-- /wp:paragraph -->\n[gallery ids=\"3\"]";
    let product = json!({"id": 1, "name": "Tea", "description": source, "short_description": "[price_note]"});
    for (read, write, route, ids) in [
        ("woo_get_product", "woo_update_product", "/products/1", json!({"id": 1})),
        (
            "woo_get_variation",
            "woo_update_variation",
            "/products/4/variations/1",
            json!({"product_id": 4, "id": 1}),
        ),
    ] {
        let fake = Fake::json(product.clone());
        let read = shown(&asked(&all(false, fake.clone()), read, &ids));
        assert_eq!(read["description"], source);
        assert!(fake.lines()[0].contains(&format!("{route}?context=edit&")), "{:?}", fake.lines());
        let with = |more: Value| {
            let mut arguments = ids.clone();
            arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
            arguments
        };
        for (description, is_kept) in [
            (source.replace("Fine", "Good"), true),
            ("<p>Good tea from the first harvest.</p>".to_owned(), false),
        ] {
            let fake = Fake::json(product.clone());
            let answer = asked(&all(false, fake.clone()), write, &with(json!({"description": description})));
            assert_eq!(answer.to_string().contains("not saved"), !is_kept, "{write} {description}: {answer}");
            let is_written = fake.lines().iter().any(|line| line.starts_with("POST "));
            assert_eq!(is_written, is_kept, "{:?}", fake.lines());
            let anyway = with(json!({"description": description, "allow_markup_loss": true}));
            let fake = Fake::json(product.clone());
            asked(&all(false, fake.clone()), write, &anyway);
            assert!(fake.lines().iter().any(|line| line.starts_with("POST ")), "{:?}", fake.lines());
        }
        let fake = Fake::json(product.clone());
        let tried = with(
            json!({"description": "<p>Good tea from the first harvest.</p>", "dry_run": true, "allow_markup_loss": true}),
        );
        let preview = shown(&asked(&all(false, fake.clone()), write, &tried));
        assert!(preview["changes"]["description"]["difference"].is_string(), "{preview}");
        assert!(fake.lines().iter().all(|line| !line.starts_with("POST ")), "{:?}", fake.lines());
    }
}

#[test]
fn secrets_are_never_shown() {
    let gateway = json!([{"id": "stripe", "title": "Card", "method_supports": ["products"], "settings": {"key": {"value": "sk_live"}}}]);
    let setting = json!([{"id": "key", "type": "password", "value": "sk_live", "label": "Key"}]);
    for personal_data in [false, true] {
        for (tool, arguments, answer) in [
            ("woo_list_payment_gateways", json!({"full": true}), &gateway),
            ("woo_list_payment_gateways", json!({"fields": ["settings"]}), &gateway),
            ("woo_get_settings", json!({"group_id": "x"}), &setting),
            ("woo_get_settings", json!({"group_id": "x", "full": true}), &setting),
        ] {
            let answer = asked(&all(personal_data, Fake::json(answer.clone())), tool, &arguments);
            assert!(
                answer["result"]["isError"] == false && !answer.to_string().contains("sk_live"),
                "{tool}: {answer}"
            );
        }
    }
}

#[test]
fn tools_only_read_unless_the_settings_allow_more() {
    let list = |shop_settings| {
        let server = shop(shop_settings, Fake::json(json!({})));
        request(&server, "tools/list", &json!({}), None)["result"]["tools"].as_array().unwrap().clone()
    };
    let reading = list(ShopSettings::default());
    assert!(reading.iter().all(|tool| tool["annotations"]["readOnlyHint"] == true));
    let writing = list(ShopSettings { write: true, ..ShopSettings::default() });
    assert_eq!((reading.len(), writing.len()), (33, 63));
    let pays = writing.iter().find(|tool| tool["name"] == "woo_refund_order").unwrap();
    assert_eq!(
        (&pays["annotations"]["destructiveHint"], &pays["annotations"]["idempotentHint"]),
        (&json!(true), &json!(false))
    );
    let (_, words, condition) = refused(&asked(
        &shop(ShopSettings::default(), Fake::json(json!({}))),
        "woo_refund_order",
        &json!({"order_id": 1, "amount": "1"}),
    ));
    assert_eq!(condition, "unknownTool", "{words}");
}

#[test]
fn a_refund_moves_money_only_if_the_call_says_so() {
    let fake = Fake::json(json!({"id": 1}));
    let server = all(false, fake.clone());
    asked(&server, "woo_refund_order", &json!({"order_id": 7, "amount": "5.00"}));
    asked(&server, "woo_refund_order", &json!({"order_id": 7, "amount": "5.00", "api_refund": true}));
    let bodies: Vec<Value> = fake
        .asked
        .lock()
        .unwrap()
        .iter()
        .map(|request| serde_json::from_slice(request.body.whole().unwrap()).unwrap())
        .collect();
    assert_eq!((&bodies[0]["api_refund"], &bodies[1]["api_refund"]), (&json!(false), &json!(true)));
}

#[test]
fn a_coupon_in_the_trash_counts_as_deleted_whatever_the_shop_reports() {
    let none = json!({"code": "woocommerce_rest_cannot_delete", "message": "The shop_coupon cannot be deleted.", "data": {"status": 500}});
    let shop_with = |status: &'static str, failure: u16| {
        let none = none.clone();
        let fake = Fake::new(move |request| {
            Ok(if request.method == Verb::Delete {
                reply(failure, &none)
            } else {
                reply(200, &json!({"id": 4, "code": "tea", "status": status}))
            })
        });
        (all(false, fake.clone()), fake)
    };
    let (server, fake) = shop_with("trash", 500);
    let coupon = shown(&asked(&server, "woo_delete_coupon", &json!({"id": 4})));
    assert_eq!(coupon, json!({"id": 4, "code": "tea", "status": "trash"}));
    let lines = fake.lines();
    assert!(lines.iter().any(|line| line.starts_with("GET ") && line.contains("/coupons/4")), "{lines:?}");
    for (status, failure, arguments) in [
        ("publish", 500, json!({"id": 4})),
        ("trash", 500, json!({"id": 4, "force": true})),
        ("trash", 403, json!({"id": 4})),
    ] {
        let (server, _) = shop_with(status, failure);
        let (text, is_error) = content(&asked(&server, "woo_delete_coupon", &arguments));
        assert!(is_error && text.contains("cannot be deleted"), "{arguments} {status} {failure}: {text}");
    }
}

#[test]
fn a_product_keeps_to_categories_and_tags_that_exist() {
    let shop = || {
        Fake::replying(|request| match () {
            () if request.url.contains("/products/categories?include=") => reply(200, &json!([{"id": 3}])),
            () if request.url.contains("/products/tags?include=") => reply(200, &json!([])),
            () => reply(
                200,
                &json!({
                    "id": 1, "name": "Tea", "categories": [{"id": 3, "name": "R&amp;D", "slug": "rd"}], "tags": [],
                    "images": [{"id": 8, "src": "https://shop.example/a.png"}],
                }),
            ),
        })
    };
    let fake = shop();
    for (tool, more) in
        [("woo_create_product", json!({"name": "Tea"})), ("woo_update_product", json!({"id": 1}))]
    {
        for (argument, noun) in [("categories", "product category 9"), ("tags", "product tag 9")] {
            let mut call = more.clone();
            call[argument] = json!([{"id": 9}]);
            let (text, is_error) = content(&asked(&all(false, fake.clone()), tool, &call));
            assert!(is_error && text.contains(&format!("there is no {noun} ")), "{text}");
        }
    }
    assert!(fake.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", fake.lines());
    let call = json!({"id": 1, "categories": [{"id": 3}], "images": [{"id": 8}]});
    let mut answer = shown(&asked(&all(false, shop()), "woo_update_product", &call));
    answer.as_object_mut().unwrap().remove("previous_values");
    let category = json!([{"id": 3, "name": "R&D"}]);
    assert_eq!(
        answer,
        json!({"id": 1, "name": "Tea", "categories": category, "tags": [], "images": 1}),
        "everything was stored"
    );
}

#[test]
fn stock_is_set_where_it_is_counted() {
    let fake = Fake::json(json!({"id": 1, "stock_quantity": 4}));
    let server = all(false, fake.clone());
    asked(&server, "woo_update_stock", &json!({"product_id": 1, "stock_quantity": 4}));
    asked(&server, "woo_update_stock", &json!({"product_id": 1, "variation_id": 2, "stock_quantity": 4}));
    let lines: Vec<String> = fake.lines().into_iter().filter(|line| !line.starts_with("GET ")).collect();
    let body = r#"{"manage_stock":true,"stock_quantity":4}"#;
    assert_eq!((lines.len(), lines[0].split_once(' ').unwrap().0), (2, "POST"), "{lines:?}");
    assert!(lines[0].contains("/wc/v3/products/1?") || lines[0].contains("/wc/v3/products/1 "), "{lines:?}");
    assert!(lines[1].contains("/wc/v3/products/1/variations/2"), "{lines:?}");
    assert!(lines.iter().all(|line| line.ends_with(body)), "{lines:?}");
}

#[test]
fn a_site_without_the_shop_says_so() {
    let none = json!({"code": "rest_no_route", "message": "No route was found.", "data": {"status": 404}});
    let bare = || {
        let none = none.clone();
        Fake::new(move |request| {
            Ok(if request.url.contains("_fields=namespaces") {
                reply(200, &json!({"namespaces": ["wp/v2"]}))
            } else {
                reply(404, &none)
            })
        })
    };
    let (_, words, condition) = refused(&asked(&all(false, bare()), "woo_list_orders", &json!({})));
    assert_eq!((words.as_str(), condition.as_str()), ("WooCommerce not available", "platformMissing"));
    // Without a dialect, the model reads the reason.
    let answer = content(&asked_by_mcp(&all(false, bare()), "woo_list_orders", &json!({})));
    assert_eq!(answer, ("Error: WooCommerce not available [HTTP 404, rest_no_route]".to_owned(), true));
    let old = json!({"code": "rest_no_route", "message": "No route was found.", "data": {"status": 404}});
    let fake = Fake::new(move |request| {
        Ok(if request.url.contains("_fields=namespaces") {
            reply(200, &json!({"namespaces": ["wp/v2", "wc/v3"]}))
        } else {
            reply(404, &old)
        })
    });
    let (text, is_error) = content(&asked(&all(false, fake), "woo_get_coupon_totals", &json!({})));
    assert!(is_error && text.contains("WooCommerce does not offer this: it may be too old"), "{text}");
    let broken = Fake::json(json!("no list"));
    let (text, is_error) = content(&asked(&all(false, broken), "woo_list_tags", &json!({})));
    assert!(is_error && text.contains("instead of a list"), "{text}");
}

//! Tests of values that an update of a shop has replaced, and that a later call restores.

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

use super::{ShopSettings, server};
use crate::port::{HttpResponse, Verb};
use crate::rest::tests::{Fake, asked, asked_with, content, login, reply, request, shown};
use crate::server::Mapped;
use crate::site::SiteSettings;
use crate::{AnswerStyle, ToolServer};

/// A shop with one item at each of its routes, and the item.
fn one(item: &Value) -> (Arc<Fake>, Arc<Mutex<Value>>) {
    let stored = Arc::new(Mutex::new(item.clone()));
    let inside = stored.clone();
    let fake = Fake::replying(move |request| -> HttpResponse {
        let mut item = inside.lock().unwrap();
        if request.url.contains("/users/me") {
            return reply(200, &json!({"id": 3}));
        }
        if request.method == Verb::Post {
            let body: Value = serde_json::from_slice(request.body.whole().unwrap()).unwrap();
            item.as_object_mut().unwrap().extend(body.as_object().unwrap().clone());
        }
        reply(200, &item)
    });
    (fake, stored)
}

fn shop(personal_data: bool, fake: Arc<Fake>) -> ToolServer {
    let login = Some(login("https://shop.example", "ann", "p"));
    let settings = SiteSettings { login, ..SiteSettings::default() };
    server(&settings, ShopSettings { write: true, personal_data }, fake).unwrap()
}

#[test]
fn one_call_restores_the_values_that_another_has_replaced() {
    let product = json!({
        "id": 7, "name": "Tea", "regular_price": "9.90", "sale_price": "", "date_on_sale_to": null, "price": "9.90",
        "manage_stock": false, "stock_quantity": null, "stock_status": "instock", "categories": [{"id": 1, "name": "Teas", "slug": "teas"}],
    });
    let (fake, stored) = one(&product);
    let server = shop(false, fake.clone());
    let update =
        json!({"id": 7, "regular_price": "99.00", "date_on_sale_to": "2030-01-01", "stock_quantity": 5});
    let answer = asked(&server, "woo_update_product", &update);
    let address = shown(&answer)["previous_values"].as_str().unwrap().to_owned();
    assert!(address.starts_with("woo://previous/"), "{address}");
    assert_eq!(shown(&answer).get("not_kept"), None);
    assert_eq!(answer["result"]["content"][1]["uri"], json!(address));
    let read = request(&server, "resources/read", &json!({"uri": address}), None);
    assert!(read["result"]["contents"][0]["text"].as_str().unwrap().contains("9.90"), "{read}");

    let restored = shown(&asked(&server, "woo_restore_values", &json!({"previous_values": address})));
    let line = fake.lines().pop().unwrap();
    let body = r#"{"regular_price":"9.90","date_on_sale_to":"","stock_quantity":0,"manage_stock":false,"stock_status":"instock"}"#;
    assert!(
        line.starts_with("POST https://shop.example/wp-json/wc/v3/products/7?") && line.ends_with(body),
        "{line}"
    );
    assert_eq!(stored.lock().unwrap()["regular_price"], "9.90");
    // The restoration can be undone, too.
    let again = json!({"previous_values": restored["previous_values"]});
    asked(&server, "woo_restore_values", &again);
    assert_eq!(stored.lock().unwrap()["regular_price"], "99.00");
}

#[test]
fn the_stock_is_restored_with_its_tracking() {
    let (fake, stored) =
        one(&json!({"id": 2, "manage_stock": "parent", "stock_quantity": 4, "stock_status": "instock"}));
    let server = shop(false, fake.clone());
    let update = json!({"product_id": 1, "variation_id": 2, "stock_quantity": 9});
    let answer = shown(&asked(&server, "woo_update_stock", &update));
    assert_eq!(stored.lock().unwrap()["manage_stock"], true);
    asked(&server, "woo_restore_values", &json!({"previous_values": answer["previous_values"]}));
    assert_eq!(
        *stored.lock().unwrap(),
        json!({"id": 2, "manage_stock": false, "stock_quantity": 4, "stock_status": "instock"})
    );
    assert!(fake.lines().pop().unwrap().contains("/products/1/variations/2?"));
}

#[test]
fn hidden_values_are_not_kept_and_lines_of_orders_cannot_be_restored() {
    let order = json!({
        "id": 7, "status": "pending", "billing": {"first_name": "Maria", "address_1": "Main 1", "country": "NO"},
        "line_items": [{"id": 1, "quantity": 2}],
    });
    let update = json!({
        "id": 7, "status": "completed", "billing": {"first_name": "Ola"}, "line_items": [{"id": 1, "quantity": 0}],
    });
    for (personal_data, lost, kept) in [
        (false, json!(["billing", "line_items"]), json!({"status": "pending"})),
        (true, json!(["line_items"]), json!({"status": "pending", "billing": order["billing"]})),
    ] {
        let (fake, _) = one(&order);
        let server = shop(personal_data, fake);
        let answer = shown(&asked(&server, "woo_update_order", &update));
        assert_eq!(answer["not_kept"], lost, "{answer}");
        let read = request(&server, "resources/read", &json!({"uri": answer["previous_values"]}), None);
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap()["values"], kept);
        assert_eq!(text.contains("Maria"), personal_data, "{text}");
    }
    // The value of a setting that is a password is never shown, and not kept.
    let (fake, _) = one(&json!({"id": "key", "type": "password", "value": "sk_live_1"}));
    let update = json!({"group_id": "x", "id": "key", "value": "new"});
    let answer = shown(&asked(&shop(true, fake), "woo_update_setting", &update));
    assert_eq!((&answer["not_kept"], answer.get("previous_values")), (&json!(["value"]), None));
}

#[test]
fn a_dry_run_saves_nothing() {
    let (fake, stored) = one(&json!({"id": 7, "amount": "5.00", "code": "spring"}));
    let update = json!({"id": 7, "amount": "50.00", "dry_run": true});
    let answer = shown(&asked(&shop(false, fake.clone()), "woo_update_coupon", &update));
    assert_eq!(answer["changes"], json!({"amount": {"from": "5.00", "to": "50.00"}}));
    assert_eq!(stored.lock().unwrap()["amount"], "5.00");
    assert!(fake.lines().iter().all(|line| line.starts_with("GET ")), "{:?}", fake.lines());
}

#[test]
fn replaced_values_are_for_the_account_that_replaced_them() {
    let (fake, stored) = one(&json!({"id": 7, "amount": "5.00"}));
    let settings = SiteSettings::default();
    let server = server(&settings, ShopSettings { write: true, personal_data: true }, fake).unwrap();
    let of = |name: &str, url: &str| Mapped { site: Some(Ok(login(url, name, "p"))), ..Mapped::default() };
    let url = "https://shop.example";
    let update = json!({"id": 7, "amount": "50.00"});
    let answer = shown(&asked_with(&server, "woo_update_coupon", &update, Some(&of("ann", url))));
    let restore = json!({"previous_values": answer["previous_values"]});
    for (name, url) in [("ben", url), ("ann", "https://other.example"), ("ann", "https://shop.example/two")] {
        let (text, _) = content(&asked_with(&server, "woo_restore_values", &restore, Some(&of(name, url))));
        assert!(text.contains("no values are kept at this address for this account"), "{text}");
    }
    assert_eq!(stored.lock().unwrap()["amount"], "50.00");
    asked_with(&server, "woo_restore_values", &restore, Some(&of("ann", url)));
    assert_eq!(stored.lock().unwrap()["amount"], "5.00");
}

#[test]
fn a_shop_that_may_not_be_changed_has_nothing_to_restore() {
    let login = || Some(login("https://shop.example", "ann", "p"));
    let has = |settings: SiteSettings, shop: ShopSettings| {
        let server = server(&settings, shop, Fake::json(json!({}))).unwrap();
        let templates = request(&server, "resources/templates/list", &json!({}), None);
        (server.tools().any(|name| name == "woo_restore_values"), templates.get("result").is_some())
    };
    let write = ShopSettings { write: true, personal_data: false };
    let of =
        |answers, read_only| SiteSettings { login: login(), answers, read_only, ..SiteSettings::default() };
    assert_eq!(has(of(AnswerStyle::Compact, false), write), (true, true));
    assert_eq!(has(of(AnswerStyle::Compact, false), ShopSettings::default()), (false, false));
    assert_eq!(has(of(AnswerStyle::Compact, true), write), (false, false));
    assert_eq!(has(of(AnswerStyle::Plain, false), write), (false, false));
    let (fake, _) = one(&json!({"id": 7, "amount": "5.00"}));
    let settings = SiteSettings { login: login(), answers: AnswerStyle::Plain, ..SiteSettings::default() };
    let server = server(&settings, write, fake.clone()).unwrap();
    let answer = content(&asked(&server, "woo_update_coupon", &json!({"id": 7, "amount": "6"}))).0;
    assert!(!answer.contains("previous_values") && fake.lines().len() == 1, "{answer} {:?}", fake.lines());
}

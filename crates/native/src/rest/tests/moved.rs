//! Sites with another version of an API than the version that rows are written for, and sites that change versions.

use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::*;
use crate::community::buddypress::{Version, server};
use crate::site::SiteSettings;

#[test]
fn a_site_is_asked_in_the_version_that_it_has_now() {
    let is_new = Arc::new(AtomicBool::new(true));
    let seen = is_new.clone();
    let fake = Fake::new(move |request| {
        let (url, is_new) = (&request.url, seen.load(Ordering::SeqCst));
        let no = json!({"code": "rest_no_route", "message": "No route.", "data": {"status": 404}});
        Ok(match () {
            () if url.contains("namespaces") && is_new => {
                reply(200, &json!({"namespaces": ["buddypress/v1", "buddypress/v2"]}))
            }
            () if url.contains("namespaces") => {
                reply(200, &json!({"namespaces": ["wp/v2", "buddypress/v1"]}))
            }
            () if url.contains("/v1/") == is_new => reply(404, &no),
            () => reply(200, &json!({"id": 7})),
        })
    });
    let settings =
        SiteSettings { login: Some(login("https://x.example", "a", "b")), ..SiteSettings::default() };
    let server = server(&settings, Version::First, false, fake.clone()).unwrap();
    let asked_for = |wanted: &[&str]| {
        let (text, is_error) = content(&asked(&server, "buddypress_get_group", &json!({"id": 1})));
        assert!(!is_error, "{text}");
        let requests = std::mem::take(&mut *fake.asked.lock().unwrap());
        let found: Vec<&str> = requests
            .iter()
            .map(|request| {
                let words = ["/v1/", "/v2/", "namespaces"];
                words.into_iter().find(|word| request.url.contains(word)).unwrap()
            })
            .collect();
        assert_eq!(found, wanted);
    };
    asked_for(&["/v1/", "namespaces", "/v2/"]);
    asked_for(&["/v2/"]);
    // The site is set back to the previous version, and is asked for its APIs again.
    is_new.store(false, Ordering::SeqCst);
    fake.pass(Duration::from_secs(31));
    asked_for(&["/v2/", "namespaces", "/v1/"]);
    asked_for(&["/v1/"]);
    // The site's report is valid for a limited time.
    is_new.store(true, Ordering::SeqCst);
    fake.pass(Duration::from_mins(6));
    asked_for(&["/v1/", "namespaces", "/v2/"]);
}

#[test]
fn a_site_that_lacks_a_route_is_not_asked_about_it_each_time() {
    let no = json!({"code": "rest_no_route", "message": "No route.", "data": {"status": 404}});
    let fake = Fake::new(move |request| {
        let is_index = request.url.contains("namespaces");
        Ok(if is_index { reply(200, &json!({"namespaces": ["buddypress/v1"]})) } else { reply(404, &no) })
    });
    let open = SiteSettings { private_sites: true, ..SiteSettings::default() };
    let server = server(&open, Version::First, false, fake.clone()).unwrap();
    let called = |site: &str| {
        let mapped = Mapped { site: Some(Ok(login(site, "a", "b"))), image_key: None };
        let answer = asked_with(&server, "buddypress_get_group", &json!({"id": 1}), Some(&mapped));
        assert!(content(&answer).0.contains("deactivated there"), "{answer}");
        fake.lines().iter().filter(|line| line.contains("namespaces")).count()
    };
    for _ in 0..3 {
        assert_eq!(called("https://one.example"), 1);
    }
    assert_eq!(called("https://two.example"), 2, "what one site has is nothing of another's");
    fake.pass(Duration::from_secs(30));
    assert_eq!(called("https://one.example"), 3);
}

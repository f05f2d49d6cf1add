//! The API keys.

use std::time::{Duration, Instant};

use http::StatusCode;
use pages::model::{KeyForm, KeyRow, KeyStanding, KeysPage, NewKey};
use pages::{page, route};

use super::super::page_reply::{self, PageResult, done};
use super::super::page_request::{PageRequest, Subject};
use super::calls::duration;
use super::paging::{contains, part};
use super::{server_rows, texts};
use crate::insight::keys::{self, ListedKey, WantedKey};
use crate::insight::moment::PointInTime;
use gateway::changes::Refusal;

/// Shows the keys.
pub(in super::super) async fn show(request: &PageRequest) -> PageResult {
    let data = data(request).await?;
    page_reply::ok(page::keys(&request.frame(), &data))
}

async fn data(request: &PageRequest) -> Result<KeysPage, Refusal> {
    let (shard, q) = (&request.shard, request.query.shown("q"));
    let usage = server_rows::day(request).await;
    let all = keys::keys(shard).await?;
    let standing = request.standing();
    let row = |key: ListedKey| KeyRow {
        rules: keys::rules_that_name(&standing.config().access, &key),
        calls: usage.of_caller(&format!("key:{}", key.prefix)).calls,
        profiles: texts(key.profiles.unwrap_or_default()),
        created: key.created.0,
        expires: key.expires.map(|at| at.0),
        used: key.last_used.map(|at| at.0),
        standing: match key.state {
            "active" => KeyStanding::Valid,
            "expired" => KeyStanding::Expired,
            _ => KeyStanding::Revoked,
        },
        name: key.name.into(),
        prefix: key.prefix.into(),
    };
    let rows = all.keys.into_iter().map(row);
    let mut rows: Vec<KeyRow> =
        rows.filter(|row| contains(&[row.name.raw(), row.prefix.raw()], q.raw())).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.created));
    let (rows, paging) = part(request, rows);
    let wanted = (request.query.shown("profile"), request.query.shown("client"));
    let form = KeyForm {
        profiles: Some(wanted.0.clone()).filter(|slug| !slug.is_empty()).into_iter().collect(),
        ..KeyForm::default()
    };
    Ok(KeysPage {
        connect: wanted,
        accepted: all.accepted,
        q,
        rows,
        paging,
        profiles: texts(request.standing().config().profiles.keys()),
        made: None,
        form,
    })
}

/// Creates a key.
pub(in super::super) async fn create(request: &PageRequest) -> PageResult {
    let (form, started) = (&request.form, Instant::now());
    let profiles: Vec<String> = form.all("profile").map(str::to_owned).collect();
    let made = match expiry(form.text("expires")) {
        Err(fault) => Err(Refusal::request(fault)),
        Ok(expires_in_seconds) => {
            let chosen = (!profiles.is_empty()).then(|| profiles.clone());
            let wanted =
                WantedKey { name: form.text("name").to_owned(), profiles: chosen, expires_in_seconds };
            keys::create(&request.shard, wanted).await
        }
    };
    let what = made.as_ref().map(|key| format!("created: key {}", key.key_data.prefix)).unwrap_or_default();
    request.note(Subject::Gateway, started, &made, &what);
    let mut data = data(request).await?;
    match made {
        Ok(key) => {
            let gets_nothing = keys::gets_nothing(&request.shard, &key.key_data);
            let first = key.key_data.profiles.iter().flatten().next();
            data.connect = (first.map(|slug| slug.as_str().into()).unwrap_or_default(), form.shown("client"));
            data.made = Some(NewKey { name: key.key_data.name.into(), text: key.key, gets_nothing });
            // The response itself is the page with the key, because the key is not stored.
            Ok(page_reply::page(StatusCode::OK, page::keys(&request.frame(), &data)))
        }
        Err(refusal) => {
            data.connect.1 = form.shown("client");
            data.form = KeyForm {
                name: form.shown("name"),
                expires: form.shown("expires"),
                profiles: texts(profiles),
                fault: Some(refusal.message.into()),
            };
            Ok(page_reply::unusable(page::keys(&request.frame(), &data)))
        }
    }
}

/// Returns the number of seconds until the end of a key; `None` for a key that does not expire.
fn expiry(text: &str) -> Result<Option<u64>, String> {
    if text.is_empty() {
        return Ok(None);
    }
    if let Some(after) = duration(text).filter(|after| *after > Duration::ZERO) {
        return Ok(Some(after.as_secs()));
    }
    let day = text.parse::<jiff::civil::Date>().ok();
    let end = day.and_then(|day| day.at(23, 59, 59, 0).to_zoned(jiff::tz::TimeZone::UTC).ok());
    let end = end.map(|end| end.timestamp()).or_else(|| text.parse::<jiff::Timestamp>().ok());
    let end = end.and_then(|end| u64::try_from(end.as_millisecond()).ok());
    let left = end.and_then(|end| end.checked_sub(PointInTime::now().0)).map(|left| left / 1000);
    left.filter(|left| *left > 0).map(Some).ok_or_else(|| {
        format!("{text:?} is not a time in the future. Write a duration such as 30d or 12h, or a date in the form YYYY-MM-DD.")
    })
}

/// Revokes a key.
pub(in super::super) async fn revoke(request: &PageRequest) -> PageResult {
    let (form, started) = (&request.form, Instant::now());
    let known = keys::keys(&request.shard).await?.keys;
    let named = known.iter().find(|key| key.prefix == form.text("key"));
    let is_confirmed = named.is_some_and(|key| key.name == form.text("confirm"));
    if !is_confirmed {
        let message = "The typed name is not the name of the key, so the key was not revoked.";
        return Err(Refusal::new(422, "NOT_CONFIRMED", message));
    }
    let revoked = keys::revoke(&request.shard, form.text("key")).await;
    let what = revoked.as_ref().map(|key| format!("revoked: key {}", key.prefix)).unwrap_or_default();
    request.note(Subject::Gateway, started, &revoked, &what);
    Ok(done(
        request,
        revoked,
        route::KEYS,
        "The key was revoked. Clients that use it are refused from now on.",
    ))
}

#[cfg(test)]
mod tests {
    use super::expiry;

    #[test]
    fn keys_expire_after_a_duration_or_on_a_date() {
        assert_eq!((expiry(""), expiry("2d")), (Ok(None), Ok(Some(172_800))));
        assert!(expiry("2999-12-31").unwrap().unwrap() > 86_400 * 365);
        for wrong in ["0d", "2001-01-01", "soon", "-5d"] {
            assert!(expiry(wrong).is_err(), "{wrong}");
        }
    }
}

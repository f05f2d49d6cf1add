//! Connections between gateways of a cluster, which prove their identity with keys.

use http::{Request, Response, StatusCode, Version};

use super::*;
use crate::net::client::{ProxyUse, Route, Trust};
use crate::net::{Client, ClientError, ClientLimits, PeerKey, ResponseBody};

fn peer(key: &PeerKey) -> Served {
    let limits = ServerLimits { tls: Some(key.tls()), ..ServerLimits::default() };
    Served::start(limits, 8, |request: Request<Incoming>, _| async move {
        let version = request.version();
        Response::new(Body::from(format!("{version:?}")))
    })
}

async fn ask(served: &Served, trust: Option<Trust>) -> Result<Response<ResponseBody>, ClientError> {
    let client = Client::new(ClientLimits::default(), Trust::default());
    let uri = format!("https://{}/", served.addr);
    let request = Request::get(uri).body(Bytes::new()).unwrap();
    let route = Route { proxy: ProxyUse::Direct, trust };
    timeout(LONG, client.request_by(&route, request)).await.unwrap()
}

#[tokio::test]
async fn a_process_is_recognized_by_its_key() {
    let key = PeerKey::generate().unwrap();
    let served = peer(&key);
    let answer = ask(&served, Some(Trust::of_peer(key.public().clone()))).await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    let body = collect(answer.into_body(), Part::Answers, 1 << 10, Instant::now() + LONG).await.unwrap();
    assert_eq!(body, format!("{:?}", Version::HTTP_2));
    served.finish().await;
}

#[tokio::test]
async fn a_process_with_another_key_gets_no_request() {
    let (key, other) = (PeerKey::generate().unwrap(), PeerKey::generate().unwrap());
    assert_ne!(key.public(), other.public());
    let served = peer(&other);
    let refused = ask(&served, Some(Trust::of_peer(key.public().clone()))).await.unwrap_err();
    assert!(refused.is_unsent(), "{refused}");
    served.finish().await;
}

#[tokio::test]
async fn clients_that_expect_a_certificate_cannot_connect() {
    let key = PeerKey::generate().unwrap();
    let served = peer(&key);
    let refused = ask(&served, None).await.unwrap_err();
    assert!(refused.is_unsent(), "{refused}");
    served.finish().await;
}

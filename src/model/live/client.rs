//! The one place that opens a connection.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER};
use reqwest::redirect::Policy;
use serde_json::Value;
use tokio::sync::{Mutex, Semaphore};
use tokio::time::timeout;

use super::{Backoff, Key, Purse};
use crate::model::cassette::{Attempt, Cassette, Delivered, Masks};
use crate::model::provided::{Heard, Line, Sending, Unsent};
use crate::model::wire::{Content, Delivery, EventReader, Stop, StreamEvent, Wire};

/// How a provider is treated.
#[derive(Clone, Copy, Debug)]
pub struct Manners {
    /// How long may pass until something is received, and between one piece of a stream and the next.
    pub patience: Duration,
    /// When to try again.
    pub backoff: Backoff,
    /// The most requests on their way at one time.
    pub at_once: usize,
    /// The most requests a minute; `None`: as they come.
    pub a_minute: Option<u32>,
}

impl Default for Manners {
    fn default() -> Manners {
        Manners { patience: Duration::from_secs(120), backoff: Backoff::default(), at_once: 4, a_minute: None }
    }
}

/// A provider that can be asked.
pub struct Client {
    /// Its work goes on whoever polls, and ends with it.
    runtime: tokio::runtime::Runtime,
    asking: Arc<Asking>,
}

struct Asking {
    http: reqwest::Client,
    base_url: String,
    key: Option<Key>,
    manners: Manners,
    purse: Arc<Purse>,
    cassette: Option<Arc<Cassette>>,
    masks: Masks,
    stop: Arc<AtomicBool>,
    places: Semaphore,
    /// When the next request may be sent, under a limit a minute.
    next: Mutex<Option<Instant>>,
}

/// Why nobody can be asked.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The address is none.
    #[error("`{0}` is no address of a provider: it begins with https:// (or http:// on this machine or network)")]
    Address(String),
    /// The system gives no connection or thread.
    #[error("no connection can be made: {0}")]
    System(String),
}

impl Client {
    /// A client of a provider.
    ///
    /// # Errors
    /// The address is none, or the system lacks what a connection needs.
    pub fn new(
        base_url: &str,
        key: Option<Key>,
        manners: Manners,
        purse: Arc<Purse>,
        cassette: Option<Arc<Cassette>>,
        stop: Arc<AtomicBool>,
    ) -> Result<Client, ClientError> {
        let base_url = base_url.trim_end_matches('/').to_owned();
        let parsed = reqwest::Url::parse(&base_url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
        if parsed.is_none_or(|url| !url.username().is_empty() || url.password().is_some()) {
            return Err(ClientError::Address(base_url));
        }
        let system = |why: &dyn std::fmt::Display| ClientError::System(why.to_string());
        // Whoever installed another one first is served as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let roots = webpki_root_certs::TLS_SERVER_ROOT_CERTS.iter().filter_map(|root| reqwest::Certificate::from_der(root).ok());
        let http = reqwest::Client::builder()
            .tls_certs_only(roots.chain(own_roots()))
            // A redirected request would carry the key to somebody else.
            .redirect(Policy::none())
            .connect_timeout(manners.patience)
            .user_agent(concat!("ctxbench/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|why| system(&why.without_url()))?;
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().map_err(|why| system(&why))?;
        let masks = Masks::default().hiding(key.as_ref().map(Key::secret));
        let asking = Asking {
            http,
            base_url,
            key,
            places: Semaphore::new(manners.at_once.max(1)),
            manners,
            purse,
            cassette,
            masks,
            stop,
            next: Mutex::new(None),
        };
        Ok(Client { runtime, asking: Arc::new(asking) })
    }
}

/// Certificates that the user trusts besides, as `SSL_CERT_FILE` names them: a company's own, say.
fn own_roots() -> Vec<reqwest::Certificate> {
    let file = std::env::var_os("SSL_CERT_FILE").and_then(|path| std::fs::read(path).ok());
    file.and_then(|pem| reqwest::Certificate::from_pem_bundle(&pem).ok()).unwrap_or_default()
}

impl Line for Client {
    fn send(&self, sending: Sending) -> Heard {
        let asking = self.asking.clone();
        let work = self.runtime.spawn(async move { asking.exchange(sending).await });
        Box::pin(async move { work.await.unwrap_or_else(|why| Err(Unsent::Failed(format!("a request ended without a word: {why}")))) })
    }
}

impl Asking {
    /// All attempts at one request.
    async fn exchange(&self, sending: Sending) -> Result<Vec<Attempt>, Unsent> {
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut waited_ms = 0;
        let bytes = sending.body.bytes();
        loop {
            let number = attempts.len() as u32 + 1;
            let place = self.places.acquire().await.map_err(|_| Unsent::Interrupted)?;
            self.wait_for_turn().await?;
            let limit = u64::from(sending.asking.max_output_tokens);
            let reserved = self.purse.reserve(&sending.asking.model, sending.tokens, limit).map_err(Unsent::Cap)?;
            let send = self.cassette.as_ref().map(|cassette| cassette.sent(&sending.at, number, waited_ms, &sending.body));
            let sent = self.until_stopped(self.attempt(&sending, bytes.clone())).await;
            let answer = sent.as_ref().ok().map(|delivery| sending.asking.read(delivery));
            let usage = answer.as_ref().and_then(|answer| answer.as_ref().ok()?.usage);
            let replied = answer.as_ref().is_some_and(Result::is_ok);
            self.purse.settle(&sending.asking.model, reserved, usage.as_ref(), sending.tokens, replied);
            let (Ok(delivery), Some(answer)) = (sent, answer) else { return Err(Unsent::Interrupted) };
            // A stream that broke off is tried again as well; what came of it is kept if nothing better comes.
            let wait = match &answer {
                Ok(answer) if answer.stop != Stop::Partial => None,
                Ok(_) => self.manners.backoff.wait_ms(number, None, chance()),
                Err(trouble) if trouble.kind.may_pass() => self.manners.backoff.wait_ms(number, trouble.retry_after_ms, chance()),
                Err(_) => None,
            };
            if let (Some(cassette), Some(send)) = (&self.cassette, send) {
                let verbatim = answer.as_ref().ok().and_then(|answer| answer.usage_verbatim.clone());
                let last = wait.is_none();
                cassette
                    .delivered(send, Delivered { order: 0, send, reply: delivery.clone(), usage: verbatim, usage_classes: usage, last });
                if let Some(why) = cassette.broken() {
                    return Err(Unsent::Failed(why));
                }
            }
            // Whoever waits to try again leaves the place to others.
            drop(place);
            attempts.push(Attempt { waited_ms, delivery });
            match wait {
                None => return Ok(attempts),
                Some(ms) => {
                    waited_ms = ms;
                    self.until_stopped(tokio::time::sleep(Duration::from_millis(ms))).await?;
                }
            }
        }
    }

    /// Waits for its place under a limit a minute.
    async fn wait_for_turn(&self) -> Result<(), Unsent> {
        let Some(a_minute) = self.manners.a_minute else { return Ok(()) };
        let gap = Duration::from_secs(60) / a_minute.max(1);
        let mut next = self.next.lock().await;
        let now = Instant::now();
        let mine = next.filter(|next| *next > now).unwrap_or(now);
        *next = Some(mine + gap);
        drop(next);
        self.until_stopped(tokio::time::sleep(mine - now)).await
    }

    /// Does something, unless the run is stopped before it is done.
    async fn until_stopped<T>(&self, work: impl Future<Output = T>) -> Result<T, Unsent> {
        let mut work = std::pin::pin!(work);
        loop {
            if self.stop.load(Ordering::Relaxed) {
                return Err(Unsent::Interrupted);
            }
            if let Ok(done) = timeout(Duration::from_millis(20), work.as_mut()).await {
                return Ok(done);
            }
        }
    }

    /// One attempt. Whatever happens is in the delivery.
    async fn attempt(&self, sending: &Sending, bytes: Vec<u8>) -> Delivery {
        let begun = Instant::now();
        let mut delivery =
            Delivery { status: None, ms: 1, content: Content::Text(String::new()), trouble: None, timed_out: false, retry_after_ms: None };
        self.receive(sending, bytes, begun, &mut delivery).await;
        delivery.ms = ms_since(begun);
        delivery.trouble = delivery.trouble.map(|why| self.masks.redact_text(&why));
        match &mut delivery.content {
            Content::Json(value) => self.redact(value),
            Content::Text(text) => *text = self.redact_text(text),
            Content::Events(events) => events.iter_mut().for_each(|event| event.data = self.redact_text(&event.data)),
        }
        delivery
    }

    fn redact(&self, value: &mut Value) {
        self.masks.redact(value);
        if let Some(cassette) = &self.cassette {
            cassette.masks().redact(value);
        }
    }

    fn redact_text(&self, text: &str) -> String {
        let text = self.masks.redact_text(text);
        self.cassette.as_ref().map_or_else(|| text.clone(), |cassette| cassette.masks().redact_text(&text))
    }

    async fn receive(&self, sending: &Sending, bytes: Vec<u8>, begun: Instant, delivery: &mut Delivery) {
        let url = format!("{}/{}", self.base_url, sending.asking.wire.path());
        let request = self.http.post(url).headers(self.headers(sending.asking.wire)).body(bytes);
        let patience = self.manners.patience;
        let out_of_time = |delivery: &mut Delivery| {
            delivery.timed_out = true;
            delivery.trouble = Some(format!("nothing was received for {} ms", patience.as_millis()));
        };
        let mut response = match timeout(patience, request.send()).await {
            Err(_) => return out_of_time(delivery),
            Ok(Err(why)) => {
                delivery.timed_out = why.is_timeout();
                delivery.trouble = Some(format!("no connection: {}", causes(&why.without_url())));
                return;
            }
            Ok(Ok(response)) => response,
        };
        delivery.status = Some(response.status().as_u16());
        delivery.retry_after_ms = retry_after(response.headers());
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default().to_owned();
        let mut events = kind.starts_with("text/event-stream").then(|| (EventReader::default(), Vec::new()));
        let mut whole: Vec<u8> = Vec::new();
        loop {
            match timeout(patience, response.chunk()).await {
                Err(_) => {
                    out_of_time(delivery);
                    break;
                }
                Ok(Err(why)) => {
                    delivery.trouble = Some(format!("the reply broke off: {}", causes(&why.without_url())));
                    break;
                }
                Ok(Ok(None)) => break,
                Ok(Ok(Some(chunk))) => match &mut events {
                    Some((reader, events)) => {
                        let ms = ms_since(begun);
                        events.extend(reader.take(&chunk).into_iter().map(|(event, data)| StreamEvent { ms, event, data }));
                    }
                    None if whole.len() + chunk.len() > MOST_BYTES => {
                        delivery.trouble = Some(format!("the reply is longer than {MOST_BYTES} bytes"));
                        break;
                    }
                    None => whole.extend_from_slice(&chunk),
                },
            }
        }
        delivery.content = match events {
            Some((_, events)) => Content::Events(events),
            None => match serde_json::from_slice(&whole) {
                Ok(value) => Content::Json(value),
                Err(_) => Content::Text(String::from_utf8_lossy(&whole).into_owned()),
            },
        };
    }

    fn headers(&self, wire: Wire) -> HeaderMap {
        let mut headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static("application/json"))]);
        if wire == Wire::Messages {
            headers.insert(HeaderName::from_static("anthropic-version"), HeaderValue::from_static("2023-06-01"));
        }
        if let Some(key) = &self.key {
            let (name, value) = match wire {
                Wire::Messages => ("x-api-key", key.secret().to_owned()),
                Wire::Chat | Wire::Responses => ("authorization", format!("Bearer {}", key.secret())),
            };
            // A key was looked at when it was read: a header can carry it.
            if let Ok(mut value) = HeaderValue::from_str(&value) {
                value.set_sensitive(true);
                headers.insert(HeaderName::from_static(name), value);
            }
        }
        headers
    }
}

/// More than any reply is.
const MOST_BYTES: usize = 64 << 20;

fn ms_since(begun: Instant) -> u64 {
    u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX).max(1)
}

/// How long a provider asks to wait: in milliseconds, or in seconds. A date is not read.
fn retry_after(headers: &HeaderMap) -> Option<u64> {
    let number = |name: &str| headers.get(name)?.to_str().ok()?.trim().parse::<f64>().ok().filter(|wait| wait.is_finite() && *wait >= 0.0);
    let ms = number("retry-after-ms").or_else(|| number(RETRY_AFTER.as_str()).map(|seconds| seconds * 1000.0))?;
    Some(ms.ceil() as u64)
}

/// An error with what caused it.
fn causes(why: &dyn std::error::Error) -> String {
    let mut said = why.to_string();
    let mut next = why.source();
    while let Some(cause) = next {
        let cause_said = cause.to_string();
        if !said.contains(&cause_said) {
            said.push_str(": ");
            said.push_str(&cause_said);
        }
        next = cause.source();
    }
    said
}

/// A number that nobody can foresee.
fn chance() -> u64 {
    RandomState::new().build_hasher().finish()
}

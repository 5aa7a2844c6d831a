//! ROS 2 node: joins the graph by a token, and creates publishers and subscriptions. Callbacks run on Zenoh threads and must not block.

use super::super::outlet::now_ns;
use super::super::replies::{ANSWER_TIMEOUT, tokens};
use super::NAMESPACE;
use super::attachment::{Attachment, Gid};
use super::environment::RosEnvironment;
use super::error::RosError;
use super::qos::Qos;
use super::token::{self, NodeToken, PublisherToken};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;
use stereopsis_frame::Cause;
use stereopsis_recording::format::Kind;
use stereopsis_recording::topic;
use zenoh::Wait as _;
use zenoh::bytes::ZBytes;
use zenoh::liveliness::LivelinessToken;
use zenoh::matching::MatchingListener;
use zenoh::pubsub::{Publisher, Subscriber};
use zenoh::qos::CongestionControl;
use zenoh_ext::{AdvancedPublisher, AdvancedPublisherBuilderExt as _, CacheConfig, MissDetectionConfig};

/// Interval at which a latched topic announces its newest sequence number.
const HEARTBEAT: Duration = Duration::from_millis(500);
/// Maximum number of tokens; a hostile network may have any number.
const MAX_TOKENS: usize = 16_384;

/// Node of the ROS 2 graph. It leaves the graph when it and all its publishers and subscriptions are dropped.
pub struct Node {
    session: zenoh::Session,
    token: NodeToken,
    routers: String,
    next_id: AtomicU64,
    _declared: LivelinessToken,
}

impl Node {
    /// Joins the graph as `/stereo/NAME` without waiting for a router.
    ///
    /// # Errors
    /// The configuration is invalid, or no session can be opened.
    pub fn open(environment: &RosEnvironment, name: &'static str) -> Result<Self, RosError> {
        Self::open_in(environment, NAMESPACE.to_owned(), name)
    }

    /// Joins the graph in another namespace, such as `/pi`, which replaces `/stereo` in topic names.
    ///
    /// # Errors
    /// See [`Node::open`].
    pub fn open_in(environment: &RosEnvironment, namespace: String, name: &'static str) -> Result<Self, RosError> {
        let config = environment.zenoh()?;
        let routers = RosEnvironment::routers(&config);
        let failed = |cause| RosError::Join(routers.clone(), cause);
        let session = zenoh::open(config).wait().map_err(failed)?;
        let session_id = session.zid().to_string();
        let token = NodeToken { domain: environment.domain, session: session_id, id: 0, namespace, name };
        let declared = session.liveliness().declare_token(token.node()).wait().map_err(failed)?;
        Ok(Self { session, token, routers, next_id: AtomicU64::new(1), _declared: declared })
    }

    /// Returns the full name, with the namespace.
    pub fn name(&self) -> String {
        format!("{}/{}", self.token.namespace, self.token.name)
    }

    /// Returns the domain number.
    pub fn domain(&self) -> u32 {
        self.token.domain
    }

    /// Returns the addresses of the routers.
    pub fn routers(&self) -> &str {
        &self.routers
    }

    /// Returns whether a router is connected; without one, no other node is visible.
    pub fn is_connected(&self) -> bool {
        self.session.info().routers_zid().wait().next().is_some()
    }

    /// Returns the error of a missing router.
    pub fn no_router(&self) -> RosError {
        RosError::NoRouter(self.routers.clone())
    }

    /// Queries the publishers of the domain; fewer if the network does not answer in time.
    pub(super) fn published(&self) -> BTreeSet<PublisherToken> {
        let tokens = tokens(&self.session, &token::all(self.token.domain), ANSWER_TIMEOUT, MAX_TOKENS);
        tokens.unwrap_or_default().0.iter().filter_map(|token| PublisherToken::of(token)).collect()
    }

    /// Queries the number of publishers of the domain.
    pub fn publishers(&self) -> usize {
        self.published().len()
    }

    /// Resolves a recording's topic in the node's namespace. All nodes share one topic of transforms.
    fn resolved(&self, topic: &str) -> String {
        let namespace = &self.token.namespace;
        match topic.strip_prefix(NAMESPACE).filter(|rest| rest.starts_with('/')) {
            Some(rest) => format!("{namespace}{rest}"),
            None if namespace == NAMESPACE || topic == topic::TRANSFORMS => topic.to_owned(),
            None => format!("{namespace}{topic}"),
        }
    }

    fn next_id(&self) -> u64 {
        self.next_id.fetch_add(1, Ordering::Relaxed)
    }

    fn declare(&self, token: &str, topic: &str) -> Result<LivelinessToken, RosError> {
        let declared = self.session.liveliness().declare_token(token.to_owned()).wait();
        declared.map_err(|cause| RosError::Show(topic.to_owned(), cause))
    }

    /// Publishes a topic. `on_change` is called with true when the first subscription appears, and with false when the last one is gone.
    ///
    /// # Errors
    /// The session has ended.
    pub fn publisher(
        &self,
        topic: &str,
        kind: Kind,
        qos: Qos,
        on_change: impl Fn(bool) + Send + Sync + 'static,
    ) -> Result<NodePublisher, RosError> {
        let topic = &self.resolved(topic);
        let failed = |cause| RosError::Publish(topic.clone(), cause);
        let token = self.token.end(self.next_id(), token::PUBLISHER, topic, kind, qos);
        let key = token::data(self.token.domain, topic, kind);
        let publisher = self.session.declare_publisher(key).congestion_control(CongestionControl::Drop);
        let publisher = if qos.is_latched {
            let latched = publisher.cache(CacheConfig::default().max_samples(qos.depth)).publisher_detection();
            let numbers = MissDetectionConfig::default().sporadic_heartbeat(HEARTBEAT);
            PublisherHandle::Latched(latched.sample_miss_detection(numbers).wait().map_err(failed)?)
        } else {
            PublisherHandle::Plain(publisher.wait().map_err(failed)?)
        };
        let is_received = Arc::<AtomicBool>::default();
        let noted = Arc::clone(&is_received);
        let note = move |status: zenoh::matching::MatchingStatus| {
            noted.store(status.matching(), Ordering::Release);
            on_change(status.matching());
        };
        let (status, listener) = match &publisher {
            PublisherHandle::Plain(it) => (it.matching_status().wait(), it.matching_listener().callback(note).wait()),
            PublisherHandle::Latched(it) => (it.matching_status().wait(), it.matching_listener().callback(note).wait()),
        };
        let listener = listener.map_err(failed)?;
        is_received.fetch_or(status.is_ok_and(|status| status.matching()), Ordering::AcqRel);
        Ok(NodePublisher {
            gid: Gid::of(&token),
            _declared: self.declare(&token, topic)?,
            _listener: listener,
            publisher,
            is_latched: qos.is_latched,
            is_received,
            sequence: 0,
        })
    }

    /// Subscribes to a topic; `take` gets the bytes of each message and its send time, ns since 1970, if known.
    ///
    /// # Errors
    /// The session has ended.
    pub fn subscribe(
        &self,
        topic: &str,
        kind: Kind,
        qos: Qos,
        take: impl Fn(&[u8], Option<u64>) + Send + Sync + 'static,
    ) -> Result<NodeSubscription, RosError> {
        // declare the token first: from Lyrical on, publishers send only to subscriptions with a known token
        let token = self.token.end(self.next_id(), token::SUBSCRIPTION, topic, kind, qos);
        let declared = self.declare(&token, topic)?;
        let key = token::data_of_all(self.token.domain, topic, kind);
        let subscriber = self.session.declare_subscriber(key).callback(move |sample| {
            let attachment = sample.attachment().map(ZBytes::to_bytes).and_then(|bytes| Attachment::of(&bytes));
            take(&sample.payload().to_bytes(), attachment.and_then(|sent| u64::try_from(sent.sent_ns).ok()));
        });
        let subscriber = subscriber.wait().map_err(|cause| RosError::Receive(topic.to_owned(), cause))?;
        Ok(NodeSubscription { _subscriber: subscriber, _declared: declared })
    }
}

enum PublisherHandle {
    Plain(Publisher<'static>),
    /// Publisher that keeps the last messages for late subscribers.
    Latched(AdvancedPublisher<'static>),
}

/// Publisher of a node; the token must be dropped before the publisher.
pub struct NodePublisher {
    _declared: LivelinessToken,
    _listener: MatchingListener<()>,
    publisher: PublisherHandle,
    gid: Gid,
    is_latched: bool,
    is_received: Arc<AtomicBool>,
    sequence: i64,
}

impl NodePublisher {
    /// Returns whether a message must be sent: there is a subscription, or the topic is latched.
    pub fn is_wanted(&self) -> bool {
        self.is_latched || self.is_received()
    }

    /// Returns whether there is a subscription.
    pub fn is_received(&self) -> bool {
        self.is_received.load(Ordering::Acquire)
    }

    /// Returns whether the last message is kept for late subscribers.
    pub fn is_latched(&self) -> bool {
        self.is_latched
    }

    /// Sends a CDR message. On a congested network, waits for some milliseconds and then drops the message.
    ///
    /// # Errors
    /// The session has ended.
    pub fn put(&mut self, message: Vec<u8>) -> Result<(), Cause> {
        self.sequence += 1;
        let sent = Attachment { sequence: self.sequence, sent_ns: now_ns() as i64, gid: self.gid };
        let attachment = sent.to_bytes().to_vec();
        match &self.publisher {
            PublisherHandle::Plain(publisher) => publisher.put(message).attachment(attachment).wait(),
            PublisherHandle::Latched(publisher) => publisher.put(message).attachment(attachment).wait(),
        }
    }
}

/// Subscription of a node, which ends when this is dropped.
pub struct NodeSubscription {
    _subscriber: Subscriber<()>,
    _declared: LivelinessToken,
}

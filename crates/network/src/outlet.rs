//! Sending end of a stream: a thread encodes and publishes the newest offered item, so that neither camera nor engine waits for the
//! network.

use super::error::NetworkError;
use super::session::Network;
use super::wire::{self, Content, Head};
use parking_lot::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Instant, SystemTime};
use stereopsis_base::newest;
use stereopsis_base::newest::{NewestReceiver, NewestSender};
use stereopsis_base::rate::Rate;
use stereopsis_base::threads::join_or_detach;
use stereopsis_frame::Cause;
use stereopsis_recording::{Packet, time};
use zenoh::Wait as _;
use zenoh::pubsub::Publisher;
use zenoh::qos::{CongestionControl, Priority};

/// Contents of a message to send.
pub struct Parcel {
    /// Number of the rig's description.
    pub about: u32,
    /// Capture time of the left image in the head's clock, ns since 1970.
    pub taken_ns: u64,
    /// Packets of the message.
    pub packets: Vec<Packet>,
}

/// Counters of a sender.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct OutletCounts {
    /// Number of sent messages.
    pub sent: u64,
    /// Number of sent bytes.
    pub bytes: u64,
    /// Rate of messages, Hz.
    pub rate_hz: f64,
    /// Number of items replaced by newer ones before they were sent.
    pub dropped: u64,
    /// Whether there is a receiver.
    pub is_received: bool,
    /// Error of the last failed message.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
}

/// Publisher of a stream with its thread.
pub struct Outlet<T> {
    sender: Option<NewestSender<T>>,
    receiver: NewestReceiver<T>,
    /// Counters of its thread, and the rate.
    counted: Arc<Mutex<(OutletCounts, Rate)>>,
    is_received: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Key and content of a published stream.
pub struct Stream {
    /// Key expression.
    pub key: String,
    /// Content of its messages.
    pub content: Content,
    /// Number of the sender's run.
    pub boot: u64,
}

impl<T: Send + 'static> Outlet<T> {
    /// Starts a thread that encodes each offered item with `pack` and publishes it.
    ///
    /// # Errors
    /// The session has ended, or the system provides no thread.
    pub fn start(
        network: &Network,
        stream: Stream,
        mut pack: impl FnMut(T) -> Result<Parcel, Cause> + Send + 'static,
    ) -> Result<Self, NetworkError> {
        let Stream { key, content, boot } = stream;
        let failed = |cause: Cause| NetworkError::Zenoh("publish", key.clone(), cause);
        // `BlockFirst` drops at once; `Drop` waits up to 50 ms and then discards the rest of a large message, `Block` waits up to 5 s
        let publisher = network.session().declare_publisher(key.clone());
        let publisher = publisher.congestion_control(CongestionControl::BlockFirst).priority(priority(content)).wait();
        let publisher = publisher.map_err(failed)?;
        let is_received =
            Arc::new(AtomicBool::new(publisher.matching_status().wait().is_ok_and(|status| status.matching())));
        let noted = Arc::clone(&is_received);
        let listener =
            publisher.matching_listener().callback(move |status| noted.store(status.matching(), Ordering::Release));
        listener.background().wait().map_err(failed)?;
        let (sender, receiver) = newest::channel::<T>();
        let counted = Arc::<Mutex<(OutletCounts, Rate)>>::default();
        let (taken, shared) = (receiver.clone(), Arc::clone(&counted));
        let work = move || {
            let mut sequence = 0;
            while let Ok(offered) = taken.channel().recv() {
                match pack(offered).and_then(|parcel| put(&publisher, content, boot, sequence, parcel)) {
                    Ok(bytes) => {
                        sequence += 1;
                        let (counts, rate) = &mut *shared.lock();
                        (counts.sent, counts.bytes, counts.error) = (sequence, counts.bytes + bytes, None);
                        rate.record(Instant::now());
                    }
                    Err(why) => shared.lock().0.error = Some(why.to_string()),
                }
            }
        };
        let thread = std::thread::Builder::new().name("outlet".into()).spawn(work).map_err(|err| failed(err.into()))?;
        Ok(Self { sender: Some(sender), receiver, counted, is_received, thread: Some(thread) })
    }

    /// Queues an item; a waiting one is replaced and counted.
    pub fn offer(&self, offered: T) {
        if let Some(sender) = &self.sender {
            let _ = sender.send(offered); // fails only at the end
        }
    }

    /// Returns whether there is a receiver; without one, nothing needs to be offered.
    pub fn is_received(&self) -> bool {
        self.is_received.load(Ordering::Acquire)
    }

    /// Returns the counters.
    pub fn counts(&self) -> OutletCounts {
        let (counts, rate) = &mut *self.counted.lock();
        let (rate_hz, dropped) = (rate.per_second(Instant::now()), self.receiver.dropped());
        OutletCounts { rate_hz, dropped, is_received: self.is_received(), ..counts.clone() }
    }
}

impl<T> Drop for Outlet<T> {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            join_or_detach(thread, "a publishing thread");
        }
    }
}

fn put(publisher: &Publisher<'_>, content: Content, boot: u64, sequence: u64, parcel: Parcel) -> Result<u64, Cause> {
    let Parcel { about, taken_ns, packets } = parcel;
    let payload = wire::payload(packets, content)?;
    let head = Head { content, about, boot, sequence, taken_ns, sent_ns: now_ns() };
    let bytes = (payload.len() + wire::HEAD_BYTES) as u64;
    publisher.put(payload).attachment(head.to_bytes().to_vec()).wait()?;
    Ok(bytes)
}

pub(super) fn now_ns() -> u64 {
    time::to_ns(SystemTime::now())
}

/// Returns the priority of a content on a slow network. Each content has its own, because messages of one priority replace each other.
fn priority(content: Content) -> Priority {
    match content {
        Content::Pair => Priority::DataHigh,
        Content::Result => Priority::Data,
    }
}

//! Pictures of two topics, paired by their stamps as they come. The newest pair waits for its reader.

use super::super::outlet::now_ns;
use crate::calibration::CameraInfo;
use crate::capture::Skew;
use crate::capture::pairing::{Pairing, Side};
use crate::newest::{self, NewestReceiver, NewestSender};
use crate::recording::{Body, Channel, Packet, format, time};
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Rate of two topics until it is measured, Hz.
const DEFAULT_RATE_HZ: f64 = 30.0;

/// Where the messages of all subscriptions go.
pub(super) struct Intake {
    state: Mutex<State>,
    sender: NewestSender<[Packet; 2]>,
}

struct State {
    pairing: Pairing<Packet>,
    cameras: [Option<CameraInfo>; 2],
    /// When the last picture of each view came.
    came: [Option<Instant>; 2],
    refused: u64,
    refusal: Option<String>,
}

/// What has come so far.
pub(super) struct Came {
    /// When the last picture of each view came.
    pub(super) last: [Option<Instant>; 2],
    /// Pictures without a partner.
    pub(super) unpaired: u64,
    pub(super) skew: Option<Skew>,
    /// Messages that were refused, and why the last one was.
    pub(super) refused: Option<(u64, String)>,
}

impl Intake {
    /// An empty one, and its pairs: left and right.
    pub(super) fn new() -> (Arc<Self>, NewestReceiver<[Packet; 2]>) {
        let (sender, pairs) = newest::channel();
        let state = State {
            pairing: Pairing::new(DEFAULT_RATE_HZ, DEFAULT_RATE_HZ),
            cameras: [None, None],
            came: [None, None],
            refused: 0,
            refusal: None,
        };
        (Arc::new(Self { state: Mutex::new(state), sender }), pairs)
    }

    /// Takes a picture; `sent_ns` is when its publisher sent it, for pictures without a stamp.
    pub(super) fn picture(&self, side: Side, channel: &Arc<Channel>, message: &[u8], sent_ns: Option<u64>) {
        let Some(stamp) = stamp(message) else {
            return self.refuse(format!("{}: {} bytes are no message", channel.topic, message.len()));
        };
        let now_ns = now_ns();
        let packet = Packet {
            channel: Arc::clone(channel),
            sequence: 0,
            log_time_ns: now_ns,
            publish_time_ns: sent_ns.unwrap_or(now_ns),
            data: message.to_vec(),
        };
        let taken = if stamp > UNIX_EPOCH { stamp } else { time::from_ns(packet.publish_time_ns) };
        let mut state = self.state.lock();
        state.came[side as usize] = Some(Instant::now());
        state.pairing.push(side, taken, packet);
        while let Some(pair) = state.pairing.pop() {
            let _ = self.sender.send([pair.left, pair.right]); // fails only at the end
        }
    }

    /// Takes the description of a camera.
    pub(super) fn camera(&self, side: Side, channel: &Channel, message: &[u8]) {
        match format::decode(channel, message).map(|message| message.body) {
            Ok(Body::Camera(camera)) => self.state.lock().cameras[side as usize] = Some(*camera),
            Ok(_) => {}
            Err(err) => self.refuse(err.to_string()),
        }
    }

    /// Counts a message that makes no sense.
    pub(super) fn refuse(&self, why: String) {
        let mut state = self.state.lock();
        state.refused += 1;
        state.refusal = Some(why);
    }

    /// The newest cameras.
    pub(super) fn cameras(&self) -> [Option<CameraInfo>; 2] {
        self.state.lock().cameras.clone()
    }

    /// Columns and rows of the cameras, where a driver publishes them: no picture has more.
    pub(super) fn camera_size(&self) -> Option<(usize, usize)> {
        let state = self.state.lock();
        let sizes = state.cameras.iter().flatten().map(|camera| (camera.width as usize, camera.height as usize));
        // a driver that knows nothing of its camera says 0
        let known = sizes.filter(|&(columns, rows)| columns > 0 && rows > 0);
        known.reduce(|left, right| (left.0.min(right.0), left.1.min(right.1)))
    }

    /// What has come so far.
    pub(super) fn came(&self) -> Came {
        let state = self.state.lock();
        Came {
            last: state.came,
            unpaired: state.pairing.unpaired(),
            skew: state.pairing.skew(),
            refused: state.refusal.clone().map(|why| (state.refused, why)),
        }
    }
}

/// The stamp at the beginning of a message with a header, without reading the rest; 1970 for an earlier one. `None` if these are no
/// message's bytes.
fn stamp(message: &[u8]) -> Option<SystemTime> {
    let head: &[u8; 12] = message.first_chunk()?;
    let word = |at: usize| -> [u8; 4] { std::array::from_fn(|k| head[at + k]) };
    let (sec, nanosec) = match head[..2] {
        [0, 1] => (i32::from_le_bytes(word(4)), u32::from_le_bytes(word(8))),
        [0, 0] => (i32::from_be_bytes(word(4)), u32::from_be_bytes(word(8))),
        _ => return None,
    };
    let since = Duration::from_secs(u64::try_from(sec).unwrap_or(0)) + Duration::from_nanos(nanosec.into());
    Some(UNIX_EPOCH + since)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::format::Kind;
    use crate::recording::message::{Encoding, ImageBody};
    use crate::recording::{Format, Message};

    fn picture(taken_ns: u64) -> Vec<u8> {
        let image = ImageBody { width: 2, height: 1, encoding: Encoding::Mono8, step: 2, data: [1, 2].into() };
        let stamp = time::from_ns(taken_ns);
        Format::Ros2.encode(&Message { stamp, frame_id: "a".to_owned(), body: Body::Image(image) })
    }

    fn channel() -> Arc<Channel> {
        Arc::new(Format::Ros2.channel_of("/left", Kind::Image))
    }

    #[test]
    fn equal_and_nearly_equal_stamps_make_pairs_and_the_newest_waits() {
        let (intake, pairs) = Intake::new();
        let frame = |k: u64, skew_ns: u64| 1_000_000_000 + k * 33_000_000 + skew_ns;
        for k in 0..5 {
            intake.picture(Side::Left, &channel(), &picture(frame(k, 0)), None);
            intake.picture(Side::Right, &channel(), &picture(frame(k, 4_000_000)), None);
        }
        let [left, right] = pairs.try_recv().unwrap();
        assert_eq!((left.data, right.data), (picture(frame(4, 0)), picture(frame(4, 4_000_000))));
        assert_eq!((pairs.try_recv().is_err(), pairs.dropped()), (true, 4));
        let skew = intake.came().skew.unwrap();
        assert!((skew.mean_s - 0.004).abs() < 1e-9 && intake.came().unpaired == 0, "{skew:?}");
    }

    #[test]
    fn pictures_without_a_stamp_are_paired_by_when_they_were_sent() {
        let (intake, pairs) = Intake::new();
        intake.picture(Side::Left, &channel(), &picture(0), Some(5_000_000_000));
        intake.picture(Side::Right, &channel(), &picture(0), Some(7_000_000_000));
        assert!(pairs.try_recv().is_err());
        intake.picture(Side::Left, &channel(), &picture(0), Some(7_000_000_000));
        assert!(pairs.try_recv().is_ok() && intake.came().unpaired == 1);
    }

    #[test]
    fn what_makes_no_sense_is_counted() {
        let (intake, pairs) = Intake::new();
        for bytes in [&[][..], &[0, 1, 0, 0], &[7; 40]] {
            intake.picture(Side::Left, &channel(), bytes, None);
        }
        intake.camera(Side::Left, &Format::Ros2.channel_of("/camera_info", Kind::Camera), &[0, 1, 0, 0, 9]);
        let (count, why) = intake.came().refused.unwrap();
        assert!(count == 4 && why.contains("/camera_info"), "{why}");
        assert!(pairs.try_recv().is_err() && intake.came().last == [None, None]);
    }
}

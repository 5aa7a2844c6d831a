//! Pairs the images of two topics by their stamps, and keeps the newest pair for its reader. Messages are validated only as far as the
//! stamp; the reader decodes them.

use super::super::outlet::now_ns;
use parking_lot::Mutex;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};
use stereopsis_base::newest;
use stereopsis_base::newest::{NewestReceiver, NewestSender};
use stereopsis_calibration::CameraInfo;
use stereopsis_frame::pairing::Pairing;
use stereopsis_frame::{Side, Skew};
use stereopsis_recording::{Body, Channel, Packet, format, time};

const DEFAULT_RATE_HZ: f64 = 30.0;

/// Receiver of the messages of all subscriptions.
pub(super) struct Intake {
    state: Mutex<IntakeState>,
    sender: NewestSender<[Packet; 2]>,
}

struct IntakeState {
    pairing: Pairing<Packet>,
    cameras: [Option<CameraInfo>; 2],
    /// Arrival of the last image of each side.
    came: [Option<Instant>; 2],
    refused: u64,
    refusal: Option<String>,
}

pub(super) struct IntakeStatus {
    /// Arrival of the last image of each side.
    pub(super) last: [Option<Instant>; 2],
    pub(super) unpaired: u64,
    pub(super) skew: Option<Skew>,
    /// Number of refused messages, and the last reason.
    pub(super) refused: Option<(u64, String)>,
}

impl Intake {
    /// Creates an intake and the queue of its pairs, left image first.
    pub(super) fn new() -> (Arc<Self>, NewestReceiver<[Packet; 2]>) {
        let (sender, pairs) = newest::channel();
        let state = IntakeState {
            pairing: Pairing::new(DEFAULT_RATE_HZ, DEFAULT_RATE_HZ),
            cameras: [None, None],
            came: [None, None],
            refused: 0,
            refusal: None,
        };
        (Arc::new(Self { state: Mutex::new(state), sender }), pairs)
    }

    /// Adds an image; its send time `sent_ns`, ns since 1970, replaces a missing stamp.
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

    pub(super) fn camera(&self, side: Side, channel: &Channel, message: &[u8]) {
        match format::decode(channel, message).map(|message| message.body) {
            Ok(Body::Camera(camera)) => self.state.lock().cameras[side as usize] = Some(*camera),
            Ok(_) => {}
            Err(err) => self.refuse(err.to_string()),
        }
    }

    pub(super) fn refuse(&self, why: String) {
        let mut state = self.state.lock();
        state.refused += 1;
        state.refusal = Some(why);
    }

    pub(super) fn cameras(&self) -> [Option<CameraInfo>; 2] {
        self.state.lock().cameras.clone()
    }

    /// Returns the maximum size of images: the smaller width and height of the described cameras, px; `None` without a description.
    pub(super) fn camera_size(&self) -> Option<(usize, usize)> {
        let state = self.state.lock();
        let sizes = state.cameras.iter().flatten().map(|camera| (camera.width as usize, camera.height as usize));
        // an uncalibrated driver publishes 0
        let known = sizes.filter(|&(columns, rows)| columns > 0 && rows > 0);
        known.reduce(|left, right| (left.0.min(right.0), left.1.min(right.1)))
    }

    pub(super) fn status(&self) -> IntakeStatus {
        let state = self.state.lock();
        IntakeStatus {
            last: state.came,
            unpaired: state.pairing.unpaired(),
            skew: state.pairing.skew(),
            refused: state.refusal.clone().map(|why| (state.refused, why)),
        }
    }
}

/// Decodes only the stamp of a message; times before 1970 become 1970. `None` if the bytes are no message.
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
    use stereopsis_recording::format::Kind;
    use stereopsis_recording::message::{Encoding, ImageBody};
    use stereopsis_recording::{Format, Message};

    fn picture(taken_ns: u64) -> Vec<u8> {
        let image = ImageBody { width: 2, height: 1, encoding: Encoding::Mono8, step: 2, data: [1, 2].into() };
        let stamp = time::from_ns(taken_ns);
        Format::Ros2.encode(&Message { stamp, frame_id: "a".to_owned(), body: Body::Image(image) })
    }

    fn channel() -> Arc<Channel> {
        Arc::new(Format::Ros2.channel_of("/left", Kind::Image))
    }

    #[test]
    fn pairs_near_stamps_and_keeps_the_newest_pair() {
        let (intake, pairs) = Intake::new();
        let frame = |k: u64, skew_ns: u64| 1_000_000_000 + k * 33_000_000 + skew_ns;
        for k in 0..5 {
            intake.picture(Side::Left, &channel(), &picture(frame(k, 0)), None);
            intake.picture(Side::Right, &channel(), &picture(frame(k, 4_000_000)), None);
        }
        let [left, right] = pairs.try_recv().unwrap();
        assert_eq!((left.data, right.data), (picture(frame(4, 0)), picture(frame(4, 4_000_000))));
        assert_eq!((pairs.try_recv().is_err(), pairs.dropped()), (true, 4));
        let skew = intake.status().skew.unwrap();
        assert!((skew.mean_s - 0.004).abs() < 1e-9 && intake.status().unpaired == 0, "{skew:?}");
    }

    #[test]
    fn pairs_images_without_stamps_by_send_time() {
        let (intake, pairs) = Intake::new();
        intake.picture(Side::Left, &channel(), &picture(0), Some(5_000_000_000));
        intake.picture(Side::Right, &channel(), &picture(0), Some(7_000_000_000));
        assert!(pairs.try_recv().is_err());
        intake.picture(Side::Left, &channel(), &picture(0), Some(7_000_000_000));
        assert!(pairs.try_recv().is_ok() && intake.status().unpaired == 1);
    }

    #[test]
    fn counts_invalid_messages() {
        let (intake, pairs) = Intake::new();
        for bytes in [&[][..], &[0, 1, 0, 0], &[7; 40]] {
            intake.picture(Side::Left, &channel(), bytes, None);
        }
        intake.camera(Side::Left, &Format::Ros2.channel_of("/camera_info", Kind::Camera), &[0, 1, 0, 0, 9]);
        let (count, why) = intake.status().refused.unwrap();
        assert!(count == 4 && why.contains("/camera_info"), "{why}");
        assert!(pairs.try_recv().is_err() && intake.status().last == [None, None]);
    }
}

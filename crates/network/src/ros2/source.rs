//! Source that reads a ROS 2 driver: subscribes to two image topics and their camera descriptions, and decodes the newest pair.

use super::super::clock;
use super::environment::RosEnvironment;
use super::error::{FIRST_PAIR_TIMEOUT, RosError};
use super::node::{Node, NodeSubscription};
use super::pairs::Intake;
use super::qos::Qos;
use super::token::PublisherToken;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console::{counted, foreign};
use stereopsis_base::newest::NewestReceiver;
use stereopsis_base::rate::LatencySince;
use stereopsis_calibration::CalibrationNote;
use stereopsis_frame::{CaptureError, Cause, Next, PairSource, RawPair, Side, SourceInfo, SourceOptions, SourceState};
use stereopsis_recording::format::Kind;
use stereopsis_recording::read::{calibration_of_cameras, camera_topic};
use stereopsis_recording::unpack::{Sizes, Unpacker};
use stereopsis_recording::{Format, Packet, topic};

const ROUTER_TIMEOUT: Duration = Duration::from_secs(5);
/// Time without images after which the compressed topic is used instead of the raw one.
const SILENCE_TIMEOUT: Duration = Duration::from_secs(2);
/// Minimum wait for camera descriptions after the first pair; a starting node may declare them after its image topics.
const CAMERAS_GRACE: Duration = Duration::from_millis(500);
/// Maximum wait for published camera descriptions after the first pair.
const CAMERAS_TIMEOUT: Duration = Duration::from_secs(5);
/// Time without images after which a side is reported as lost.
const LOST_TIMEOUT: Duration = Duration::from_secs(3);
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Source of a driver's pairs.
pub struct RosSource {
    info: SourceInfo,
    calibration: Option<CalibrationNote>,
    /// Reason why the camera descriptions are not used.
    no_calibration: Option<String>,
    unpacker: Unpacker,
    first: Option<Box<RawPair>>,
    sequence: u64,
    subscriptions: Subscriptions,
}

struct Subscriptions {
    /// Image topics, left first.
    topics: [String; 2],
    pictures: [NodeSubscription; 2],
    _cameras: [NodeSubscription; 2],
    intake: Arc<Intake>,
    pairs: NewestReceiver<[Packet; 2]>,
    node: Node,
}

impl RosSource {
    /// Subscribes to these topics, left one first, and waits for the first pair.
    ///
    /// # Errors
    /// No router answers, or no pair arrives in time; the text lists the existing topics.
    pub fn open(
        [left, right]: [&str; 2],
        environment: &RosEnvironment,
        options: &SourceOptions,
    ) -> Result<Self, CaptureError> {
        let failed = |cause| RosError::Driver([left, right].map(str::to_owned), Box::new(cause));
        let mut subscriptions = Subscriptions::start([left, right], environment).map_err(failed)?;
        let unpacker = Unpacker::of(None, options.pixels, options.max_pixels);
        let first = subscriptions.first_pair(&unpacker).map_err(failed)?;
        let (width, height) = first.left.size();
        let (calibration, no_calibration) = match subscriptions.calibration((width, height)) {
            Ok(calibration) => (calibration, None),
            Err(why) => (None, Some(format!("the calibration of ROS 2 is not used: {why}"))),
        };
        let name = format!("ros2 {}", foreign(left));
        let info = SourceInfo { name, width, height, is_camera: true, ..SourceInfo::default() };
        let first = Some(Box::new(first));
        Ok(Self { info, calibration, no_calibration, unpacker, first, sequence: 0, subscriptions })
    }
}

impl Subscriptions {
    fn start(topics: [&str; 2], environment: &RosEnvironment) -> Result<Self, RosError> {
        let node = Node::open(environment, "stereopsis_source")?;
        let (intake, pairs) = Intake::new();
        let camera = |side: usize| {
            let channel = Format::Ros2.channel_of(&camera_topic(topics[side]), Kind::Camera);
            let taken = Arc::clone(&intake);
            let name = channel.topic.clone();
            let take = move |message: &[u8], _| taken.camera(Side::ALL[side], &channel, message);
            node.subscribe(&name, Kind::Camera, Qos::SENSOR_DATA, take)
        };
        let cameras = [camera(0)?, camera(1)?];
        let pictures = [
            Self::pictures(&node, &intake, Side::ALL[0], topics[0])?,
            Self::pictures(&node, &intake, Side::ALL[1], topics[1])?,
        ];
        let topics = topics.map(str::to_owned);
        Ok(Self { topics, pictures, _cameras: cameras, intake, pairs, node })
    }

    fn pictures(node: &Node, intake: &Arc<Intake>, side: Side, name: &str) -> Result<NodeSubscription, RosError> {
        let kind = kind_of(name);
        let channel = Arc::new(Format::Ros2.channel_of(name, kind));
        let taken = Arc::clone(intake);
        let take = move |message: &[u8], sent_ns| taken.picture(side, &channel, message, sent_ns);
        node.subscribe(name, kind, Qos::SENSOR_DATA, take)
    }

    fn first_pair(&mut self, unpacker: &Unpacker) -> Result<RawPair, RosError> {
        let begun = Instant::now();
        let mut looked = begun;
        while begun.elapsed() < FIRST_PAIR_TIMEOUT {
            if let Ok(packets) = self.pairs.recv_timeout(POLL_INTERVAL)
                && let Some(pair) = self.pair(unpacker, &packets, None)
            {
                return Ok(RawPair { sequence: 0, name: name_of(0), ..pair });
            }
            if begun.elapsed() > ROUTER_TIMEOUT && !self.node.is_connected() {
                return Err(self.node.no_router());
            }
            if looked.elapsed() > SILENCE_TIMEOUT {
                looked = Instant::now();
                self.replace_silent();
            }
        }
        Err(self.why_silent())
    }

    /// Decodes a pair; counts an unusable one and returns `None`. The size must be within that of the cameras or, without descriptions,
    /// equal to that of the last pair.
    fn pair(&self, unpacker: &Unpacker, packets: &[Packet; 2], last: Option<(usize, usize)>) -> Option<RawPair> {
        let sizes = match self.intake.camera_size() {
            Some(size) => Sizes::Within(size),
            None => last.map_or(Sizes::Unknown, Sizes::Only),
        };
        let pair = unpacker.clone().with_sizes(sizes).pair(packets);
        pair.map_err(|err| self.intake.refuse(err.to_string())).ok()
    }

    /// Switches silent sides to compressed images, if a driver publishes them.
    fn replace_silent(&mut self) {
        let last = self.intake.status().last;
        let silent: Vec<usize> =
            (0..2).filter(|&side| last[side].is_none() && kind_of(&self.topics[side]) == Kind::Image).collect();
        if silent.is_empty() {
            return;
        }
        let published = self.node.published();
        for side in silent {
            let compressed = format!("{}{}", self.topics[side], topic::COMPRESSED);
            if !published.iter().any(|it| it.is(&compressed, Kind::Compressed)) {
                continue;
            }
            if let Ok(pictures) = Self::pictures(&self.node, &self.intake, Side::ALL[side], &compressed) {
                log::info!("{} is silent: receiving {compressed}", self.topics[side]);
                (self.pictures[side], self.topics[side]) = (pictures, compressed);
            }
        }
    }

    /// Returns why there is no pair, with the existing topics.
    fn why_silent(&self) -> RosError {
        let came = self.intake.status();
        let silent = self.topics.iter().zip(came.last).filter(|(_, last)| last.is_none());
        RosError::NoPair {
            silent: silent.map(|(topic, _)| topic.clone()).collect(),
            refused: came.refused,
            pictures: pictures(&self.node.published()),
        }
    }

    /// Returns the calibration of images of this size, if the drivers publish one.
    fn calibration(&self, size: (usize, usize)) -> Result<Option<CalibrationNote>, Cause> {
        let cameras = self.cameras();
        let pictures = self.topics.each_ref().map(String::as_str);
        match &cameras {
            [Some(left), Some(right)] => Ok(calibration_of_cameras([left, right], pictures, Some(size), None)?),
            [None, None] => Ok(None),
            [left, _] => {
                let missing = camera_topic(pictures[usize::from(left.is_some())]);
                Err(RosError::OneCamera(missing).into())
            }
        }
    }

    /// Returns the newest camera descriptions; waits for those that are published.
    fn cameras(&self) -> [Option<stereopsis_calibration::CameraInfo>; 2] {
        let begun = Instant::now();
        loop {
            let cameras = self.intake.cameras();
            let waited = begun.elapsed();
            if cameras.iter().all(Option::is_some) || waited > CAMERAS_TIMEOUT {
                return cameras;
            }
            if waited > CAMERAS_GRACE {
                let published = self.node.published();
                let comes = |side: usize| {
                    let name = camera_topic(&self.topics[side]);
                    cameras[side].is_none() && published.iter().any(|it| it.is(&name, Kind::Camera))
                };
                if !(0..2).any(comes) {
                    return cameras;
                }
            }
            std::thread::sleep(POLL_INTERVAL);
        }
    }
}

impl PairSource for RosSource {
    fn info(&self) -> SourceInfo {
        self.info.clone()
    }

    fn next(&mut self, timeout: Duration) -> Result<Next, CaptureError> {
        let until = Instant::now() + timeout;
        let pair = loop {
            if let Some(first) = self.first.take() {
                break first;
            }
            let Ok(packets) = self.subscriptions.pairs.recv_timeout(until.saturating_duration_since(Instant::now()))
            else {
                return Ok(Next::Waiting); // a driver may start again at any time
            };
            let last = (self.info.width, self.info.height);
            if let Some(pair) = self.subscriptions.pair(&self.unpacker, &packets, Some(last)) {
                self.sequence += 1;
                let (sequence, name) = (self.sequence, name_of(self.sequence));
                break Box::new(RawPair { sequence, name, ..pair });
            }
            if Instant::now() >= until {
                return Ok(Next::Waiting); // a flood of unusable pairs must not block the caller
            }
        };
        (self.info.width, self.info.height) = pair.left.size();
        Ok(Next::Pair(pair))
    }

    fn state(&self) -> SourceState {
        let came = self.subscriptions.intake.status();
        let mut remarks: Vec<String> = self.no_calibration.iter().cloned().collect();
        for (last, name) in came.last.iter().zip(&self.subscriptions.topics) {
            if last.is_none_or(|last| last.elapsed() > LOST_TIMEOUT) {
                let name = foreign(name);
                let why = if self.subscriptions.node.is_connected() {
                    "does its driver run?".to_owned()
                } else {
                    self.subscriptions.node.no_router().to_string()
                };
                remarks.push(format!("no image of {name} comes any more: {why}"));
            }
        }
        if let Some((count, why)) = came.refused {
            remarks.push(format!("{} from ROS 2 refused: {why}", counted(count, "message")));
        }
        SourceState { unpaired: came.unpaired, skew: came.skew, remarks, ..SourceState::default() }
    }

    fn calibration(&self) -> Option<&CalibrationNote> {
        self.calibration.as_ref()
    }

    fn latency_begin(&self, arrived: Instant) -> (Instant, LatencySince) {
        clock::latency_begin(None, arrived) // the offset of the driver's clock is unknown
    }
}

fn kind_of(name: &str) -> Kind {
    if topic::plain(name) == name { Kind::Image } else { Kind::Compressed }
}

fn name_of(sequence: u64) -> String {
    format!("{sequence:06}")
}

/// Returns the topics of images.
fn pictures(published: &BTreeSet<PublisherToken>) -> Vec<String> {
    let is_picture = |it: &&PublisherToken| [Kind::Image, Kind::Compressed].iter().any(|&kind| it.is(&it.topic, kind));
    let topics: BTreeSet<_> = published.iter().filter(is_picture).map(|it| it.topic.clone()).collect();
    topics.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_topics_of_images() {
        let published = |topic: &str, name: &str| PublisherToken {
            topic: topic.to_owned(),
            type_name: format!("sensor_msgs::msg::dds_::{name}_"),
        };
        let all =
            [published("/scan", "LaserScan"), published("/right", "CompressedImage"), published("/left", "Image")];
        assert_eq!(pictures(&all.into()), ["/left", "/right"]);
    }
}

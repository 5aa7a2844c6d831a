//! A head: publishes raw pairs of a source as its cameras gave them, and keeps what belongs to the rig: its calibration, and the
//! parameters by which engines match it. So an engine may die, and the next one continues with the same parameters.

use super::answers::{Answer, json};
use super::clock::ClockAnswer;
use super::error::NetworkError;
use super::key::{Member, Of, Role, check_rig};
use super::membership::Membership;
use super::outlet::{Outlet, OutletCounts, Parcel, Stream, now_ns};
use super::session::Network;
use super::status::{HeadStatus, Status};
use super::wire::Content;
use crate::capture::pairing::Side;
use crate::capture::webcam::controls;
use crate::capture::{ControlSettings, Pixels, RawPair, RawTap, SourceInfo, Taps};
use crate::geometry::Geometry;
use crate::image::Picture;
use crate::recording::pack::{Packer, PairParts};
use crate::recording::{About, Format, Stream as RecordedStream, Streams, format, parameter_words, read, time, topic};
use crate::settings;
use crate::stereo::StereoParams;
use image::codecs::jpeg::JpegEncoder;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;

/// Description of a rig, which its head answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Number of the head's run.
    pub boot: u64,
    /// Number of the description; the heads of pairs have it.
    pub number: u32,
    /// The source, its calibration, and the parameters.
    pub about: About,
    /// The camera of a head that has one alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Side>,
}

impl Description {
    /// What tells it from earlier ones: the run, and the number in it.
    pub fn id(&self) -> (u64, u32) {
        (self.boot, self.number)
    }

    /// The parameters of the rig.
    ///
    /// # Errors
    /// They make no sense.
    pub fn params(&self) -> Result<StereoParams, String> {
        params_of(&self.about.parameters)
    }
}

/// Parameters by name, as messages have them; those that are not named have their defaults.
///
/// # Errors
/// The first that makes no sense, or those that do not fit each other.
pub(super) fn params_of(words: &BTreeMap<String, String>) -> Result<StereoParams, String> {
    let words: Vec<_> = words.iter().map(|(name, text)| (name.clone(), text.clone())).collect();
    settings::changed(&StereoParams::default(), &words).map_err(|err| format!("its parameters cannot be used: {err}"))
}

/// Request to set controls of cameras.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// 0 for the left camera, 1 for the right one; `None` for both.
    pub camera: Option<usize>,
    /// The settings.
    pub settings: ControlSettings,
}

struct State {
    about: About,
    number: u32,
    params: StereoParams,
    status: HeadStatus,
}

struct Shared {
    boot: u64,
    camera: Option<Side>,
    /// The newest pair, of which others may ask a small picture.
    newest: Mutex<Option<Arc<RawPair>>>,
    state: Mutex<State>,
}

/// A head on the network. It ends when it is dropped.
pub struct Head {
    shared: Arc<Shared>,
    pairs: Outlet<PairParts>,
    membership: Membership,
}

impl Head {
    /// Announces a rig with this description and these parameters; pairs come by its tap. With `camera` it has this camera alone, and
    /// sends the pictures of that side.
    ///
    /// # Errors
    /// The name is impossible, another head has it, or the session has ended.
    pub fn start(
        network: &Network,
        rig: &str,
        camera: Option<Side>,
        about: About,
        params: &StereoParams,
    ) -> Result<Arc<Self>, NetworkError> {
        check_rig(rig).map_err(NetworkError::new)?;
        let role = if camera.is_some() { Role::Camera } else { Role::Head };
        let member = Member::new(role, rig, 0);
        let boot = member.boot;
        let about = About {
            streams: Streams::NONE.with(RecordedStream::Raw, true),
            parameters: parameter_words(params),
            ..about
        };
        let status = HeadStatus {
            camera,
            source: about.source.clone(),
            width: about.width,
            height: about.height,
            ..HeadStatus::default()
        };
        let state = State { about: about.clone(), number: 0, params: params.clone(), status };
        let shared = Arc::new(Shared { boot, camera, newest: Mutex::default(), state: Mutex::new(state) });
        let stream = Stream { key: Of::Pair.rig(rig), content: Content::Pair, boot };
        let mut sender = Sender {
            shared: Arc::clone(&shared),
            packer: Packer::new(about.clone(), Format::Ros2),
            about,
            pictures: Vec::new(),
        };
        let pairs = Outlet::start(network, stream, move |parts| sender.pack(&parts))?;
        let told = Arc::clone(&shared);
        let detail = move |status: &mut Status| status.head = Some(told.state.lock().status.clone());
        let membership = Membership::start(network, &member, answers(rig, &shared), detail)?;
        Ok(Arc::new(Self { shared, pairs, membership }))
    }

    /// The tap that publishes pairs.
    pub fn taps(self: &Arc<Self>) -> Taps {
        Taps { raw: vec![Arc::clone(self) as _], frames: Vec::new() }
    }

    /// Tells others the state of the source; what goes to the network is added here.
    pub fn set_status(&self, mut status: HeadStatus) {
        if !self.membership.rivals().is_empty() {
            let rival = "another head of this name is there: each receiver keeps to the one that it opened; choose another --name";
            status.remarks.push(rival.to_owned());
        }
        let camera = self.shared.camera;
        self.shared.state.lock().status = HeadStatus { camera, sent: self.pairs.counts(), ..status };
    }

    /// Why this head ends, where another one of its name goes on; see [`Membership::yields`].
    pub fn yields(&self) -> Option<NetworkError> {
        self.membership.yields()
    }

    /// What was sent so far.
    pub fn sent(&self) -> OutletCounts {
        self.pairs.counts()
    }
}

impl RawTap for Head {
    fn pair(&self, pair: &Arc<RawPair>, geometry: Option<Geometry>, source: &SourceInfo) {
        *self.shared.newest.lock() = Some(Arc::clone(pair));
        if !self.pairs.is_received() {
            return;
        }
        let parts = PairParts::of_raw(pair, geometry, Streams::NONE.with(RecordedStream::Raw, true));
        // what is played is sent as if it were taken now: its own times would come again in each round, and say nothing of delays
        self.pairs.offer(if source.is_camera { parts } else { parts.taken_at(SystemTime::now()) });
    }
}

/// Packs pairs on the publishing thread.
struct Sender {
    shared: Arc<Shared>,
    packer: Packer,
    about: About,
    /// Topics of the pictures of a pair.
    pictures: Vec<&'static str>,
}

impl Sender {
    fn pack(&mut self, parts: &PairParts) -> Result<Parcel, String> {
        let size = parts.size();
        if size != (self.about.width, self.about.height) {
            // receivers take pictures of the described size alone
            (self.about.width, self.about.height) = size;
            self.shared.describe(|state| (state.about.width, state.about.height) = size);
        }
        let now = SystemTime::now();
        let mut packets = if let Ok(packets) = self.packer.pair(parts, now) {
            packets
        } else {
            // the pictures are split or turned in another way than before: another description
            self.packer = Packer::new(self.about.clone(), Format::Ros2);
            self.packer.pair(parts, now)?
        };
        let described = packets.iter().find(|packet| packet.channel.topic == topic::ABOUT);
        if let Some(about) = described.map(format::decode_json::<About>).transpose()? {
            self.pictures = read::pictures_of(&about);
            if let (Some(camera), [_, _]) = (self.shared.camera, &self.pictures[..]) {
                self.pictures = vec![self.pictures[camera as usize]];
            }
            self.shared.describe(|state| state.about.raw = about.raw);
        }
        packets.retain(|packet| {
            let name = topic::plain(&packet.channel.topic);
            name == topic::PAIRS || self.pictures.contains(&name)
        });
        let number = self.shared.state.lock().number;
        Ok(Parcel { about: number, taken_ns: time::to_ns(parts.capture_time()), packets })
    }
}

impl Shared {
    /// Changes the description, which gets a new number.
    fn describe(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock();
        change(&mut state);
        state.number += 1;
    }

    fn description(&self) -> Description {
        let state = self.state.lock();
        Description { boot: self.boot, number: state.number, about: state.about.clone(), camera: self.camera }
    }

    /// Sets parameters by the rules of flags, all or none of them; returns all that are in force.
    fn set_parameters(&self, sent: &[u8]) -> Result<BTreeMap<String, String>, String> {
        let words: BTreeMap<String, String> =
            serde_json::from_slice(sent).map_err(|err| format!("these are no parameters by name: {err}"))?;
        let words: Vec<_> = words.into_iter().collect();
        let before = self.state.lock().params.clone();
        let params = settings::changed(&before, &words).map_err(|err| err.to_string())?;
        if params != before {
            self.describe(|state| {
                state.about.parameters = parameter_words(&params);
                state.params = params.clone();
            });
        }
        Ok(parameter_words(&params))
    }

    /// The newest picture of its left camera, or of its only one, small, as a JPEG.
    fn picture(&self) -> Result<Vec<u8>, String> {
        let pair = self.newest.lock().clone().ok_or("no pair has come yet")?;
        let decoded = pair.original.as_ref().map(|original| original.pictures(Pixels::Color)).transpose();
        let (left, right) = match decoded.map_err(|err| err.to_string())? {
            Some(pictures) => pictures,
            None => (pair.left.clone(), pair.right.clone()),
        };
        small_jpeg(if self.camera == Some(Side::Right) { right } else { left })
    }

    /// Sets controls of cameras; returns what was rejected or clamped.
    fn set_controls(&self, sent: &[u8]) -> Result<Vec<String>, String> {
        let request: ControlRequest =
            serde_json::from_slice(sent).map_err(|err| format!("these are no controls of a camera: {err}"))?;
        let cameras: Vec<_> = self.state.lock().status.cameras.iter().map(|camera| camera.index).collect();
        let chosen: Vec<_> = match request.camera {
            Some(camera) => cameras.get(camera).copied().into_iter().collect(),
            None => cameras,
        };
        if chosen.is_empty() {
            return Err("this head has no such camera".to_owned());
        }
        Ok(chosen.into_iter().flat_map(|index| controls::apply(index, &request.settings)).collect())
    }
}

/// Answers to all that can be asked of a head, beside its state.
fn answers(rig: &str, shared: &Arc<Shared>) -> Vec<(String, Answer)> {
    let of = || Arc::clone(shared);
    let (about, parameters, controls, picture, boot) = (of(), of(), of(), of(), shared.boot);
    vec![
        (Of::About.rig(rig), Box::new(move |_| json(&about.description()))),
        (
            Of::Parameters.rig(rig),
            Box::new(move |sent| match sent {
                Some(sent) => json(&parameters.set_parameters(&sent)?),
                None => json(&parameters.state.lock().about.parameters),
            }),
        ),
        (Of::Controls.rig(rig), Box::new(move |sent| json(&controls.set_controls(&sent.unwrap_or_default())?))),
        (Of::Picture.rig(rig), Box::new(move |_| picture.picture())),
        (
            Of::Clock.rig(rig),
            Box::new(move |_| {
                let received_ns = now_ns();
                json(&ClockAnswer { received_ns, sent_ns: now_ns(), boot: Some(boot) })
            }),
        ),
    ]
}

/// Width of a small picture, px.
const SMALL_WIDTH: u32 = 160;

/// A picture at most [`SMALL_WIDTH`] px wide, as a JPEG.
fn small_jpeg(picture: Picture) -> Result<Vec<u8>, String> {
    let (width, height) = picture.size();
    let (width, height) = (width as u32, height as u32);
    let small_width = width.min(SMALL_WIDTH);
    let small_height = (u64::from(height) * u64::from(small_width) / u64::from(width.max(1))).max(1) as u32;
    let rgb = match picture.rgb {
        Some(rgb) => rgb.into_pixels().into_flattened(),
        None => picture.luma.to_u8().pixels().iter().flat_map(|&v| [v; 3]).collect(),
    };
    let whole = image::RgbImage::from_raw(width, height, rgb).ok_or("it has too few pixels")?;
    let mut bytes = Vec::new();
    image::imageops::thumbnail(&whole, small_width, small_height)
        .write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 80))
        .map_err(|err| err.to_string())?;
    Ok(bytes)
}

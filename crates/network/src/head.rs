//! Head: publishes the raw pairs of a source, and keeps the rig's calibration and matching parameters, so that a new engine continues
//! with the parameters of one that failed. Answers queries for the description, parameters, camera controls, clock and thumbnail.

use super::answers::{Answer, json};
use super::clock::ClockAnswer;
use super::error::NetworkError;
use super::key::{Member, RigTopic, Role, check_rig};
use super::membership::Membership;
use super::outlet::{Outlet, OutletCounts, Parcel, Stream, now_ns};
use super::session::Network;
use super::status::{HeadStatus, Status};
use super::wire::Content;
use image::codecs::jpeg::JpegEncoder;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::Picture;
use stereopsis_base::remedy::option;
use stereopsis_capture::webcam::controls;
use stereopsis_frame::{Cause, ControlSettings, Pixels, RawPair, RawTap, Side, SourceInfo, Taps};
use stereopsis_recording::pack::{Packer, PairParts};
use stereopsis_recording::{About, Format, Stream as RecordedStream, Streams, format, read, time, topic};
use stereopsis_settings::settings;
use stereopsis_settings::settings::{SettingsError, parameter_words};
use stereopsis_stereo::StereoParams;

/// Description of a rig, which its head sends on request.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Number of the head's run.
    pub boot: u64,
    /// Number of the description, repeated in the header of each pair.
    pub number: u32,
    /// Source, calibration and parameters.
    pub about: About,
    /// Side of a single-camera head.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub camera: Option<Side>,
}

impl Description {
    /// Returns the version: run id and number.
    pub fn id(&self) -> (u64, u32) {
        (self.boot, self.number)
    }

    /// Parses the rig's matching parameters.
    ///
    /// # Errors
    /// The parameters are invalid.
    pub fn params(&self) -> Result<StereoParams, NetworkError> {
        params_of(&self.about.parameters)
    }
}

/// Parses parameters by name; missing ones get their defaults.
///
/// # Errors
/// A parameter is invalid, or parameters do not fit each other.
pub(super) fn params_of(words: &BTreeMap<String, String>) -> Result<StereoParams, NetworkError> {
    let words: Vec<_> = words.iter().map(|(name, text)| (name.clone(), text.clone())).collect();
    settings::changed(&StereoParams::default(), &words).map_err(NetworkError::Parameters)
}

/// Request to set camera controls.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct ControlRequest {
    /// Camera: 0 left, 1 right; `None` for both.
    pub camera: Option<usize>,
    /// Control values.
    pub settings: ControlSettings,
}

/// Fault of a request to the head.
#[derive(Debug, thiserror::Error)]
enum RequestError {
    #[error("these are no parameters by name: {0}")]
    NoParameters(serde_json::Error),
    #[error(transparent)]
    Parameters(#[from] SettingsError),
    #[error("these are no controls of a camera: {0}")]
    NoControls(serde_json::Error),
    #[error("this head has no such camera")]
    NoCamera,
    #[error("no pair has come yet")]
    NoPair,
    #[error("it has too few pixels")]
    FewPixels,
}

struct HeadState {
    about: About,
    number: u32,
    params: StereoParams,
    status: HeadStatus,
}

struct HeadShared {
    boot: u64,
    camera: Option<Side>,
    /// Newest pair, for thumbnails.
    newest: Mutex<Option<Arc<RawPair>>>,
    state: Mutex<HeadState>,
}

/// Head on the network, which ends when this is dropped.
pub struct Head {
    shared: Arc<HeadShared>,
    pairs: Outlet<PairParts>,
    membership: Membership,
}

impl Head {
    /// Announces a rig with its description and parameters; pairs arrive through its tap. With `camera`, it sends only this side.
    ///
    /// # Errors
    /// The name is invalid, another head has it, or the session has ended.
    pub fn start(
        network: &Network,
        rig: &str,
        camera: Option<Side>,
        about: About,
        params: &StereoParams,
    ) -> Result<Arc<Self>, NetworkError> {
        check_rig(rig)?;
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
        let state = HeadState { about: about.clone(), number: 0, params: params.clone(), status };
        let shared = Arc::new(HeadShared { boot, camera, newest: Mutex::default(), state: Mutex::new(state) });
        let stream = Stream { key: RigTopic::Pair.rig(rig), content: Content::Pair, boot };
        let mut sender = PairPacker {
            shared: Arc::clone(&shared),
            packer: Packer::new(about.clone(), Format::Ros2),
            about,
            pictures: Vec::new(),
        };
        let pairs = Outlet::start(network, stream, move |parts| sender.pack(&parts))?;
        let shared_state = Arc::clone(&shared);
        let detail = move |status: &mut Status| status.head = Some(shared_state.state.lock().status.clone());
        let membership = Membership::start(network, &member, answers(rig, &shared), detail)?;
        Ok(Arc::new(Self { shared, pairs, membership }))
    }

    /// Returns the tap that publishes pairs.
    pub fn taps(self: &Arc<Self>) -> Taps {
        Taps { raw: vec![Arc::clone(self) as _], frames: Vec::new() }
    }

    /// Sets the published state of the source; the counters of sent pairs are added here.
    pub fn set_status(&self, mut status: HeadStatus) {
        if !self.membership.rivals().is_empty() {
            status.remarks.push(format!(
                "another head of this name is there: each receiver keeps to the one that it opened; choose another {}",
                option("name")
            ));
        }
        let camera = self.shared.camera;
        self.shared.state.lock().status = HeadStatus { camera, sent: self.pairs.counts(), ..status };
    }

    /// Returns the reason to end if another member of the name has precedence, see [`Membership::yields`].
    pub fn yields(&self) -> Option<NetworkError> {
        self.membership.yields()
    }

    /// Returns the counters of sent pairs.
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
        // pairs that are played get the current time: recorded times repeat in each loop and would give wrong delays
        self.pairs.offer(if source.is_camera { parts } else { parts.taken_at(SystemTime::now()) });
    }
}

struct PairPacker {
    shared: Arc<HeadShared>,
    packer: Packer,
    about: About,
    /// Topics of the images to send.
    pictures: Vec<&'static str>,
}

impl PairPacker {
    fn pack(&mut self, parts: &PairParts) -> Result<Parcel, Cause> {
        let size = parts.size();
        if size != (self.about.width, self.about.height) {
            // receivers accept only images of the described size
            (self.about.width, self.about.height) = size;
            self.shared.describe(|state| (state.about.width, state.about.height) = size);
        }
        let now = SystemTime::now();
        let mut packets = if let Ok(packets) = self.packer.pair(parts, now) {
            packets
        } else {
            // the images are now split or turned differently: start with a new description
            self.packer = Packer::new(self.about.clone(), Format::Ros2);
            self.packer.pair(parts, now).map_err(|err| err.to_string())?
        };
        let described = packets.iter().find(|packet| packet.channel.topic == topic::ABOUT);
        let about = described.map(format::decode_json::<About>).transpose().map_err(|err| err.to_string())?;
        if let Some(about) = about {
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

impl HeadShared {
    /// Changes the description and increments its number.
    fn describe(&self, change: impl FnOnce(&mut HeadState)) {
        let mut state = self.state.lock();
        change(&mut state);
        state.number += 1;
    }

    fn description(&self) -> Description {
        let state = self.state.lock();
        Description { boot: self.boot, number: state.number, about: state.about.clone(), camera: self.camera }
    }

    /// Sets all of these parameters or none, by the rules of flags; returns all parameters in force.
    fn set_parameters(&self, sent: &[u8]) -> Result<BTreeMap<String, String>, RequestError> {
        let words: BTreeMap<String, String> = serde_json::from_slice(sent).map_err(RequestError::NoParameters)?;
        let words: Vec<_> = words.into_iter().collect();
        let before = self.state.lock().params.clone();
        let params = settings::changed(&before, &words)?;
        if params != before {
            self.describe(|state| {
                state.about.parameters = parameter_words(&params);
                state.params = params.clone();
            });
        }
        Ok(parameter_words(&params))
    }

    /// Returns a JPEG thumbnail of the newest left (or only) image.
    fn picture(&self) -> Result<Vec<u8>, Cause> {
        let pair = self.newest.lock().clone().ok_or(RequestError::NoPair)?;
        let decoded = pair.original.as_ref().map(|original| original.pictures(Pixels::Color)).transpose();
        let (left, right) = match decoded? {
            Some(pictures) => pictures,
            None => (pair.left.clone(), pair.right.clone()),
        };
        small_jpeg(if self.camera == Some(Side::Right) { right } else { left })
    }

    /// Sets camera controls; returns remarks on the rejected and clamped ones.
    fn set_controls(&self, sent: &[u8]) -> Result<Vec<String>, RequestError> {
        let request: ControlRequest = serde_json::from_slice(sent).map_err(RequestError::NoControls)?;
        let cameras: Vec<_> = self.state.lock().status.cameras.iter().map(|camera| camera.index).collect();
        let chosen: Vec<_> = match request.camera {
            Some(camera) => cameras.get(camera).copied().into_iter().collect(),
            None => cameras,
        };
        if chosen.is_empty() {
            return Err(RequestError::NoCamera);
        }
        Ok(chosen.into_iter().flat_map(|index| controls::apply(index, &request.settings)).collect())
    }
}

/// Returns the handlers of all queries except that for the state.
fn answers(rig: &str, shared: &Arc<HeadShared>) -> Vec<(String, Answer)> {
    let of = || Arc::clone(shared);
    let (about, parameters, controls, picture, boot) = (of(), of(), of(), of(), shared.boot);
    vec![
        (RigTopic::About.rig(rig), Box::new(move |_| json(&about.description()))),
        (
            RigTopic::Parameters.rig(rig),
            Box::new(move |sent| match sent {
                Some(sent) => json(&parameters.set_parameters(&sent)?),
                None => json(&parameters.state.lock().about.parameters),
            }),
        ),
        (RigTopic::Controls.rig(rig), Box::new(move |sent| json(&controls.set_controls(&sent.unwrap_or_default())?))),
        (RigTopic::Picture.rig(rig), Box::new(move |_| picture.picture())),
        (
            RigTopic::Clock.rig(rig),
            Box::new(move |_| {
                let received_ns = now_ns();
                json(&ClockAnswer { received_ns, sent_ns: now_ns(), boot: Some(boot) })
            }),
        ),
    ]
}

const SMALL_WIDTH: u32 = 160;

/// Encodes an image as a JPEG at most [`SMALL_WIDTH`] px wide.
fn small_jpeg(picture: Picture) -> Result<Vec<u8>, Cause> {
    let (width, height) = picture.size();
    let (width, height) = (width as u32, height as u32);
    let small_width = width.min(SMALL_WIDTH);
    let small_height = (u64::from(height) * u64::from(small_width) / u64::from(width.max(1))).max(1) as u32;
    let rgb = match picture.rgb {
        Some(rgb) => rgb.into_pixels().into_flattened(),
        None => picture.luma.to_u8().pixels().iter().flat_map(|&v| [v; 3]).collect(),
    };
    let whole = image::RgbImage::from_raw(width, height, rgb).ok_or(RequestError::FewPixels)?;
    let mut bytes = Vec::new();
    image::imageops::thumbnail(&whole, small_width, small_height)
        .write_with_encoder(JpegEncoder::new_with_quality(&mut bytes, 80))?;
    Ok(bytes)
}

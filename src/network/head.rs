//! A head: publishes raw pairs of a source as its cameras gave them, and keeps what belongs to the rig: its calibration, and the
//! parameters by which engines match it. So an engine may die, and the next one continues with the same parameters.

use super::answers::{Answer, Answers};
use super::clock::ClockAnswer;
use super::key::{Member, Of, Role, check_rig};
use super::outlet::{Outlet, OutletCounts, Parcel, Stream, now_ns};
use super::session::{Network, NetworkError};
use super::status::{HeadStatus, Status, host};
use super::wire::Content;
use crate::capture::webcam::controls;
use crate::capture::{ControlSettings, RawPair, RawTap, SourceInfo, Taps};
use crate::geometry::Geometry;
use crate::process::CpuShare;
use crate::recording::pack::{Packer, PairParts};
use crate::recording::{About, Format, Stream as RecordedStream, Streams, format, parameter_words, read, time, topic};
use crate::settings;
use crate::stereo::StereoParams;
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::SystemTime;
use zenoh::liveliness::LivelinessToken;
use zenoh::qos::Priority;

/// Description of a rig, which its head answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Number of the head's run.
    pub boot: u64,
    /// Number of the description; the heads of pairs have it.
    pub number: u32,
    /// The source, its calibration, and the parameters.
    pub about: About,
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
    status: Status,
    cameras: Vec<u32>,
}

struct Shared {
    boot: u64,
    cpu: CpuShare,
    state: Mutex<State>,
}

/// A head on the network. It ends when it is dropped.
pub struct Head {
    shared: Arc<Shared>,
    pairs: Outlet<PairParts>,
    // last: the head is announced no more before its answers end
    _token: LivelinessToken,
    _answers: Answers,
}

impl Head {
    /// Announces a rig with this description and these parameters; pairs come by its tap.
    ///
    /// # Errors
    /// The name is impossible, another head has it, or the session has ended.
    pub fn start(network: &Network, rig: &str, about: About, params: &StereoParams) -> Result<Arc<Self>, NetworkError> {
        check_rig(rig).map_err(NetworkError::new)?;
        if let Some(other) = super::present(network)?.head(rig) {
            let asked = network.ask(&other.status(), None, super::ANSWER_TIMEOUT)?.into_iter().flatten().next();
            let there = asked.and_then(|(_, bytes)| serde_json::from_slice::<Status>(&bytes).ok());
            let there =
                there.map_or_else(String::new, |status| format!(" on {}", crate::console::foreign(&status.host)));
            return Err(NetworkError::new(format!(
                "there is a head of the name '{rig}' already{there}: choose another name"
            )));
        }
        let boot = now_ns();
        let member = Member { role: Role::Head, name: rig.to_owned(), boot, weight: 0 };
        let about = About {
            streams: Streams::NONE.with(RecordedStream::Raw, true),
            parameters: parameter_words(params),
            ..about
        };
        let status = Status {
            stereopsis: env!("CARGO_PKG_VERSION").to_owned(),
            host: host(),
            listens: network.access().listen.iter().map(ToString::to_string).collect(),
            head: Some(HeadStatus {
                source: about.source.clone(),
                width: about.width,
                height: about.height,
                ..HeadStatus::default()
            }),
            ..Status::default()
        };
        let state = State { about: about.clone(), number: 0, params: params.clone(), status, cameras: Vec::new() };
        let shared = Arc::new(Shared { boot, cpu: CpuShare::start(), state: Mutex::new(state) });
        let stream = Stream { key: Of::Pair.rig(rig), content: Content::Pair, boot, priority: Priority::DataHigh };
        let mut sender =
            Sender { shared: Arc::clone(&shared), packer: Packer::new(about.clone(), Format::Ros2), about };
        let pairs = Outlet::start(network, stream, move |parts| sender.pack(&parts))?;
        let answers = answers(network, rig, &member, &shared)?;
        let token = network.announce(&member)?;
        Ok(Arc::new(Self { shared, pairs, _token: token, _answers: answers }))
    }

    /// The tap that publishes pairs.
    pub fn taps(self: &Arc<Self>) -> Taps {
        Taps { raw: vec![Arc::clone(self) as _], frames: Vec::new() }
    }

    /// Tells others the state of the source; what goes to the network is added here.
    pub fn set_status(&self, status: HeadStatus) {
        let sent = self.pairs.counts();
        let mut state = self.shared.state.lock();
        state.cameras = status.cameras.iter().map(|camera| camera.index).collect();
        state.status.head = Some(HeadStatus { sent, ..status });
    }

    /// What was sent so far.
    pub fn sent(&self) -> OutletCounts {
        self.pairs.counts()
    }
}

impl RawTap for Head {
    fn pair(&self, pair: &Arc<RawPair>, geometry: Option<Geometry>, _source: &SourceInfo) {
        if self.pairs.is_received() {
            self.pairs.offer(PairParts::of_raw(pair, geometry, Streams::NONE.with(RecordedStream::Raw, true)));
        }
    }
}

/// Packs pairs on the publishing thread.
struct Sender {
    shared: Arc<Shared>,
    packer: Packer,
    about: About,
}

impl Sender {
    fn pack(&mut self, parts: &PairParts) -> Result<Parcel, String> {
        let now = SystemTime::now();
        let mut packets = if let Ok(packets) = self.packer.pair(parts, now) {
            packets
        } else {
            // the pictures are split or turned in another way than before: another description
            self.packer = Packer::new(self.about.clone(), Format::Ros2);
            self.packer.pair(parts, now)?
        };
        let described = packets.iter().find(|packet| packet.channel.topic == topic::ABOUT);
        let number = match described.map(format::decode_json::<About>).transpose()? {
            Some(about) => self.shared.describe(|state| state.about.raw = about.raw),
            None => self.shared.state.lock().number,
        };
        let pictures = read::pictures_of(&self.about_of());
        packets.retain(|packet| {
            let name = topic::plain(&packet.channel.topic);
            name == topic::PAIRS || pictures.contains(&name)
        });
        Ok(Parcel { about: number, taken_ns: time::to_ns(parts.capture_time()), packets })
    }

    fn about_of(&self) -> About {
        self.shared.state.lock().about.clone()
    }
}

impl Shared {
    /// Changes the description; returns its new number.
    fn describe(&self, change: impl FnOnce(&mut State)) -> u32 {
        let mut state = self.state.lock();
        change(&mut state);
        state.number += 1;
        state.number
    }

    fn description(&self) -> Description {
        let state = self.state.lock();
        Description { boot: self.boot, number: state.number, about: state.about.clone() }
    }

    fn status(&self) -> Status {
        let status = self.state.lock().status.clone();
        Status { uptime_s: self.cpu.elapsed().as_secs_f64(), cpu_percent: self.cpu.percent(), ..status }
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

    /// Sets controls of cameras; returns what was rejected or clamped.
    fn set_controls(&self, sent: &[u8]) -> Result<Vec<String>, String> {
        let request: ControlRequest =
            serde_json::from_slice(sent).map_err(|err| format!("these are no controls of a camera: {err}"))?;
        let cameras = self.state.lock().cameras.clone();
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

/// Answers to all that can be asked of a head.
fn answers(network: &Network, rig: &str, member: &Member, shared: &Arc<Shared>) -> Result<Answers, NetworkError> {
    let of = || Arc::clone(shared);
    let (about, parameters, controls, status) = (of(), of(), of(), of());
    let answers: Vec<(String, Answer)> = vec![
        (Of::About.rig(rig), Box::new(move |_| json(&about.description()))),
        (
            Of::Parameters.rig(rig),
            Box::new(move |sent| match sent {
                Some(sent) => json(&parameters.set_parameters(&sent)?),
                None => json(&parameters.state.lock().about.parameters),
            }),
        ),
        (Of::Controls.rig(rig), Box::new(move |sent| json(&controls.set_controls(&sent.unwrap_or_default())?))),
        (
            Of::Clock.rig(rig),
            Box::new(|_| {
                let received_ns = now_ns();
                json(&ClockAnswer { received_ns, sent_ns: now_ns() })
            }),
        ),
        (member.status(), Box::new(move |_| json(&status.status()))),
    ];
    Answers::start(network, answers)
}

fn json(value: &impl Serialize) -> Result<Vec<u8>, String> {
    serde_json::to_vec(value).map_err(|err| err.to_string())
}

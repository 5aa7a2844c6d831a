//! Membership: announces a member by a liveliness token, answers queries for its state, and ensures that a name belongs to one member.
//! A starting member first checks whether the name is free. Of two that start simultaneously, the one that has run longer by more than a
//! lease continues, otherwise the one with the smaller run id. After [`SETTLE_TIME`] no rival may end a member.

use super::access::LEASE;
use super::answers::{Answer, Answers, json};
use super::error::NetworkError;
use super::key::{Member, Role};
use super::presence::{Presence, Present};
use super::replies::ANSWER_TIMEOUT;
use super::session::Network;
use super::status::{Status, host};
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::process::CpuShare;
use zenoh::Wait as _;
use zenoh::liveliness::LivelinessToken;

/// Time in which a rival that started simultaneously may appear: a lease for its token and one for its answer.
const SETTLE_TIME: Duration = LEASE.saturating_mul(2);
const RIVAL_TIMEOUT: Duration = Duration::from_millis(500);

/// Announcement of a member, until it is dropped.
pub struct Membership {
    network: Network,
    presence: Arc<Presence>,
    member: Member,
    begun: Instant,
    // declared first, so that the token is dropped before the answers
    _token: LivelinessToken,
    _answers: Answers,
}

impl Membership {
    /// Announces a member, which answers these queries and the one for its state; `detail` adds the state of its role.
    ///
    /// # Errors
    /// Another member has the name, the session has ended, or the system provides no thread.
    pub fn start(
        network: &Network,
        member: &Member,
        mut answers: Vec<(String, Answer)>,
        detail: impl Fn(&mut Status) + Send + 'static,
    ) -> Result<Self, NetworkError> {
        let presence = network.presence()?;
        if let Some(other) = presence.look(|present| rivals(present, member)).first() {
            let status = status_of(network, other, ANSWER_TIMEOUT)?;
            return Err(taken(member, status));
        }
        let (begun, cpu) = (Instant::now(), CpuShare::start());
        let listens: Vec<_> = network.access().listen.iter().map(ToString::to_string).collect();
        let state = move |_| {
            let mut status = Status {
                stereopsis: env!("CARGO_PKG_VERSION").to_owned(),
                host: host(),
                uptime_s: begun.elapsed().as_secs_f64(),
                cpu_percent: cpu.percent(),
                listens: listens.clone(),
                ..Status::default()
            };
            detail(&mut status);
            json(&status)
        };
        answers.push((member.status(), Box::new(state)));
        let answers = Answers::start(network, answers)?;
        let token = network.session().liveliness().declare_token(member.token()).wait();
        let key = format!("{} {}", member.role, member.name);
        let token = token.map_err(|cause| NetworkError::Zenoh("announce", key, cause))?;
        let (network, member) = (network.clone(), member.clone());
        Ok(Self { network, presence, member, begun, _token: token, _answers: answers })
    }

    /// Returns the present members.
    pub fn presence(&self) -> &Arc<Presence> {
        &self.presence
    }

    /// Returns the reason to end if a rival has precedence; must be polled. Blocks for at most half a second.
    pub fn yields(&self) -> Option<NetworkError> {
        if self.begun.elapsed() > SETTLE_TIME {
            return None;
        }
        let goes_on = |rival: Member| {
            // a rival without an answer has ended, or never existed
            let status = status_of(&self.network, &rival, RIVAL_TIMEOUT).ok()??;
            let older_s = status.uptime_s - self.begun.elapsed().as_secs_f64();
            let is_older = older_s > LEASE.as_secs_f64();
            let is_first = older_s.abs() <= LEASE.as_secs_f64() && rival.boot < self.member.boot;
            (is_older || is_first).then(|| taken(&self.member, Some(status)))
        };
        self.rivals().into_iter().find_map(goes_on)
    }

    /// Returns other members of this name.
    pub fn rivals(&self) -> Vec<Member> {
        self.presence.look(|present| rivals(present, &self.member))
    }
}

/// Returns members whose name conflicts: heads of rigs and of cameras share one name space.
fn rivals(present: &Present, member: &Member) -> Vec<Member> {
    let of_name = match member.role {
        Role::Head | Role::Camera => present.heads(&member.name),
        Role::Engine | Role::Router => present.named(member.role, &member.name),
    };
    of_name.into_iter().filter(|other| other.boot != member.boot).collect()
}

fn status_of(network: &Network, member: &Member, timeout: Duration) -> Result<Option<Status>, NetworkError> {
    Ok(network.ask_json(&member.status(), timeout)?.into_iter().next().map(|(_, status)| status))
}

fn taken(member: &Member, other: Option<Status>) -> NetworkError {
    let what = match member.role {
        Role::Head | Role::Camera => "a head",
        Role::Engine => "an engine",
        Role::Router => "a router",
    };
    NetworkError::Taken { member: what, name: member.name.clone(), host: other.map(|status| status.host) }
}

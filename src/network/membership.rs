//! A member that others see: announced by a token, and answering for its state.

use super::answers::{Answer, Answers, json};
use super::key::Member;
use super::session::{Network, NetworkError};
use super::status::{Status, host};
use crate::process::CpuShare;
use zenoh::Wait as _;
use zenoh::liveliness::LivelinessToken;

/// Announces a member until it is dropped.
pub struct Membership {
    // first: the member is announced no more before its answers end
    _token: LivelinessToken,
    _answers: Answers,
}

impl Membership {
    /// Announces a member, which answers these questions and the one for its state; `detail` adds to that what its role has.
    ///
    /// # Errors
    /// The session has ended, or the system gives no thread.
    pub fn start(
        network: &Network,
        member: &Member,
        mut answers: Vec<(String, Answer)>,
        detail: impl Fn(&mut Status) + Send + 'static,
    ) -> Result<Self, NetworkError> {
        let cpu = CpuShare::start();
        let listens: Vec<_> = network.access().listen.iter().map(ToString::to_string).collect();
        let state = move |_| {
            let mut status = Status {
                stereopsis: env!("CARGO_PKG_VERSION").to_owned(),
                host: host(),
                uptime_s: cpu.elapsed().as_secs_f64(),
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
        let token = token
            .map_err(|err| NetworkError::new(format!("cannot announce {} {}: {err}", member.role, member.name)))?;
        Ok(Self { _token: token, _answers: answers })
    }
}

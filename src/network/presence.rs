//! Who is there: members by their liveliness tokens, which Zenoh withdraws when a member ends or is not heard of any more.

use super::key::{ALL_MEMBERS, Member, Role};
use super::session::{Network, NetworkError};
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use zenoh::Wait as _;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};

/// Members that are remembered; a hostile network could announce any number.
const MAX_MEMBERS: usize = 4096;

/// Members that are there now.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Those of this version.
    pub members: BTreeSet<Member>,
    /// Versions of the protocol that others speak.
    pub other_versions: BTreeSet<u8>,
}

impl Present {
    /// The head of this rig.
    pub fn head(&self, rig: &str) -> Option<&Member> {
        self.of(Role::Head).find(|member| member.name == rig)
    }

    /// The head of one camera of this name.
    pub fn camera(&self, name: &str) -> Option<&Member> {
        self.of(Role::Camera).find(|member| member.name == name)
    }

    /// Members of a role.
    pub fn of(&self, role: Role) -> impl Iterator<Item = &Member> {
        self.members.iter().filter(move |member| member.role == role)
    }

    fn take(&mut self, key: &str, is_there: bool) {
        match Member::of_token(key) {
            Ok(member) if !is_there => drop(self.members.remove(&member)),
            Ok(member) if self.members.len() < MAX_MEMBERS => drop(self.members.insert(member)),
            Err(Some(version)) if is_there => drop(self.other_versions.insert(version)),
            _ => {}
        }
    }
}

/// Follows who is there.
pub struct Presence {
    present: Arc<Mutex<Present>>,
    _subscriber: Subscriber<()>,
}

impl Presence {
    /// Follows all members; `changed` is called after each change, on one of Zenoh's threads, and must not wait.
    ///
    /// # Errors
    /// The session has ended.
    pub fn follow(network: &Network, changed: impl Fn() + Send + Sync + 'static) -> Result<Self, NetworkError> {
        let present = Arc::<Mutex<Present>>::default();
        let noted = Arc::clone(&present);
        let take = move |sample: Sample| {
            noted.lock().take(sample.key_expr().as_str(), sample.kind() == SampleKind::Put);
            changed();
        };
        let liveliness = network.session().liveliness();
        let subscriber = liveliness.declare_subscriber(ALL_MEMBERS).history(true).callback(take).wait();
        let subscriber = subscriber.map_err(|err| NetworkError::new(format!("cannot follow who is there: {err}")))?;
        Ok(Self { present, _subscriber: subscriber })
    }

    /// Who is there now.
    pub fn present(&self) -> Present {
        self.present.lock().clone()
    }
}

/// Asks once who is there.
///
/// # Errors
/// The session has ended.
pub fn present(network: &Network) -> Result<Present, NetworkError> {
    let failed = |err: &dyn std::fmt::Display| NetworkError::new(format!("cannot ask who is there: {err}"));
    let replies = network.session().liveliness().get(ALL_MEMBERS).timeout(super::ANSWER_TIMEOUT).wait();
    let replies = replies.map_err(|err| failed(&err))?;
    let mut present = Present::default();
    while let Ok(reply) = replies.recv() {
        if let Ok(sample) = reply.result() {
            present.take(sample.key_expr().as_str(), true);
        }
    }
    Ok(present)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_come_and_go_and_other_versions_are_remembered() {
        let mut present = Present::default();
        let head = Member { role: Role::Head, name: "pi".into(), boot: 7, weight: 0 };
        present.take(&head.token(), true);
        present.take("stereopsis/9/alive/x", true);
        present.take("nonsense", true);
        assert_eq!(present.head("pi"), Some(&head));
        assert_eq!(present.other_versions, [9].into());
        present.take(&head.token(), false);
        assert_eq!(present.head("pi"), None);
        for boot in 0..2 * MAX_MEMBERS as u64 {
            present.take(&Member { boot, ..head.clone() }.token(), true);
        }
        assert_eq!(present.members.len(), MAX_MEMBERS);
    }
}

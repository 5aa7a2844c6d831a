//! Observes which members are present, by their liveliness tokens. Zenoh withdraws a token when its member ends or loses the connection.

use super::error::NetworkError;
use super::key::{ALL_MEMBERS, Member, Role};
use super::replies::ANSWER_TIMEOUT;
use super::replies::tokens;
use parking_lot::Mutex;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use zenoh::Wait as _;
use zenoh::pubsub::Subscriber;
use zenoh::sample::{Sample, SampleKind};

/// Maximum number of remembered members; a hostile network could announce any number.
const MAX_MEMBERS: usize = 4096;

/// Members present at one time.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Present {
    /// Members of this protocol version.
    pub members: BTreeSet<Member>,
    /// Other protocol versions in use.
    pub other_versions: BTreeSet<u8>,
}

impl Present {
    /// Returns the head of this rig.
    pub fn head(&self, rig: &str) -> Option<&Member> {
        self.of(Role::Head).find(|member| member.name == rig)
    }

    /// Returns the heads of this name, both of rigs and of single cameras, by run id.
    pub fn heads(&self, name: &str) -> Vec<Member> {
        let mut heads: Vec<_> = [Role::Head, Role::Camera].map(|role| self.named(role, name)).concat();
        heads.sort_by_key(|head| head.boot);
        heads
    }

    /// Returns the members of a role and name.
    pub fn named(&self, role: Role, name: &str) -> Vec<Member> {
        self.of(role).filter(|member| member.name == name).cloned().collect()
    }

    /// Returns the members of a role.
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

/// Observer of the present members.
pub struct Presence {
    shared: Arc<PresenceState>,
    _subscriber: Subscriber<()>,
}

#[derive(Default)]
struct PresenceState {
    present: Mutex<Present>,
    changes: AtomicU64,
}

impl Presence {
    /// Starts to observe; on return, all current members are known.
    ///
    /// # Errors
    /// The session has ended, or the network does not answer in time.
    pub(super) fn follow(session: &zenoh::Session) -> Result<Self, NetworkError> {
        let failed = |cause| NetworkError::Zenoh("follow", "who is there".to_owned(), cause);
        let shared = Arc::<PresenceState>::default();
        let noted = Arc::clone(&shared);
        let take = move |sample: Sample| {
            noted.present.lock().take(sample.key_expr().as_str(), sample.kind() == SampleKind::Put);
            noted.changes.fetch_add(1, Ordering::Release);
        };
        let subscriber = session.liveliness().declare_subscriber(ALL_MEMBERS).history(true).callback(take).wait();
        let subscriber = subscriber.map_err(failed)?;
        // this query ends after the history of tokens has arrived
        let (_, is_complete) = tokens(session, ALL_MEMBERS, ANSWER_TIMEOUT, 0).map_err(failed)?;
        if !is_complete {
            return Err(NetworkError::Unanswered);
        }
        Ok(Self { shared, _subscriber: subscriber })
    }

    /// Returns a copy of the present members.
    pub fn present(&self) -> Present {
        self.shared.present.lock().clone()
    }

    /// Calls `look` with the present members without copying them; `look` must not block.
    pub fn look<T>(&self, look: impl FnOnce(&Present) -> T) -> T {
        look(&self.shared.present.lock())
    }

    /// Returns the number of changes so far, to detect new ones.
    pub fn changes(&self) -> u64 {
        self.shared.changes.load(Ordering::Acquire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tracks_members_and_remembers_other_versions() {
        let mut present = Present::default();
        let head = Member { role: Role::Head, name: "pi".into(), boot: 7, weight: 0, only: BTreeSet::new() };
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

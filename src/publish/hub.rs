//! Which topics are offered, who is connected, and who has subscribed to what: one lock, held for moments only.

use super::outbox::{Message, Outbox};
use super::protocol::{self, Farewell, Subscription};
use crate::recording::Channel;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Clients at once. A dozen windows of Foxglove are many; each client costs two threads.
pub const MOST_CLIENTS: usize = 32;

/// Topics and clients.
pub(super) struct Hub {
    state: Mutex<State>,
    /// By which clients know whether they come back to the same run.
    session: String,
}

#[derive(Default)]
struct State {
    channels: BTreeMap<u64, Arc<Channel>>,
    members: BTreeMap<u64, Member>,
    /// The last number that a topic or a client was given.
    last: u64,
    is_closed: bool,
}

/// A client.
struct Member {
    outbox: Arc<Outbox>,
    /// The number that a topic's messages carry; by the topic's number.
    subscriptions: BTreeMap<u64, u32>,
    /// Parameters of whose changes it is told.
    follows: BTreeSet<&'static str>,
}

impl Hub {
    pub(super) fn new(session: String) -> Self {
        Self { state: Mutex::default(), session }
    }

    /// Offers a topic; gives its number.
    pub(super) fn offer(&self, channel: Arc<Channel>) -> u64 {
        let mut state = self.state();
        let id = state.number();
        for member in state.members.values() {
            member.outbox.put_words(protocol::advertise([(id, &*channel)].into_iter()));
        }
        state.channels.insert(id, channel);
        id
    }

    /// Takes a topic back.
    pub(super) fn take_back(&self, id: u64) {
        let mut state = self.state();
        if state.channels.remove(&id).is_some() {
            for member in state.members.values_mut() {
                member.subscriptions.remove(&id);
                member.outbox.put_words(protocol::unadvertise(id));
            }
        }
    }

    /// Whether somebody has subscribed to a topic.
    pub(super) fn is_wanted(&self, id: u64) -> bool {
        self.state().members.values().any(|member| member.subscriptions.contains_key(&id))
    }

    /// Hands a message to whoever has subscribed to its topic.
    pub(super) fn send(&self, id: u64, log_time_ns: u64, data: &Arc<Vec<u8>>) {
        for member in self.state().members.values() {
            if let Some(&subscription) = member.subscriptions.get(&id) {
                let head = protocol::message_head(subscription, log_time_ns, data.len());
                member.outbox.put_message(Message { head, data: Arc::clone(data) });
            }
        }
    }

    /// Tells values of parameters to whoever follows them.
    pub(super) fn tell_parameters(&self, values: &[(&'static str, Value)]) {
        for member in self.state().members.values() {
            let followed = values.iter().filter(|(name, _)| member.follows.contains(name));
            let followed: Vec<_> = followed.cloned().collect();
            if !followed.is_empty() {
                member.outbox.put_words(protocol::parameter_values(&followed, None));
            }
        }
    }

    /// How many clients are connected.
    pub(super) fn clients(&self) -> usize {
        self.state().members.len()
    }

    /// A new client and its number; it is told what is offered. `None` if there is no room.
    pub(super) fn join(&self, outbox: Arc<Outbox>) -> Option<u64> {
        let mut state = self.state();
        if state.is_closed || state.members.len() >= MOST_CLIENTS {
            return None;
        }
        outbox.put_words(protocol::server_info(&self.session));
        if !state.channels.is_empty() {
            outbox.put_words(protocol::advertise(state.channels.iter().map(|(&id, channel)| (id, &**channel))));
        }
        let id = state.number();
        state.members.insert(id, Member { outbox, subscriptions: BTreeMap::new(), follows: BTreeSet::new() });
        Some(id)
    }

    /// A client has gone.
    pub(super) fn leave(&self, client: u64) {
        self.state().members.remove(&client);
    }

    /// Subscribes to topics; says what is wrong with some of them.
    pub(super) fn subscribe(&self, client: u64, wanted: &[Subscription]) -> Vec<String> {
        let mut state = self.state();
        let State { channels, members, .. } = &mut *state;
        let Some(member) = members.get_mut(&client) else { return Vec::new() };
        let mut complaints = Vec::new();
        for &Subscription { id, channel_id } in wanted {
            if !channels.contains_key(&channel_id) {
                complaints.push(format!("there is no topic of number {channel_id}"));
            } else if member.subscriptions.contains_key(&channel_id) {
                complaints.push(format!("the topic of number {channel_id} is subscribed to already"));
            } else if member.subscriptions.values().any(|&known| known == id) {
                complaints.push(format!("{id} is the number of another subscription"));
            } else {
                member.subscriptions.insert(channel_id, id);
            }
        }
        complaints
    }

    /// Ends subscriptions by their numbers.
    pub(super) fn unsubscribe(&self, client: u64, ids: &[u32]) {
        let gone: BTreeSet<_> = ids.iter().collect();
        if let Some(member) = self.state().members.get_mut(&client) {
            member.subscriptions.retain(|_, id| !gone.contains(id));
        }
    }

    /// Tells changes of these parameters to a client from now on, or no more.
    pub(super) fn follow(&self, client: u64, names: impl Iterator<Item = &'static str>, on: bool) {
        if let Some(member) = self.state().members.get_mut(&client) {
            for name in names {
                if on {
                    member.follows.insert(name);
                } else {
                    member.follows.remove(name);
                }
            }
        }
    }

    /// Says goodbye to all clients; nobody comes in any more.
    pub(super) fn close(&self) {
        let mut state = self.state();
        state.is_closed = true;
        for member in state.members.values() {
            member.outbox.end(Farewell::Away);
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn number(&mut self) -> u64 {
        self.last += 1;
        self.last
    }
}

#[cfg(test)]
mod tests {
    use super::super::outbox::Next;
    use super::*;
    use std::time::Instant;

    fn channel(topic: &str) -> Arc<Channel> {
        Arc::new(Channel {
            topic: topic.into(),
            message_encoding: "json".into(),
            schema: None,
            metadata: BTreeMap::new(),
        })
    }

    /// How many words and how many messages wait.
    fn waiting(outbox: &Outbox) -> (usize, usize) {
        let (mut words, mut messages) = (0, 0);
        loop {
            match outbox.next(Instant::now()) {
                Next::Words(_) => words += 1,
                Next::Message(_) => messages += 1,
                Next::Nothing | Next::End => return (words, messages),
            }
        }
    }

    #[test]
    fn a_client_gets_what_it_subscribed_to_until_the_topic_goes() {
        let hub = Hub::new("run".into());
        let one = hub.offer(channel("/one"));
        let outbox = Arc::<Outbox>::default();
        let client = hub.join(Arc::clone(&outbox)).unwrap();
        let two = hub.offer(channel("/two"));
        assert_eq!(waiting(&outbox), (3, 0), "who it is, one, two");
        let wanted =
            [(7, one), (7, two), (8, one), (9, 12_345)].map(|(id, channel_id)| Subscription { id, channel_id });
        assert_eq!(hub.subscribe(client, &wanted).len(), 3);
        assert!(hub.is_wanted(one) && !hub.is_wanted(two));
        hub.send(one, 1, &Arc::default());
        hub.send(two, 1, &Arc::default());
        assert_eq!(waiting(&outbox), (0, 1));
        hub.take_back(one);
        hub.send(one, 1, &Arc::default());
        assert!(waiting(&outbox) == (1, 0) && !hub.is_wanted(one));
        hub.subscribe(client, &[Subscription { id: 1, channel_id: two }]);
        hub.unsubscribe(client, &[1, 2]);
        assert!(!hub.is_wanted(two));
        hub.leave(client);
        assert_eq!(hub.subscribe(client, &wanted), Vec::<String>::new());
    }

    #[test]
    fn there_is_room_for_so_many_and_for_nobody_after_the_end() {
        let hub = Hub::new("run".into());
        let clients: Vec<_> = (0..MOST_CLIENTS).map(|_| hub.join(Arc::default()).unwrap()).collect();
        assert_eq!(hub.join(Arc::default()), None);
        hub.leave(clients[3]);
        let outbox = Arc::<Outbox>::default();
        assert!(hub.join(Arc::clone(&outbox)).is_some() && hub.clients() == MOST_CLIENTS);
        hub.close();
        assert!(outbox.has_ended());
        hub.leave(clients[4]);
        assert_eq!(hub.join(Arc::default()), None);
    }

    #[test]
    fn who_follows_a_parameter_is_told_of_it_alone() {
        let hub = Hub::new("run".into());
        let outbox = Arc::<Outbox>::default();
        let client = hub.join(Arc::clone(&outbox)).unwrap();
        waiting(&outbox);
        hub.follow(client, ["p1"].into_iter(), true);
        hub.tell_parameters(&[("p1", 1.into()), ("p2", 2.into())]);
        hub.tell_parameters(&[("p2", 2.into())]);
        assert_eq!(waiting(&outbox), (1, 0));
        hub.follow(client, ["p1"].into_iter(), false);
        hub.tell_parameters(&[("p1", 1.into())]);
        assert_eq!(waiting(&outbox), (0, 0));
    }
}

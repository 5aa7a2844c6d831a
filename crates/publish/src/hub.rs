//! Offered topics, connected clients and their subscriptions. Distributes messages to the outboxes of the subscribed clients.
//! Everything is behind one lock, which must never be held while something waits.

use super::outbox::{Message, Outbox};
use super::protocol::{self, CloseReason, Subscription};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stereopsis_recording::{Channel, Packet};

/// Maximum number of connected clients. Each costs two threads.
pub const MAX_CLIENTS: usize = 32;

pub(super) struct Hub {
    state: Mutex<HubState>,
    /// Identifier of this run. Clients that connect again recognize it.
    session: String,
}

#[derive(Default)]
struct HubState {
    topics: BTreeMap<String, Topic>,
    clients: BTreeMap<u64, HubClient>,
    /// Last number given to a topic or a client.
    last: u64,
    is_closed: bool,
}

struct Topic {
    id: u64,
    channel: Arc<Channel>,
}

struct HubClient {
    outbox: Arc<Outbox>,
    /// Number of each subscription, which its messages carry, by the number of the topic.
    subscriptions: BTreeMap<u64, u32>,
    /// Names of the parameters whose changes are sent to the client.
    follows: BTreeSet<&'static str>,
}

impl Hub {
    pub(super) fn new(session: String) -> Self {
        Self { state: Mutex::default(), session }
    }

    /// Offers a topic. An offered topic of the same name with another kind of message is withdrawn.
    pub(super) fn offer(&self, channel: &Arc<Channel>) {
        self.state.lock().offer(channel);
    }

    pub(super) fn keep(&self, topics: &BTreeSet<String>) {
        let mut state = self.state.lock();
        let HubState { topics: offered, clients, .. } = &mut *state;
        offered.retain(|name, topic| {
            let stays = topics.contains(name);
            if !stays {
                withdraw(topic.id, clients);
            }
            stays
        });
    }

    pub(super) fn is_wanted(&self, topic: &str) -> bool {
        let state = self.state.lock();
        let subscribed = |id| state.clients.values().any(|client| client.subscriptions.contains_key(&id));
        state.topics.get(topic).is_some_and(|topic| subscribed(topic.id))
    }

    pub(super) fn send(&self, packet: Packet) {
        let mut state = self.state.lock();
        let id = state.offer(&packet.channel);
        let data = Arc::new(packet.data);
        for client in state.clients.values() {
            if let Some(&subscription) = client.subscriptions.get(&id) {
                let head = protocol::message_head(subscription, packet.log_time_ns, data.len());
                client.outbox.put_message(Message { head, data: Arc::clone(&data) });
            }
        }
    }

    pub(super) fn send_parameters(&self, values: &[(&'static str, Value)]) {
        for client in self.state.lock().clients.values() {
            let followed = values.iter().filter(|(name, _)| client.follows.contains(name));
            let followed: Vec<_> = followed.cloned().collect();
            if !followed.is_empty() {
                client.outbox.put_control(protocol::parameter_values(&followed, None));
            }
        }
    }

    pub(super) fn clients(&self) -> usize {
        self.state.lock().clients.len()
    }

    /// Adds a client and sends it the topics; returns its number, or `None` if there is no room.
    pub(super) fn join(&self, outbox: Arc<Outbox>) -> Option<u64> {
        let mut state = self.state.lock();
        if state.is_closed || state.clients.len() >= MAX_CLIENTS {
            return None;
        }
        outbox.put_control(protocol::server_info(&self.session));
        if !state.topics.is_empty() {
            let topics = state.topics.values();
            outbox.put_control(protocol::advertise(topics.map(|topic| (topic.id, &*topic.channel))));
        }
        let id = state.new_id();
        state.clients.insert(id, HubClient { outbox, subscriptions: BTreeMap::new(), follows: BTreeSet::new() });
        Some(id)
    }

    pub(super) fn leave(&self, client: u64) {
        self.state.lock().clients.remove(&client);
    }

    /// Subscribes a client to topics; returns an error for each invalid subscription.
    pub(super) fn subscribe(&self, client: u64, wanted: &[Subscription]) -> Vec<String> {
        let mut state = self.state.lock();
        let HubState { topics, clients, .. } = &mut *state;
        let Some(client) = clients.get_mut(&client) else { return Vec::new() };
        let mut complaints = Vec::new();
        for &Subscription { id, channel_id } in wanted {
            if !topics.values().any(|topic| topic.id == channel_id) {
                complaints.push(format!("there is no topic of number {channel_id}"));
            } else if client.subscriptions.contains_key(&channel_id) {
                complaints.push(format!("the topic of number {channel_id} is subscribed to already"));
            } else if client.subscriptions.values().any(|&known| known == id) {
                complaints.push(format!("{id} is the number of another subscription"));
            } else {
                client.subscriptions.insert(channel_id, id);
            }
        }
        complaints
    }

    pub(super) fn unsubscribe(&self, client: u64, ids: &[u32]) {
        let gone: BTreeSet<_> = ids.iter().collect();
        if let Some(client) = self.state.lock().clients.get_mut(&client) {
            client.subscriptions.retain(|_, id| !gone.contains(id));
        }
    }

    /// Starts to send a client the changes of these parameters.
    pub(super) fn follow(&self, client: u64, names: impl Iterator<Item = &'static str>) {
        if let Some(client) = self.state.lock().clients.get_mut(&client) {
            client.follows.extend(names);
        }
    }

    /// Stops sending a client the changes of these parameters.
    pub(super) fn unfollow(&self, client: u64, names: impl Iterator<Item = &'static str>) {
        if let Some(client) = self.state.lock().clients.get_mut(&client) {
            for name in names {
                client.follows.remove(name);
            }
        }
    }

    /// Ends all connections. No client can join afterwards.
    pub(super) fn close(&self) {
        let mut state = self.state.lock();
        state.is_closed = true;
        for client in state.clients.values() {
            client.outbox.end(CloseReason::Away);
        }
    }
}

impl HubState {
    fn new_id(&mut self) -> u64 {
        self.last += 1;
        self.last
    }

    /// Offers a topic; returns its number.
    fn offer(&mut self, channel: &Arc<Channel>) -> u64 {
        if let Some(known) = self.topics.get(&channel.topic) {
            if known.channel == *channel {
                return known.id;
            }
            withdraw(known.id, &mut self.clients);
        }
        let id = self.new_id();
        for client in self.clients.values() {
            client.outbox.put_control(protocol::advertise([(id, &**channel)].into_iter()));
        }
        self.topics.insert(channel.topic.clone(), Topic { id, channel: Arc::clone(channel) });
        id
    }
}

fn withdraw(id: u64, clients: &mut BTreeMap<u64, HubClient>) {
    for client in clients.values_mut() {
        client.subscriptions.remove(&id);
        client.outbox.put_control(protocol::unadvertise(id));
    }
}

#[cfg(test)]
mod tests {
    use super::super::outbox::OutboxItem;
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

    fn packet(topic: &str) -> Packet {
        Packet { channel: channel(topic), sequence: 0, log_time_ns: 1, publish_time_ns: 1, data: Vec::new() }
    }

    fn id_of(hub: &Hub, topic: &str) -> u64 {
        hub.state.lock().topics[topic].id
    }

    /// Counts the control frames and the messages in the queue, and empties it.
    fn waiting(outbox: &Outbox) -> (usize, usize) {
        let (mut control, mut messages) = (0, 0);
        loop {
            match outbox.next(Instant::now()) {
                OutboxItem::Control(_) => control += 1,
                OutboxItem::Message(_) => messages += 1,
                OutboxItem::Nothing | OutboxItem::End => return (control, messages),
            }
        }
    }

    #[test]
    fn sends_subscribed_topics_until_they_are_withdrawn() {
        let hub = Hub::new("run".into());
        hub.offer(&channel("/one"));
        let outbox = Arc::<Outbox>::default();
        let client = hub.join(Arc::clone(&outbox)).unwrap();
        hub.offer(&channel("/two"));
        let (one, two) = (id_of(&hub, "/one"), id_of(&hub, "/two"));
        assert_eq!(waiting(&outbox), (3, 0), "server, one, two");
        let wanted =
            [(7, one), (7, two), (8, one), (9, 12_345)].map(|(id, channel_id)| Subscription { id, channel_id });
        assert_eq!(hub.subscribe(client, &wanted).len(), 3);
        assert!(hub.is_wanted("/one") && !hub.is_wanted("/two") && !hub.is_wanted("/tf"));
        hub.send(packet("/one"));
        hub.send(packet("/two"));
        assert_eq!(waiting(&outbox), (0, 1));
        hub.keep(&["/two".to_owned()].into());
        assert!(waiting(&outbox) == (1, 0) && !hub.is_wanted("/one"));
        hub.send(packet("/one"));
        assert_eq!(waiting(&outbox), (1, 0), "it is offered again, by another number");
        hub.subscribe(client, &[Subscription { id: 1, channel_id: two }]);
        hub.unsubscribe(client, &[1, 2]);
        assert!(!hub.is_wanted("/two"));
        let other_kind = Channel { message_encoding: "protobuf".into(), ..(*channel("/two")).clone() };
        hub.offer(&Arc::new(other_kind));
        assert_eq!((waiting(&outbox), id_of(&hub, "/two") > two), ((2, 0), true));
        hub.leave(client);
        assert_eq!(hub.subscribe(client, &wanted), Vec::<String>::new());
    }

    #[test]
    fn limits_clients_and_admits_none_after_close() {
        let hub = Hub::new("run".into());
        let clients: Vec<_> = (0..MAX_CLIENTS).map(|_| hub.join(Arc::default()).unwrap()).collect();
        assert_eq!(hub.join(Arc::default()), None);
        hub.leave(clients[3]);
        let outbox = Arc::<Outbox>::default();
        assert!(hub.join(Arc::clone(&outbox)).is_some() && hub.clients() == MAX_CLIENTS);
        hub.close();
        assert!(outbox.has_ended());
        hub.leave(clients[4]);
        assert_eq!(hub.join(Arc::default()), None);
    }

    #[test]
    fn sends_changes_of_followed_parameters_only() {
        let hub = Hub::new("run".into());
        let outbox = Arc::<Outbox>::default();
        let client = hub.join(Arc::clone(&outbox)).unwrap();
        waiting(&outbox);
        hub.follow(client, ["p1"].into_iter());
        hub.send_parameters(&[("p1", 1.into()), ("p2", 2.into())]);
        hub.send_parameters(&[("p2", 2.into())]);
        assert_eq!(waiting(&outbox), (1, 0));
        hub.unfollow(client, ["p1"].into_iter());
        hub.send_parameters(&[("p1", 1.into())]);
        assert_eq!(waiting(&outbox), (0, 0));
    }
}

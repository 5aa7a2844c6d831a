//! The topics that are offered, each with its publisher.

use super::shared::Shared;
use crate::network::ros2::{Node, Outgoing, Qos};
use crate::recording::format::{self, Kind};
use crate::recording::{Channel, Packet, topic};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// Publishers by topic.
#[derive(Default)]
pub(super) struct Offers(BTreeMap<String, Outgoing>);

impl Offers {
    /// Offers the topic of a channel.
    ///
    /// # Errors
    /// The session has ended.
    pub(super) fn add(&mut self, node: &Node, shared: &Arc<Shared>, channel: &Channel) -> Result<(), String> {
        let Some(kind) = format::kind(channel).filter(|_| !self.0.contains_key(&channel.topic)) else { return Ok(()) };
        let told = Arc::downgrade(shared);
        let heard = move |_| {
            if let Some(shared) = told.upgrade() {
                shared.inbox.put_other(|input| input.subscriptions = true);
            }
        };
        let publisher = node.publisher(&channel.topic, kind, qos(&channel.topic, kind), heard);
        self.0.insert(channel.topic.clone(), publisher.map_err(|err| err.to_string())?);
        Ok(())
    }

    /// Withdraws all topics but these.
    pub(super) fn keep(&mut self, topics: &BTreeSet<String>) {
        self.0.retain(|name, _| topics.contains(name));
    }

    /// Topics that have subscriptions.
    pub(super) fn received(&self) -> BTreeSet<String> {
        self.0.iter().filter(|(_, publisher)| publisher.is_received()).map(|(name, _)| name.clone()).collect()
    }

    /// Whether the messages of a topic are kept for late subscriptions.
    pub(super) fn is_latched(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(Outgoing::is_latched)
    }

    /// Sends a message where there is, or may come, a subscription.
    ///
    /// # Errors
    /// The session has ended.
    pub(super) fn send(&mut self, packet: Packet) -> Result<(), String> {
        let publisher = self.0.get_mut(&packet.channel.topic).filter(|publisher| publisher.is_wanted());
        publisher.map_or(Ok(()), |publisher| publisher.put(packet.data))
    }
}

/// Quality of service of a topic: that of sensors for pixels and points, and messages that are sent once for late subscriptions too.
fn qos(name: &str, kind: Kind) -> Qos {
    match (name, kind) {
        (topic::TRANSFORMS | topic::ABOUT | topic::PARAMETERS, _) => Qos::LATCHED,
        (_, Kind::Image | Kind::Compressed | Kind::Disparity | Kind::Points) => Qos::SENSOR_DATA,
        _ => Qos::DEFAULT,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_are_sensor_data_and_what_is_sent_once_is_kept() {
        assert_eq!(qos(topic::LEFT_RAW, Kind::Compressed), Qos::SENSOR_DATA);
        assert_eq!(qos(topic::POINTS, Kind::Points), Qos::SENSOR_DATA);
        assert_eq!(qos(topic::LEFT_CAMERA, Kind::Camera), Qos::DEFAULT);
        assert_eq!(qos(topic::PAIRS, Kind::Json), Qos::DEFAULT);
        for (name, kind) in [(topic::TRANSFORMS, Kind::Transform), (topic::ABOUT, Kind::Json)] {
            assert_eq!(qos(name, kind), Qos::LATCHED);
        }
    }
}

//! Publishers of ROS 2 topics: creates one for each topic with its quality of service, and sends messages to those with subscriptions.

use super::super::publication::Shared;
use super::link::Ros2;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use stereopsis_frame::Cause;
use stereopsis_network::ros2::{Node, NodePublisher, Qos, RosError};
use stereopsis_recording::format::Kind;
use stereopsis_recording::{Channel, Packet, format, topic};

#[derive(Default)]
pub(super) struct TopicPublishers(BTreeMap<String, NodePublisher>);

impl TopicPublishers {
    /// Creates the publisher of a channel's topic, unless it exists.
    ///
    /// # Errors
    /// The session has ended.
    pub(super) fn add(&mut self, node: &Node, shared: &Arc<Shared<Ros2>>, channel: &Channel) -> Result<(), RosError> {
        let Some(kind) = format::kind(channel).filter(|_| !self.0.contains_key(&channel.topic)) else { return Ok(()) };
        let weak = Arc::downgrade(shared);
        let on_change = move |_| {
            if let Some(shared) = weak.upgrade() {
                shared.inbox.put_other(|input| input.subscriptions = true);
            }
        };
        let publisher = node.publisher(&channel.topic, kind, qos(&channel.topic, kind), on_change);
        self.0.insert(channel.topic.clone(), publisher?);
        Ok(())
    }

    pub(super) fn keep(&mut self, topics: &BTreeSet<String>) {
        self.0.retain(|name, _| topics.contains(name));
    }

    pub(super) fn received(&self) -> BTreeSet<String> {
        self.0.iter().filter(|(_, publisher)| publisher.is_received()).map(|(name, _)| name.clone()).collect()
    }

    /// Returns whether the messages of a topic are kept for late subscriptions.
    pub(super) fn is_latched(&self, name: &str) -> bool {
        self.0.get(name).is_some_and(NodePublisher::is_latched)
    }

    /// Sends a message if its topic has a subscription or keeps messages for late ones.
    ///
    /// # Errors
    /// The session has ended.
    pub(super) fn send(&mut self, packet: Packet) -> Result<(), Cause> {
        let publisher = self.0.get_mut(&packet.channel.topic).filter(|publisher| publisher.is_wanted());
        publisher.map_or(Ok(()), |publisher| publisher.put(packet.data))
    }
}

/// Returns the quality of service of a topic: sensor data for pixels and points, latched for messages that are sent only once.
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
    fn pixels_are_sensor_data_and_descriptions_are_latched() {
        assert_eq!(qos(topic::LEFT_RAW, Kind::Compressed), Qos::SENSOR_DATA);
        assert_eq!(qos(topic::POINTS, Kind::Points), Qos::SENSOR_DATA);
        assert_eq!(qos(topic::LEFT_CAMERA, Kind::Camera), Qos::DEFAULT);
        assert_eq!(qos(topic::PAIRS, Kind::Json), Qos::DEFAULT);
        for (name, kind) in [(topic::TRANSFORMS, Kind::Transform), (topic::ABOUT, Kind::Json)] {
            assert_eq!(qos(name, kind), Qos::LATCHED);
        }
    }
}

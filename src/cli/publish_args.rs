//! Flags that publish a run to other programs; without the feature `publish` there are none.

#[cfg(feature = "publish")]
use super::error::refuse;
use std::sync::Arc;
use stereopsis_live::Remote;
use stereopsis_recording::DepthFormat;

/// To whom a run is published.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct PublishArgs {
    /// Let others watch, in the Foxglove app or ROS 2
    ///
    /// foxglove for the Foxglove app, which can set parameters too, over a WebSocket on 127.0.0.1:8765, or
    /// foxglove=:PORT, or foxglove=0.0.0.0:8765 for everyone on the network who has the link with the token (random, or that
    /// of $STEREOPSIS_PUBLISH_TOKEN); ros2 for RViz and all nodes of ROS 2 with rmw_zenoh_cpp, by the router on this machine.
    /// Can be repeated.
    #[cfg(feature = "publish")]
    #[arg(long, hide_short_help = true, value_name = "foxglove|ros2")]
    publish: Vec<stereopsis_publish::PublishTarget>,
    /// Origin of a web page that may watch too, as scheme://name:port; can be repeated
    ///
    /// Pages of this machine and of Foxglove always may. Clients may also call this machine by its name.
    #[cfg(feature = "publish")]
    #[arg(long, hide_short_help = true, value_name = "ORIGIN", requires = "publish")]
    publish_allow_origin: Vec<stereopsis_publish::WebOrigin>,
}

/// Variable with the token; a flag would show it to everyone who lists processes.
#[cfg(feature = "publish")]
const TOKEN_VARIABLE: &str = "STEREOPSIS_PUBLISH_TOKEN";

/// Publications of the results; they end with the run.
pub(super) struct Published(pub(super) Vec<Arc<dyn Remote>>);

impl PublishArgs {
    /// Publishes the run, and prints the addresses.
    ///
    /// # Errors
    /// An address is taken or does not belong to this machine; the token is invalid; Zenoh refuses its configuration.
    #[cfg(feature = "publish")]
    pub(super) fn start(&self, depth_format: DepthFormat) -> anyhow::Result<Published> {
        let mut published = Published(Vec::new());
        for (k, target) in self.publish.iter().enumerate() {
            let is_same = |other| std::mem::discriminant(other) == std::mem::discriminant(target);
            if self.publish[..k].iter().any(is_same) {
                return refuse(format!("--publish {target}: it is published there already; give it once"));
            }
            published.0.push(self.remote(target, depth_format)?);
        }
        published.0.iter().for_each(|remote| stereopsis_base::console::line(remote.invitation()));
        Ok(published)
    }

    #[cfg(feature = "publish")]
    fn remote(
        &self,
        target: &stereopsis_publish::PublishTarget,
        depth_format: DepthFormat,
    ) -> anyhow::Result<Arc<dyn Remote>> {
        use anyhow::Context as _;
        use stereopsis_publish::{Foxglove, Publication, PublishTarget};
        let address = match target {
            PublishTarget::Foxglove(address) => address.clone(),
            #[cfg(feature = "zenoh")]
            PublishTarget::Ros2 => {
                let surroundings = stereopsis_network::ros2::RosEnvironment::of_environment()?;
                let publication = Publication::<stereopsis_publish::ros2::Ros2>::start(&surroundings)?;
                publication.set_depth_format(depth_format);
                return Ok(publication);
            }
        };
        let token = match std::env::var_os(TOKEN_VARIABLE).filter(|word| !word.is_empty()) {
            Some(word) => {
                let token = word.to_string_lossy().parse();
                Some(token.with_context(|| format!("the variable {TOKEN_VARIABLE} has no token"))?)
            }
            None => None,
        };
        let options = stereopsis_publish::PublishOptions { address, origins: self.publish_allow_origin.clone(), token };
        let publication = Publication::<Foxglove>::start(options)?;
        publication.set_depth_format(depth_format);
        Ok(publication)
    }

    /// Whether the run is published.
    #[cfg(feature = "publish")]
    pub(super) fn is_asked(&self) -> bool {
        !self.publish.is_empty()
    }

    /// Returns false: without the feature `publish` no run is published.
    #[cfg(not(feature = "publish"))]
    #[allow(clippy::unused_self, reason = "with the feature it depends")]
    pub(super) fn is_asked(&self) -> bool {
        false
    }

    /// Publishes nothing.
    #[cfg(not(feature = "publish"))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "with the feature it can fail")]
    pub(super) fn start(&self, _depth_format: DepthFormat) -> anyhow::Result<Published> {
        Ok(Published(Vec::new()))
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        self.0.iter().for_each(|remote| remote.stop());
    }
}

//! The flag that makes a run visible elsewhere; without the feature `publish` there is none.

use crate::console;
use crate::live::Remote;
use std::sync::Arc;

/// To whom a run is published.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct PublishArgs {
    /// Let the Foxglove app watch and set parameters, over a WebSocket on 127.0.0.1:8765, or foxglove=:PORT, or
    /// foxglove=0.0.0.0:8765 for everyone on the network
    #[cfg(feature = "publish")]
    #[arg(long, value_name = "foxglove[=ADDRESS]", help_heading = "Output")]
    publish: Option<crate::publish::Address>,
}

/// Who watches; ends with the run.
pub(super) struct Published(pub(super) Option<Arc<dyn Remote>>);

impl PublishArgs {
    /// Listens, and says where.
    ///
    /// # Errors
    /// The address is taken or is none of this machine's.
    #[cfg(feature = "publish")]
    pub(super) fn start(&self) -> anyhow::Result<Published> {
        let Some(address) = self.publish else { return Ok(Published(None)) };
        let publisher = crate::publish::Publisher::start(address)?;
        console::line(publisher.invitation());
        Ok(Published(Some(publisher)))
    }

    /// Nobody can watch.
    #[cfg(not(feature = "publish"))]
    #[allow(clippy::unnecessary_wraps, clippy::unused_self, reason = "with the feature it can fail")]
    pub(super) fn start(&self) -> anyhow::Result<Published> {
        Ok(Published(None))
    }
}

impl Drop for Published {
    fn drop(&mut self) {
        if let Some(remote) = &self.0 {
            remote.stop();
        }
    }
}

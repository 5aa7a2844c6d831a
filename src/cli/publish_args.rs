//! The flag that makes a run visible elsewhere; without the feature `publish` there is none.

use crate::live::Remote;
use std::sync::Arc;

/// To whom a run is published.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct PublishArgs {
    /// Let the Foxglove app watch and set parameters, over a WebSocket on 127.0.0.1:8765, or foxglove=:PORT, or
    /// foxglove=0.0.0.0:8765 for everyone on the network who has the link with the token (random, or that of
    /// $STEREOPSIS_PUBLISH_TOKEN)
    #[cfg(feature = "publish")]
    #[arg(long, value_name = "foxglove[=ADDRESS]", help_heading = "Output")]
    publish: Option<crate::publish::Address>,
    /// A web page's origin that may watch as well, as scheme://name:port; those of this machine and Foxglove's own
    /// may anyway. Clients may also call this machine by its name. Can be repeated
    #[cfg(feature = "publish")]
    #[arg(long, value_name = "ORIGIN", requires = "publish", help_heading = "Output")]
    publish_allow_origin: Vec<crate::publish::Origin>,
}

/// Where a token can be chosen; a flag would show it to everyone who lists processes.
#[cfg(feature = "publish")]
const TOKEN_VARIABLE: &str = "STEREOPSIS_PUBLISH_TOKEN";

/// Who watches; ends with the run.
pub(super) struct Published(pub(super) Option<Arc<dyn Remote>>);

impl PublishArgs {
    /// Listens, and says where.
    ///
    /// # Errors
    /// The address is taken or is none of this machine's; the token cannot be one.
    #[cfg(feature = "publish")]
    pub(super) fn start(&self) -> anyhow::Result<Published> {
        use anyhow::Context as _;
        let Some(address) = self.publish.clone() else { return Ok(Published(None)) };
        let token = match std::env::var_os(TOKEN_VARIABLE).filter(|word| !word.is_empty()) {
            Some(word) => {
                let token = word.to_string_lossy().parse().map_err(anyhow::Error::msg);
                Some(token.with_context(|| format!("the variable {TOKEN_VARIABLE} has no token"))?)
            }
            None => None,
        };
        let options = crate::publish::PublishOptions { address, origins: self.publish_allow_origin.clone(), token };
        let publisher = crate::publish::Publisher::start(options)?;
        crate::console::line(publisher.invitation());
        Ok(Published(Some(publisher)))
    }

    /// Whether the run is published.
    #[cfg(feature = "publish")]
    pub(super) fn is_asked(&self) -> bool {
        self.publish.is_some()
    }

    /// Without the feature `publish` no run is published.
    #[cfg(not(feature = "publish"))]
    #[allow(clippy::unused_self, reason = "with the feature it depends")]
    pub(super) fn is_asked(&self) -> bool {
        false
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

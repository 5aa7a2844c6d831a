//! Flags for joining other programs on the network.

use std::path::PathBuf;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_network::{Access, Endpoint, Network, NetworkError};

/// Interval at which a router that does not answer is tried again.
const RETRY_INTERVAL: Duration = Duration::from_secs(1);

/// Where a session listens, and what it connects to.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Network")]
pub(super) struct NetworkArgs {
    /// Address on which other machines connect here, such as tcp/0.0.0.0:7447; can be repeated
    ///
    /// tls/ instead of tcp/ encrypts.
    #[arg(long, value_name = "ADDRESS")]
    listen: Vec<Endpoint>,
    /// Router to connect to, such as tcp/192.168.1.5:7447; can be repeated
    ///
    /// A `stereopsis router`, a head that listens, or any router of Zenoh.
    #[arg(long, value_name = "ADDRESS")]
    connect: Vec<Endpoint>,
    /// Let everyone who reaches --listen connect, without password or certificate
    ///
    /// They can watch, control cameras, change parameters, and send images and depth in a rig's place.
    #[arg(long, requires = "listen")]
    open: bool,
}

/// Zenoh's own configuration.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Network")]
pub(super) struct ZenohArgs {
    /// Configuration file of Zenoh: certificates, access rules for each rig; flags win over it
    ///
    /// See docs/network.md.
    #[arg(long, hide_short_help = true, value_name = "FILE")]
    pub(super) zenoh_config: Option<PathBuf>,
}

/// Access of a command without --listen and --connect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DefaultAccess {
    /// Listens for programs of this machine.
    Listen,
    /// Connects to the router of this machine.
    Connect,
}

impl NetworkArgs {
    /// Returns how the session joins others.
    pub(super) fn access(&self, otherwise: DefaultAccess, config: Option<&PathBuf>) -> Access {
        let Self { listen, connect, open } = self.clone();
        let local = Access::local();
        let is_silent = listen.is_empty() && connect.is_empty();
        let access = Access { listen, connect, open, config: config.cloned(), password: local.password };
        match otherwise {
            DefaultAccess::Listen if is_silent => Access { listen: local.connect, ..access },
            DefaultAccess::Connect if is_silent => Access { connect: local.connect, ..access },
            _ => access,
        }
    }
}

/// Opens a session, and prints who can connect. Waits for a router that does not answer: Ctrl-C has its default meaning meanwhile.
///
/// # Errors
/// The address is taken, or the configuration cannot be used.
pub(super) fn open_patiently(access: &Access) -> Result<Network, NetworkError> {
    let mut said = false;
    loop {
        match Network::open(access) {
            Ok(network) => {
                if let Some(who) = network.who() {
                    console::say(who);
                }
                return Ok(network);
            }
            Err(err) if !err.is_silence() => return Err(err),
            Err(err) => {
                if !std::mem::replace(&mut said, true) {
                    console::say(format_args!("{err}; waiting for it"));
                }
            }
        }
        std::thread::sleep(RETRY_INTERVAL);
    }
}

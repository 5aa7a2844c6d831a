//! `router`: passes messages between heads, engines and programs that watch.

use super::network_args::{DefaultAccess, NetworkArgs, ZenohArgs, open_patiently};
use super::short_help::shown;
use std::sync::atomic::Ordering;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_live::headless;
use stereopsis_network::Membership;
use stereopsis_network::access::names;
use stereopsis_network::key::{Member, Role};

const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Arguments of `router`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("zenoh_config", shown))]
pub(super) struct RouterArgs {
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    zenoh: ZenohArgs,
}

/// Runs `router` until Ctrl-C.
///
/// # Errors
/// An address is taken, or others could reach it although no flag allows that.
pub(super) fn run(args: &RouterArgs) -> anyhow::Result<()> {
    let mut access = args.network.access(DefaultAccess::Listen, args.zenoh.zenoh_config.as_ref());
    if access.listen.is_empty() {
        // a router that connects to another one still serves the programs of its own machine
        access.listen = stereopsis_network::Access::local().connect;
    }
    let network = open_patiently(&access)?;
    let member = Member::new(Role::Router, network.id(), 0);
    let _membership = Membership::start(&network, &member, Vec::new(), |_| {})?;
    let interrupt = headless::interrupt()?;
    console::say(format_args!("router at {}; Ctrl-C ends it", names(&access.listen)));
    while !interrupt.load(Ordering::Acquire) {
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

//! `router`: passes messages between heads, engines and programs that watch.

use super::network_args::{NetworkArgs, Otherwise, ZenohArgs, open_patiently};
use crate::console;
use crate::live::headless;
use crate::network::Answers;
use crate::network::key::{Member, Role};
use crate::network::status::{Status, host};
use crate::process::CpuShare;
use std::sync::atomic::Ordering;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often Ctrl-C is looked for.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Arguments of `router`.
#[derive(Debug, clap::Args)]
pub(super) struct RouterArgs {
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    zenoh: ZenohArgs,
}

/// Runs `router` until Ctrl-C.
///
/// # Errors
/// An address that is taken, or that others could reach although nothing says who may.
pub(super) fn run(args: &RouterArgs) -> anyhow::Result<()> {
    let interrupt = headless::interrupt()?;
    let mut access = args.network.access(Otherwise::Listen, args.zenoh.zenoh_config.as_ref());
    if access.listen.is_empty() {
        // one that connects to another router is still one for the programs of its own machine
        access.listen = crate::network::Access::local().connect;
    }
    let network = open_patiently(&access, interrupt)?;
    let listens: Vec<_> = access.listen.iter().map(ToString::to_string).collect();
    let boot = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos() as u64;
    let member = Member { role: Role::Router, name: network.id(), boot, weight: 0 };
    let cpu = CpuShare::start();
    let told = Status {
        stereopsis: env!("CARGO_PKG_VERSION").to_owned(),
        host: host(),
        listens: listens.clone(),
        ..Status::default()
    };
    let state = move |_| {
        let status = Status { uptime_s: cpu.elapsed().as_secs_f64(), cpu_percent: cpu.percent(), ..told.clone() };
        serde_json::to_vec(&status).map_err(|err| err.to_string())
    };
    let _answer = Answers::start(&network, vec![(member.status(), Box::new(state))])?;
    let _token = network.announce(&member)?;
    console::say(format_args!("router at {}; Ctrl-C ends it", listens.join(", ")));
    while !interrupt.load(Ordering::Acquire) {
        std::thread::sleep(POLL_INTERVAL);
    }
    Ok(())
}

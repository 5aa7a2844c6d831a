//! `engine`: matches the rigs of the network with this machine's engine.

use super::error::{UsageError, refuse};
use super::network_args::{DefaultAccess, NetworkArgs, ZenohArgs, open_patiently};
use super::short_help::shown;
use super::values::positive;
use std::sync::Arc;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_frame::MaxPixels;
use stereopsis_live::{Remote, headless};
use stereopsis_network::key::{MAX_ONLY, check_rig};
use stereopsis_network::ros2::RosEnvironment;
use stereopsis_network::status::{Speed, host};
use stereopsis_publish::Publication;
use stereopsis_publish::ros2::Ros2;
use stereopsis_publish::serve;
use stereopsis_publish::serve::{RemoteOf, ServeOptions, Server, Stub};
use stereopsis_settings::settings::{Origin, Settings, Word};

/// Arguments of `engine`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("zenoh_config", shown))]
pub(super) struct EngineArgs {
    /// Name of the engine on the network [default: this machine's name and a number]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Only the rig of this name; can be repeated [default: all rigs that fall to this engine]
    #[arg(long = "only", value_name = "RIG")]
    rigs: Vec<String>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    zenoh: ZenohArgs,
    /// Engine that computes; auto times both and takes the faster one
    #[arg(long, value_name = "ENGINE", default_value = "auto", help_heading = "Settings")]
    engine: String,
    /// Do not take rigs whose images have more pixels: a few bytes can claim billions
    #[arg(long, value_name = "PIXELS", default_value_t, help_heading = "Settings")]
    max_pixels: MaxPixels,
    /// Threads of the CPU engine for each rig [default: all cores]
    #[arg(long, value_name = "N", help_heading = "Settings")]
    threads: Option<String>,
    /// GPU to use: its number in `devices --gpu`, or part of its name
    #[arg(long, value_name = "GPU", help_heading = "Settings")]
    adapter: Option<String>,
    /// Publish each rig to ROS 2, by the router on this machine: topics of the rig 'pi' are in the namespace /pi
    #[arg(long, value_name = "ros2", value_parser = ["ros2"], help_heading = "Output")]
    publish: Option<String>,
    /// Wait so long for each pair instead of matching it: for measurements of the network
    #[arg(long, value_name = "MS", value_parser = positive, hide = true)]
    stub_ms: Option<f64>,
}

/// Runs `engine` until Ctrl-C.
///
/// # Errors
/// An engine cannot be opened, an address cannot be used, or a name is invalid or taken.
pub(super) fn run(args: &EngineArgs) -> anyhow::Result<()> {
    let names = args.name.iter().map(|name| ("--name", name)).chain(args.rigs.iter().map(|rig| ("--only", rig)));
    for (flag, name) in names {
        check_rig(name).map_err(|why| UsageError(format!("{flag} {why}")))?;
    }
    if args.rigs.len() > MAX_ONLY {
        return refuse(format!("--only: {} rigs, at most {MAX_ONLY} can be named", args.rigs.len()));
    }
    let given =
        [("engine", Some(args.engine.clone())), ("threads", args.threads.clone()), ("adapter", args.adapter.clone())];
    let words = given
        .into_iter()
        .filter_map(|(name, text)| Some(Word { name: name.to_owned(), text: text?, origin: Origin::Flag }));
    let engine = Settings::resolve(&words.collect::<Vec<_>>())?.engine_options().into();
    let stub = args.stub_ms.map(|ms| Stub::new(Duration::from_secs_f64(ms / 1e3)));
    let speed = match args.stub_ms {
        Some(ms) => Speed { pairs_per_s: 1e3 / ms, ..Speed::default() },
        None => serve::measure(&engine)?,
    };
    let access = args.network.access(DefaultAccess::Connect, args.zenoh.zenoh_config.as_ref());
    let network = open_patiently(&access)?;
    let name = args.name.clone().unwrap_or_else(|| own_name(&network.id()));
    let pairs_per_s = speed.pairs_per_s;
    let remote = args.publish.is_some().then(remote).transpose()?;
    let mut server = Server::start(
        network,
        ServeOptions {
            name: name.clone(),
            engine,
            speed,
            stub,
            rigs: args.rigs.clone(),
            max_pixels: args.max_pixels,
            remote,
        },
    )?;
    console::say(format_args!("engine '{name}' matches {pairs_per_s:.0} pairs/s at 640x480; Ctrl-C ends it"));
    let interrupt = headless::interrupt()?; // until here Ctrl-C has its default meaning: nothing has to be closed
    Ok(server.run(interrupt, &mut |text| console::say(text))?)
}

fn remote() -> anyhow::Result<RemoteOf> {
    let surroundings = RosEnvironment::of_environment()?;
    Ok(Arc::new(move |rig| {
        let publication = Publication::<Ros2>::of_rig(&surroundings, rig)?;
        console::say(publication.invitation());
        Ok(publication as Arc<dyn Remote>)
    }))
}

/// Returns a unique name: the machine's, and the beginning of the session's number.
fn own_name(id: &str) -> String {
    let fits = |c: &char| c.is_ascii_alphanumeric() || *c == '-' || *c == '_';
    let host: String = host().chars().filter(fits).take(40).collect();
    let number: String = id.chars().filter(fits).take(6).collect();
    format!("{host}-{number}")
}

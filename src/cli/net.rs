//! `net`: members of the network, and the parameters and cameras of a rig.

use super::error::UsageError;
use super::network_args::{DefaultAccess, NetworkArgs, ZenohArgs};
use super::short_help::shown;
use super::values::{positive, print_json};
use std::collections::BTreeMap;
use std::io::IsTerminal as _;
use std::time::Duration;
use stereopsis_base::console;
use stereopsis_frame::ControlSettings;
use stereopsis_network::census::CensusTaker;
use stereopsis_network::key::RigTopic;
use stereopsis_network::{ANSWER_TIMEOUT, ControlRequest, Network, NetworkError, watch_results};
use stereopsis_stereo::StereoParams;

/// Arguments of `net`.
#[derive(Debug, clap::Args)]
#[command(mut_arg("zenoh_config", shown))]
pub(super) struct NetArgs {
    /// A rig, whose parameters are shown [default: a table of all members]
    rig: Option<String>,
    /// Parameters of the rig and controls of its cameras to set, such as p1=20 cost=sad exposure_ms=8 gain=auto
    #[arg(value_name = "NAME=VALUE", requires = "rig", value_parser = word)]
    set: Vec<(String, String)>,
    /// Refresh the table each second until Ctrl-C
    #[arg(long, short, conflicts_with = "rig")]
    watch: bool,
    /// Receive the results of all rigs for so long; print how many came, and how old they were
    #[arg(long, value_name = "SECONDS", value_parser = positive, conflicts_with_all = ["rig", "watch"])]
    results: Option<f64>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    zenoh: ZenohArgs,
}

fn word(text: &str) -> Result<(String, String), &'static str> {
    let split = text.split_once('=').filter(|(name, value)| !name.is_empty() && !value.is_empty());
    split.map(|(name, value)| (name.to_owned(), value.to_owned())).ok_or("expected NAME=VALUE")
}

/// Runs `net`.
///
/// # Errors
/// No router answers, there is no such rig, or a value is refused.
pub(super) fn run(args: &NetArgs) -> anyhow::Result<()> {
    let network = Network::open(&args.network.access(DefaultAccess::Connect, args.zenoh.zenoh_config.as_ref()))?;
    if let Some(seconds) = args.results {
        return results(&network, Duration::from_secs_f64(seconds), args.json);
    }
    match &args.rig {
        Some(rig) => of_rig(&network, rig, args),
        None => table(network, args),
    }
}

fn results(network: &Network, time: Duration, json: bool) -> anyhow::Result<()> {
    let ages = watch_results(network, time)?;
    if json {
        return print_json(&serde_json::json!(ages));
    }
    let rigs = ages.rigs.iter().map(|(rig, counts)| {
        let seconds = time.as_secs_f64();
        let lost = counts.dropped_by_network;
        format!("{rig}: {:.1} results/s, {lost} dropped by the network\n", counts.received as f64 / seconds)
    });
    let all = format!("age of results: half below {:.1} ms, 99 % below {:.1} ms\n", ages.age_ms_p50, ages.age_ms_p99);
    Ok(console::print(&(rigs.collect::<String>() + &all))?)
}

fn table(network: Network, args: &NetArgs) -> anyhow::Result<()> {
    let mut taker = CensusTaker::new(network);
    loop {
        let text = match taker.take() {
            Ok(census) if args.json => format!("{}\n", console::json(&census)?),
            Ok(census) => census.table(),
            Err(lost @ NetworkError::RouterGone(_)) if args.watch && args.json => {
                console::say(lost);
                String::new()
            }
            Err(lost @ NetworkError::RouterGone(_)) if args.watch => format!("{lost}\n"),
            Err(err) => return Err(err.into()),
        };
        let is_screen = args.watch && !args.json && std::io::stdout().is_terminal();
        // to the upper left corner, and clear the rest of the screen
        let (home, end) = if is_screen { ("\u{1b}[H\u{1b}[J", "") } else { ("", if args.watch { "\n" } else { "" }) };
        console::print(&format!("{home}{text}{end}"))?;
        if !args.watch {
            return Ok(());
        }
        // Ctrl-C has its default meaning: nothing has to be closed
        std::thread::sleep(Duration::from_secs(1));
    }
}

fn of_rig(network: &Network, rig: &str, args: &NetArgs) -> anyhow::Result<()> {
    stereopsis_network::key::check_rig(rig).map_err(|why| UsageError(why.to_string()))?;
    let (parameters, controls): (Vec<_>, Vec<_>) =
        args.set.iter().cloned().partition(|(name, _)| StereoParams::parameter(name).is_some() || !is_control(name));
    if !controls.is_empty() {
        let request = ControlRequest { camera: None, settings: control_settings(&controls)? };
        let rejected: Vec<String> = ask(network, rig, RigTopic::Controls, Some(serde_json::to_vec(&request)?))?;
        for rejected in &rejected {
            console::say(console::foreign(rejected));
        }
        anyhow::ensure!(rejected.is_empty(), "not all controls of '{rig}' are in effect");
    }
    let sent = if parameters.is_empty() {
        None
    } else {
        let words: BTreeMap<_, _> = parameters.into_iter().collect();
        Some(serde_json::to_vec(&words)?)
    };
    let words: BTreeMap<String, String> = ask(network, rig, RigTopic::Parameters, sent)?;
    if args.json {
        return print_json(&serde_json::json!(words));
    }
    let shown = |name: &String| args.set.is_empty() || args.set.iter().any(|(set, _)| set == name);
    let lines = words.iter().filter(|(name, _)| shown(name));
    let lines: Vec<_> =
        lines.map(|(name, value)| format!("{} = {}", console::foreign(name), console::foreign(value))).collect();
    Ok(console::print(&(lines.join("\n") + "\n"))?)
}

fn is_control(name: &str) -> bool {
    ["exposure_ms", "gain", "white_balance_k", "focus", "power_line_hz"].contains(&name)
}

/// Parses controls in the form of a rig file.
fn control_settings(words: &[(String, String)]) -> Result<ControlSettings, UsageError> {
    let value = |text: &String| if text.parse::<f64>().is_ok() { text.clone() } else { format!("{text:?}") };
    let text: Vec<_> = words.iter().map(|(name, text)| format!("{name} = {}", value(text))).collect();
    let text = text.join("\n");
    toml::from_str(&text).map_err(|err| UsageError(format!("{}: {}", text.trim().replace('\n', ", "), err.message())))
}

fn ask<T: serde::de::DeserializeOwned>(
    network: &Network,
    rig: &str,
    what: RigTopic,
    sent: Option<Vec<u8>>,
) -> anyhow::Result<T> {
    match network.ask(&what.rig(rig), sent, ANSWER_TIMEOUT)?.into_iter().next() {
        Some(Ok((_, bytes))) => Ok(serde_json::from_slice(&bytes)?),
        Some(Err(refusal)) => anyhow::bail!("rig '{rig}': {refusal}"),
        None => anyhow::bail!("there is no rig '{rig}': `stereopsis net` lists those that are there"),
    }
}

//! `stereopsis devices`: which cameras there are, what they can send and be set to, as text or JSON.

mod text;

pub use text::camera_list_text;

use super::values::print_json;
use anyhow::anyhow;
use crossbeam_channel::bounded;
use serde_json::{Value, json};
use std::thread;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_capture::webcam;
use stereopsis_capture::webcam::controls::{OfferedControl, offered};
use stereopsis_capture::webcam::{DetectedCamera, bandwidth_warnings};
use stereopsis_gpu::{AdapterSummary, Gpu, INSTALL};

/// Arguments of `devices`.
#[derive(Debug, clap::Args)]
pub(super) struct DevicesArgs {
    /// List GPUs instead of cameras, with their numbers for --adapter
    #[arg(long)]
    gpu: bool,
    /// Print the cameras as JSON, for other programs
    #[arg(long, conflicts_with = "gpu")]
    json: bool,
}

/// Camera with its controls.
#[derive(Debug)]
pub struct ListedCamera {
    /// Description of the camera.
    pub info: DetectedCamera,
    /// Controls of the camera, or the reason why they are unknown.
    pub controls: anyhow::Result<Vec<OfferedControl>>,
}

const PATIENCE: Duration = Duration::from_secs(3);

/// Runs `devices`; finding none is no error.
///
/// # Errors
/// The system cannot list its cameras.
pub(super) fn run(args: &DevicesArgs) -> anyhow::Result<()> {
    if args.gpu {
        return print(&gpu_list_text(&Gpu::list()));
    }
    let cameras = with_controls(webcam::cameras()?);
    if args.json { print_json(&camera_list_json(&cameras)) } else { print(&camera_list_text(&cameras)) }
}

fn print(text: &str) -> anyhow::Result<()> {
    console::print(text)?;
    Ok(())
}

fn gpu_list_text(adapters: &[AdapterSummary]) -> String {
    if adapters.is_empty() {
        return format!("no GPU found that can compute; the CPU engine needs none. For a GPU, {INSTALL}\n");
    }
    let lines: Vec<_> = adapters.iter().map(ToString::to_string).collect();
    lines.join("\n") + "\n"
}

/// Reads the controls of the usable cameras, all at once and each on a thread of its own: a driver may never answer.
fn with_controls(cameras: Vec<DetectedCamera>) -> Vec<ListedCamera> {
    let deadline = Instant::now() + PATIENCE;
    let ask = |info: DetectedCamera| {
        let (sender, answer) = bounded(1);
        let index = info.index;
        if info.problem.is_none() {
            // without a thread the controls stay unknown
            let _ = thread::Builder::new().name(format!("camera {index} controls")).spawn(move || {
                let _ = sender.send(offered(index).map_err(anyhow::Error::new));
            });
        }
        (info, answer)
    };
    let asked: Vec<_> = cameras.into_iter().map(ask).collect();
    let listed = |(info, answer): (DetectedCamera, crossbeam_channel::Receiver<_>)| {
        let unanswered = |_| Err(anyhow!("camera {} does not tell its controls", info.index));
        let controls = answer.recv_deadline(deadline).unwrap_or_else(unanswered);
        ListedCamera { info, controls }
    };
    asked.into_iter().map(listed).collect()
}

fn camera_list_json(cameras: &[ListedCamera]) -> Value {
    let one = |camera: &ListedCamera| {
        let ListedCamera { info, controls } = camera;
        let modes: Vec<Value> = info
            .modes
            .iter()
            .map(|m| json!({ "format": m.format, "size": [m.width, m.height], "rate_hz": m.rate_hz }))
            .collect();
        json!({
            "index": info.index,
            "name": info.name,
            "port": info.port,
            "usb_bus": info.bus.map(|b| json!({ "bus": b.bus, "speed_mbit": b.speed_mbit })),
            "problem": info.problem,
            "modes": modes,
            "controls": controls.as_deref().unwrap_or_default(),
            "controls_problem": controls.as_ref().err().map(ToString::to_string),
        })
    };
    let cameras_json: Vec<Value> = cameras.iter().map(one).collect();
    let warnings: Vec<_> =
        bandwidth_warnings(cameras.iter().map(|camera| &camera.info)).iter().map(ToString::to_string).collect();
    json!({ "cameras": cameras_json, "warnings": warnings })
}

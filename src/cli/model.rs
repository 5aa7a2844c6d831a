//! `stereopsis model`: test a model, a learned matcher, and write the conventions of its inputs and output beside it.

use super::values::{choice, print_json};
use anyhow::Context as _;
use serde_json::json;
use std::path::{Path, PathBuf};
use stereopsis_base::files::Outputs;
use stereopsis_base::image::PictureRef;
use stereopsis_base::{console, files};
use stereopsis_frame::SceneOptions;
use stereopsis_frame::engine::{ModelDevice, ModelFile};
use stereopsis_frame::source::parse_size;
use stereopsis_model::inspect::{BAD_PX, Inspection, Tested, inspect};
use stereopsis_model::{Description, LoadedModel, Port, Trial, TrialResult, path_beside, run_trial};
use stereopsis_scene::render;

/// Words of the command line that run a trial in a child process, before file, device and size.
pub(super) const TRIAL_WORDS: &[&str] = &["model", "try"];

/// Arguments of `model`.
#[derive(Debug, clap::Args)]
pub(super) struct ModelCommand {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// Guess a model's conventions from names and shapes, test them on a rendered pair with truth, and write them to FILE.toml
    Inspect(InspectArgs),
    /// Run a model once, for another process
    #[command(hide = true)]
    Try(TryArgs),
}

#[derive(Debug, clap::Args)]
struct InspectArgs {
    /// Model in the format ONNX
    #[arg(value_name = "FILE.onnx")]
    file: PathBuf,
    /// Size of the rendered images, px
    #[arg(long, value_name = "WxH", value_parser = parse_size, default_value = "320x256")]
    size: (usize, usize),
    /// Runtime and device
    #[arg(long, value_name = "WORD", value_parser = choice(ModelDevice::ALL, ModelDevice::word, ModelDevice::help), default_value = "built-in")]
    model_device: ModelDevice,
    /// Replace a description that is there; without it that one is tested
    #[arg(long, visible_alias = "force")]
    overwrite: bool,
    /// Print the same for programs
    #[arg(long)]
    json: bool,
}

#[derive(Debug, clap::Args)]
struct TryArgs {
    file: PathBuf,
    #[arg(value_parser = choice(ModelDevice::ALL, ModelDevice::word, ModelDevice::help))]
    device: ModelDevice,
    #[arg(value_parser = parse_size)]
    size: (usize, usize),
}

/// Runs `model`.
///
/// # Errors
/// The file is no model, finds no disparity, or its description cannot be written.
pub(super) fn run(command: &ModelCommand) -> anyhow::Result<()> {
    match &command.command {
        Command::Inspect(args) => inspect_file(args),
        Command::Try(args) => {
            Ok(console::print(&run_trial(&ModelFile { path: args.file.clone(), device: args.device }, args.size))?)
        }
    }
}

fn inspect_file(args: &InspectArgs) -> anyhow::Result<()> {
    let InspectArgs { file, size: (width, height), .. } = args;
    let path = path_beside(file);
    let own = if args.overwrite { None } else { Description::beside(file)? };
    let of_device = ModelFile { path: file.clone(), device: args.model_device };
    let tried = Trial::run(&of_device, args.size)?;
    let mut model = LoadedModel::open(&of_device, None)?;
    let guess = match &own {
        Some(own) => own.clone(),
        None => Description::guess(model.signature()).with_context(|| format!("model {}", console::path(file)))?,
    };
    let options = SceneOptions { width: *width, height: *height, ..SceneOptions::default() };
    let pair = render(&options, 0, true);
    let truth = pair.truth.as_ref().context("the scene has its truth")?;
    let found = inspect(&mut model, &guess, PictureRef::pair(&pair.left, &pair.right), &truth.left_px)?;
    let writes = found.is_stereo() && own.is_none();
    if writes {
        Outputs::new([file], args.overwrite).add(&path)?;
        files::write(&path, found.description.to_text().as_bytes())?;
    }
    if args.json {
        print_json(&about(&model, &found, tried.as_ref()))?;
    } else {
        console::print(&report(file, &model, &found, tried.as_ref()))?;
    }
    anyhow::ensure!(
        found.is_stereo(),
        "the model {} finds no disparity in a rendered pair: at best {:.0} % of the pixels are wrong by more than {BAD_PX} px. Is it made \
         for stereo pairs? If it is, write {} by hand, and inspect it again",
        console::path(file),
        100.0 * found.best().bad,
        console::path(&path)
    );
    if writes {
        console::say(format_args!("wrote {}", console::path(&path)));
    } else if own.as_ref() != Some(&found.description) {
        console::say(format_args!(
            "{} says something else; --overwrite replaces it by these conventions",
            console::path(&path)
        ));
    }
    Ok(())
}

/// Returns the words of a combination: order, brightness, scale.
fn words(tested: &Tested) -> [String; 3] {
    let order = if tested.is_swapped { "exchanged" } else { "as guessed" };
    [order.to_owned(), tested.brightness.to_string(), tested.scale.to_string()]
}

fn report(file: &Path, model: &LoadedModel, found: &Inspection, tried: Option<&TrialResult>) -> String {
    let signature = model.signature();
    let ports = |ports: &[Port]| ports.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
    let mut lines = vec![
        console::path(file),
        format!(
            "licence  {}",
            found.description.license.as_deref().map_or_else(|| "not in the file".into(), console::foreign)
        ),
        format!("inputs   {}", ports(&signature.inputs)),
        format!("outputs  {}", ports(&signature.outputs)),
    ];
    if let Some(bytes) = tried.and_then(|tried| tried.peak_bytes) {
        lines.push(format!("memory   {} for the rendered pair", console::bytes(bytes)));
    }
    lines.push(String::new());
    lines.push(format!("order       brightness  scale   above {BAD_PX} px  median px      ms"));
    for (i, tested) in found.tested.iter().enumerate() {
        let [order, brightness, scale] = words(tested);
        let mark = if i == found.best { "  best" } else { "" };
        let (bad, median_px, run_ms) = (100.0 * tested.bad, tested.median_px, tested.run_ms);
        let median_px = if median_px < 1e6 { format!("{median_px:.2}") } else { "-".to_owned() };
        lines.push(format!(
            "{order:<10}  {brightness:<10}  {scale:<6}  {bad:>8.1} %  {median_px:>9}  {run_ms:>6.0}{mark}"
        ));
    }
    if found.is_stereo() {
        lines.push(format!("\n{}", found.description.to_text().trim_end()));
    }
    lines.join("\n") + "\n"
}

fn about(model: &LoadedModel, found: &Inspection, tried: Option<&TrialResult>) -> serde_json::Value {
    let signature = model.signature();
    let ports = |ports: &[Port]| -> Vec<_> {
        ports.iter().map(|port| json!({ "name": port.name, "extents": port.extents })).collect()
    };
    let tested: Vec<_> = found
        .tested
        .iter()
        .map(|tested| {
            let [order, brightness, _] = words(tested);
            json!({ "order": order, "brightness": brightness, "scale": tested.scale, "bad_percent": 100.0 * tested.bad,
                "median_px": tested.median_px, "run_ms": tested.run_ms })
        })
        .collect();
    json!({
        "inputs": ports(&signature.inputs),
        "outputs": ports(&signature.outputs),
        "peak_bytes": tried.and_then(|tried| tried.peak_bytes),
        "tested": tested,
        "best": found.best,
        "is_stereo": found.is_stereo(),
        "description": found.description,
    })
}

//! Saved images: drawn on the window's thread between two frames, then read back, encoded and written by a job.

use super::figure::{self, TitledDrawing};
use super::offscreen::{DrawError, PendingPixels, ShapeDrawing};
use super::svg::svg;
use crate::core::{
    Action, Command, Core, Fault, Feature, Job, Level, Remedy, Step, dialog,
    picture::{Destination, Figure, PictureFormat},
};
use eframe::egui_wgpu::RenderState;
use egui::{ColorImage, Context};
use std::path::PathBuf;
use std::time::SystemTime;
use stereopsis_base::image::Image;
use stereopsis_base::{console, files};
use stereopsis_recording::time;
use stereopsis_recording::write::free_name;

#[derive(Clone, Debug)]
pub(crate) enum PictureStep {
    Choose(Figure),
    SetChoices(crate::core::PictureChoices),
    ChooseFolder,
}

impl Step for PictureStep {}

const WRITE: Job = Job::new("writing the image");
const COPY: Job = Job::new("copying the image");

pub(crate) struct SavedPictures;

impl Feature for SavedPictures {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command.step() {
            Ok(step) => execute(core, step),
            Err(Command::Action(Action::SavePicture)) => want(core, Destination::File),
            Err(Command::Action(Action::CopyPicture)) => want(core, Destination::Clipboard),
            Err(command) => return Err(command),
        }
        Ok(())
    }
}

fn execute(core: &mut Core, step: PictureStep) {
    let pictures = &mut core.picture;
    match step {
        PictureStep::Choose(figure) => pictures.chosen = Some(figure),
        PictureStep::SetChoices(choices) => pictures.choices = choices,
        PictureStep::ChooseFolder => {
            dialog::commands::ask_folder(core, "A folder for images", |core, folder| {
                core.picture.choices.folder = Some(folder);
            });
        }
    }
}

fn want(core: &mut Core, wanted: Destination) {
    let figure = if core.is_open(Action::Pictures) { core.picture.chosen } else { None };
    match figure.or_else(|| core.current_figure()) {
        Some(figure) => core.picture.wanted = Some((figure, wanted)),
        None => core.notices.news("no image yet: wait for the first result"),
    }
}

/// Draws the requested image with the window's device, and copies a finished one to the clipboard; once per frame.
pub(crate) fn update(core: &mut Core, ctx: &Context, render_state: &RenderState) {
    if let Some(image) = core.picture.copied.take() {
        let [width, height] = image.size;
        ctx.copy_image(image);
        core.notices.news(format!("on the clipboard: an image of {width} × {height} px"));
    }
    let Some((wanted, purpose)) = core.picture.wanted.take() else { return };
    let owner = match purpose {
        Destination::File => Command::from(Action::SavePicture).owner(),
        Destination::Clipboard => Command::from(Action::CopyPicture).owner(),
    };
    let is_dark = core.picture.choices.ground.is_dark(ctx.global_style().visuals.dark_mode);
    core.owned(Some(owner), |core| make(core, wanted, purpose, render_state, is_dark));
}

fn make(core: &mut Core, wanted: Figure, purpose: Destination, render_state: &RenderState, is_dark: bool) {
    if core.jobs.is_running(WRITE) || core.jobs.is_running(COPY) {
        return core.notices.news("the image before is still being written");
    }
    if !core.has_figure(wanted) {
        return core.notices.news(format!("{}: there is nothing to draw now", wanted.title()));
    }
    let TitledDrawing { drawn, title, description } = figure::draw(core, render_state, wanted, is_dark);
    if purpose == Destination::Clipboard {
        match drawn.submit(render_state) {
            Ok(pending) => core.start_job(
                COPY,
                move || pending.wait(),
                |core, image| {
                    core.picture.copied = Some(image);
                    core.waker.wake();
                },
            ),
            Err(why) => core.notices.error(why),
        }
        return;
    }
    let texts = vec![
        ("Title", title),
        ("Description", description),
        ("Software", format!("Stereopsis {}", env!("CARGO_PKG_VERSION"))),
        ("Creation Time", time::rfc3339(SystemTime::now())),
        ("Source", core.source.spec.to_string()),
        ("Comment", core.command_line()),
    ];
    let is_svg = core.picture.choices.format == PictureFormat::Svg && wanted.is_drawing();
    let encode = match encoder(drawn, render_state, is_svg, texts) {
        Ok(encode) => encode,
        Err(why) => return core.notices.error(why),
    };
    let ending = if is_svg { "svg" } else { "png" };
    let folder = core.picture_folder();
    let name = format!("{}_{}.{ending}", wanted.title().replace(' ', "-"), time::for_file_name(SystemTime::now()));
    let work = move || {
        let bytes = encode()?;
        let path = free_name(&folder.join(name));
        files::write_new(&path, &bytes)?;
        Ok::<_, Fault>((path, bytes.len() as u64))
    };
    core.start_job(WRITE, work, |core, (path, bytes): (PathBuf, u64)| {
        let text = format!("image: {}, {}", path.display(), console::bytes(bytes));
        core.notices.add(Level::News, text, vec![Remedy::ShowInFolder(path)]);
    });
}

type Encode = Box<dyn FnOnce() -> Result<Vec<u8>, Fault> + Send>;

fn encoder(
    drawn: ShapeDrawing,
    render_state: &RenderState,
    is_svg: bool,
    texts: Vec<(&'static str, String)>,
) -> Result<Encode, DrawError> {
    if is_svg {
        let about: Vec<_> = texts[1..].iter().map(|(key, text)| format!("{key}: {text}")).collect();
        let text = svg(&drawn.shapes, drawn.size, drawn.background, &texts[0].1, &about.join("\n"));
        return Ok(Box::new(move || Ok(text.into_bytes())));
    }
    let pending: PendingPixels = drawn.submit(render_state)?;
    Ok(Box::new(move || {
        let rgb = rgb_of(&pending.wait()?);
        let texts: Vec<_> = texts.iter().map(|(key, text)| (*key, &text[..])).collect();
        Ok(stereopsis_images::png_with_texts(&rgb, &texts)?)
    }))
}

fn rgb_of(image: &ColorImage) -> Image<[u8; 3]> {
    let [width, height] = image.size;
    let pixels = image.pixels.iter().map(|pixel| [pixel.r(), pixel.g(), pixel.b()]).collect();
    Image::new(width, height, pixels)
}

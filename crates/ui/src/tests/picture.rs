//! Saved images of views and figures with their texts at any scale.

use super::harness::{SIZE, Window, gpu, options, pair};
use crate::WindowOptions;
use crate::core::picture::{Figure, PictureFormat};
use crate::view::ViewKind;
use egui::{Key, Modifiers, OutputCommand};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

/// Opens a window on a still pair that writes into `folder`.
fn still(folder: &Path) -> Option<Window> {
    let source = pair(folder);
    let mut options = WindowOptions { folder: folder.join("out"), ..options(source) };
    options.calibration.baseline_m = Some(0.1);
    options.calibration.set_focal(Some(stereopsis_calibration::FocalLength::FovDeg(60.0)));
    std::fs::create_dir(folder.join("out")).unwrap();
    Some(Window::open(&gpu()?, options))
}

/// Presses keys, and waits for one more file.
fn saved(window: &mut Window, folder: &Path) -> PathBuf {
    let files = || -> Vec<PathBuf> {
        let entries = std::fs::read_dir(folder.join("out")).unwrap();
        let is_written = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "png" || ending == "svg");
        entries.map(|entry| entry.unwrap().path()).filter(is_written).collect()
    };
    let before = files();
    window.harness.key_press_modifiers(Modifiers::COMMAND, Key::S);
    let path = window.until("the file", |_| files().into_iter().find(|path| !before.contains(path)));
    window.until("the end of the job", |w| w.core().jobs.shown().next().is_none().then_some(()));
    path
}

fn texts(path: &Path) -> Vec<(String, String)> {
    let mut reader = png::Decoder::new(BufReader::new(File::open(path).unwrap())).read_info().unwrap();
    reader.finish().unwrap();
    let texts = reader.info().utf8_text.iter();
    texts.map(|chunk| (chunk.keyword.clone(), chunk.get_text().unwrap())).collect()
}

fn choose(window: &mut Window, figure: Figure, scale: u32) {
    let mut core = window.core_mut();
    core.picture.choices.scale = scale;
    core.page = Some(crate::core::action::Action::Pictures);
    core.picture.chosen = Some(figure);
}

#[test]
fn saved_image_equals_its_view_and_names_its_settings() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = still(folder.path()) else { return };
    let written = image::open(folder.path().join("left.png")).unwrap().to_rgb8();
    for scale in [1, 3] {
        choose(&mut window, Figure::View(ViewKind::Left), scale);
        let path = saved(&mut window, folder.path());
        let picture = image::open(&path).unwrap().to_rgb8();
        assert!(
            picture.width() as usize >= SIZE.0 * scale as usize && picture.height() as usize > SIZE.1 * scale as usize
        );
        // margin and title have whole points
        let (left, top) = (8 * scale, 26 * scale);
        for (x, y) in [(0, 0), (77, 50), (159, 119)] {
            for corner in [0, scale - 1] {
                let pixel = picture.get_pixel(left + x * scale + corner, top + y * scale + corner);
                assert_eq!(pixel, written.get_pixel(x, y), "{x}, {y} at scale {scale}");
            }
        }
    }
    choose(&mut window, Figure::View(ViewKind::Depth), 2);
    let texts = texts(&saved(&mut window, folder.path()));
    let text = |key: &str| texts.iter().find(|(keyword, _)| keyword == key).map(|(_, text)| text.as_str()).unwrap();
    assert!(text("Title").starts_with("depth – "), "{texts:?}");
    assert!(text("Description").contains("colours turbo from") && text("Description").contains(" m; "), "{texts:?}");
    assert!(
        text("Comment").starts_with("stereopsis live ") && text("Comment").contains("--num-disparities 24"),
        "{texts:?}"
    );
    for view in [ViewKind::Space, ViewKind::Disparity, ViewKind::Anaglyph, ViewKind::Rows] {
        choose(&mut window, Figure::View(view), 1);
        let picture = image::open(saved(&mut window, folder.path())).unwrap().to_rgb8();
        let first = picture.get_pixel(8, 26);
        assert!(picture.pixels().filter(|pixel| *pixel != first).count() > 5000, "{view} is drawn");
    }
}

#[test]
fn figures_are_drawings_with_text_and_the_clipboard_gets_pixels() {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut window) = still(folder.path()) else { return };
    window.core_mut().picture.choices.format = PictureFormat::Svg;
    window.harness.key_press(Key::D);
    window.harness.run_steps(3);
    let svg = std::fs::read_to_string(saved(&mut window, folder.path())).unwrap();
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let words: Vec<_> =
        document.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(words.iter().any(|word| word.contains("disparity, px")), "{words:?}");
    assert!(document.descendants().filter(|node| node.has_tag_name("polyline")).count() >= 3, "curves stay lines");
    assert!(svg.contains("stereopsis live"), "settings stand in it");

    window.harness.key_press_modifiers(Modifiers::SHIFT, Key::C);
    let image = window.until("the image on the clipboard", |window| {
        let commands = &window.harness.output().platform_output.commands;
        commands
            .iter()
            .find_map(|command| if let OutputCommand::CopyImage(image) = command { Some(image.clone()) } else { None })
    });
    assert!(image.size[0] == 640 && image.size[1] > 250, "{:?}", image.size);
}

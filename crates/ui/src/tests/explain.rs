//! Page that explains a pixel: sentence, numbers and button for the held pixel of a held pair, on both engines.

use super::harness::{SIZE, Window, gpu, options};
use egui::Key;
use egui_kittest::kittest::Queryable as _;
use std::sync::Arc;
use stereopsis_frame::SourceSpec;
use stereopsis_frame::engine::Output;
use stereopsis_settings::settings::{Origin, Word};
use stereopsis_stereo::map::reason;
use stereopsis_stereo::{Explainer, Prior, Volume, sum_volume};

/// Returns the reference implementation's sums for all pixels of a result.
fn sums(output: &Output) -> Volume<u32> {
    let [left, right] = [&output.job.frame.left.luma, &output.job.frame.right.luma];
    sum_volume(left, right, &output.job.params, &Prior::of(left, right, &output.job.params, None))
}

/// Returns a pixel in the middle of the image with this reason.
fn pixel_with(output: &Output, reasons: u8) -> Option<(usize, usize)> {
    let map = output.map.as_ref()?;
    let (columns, rows) = (SIZE.0 / 4..SIZE.0 * 3 / 4, SIZE.1 / 4..SIZE.1 * 3 / 4);
    let mut all = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
    all.find(|&(x, y)| map.reasons.at(x, y) == reasons)
}

fn hold(window: &mut Window, (x, y): (usize, usize)) {
    let share = |at: usize, of: usize| (at as f32 + 0.5) / of as f32;
    let place = window.place("left view", (share(x, SIZE.0), share(y, SIZE.1)));
    window.click_at(place);
    window.until("the explanation", |w| w.has(&format!("Pixel {x}, {y} of pair")).then_some(()));
}

/// Opens the page on a held pair of the scene, with unique winners required.
fn open(engine: &str) -> Option<Window> {
    let mut options = options(SourceSpec::Scene);
    options.words[0].text = engine.into();
    let word = |name: &str, text: &str| Word { name: name.into(), text: text.into(), origin: Origin::Flag };
    options.words.extend([word("uniqueness", "30"), word("speckle-size", "0")]);
    let mut window = Window::held(&gpu()?, options);
    window.harness.key_press(Key::P);
    window.until("the page", |w| w.has("Rest the pointer on an image").then_some(()));
    Some(window)
}

/// Returns the newest result with its map on the host.
fn result(window: &mut Window) -> Arc<Output> {
    let at = window.place("left view", (0.5, 0.5));
    window.harness.hover_at(at);
    window.until("a map on the host", |w| w.result().filter(|output| output.map.is_some()))
}

#[test]
fn a_held_pixel_has_its_sentence_and_the_numbers_of_the_reference() {
    for engine in ["cpu", "gpu"] {
        let Some(mut window) = open(engine) else { return };
        let output = result(&mut window);
        assert_eq!(output.engine.kind.word(), engine);
        let sums = sums(&output);
        let frame = &output.job.frame;
        let explainer = Explainer::new(&frame.left.luma, &frame.right.luma, &output.job.params).expect("an explainer");
        for reasons in [0, reason::UNIQUENESS, reason::LEFT_RIGHT] {
            let Some(pixel) = pixel_with(&output, reasons) else { continue };
            hold(&mut window, pixel);
            let sums = sums.existing(pixel.0, pixel.1);
            let best = sums.iter().min().expect("a candidate");
            let winner = sums.iter().position(|sum| sum == best).expect("it is among them");
            let min = output.job.params.min_disparity;
            assert!(window.has(&format!("winner {} px, sum {best}", winner as i32 + min)), "{pixel:?}");
            let found = explainer.explain(pixel, &|| true).expect("an explanation");
            let second = found.second.expect("a second");
            assert!(window.has(&format!("second {} px, sum {}", found.disparity_px(second), sums[second])));
            for (k, direction) in found.directions.iter().enumerate() {
                let p2 = direction.p2.map_or("–".to_owned(), |p2| p2.to_string());
                let own = found.disparity_px(direction.winner);
                let angle = 45.0 * k as f64;
                let wanted = format!("direction {angle:.1}°: P2 {p2}, winner {own} px, path cost {}", direction.cost);
                assert!(window.has(&wanted), "{wanted}");
            }
            let said = match reasons {
                reason::UNIQUENESS => "not unique: second minimum at",
                reason::LEFT_RIGHT => "contradicted:",
                _ => "valid:",
            };
            assert!(window.has(said), "{said} at {pixel:?}");
            for picture in ["Cost and sum over disparity", "Window, left", "Right image along the epipolar line"] {
                assert!(window.has(picture), "{picture}");
            }
        }
        window.harness.key_press(Key::P);
        window.harness.run_steps(3);
        assert!(!window.has("Cost and sum over disparity"), "the page is closed");
    }
}

#[test]
fn the_button_makes_an_ambiguous_pixel_valid() {
    let Some(mut window) = open("cpu") else { return };
    let output = result(&mut window);
    let pixel = pixel_with(&output, reason::UNIQUENESS).expect("an ambiguous pixel");
    hold(&mut window, pixel);
    window.until("the sentence", |w| w.has("not unique").then_some(()));
    window.click(window.harness.get_by_label_contains("Set uniqueness to").rect());
    let output = window.until_computed(|params| params.uniqueness < 30);
    let map = window.until("a map on the host", |_| output.map.clone());
    assert_eq!(map.reasons.at(pixel.0, pixel.1) & reason::UNIQUENESS, 0);
    window.until("the new sentence", |w| (!w.has("not unique")).then_some(()));
}

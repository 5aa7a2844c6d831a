//! Lists of all features and panels. A new page has its folder, and its line here.

use super::{picture, toolbar};
use crate::core::{Action, Core, Feature};
use crate::features::{
    cameras, comparison, conversion, doctor, explain, guide, help, history, measure, presets, reach, recording, rig,
    search,
};
use crate::panels::{
    Panel, Place, depth, find, health, messages, parameters, path_field, pictures, pixel, status, timeline, tools,
};
use crate::space::commands::Points;
use eframe::egui_wgpu::RenderState;

/// Returns every panel with its position, in the order of their layout.
pub(crate) fn all(render_state: &RenderState) -> Vec<(Place, Box<dyn Panel>)> {
    vec![
        (Place::Top, Box::new(toolbar::show)),
        (Place::Top, Box::new(tools::ToolStrip)),
        (Place::Bottom, Box::new(status::show)),
        (Place::Bottom, Box::new(messages::show)),
        (Place::Bottom, Box::new(timeline::Timeline::default())),
        (Place::Bottom, Box::new(comparison::panel::ComparisonStrip)),
        (Place::Left, Box::new(parameters::show)),
        (Place::Right, Box::new(pixel::show)),
        (Place::BelowPage, Box::new(pixel::brief)),
        (Place::Right, Box::new(depth::show)),
        (Place::Right, Box::new(health::show)),
        (Place::Page(Action::Cameras), Box::new(cameras::panel::CamerasPage::default())),
        (Place::Page(Action::Rig), Box::new(rig::panel::RigPage::default())),
        (Place::Page(Action::Calibrate), Box::new(guide::panel::show)),
        (Place::Page(Action::Reach), Box::new(reach::show)),
        (Place::Page(Action::Sweep), Box::new(search::sweep::SweepPage::default())),
        (Place::Page(Action::Suggest), Box::new(search::suggest::show)),
        (Place::Page(Action::Explain), Box::new(explain::panel::ExplainPage::default())),
        (Place::Page(Action::Pictures), Box::new(picture::panel::show)),
        (Place::Page(Action::Help), Box::new(help::show)),
        (Place::Centre, Box::new(guide::pictures::GuidePictures::default())),
        (Place::Centre, Box::new(pictures::Pictures::new(render_state))),
        (Place::Over, Box::new(find::Finder::default())),
        (Place::Over, Box::new(recording::question::QuestionPanel)),
        (Place::Over, Box::new(path_field::PathField::default())),
    ]
}

/// Returns every feature, in the order of their updates.
pub(super) fn features(core: &Core) -> anyhow::Result<Vec<Box<dyn Feature>>> {
    Ok(vec![
        Box::new(rig::by_itself::ByItself::default()),
        Box::new(rig::self_calibration::SelfCalibration::default()),
        Box::new(conversion::ConversionState::default()),
        Box::new(comparison::commands::Comparer::default()),
        Box::new(Points::default()),
        Box::new(guide::commands::Guide::default()),
        Box::new(history::commands::SettingsHistory::default()),
        Box::new(explain::commands::Explain::start(&core.waker)?),
        Box::new(measure::Measure::start(&core.waker)?),
        Box::new(search::commands::BackgroundTrials::default()),
        Box::new(doctor::Doctor::default()),
        Box::new(presets::commands::Presets),
        Box::new(picture::commands::SavedPictures),
    ])
}

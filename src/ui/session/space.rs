//! The points of the 3-D view as a file. They are those of the result that is shown once its numbers are on the host.

use super::Session;
use crate::engine::Output;
use crate::export::{self, CloudShape, CloudSize};
use crate::files;
use crate::ui::dialogs;
use crate::ui::jobs::Job;
use crate::ui::notices::{Cure, Level};
use crate::ui::space::{Surface, shown_points};
use std::path::PathBuf;
use std::sync::Arc;

const CHOOSE: Job = Job::stoppable("choosing a file for the points");
const WRITE: Job = Job::new("writing the points");

/// Points that are being saved.
#[derive(Default)]
pub(super) struct Points {
    /// Every so many pixels will be written, of the next result that has its numbers on the host.
    pub(super) wanted: Option<usize>,
}

impl Session {
    /// Asks for a file as soon as there are points to save.
    pub(super) fn update_points(&mut self) {
        let output = self.state.output().filter(|output| output.map.is_some()).cloned();
        let Some(output) = output else { return };
        let Some(every) = self.points.wanted.take() else { return };
        if self.jobs.is_running(CHOOSE) {
            return;
        }
        let chosen = dialogs::choose_new_file("A file for the points", "points.ply", "Points", &["ply"]);
        self.start_job(CHOOSE, chosen, move |session, path| {
            if let Some(path) = path {
                session.save_points(path, output, every);
            }
        });
    }

    /// Writes every so many points of `output`, as the 3-D view shows them.
    pub(crate) fn save_points(&mut self, path: PathBuf, output: Arc<Output>, every: usize) {
        let Some(scene) = self.state.space_scene(&output, false) else {
            return self.state.notices.error("the points cannot be saved: there is no calibration");
        };
        // the dialog has asked before it gave a file that exists; an ending that is added may name another one
        let is_asked = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("ply"));
        let path = if is_asked { path } else { path.with_added_extension("ply") };
        let (settings, colours) = (self.state.view.space, self.state.view.colours());
        let shape = CloudShape { every, has_faces: settings.surface == Surface::Mesh };
        let to = path.clone();
        let write = move || {
            let map = output.map.as_ref().ok_or("the result has no numbers on the host")?;
            let points = shown_points(map, &output.job.frame.left, &scene, &settings, &colours);
            let (bytes, size) = export::cloud_bytes(&points.depth_m, &scene.geometry, Some(&points.colors), shape);
            let write = if is_asked { files::write } else { files::write_new };
            write(&to, &bytes).map_err(|err| err.to_string())?;
            Ok(size)
        };
        self.start_job(WRITE, write, move |session, CloudSize { points, faces }| {
            let faces = if shape.has_faces { format!(" and {faces} triangles") } else { String::new() };
            let text = format!("{points} points{faces} → {}", path.display());
            session.state.notices.add(Level::News, text, vec![Cure::ShowInFolder(path)]);
        });
    }
}

//! The points of the 3-D view as a file. They are those of the result that is shown once its numbers are on the host.

use crate::command::Command;
use crate::engine::Output;
use crate::export::{self, CloudShape, CloudSize};
use crate::features::dialog;
use crate::files;
use crate::jobs::Job;
use crate::notices::{Cure, Level};
use crate::session::Session;
use crate::space::{Scene, SpaceSettings, Surface, shown_points};
use std::path::PathBuf;
use std::sync::Arc;

const WRITE: Job = Job::new("writing the points");

/// Points that are being saved.
#[derive(Default)]
pub(crate) struct Points {
    /// Every so many pixels will be written, of the next result that has its numbers on the host.
    pub(crate) wanted: Option<usize>,
}

/// What was shown when the user asked for a file.
pub(crate) struct PointsFile {
    output: Arc<Output>,
    scene: Scene,
    settings: SpaceSettings,
    colours: [[u8; 3]; 256],
    every: usize,
}

impl PointsFile {
    /// The bytes of the file; an error where the result has no numbers on the host.
    fn bytes(&self) -> Result<(Vec<u8>, CloudSize), String> {
        let Self { output, scene, settings, colours, every } = self;
        let map = output.map.as_ref().ok_or("the result has no numbers on the host")?;
        let points = shown_points(map, &output.job.frame.left, scene, settings, colours);
        let shape = CloudShape { every: *every, has_faces: scene.surface(settings) == Surface::Mesh, has_normals: false };
        Ok(export::cloud_bytes(&points.depth_m, &scene.geometry, Some(&points.colors), shape))
    }
}

/// Asks for a file as soon as there are points to save.
pub(crate) fn update(session: &mut Session) {
    let output = session.state.output().filter(|output| output.map.is_some()).cloned();
    let Some(output) = output else { return };
    let Some(every) = session.points.wanted.take() else { return };
    session.owned(Some(Command::SavePoints(every).owner()), |session| choose_points_file(session, output, every));
}

fn choose_points_file(session: &mut Session, output: Arc<Output>, every: usize) {
    let Some(file) = points_file(session, output, every) else {
        return session.state.notices.news("the points cannot be saved: there is no calibration");
    };
    let name = "points.ply".to_owned();
    let write = |session: &mut Session, path, replaces| write_points(session, path, replaces, file);
    dialog::commands::ask_new_file(session, "A file for the points", name, ("Points", &["ply"]), write);
}

/// Every so many points of `output` as they are shown now; `None` without geometry.
pub(crate) fn points_file(session: &Session, output: Arc<Output>, every: usize) -> Option<PointsFile> {
    let view = &session.state.view;
    let scene = session.state.space_scene(&output, false)?;
    Some(PointsFile { output, scene, settings: view.space, colours: view.colours(), every })
}

/// Writes points in the background.
pub(crate) fn write_points(session: &mut Session, path: PathBuf, replaces: bool, file: PointsFile) {
    let to = path.clone();
    let work = move || {
        let (bytes, size) = file.bytes()?;
        let write = if replaces { files::write } else { files::write_new };
        write(&to, &bytes).map_err(|err| err.to_string())?;
        Ok(size)
    };
    session.start_job(WRITE, work, move |session, CloudSize { points, faces }| {
        let faces = if faces > 0 { format!(" and {faces} triangles") } else { String::new() };
        let text = format!("{points} points{faces} → {}", path.display());
        session.state.notices.add(Level::News, text, vec![Cure::ShowInFolder(path)]);
    });
}

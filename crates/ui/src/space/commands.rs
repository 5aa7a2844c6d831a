//! Export of the points of the 3-D view to a file once the shown result is on the host.

use crate::command::Command;
use crate::features::dialog;
use crate::jobs::Job;
use crate::notices::{Level, Remedy};
use crate::session::Session;
use crate::space::{Scene, ShownPoints, SpaceSettings, shown_points};
use std::path::PathBuf;
use std::sync::Arc;
use stereopsis_base::files;
use stereopsis_frame::engine::Output;
use stereopsis_images::{CloudShape, CloudSize};

const WRITE: Job = Job::new("writing the points");
/// Job that counts the points, hidden from the status line.
pub(crate) const COUNT: Job = Job::new("counting the points");

/// Content of a file of points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PointsWish {
    pub(crate) shape: CloudShape,
    pub(crate) has_colours: bool,
}

#[derive(Default)]
pub(crate) struct Points {
    /// File to write from the next result on the host.
    pub(crate) wanted: Option<PointsWish>,
    /// File whose size is shown while its menu is open.
    pub(crate) offered: Option<PointsWish>,
    counted: Option<PointsFile>,
}

impl Points {
    pub(crate) fn read_maps(&self) -> bool {
        self.wanted.is_some() || self.offered.is_some()
    }
}

/// Points as shown at the request of a file.
#[derive(Clone)]
pub(crate) struct PointsFile {
    output: Arc<Output>,
    scene: Scene,
    settings: SpaceSettings,
    colours: [[u8; 3]; 256],
    wish: PointsWish,
}

impl PointsFile {
    fn points(&self) -> Result<ShownPoints, String> {
        let Self { output, scene, settings, colours, .. } = self;
        let map = output.map.as_ref().ok_or("the result has no numbers on the host")?;
        Ok(shown_points(map, &output.job.frame.left, scene, settings, colours))
    }

    /// Returns the bytes of the file, or an error if the result is not on the host.
    fn bytes(&self) -> Result<(Vec<u8>, CloudSize), String> {
        let points = self.points()?;
        let colours = self.wish.has_colours.then_some(&points.colors);
        Ok(stereopsis_images::cloud_bytes(&points.depth_m, &self.scene.geometry, colours, self.wish.shape))
    }

    fn size(&self) -> Result<CloudSize, String> {
        Ok(stereopsis_images::cloud_size(&self.points()?.depth_m, &self.scene.geometry, self.wish.shape))
    }

    /// Returns whether `other` has the same numbers of points and triangles.
    fn is_counted_by(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.output, &other.output)
            && (self.scene, self.settings, self.wish) == (other.scene, other.settings, other.wish)
    }
}

/// Counts the points while their menu is open, and opens the file dialog once there are points to save.
pub(crate) fn update(session: &mut Session) {
    let output = session.state.output().filter(|output| output.map.is_some()).cloned();
    let Some(output) = output else { return };
    count(session, &output);
    let Some(wish) = session.points.wanted.take() else { return };
    session.owned(Some(Command::SavePoints(wish).owner()), |session| choose_points_file(session, output, wish));
}

fn count(session: &mut Session, output: &Arc<Output>) {
    let Some(wish) = session.points.offered.filter(|_| !session.jobs.is_running(COUNT)) else { return };
    let Some(file) = points_file(session, Arc::clone(output), wish) else { return };
    if session.points.counted.as_ref().is_some_and(|counted| counted.is_counted_by(&file)) {
        return;
    }
    session.points.counted = Some(file.clone());
    let work = move || file.size();
    session.start_job(COUNT, work, move |session, size| session.state.points_size = Some((wish, size)));
}

fn choose_points_file(session: &mut Session, output: Arc<Output>, wish: PointsWish) {
    let Some(file) = points_file(session, output, wish) else {
        return session.state.notices.news("the points cannot be saved: there is no calibration");
    };
    let name = "points.ply".to_owned();
    let write = |session: &mut Session, path, replaces| write_points(session, path, replaces, file);
    dialog::commands::ask_new_file(session, "A file for the points", name, ("Points", &["ply"]), write);
}

/// Returns the points of `output` as shown now, or `None` without geometry.
pub(crate) fn points_file(session: &Session, output: Arc<Output>, wish: PointsWish) -> Option<PointsFile> {
    let view = &session.state.view;
    let scene = session.state.space_scene(&output, false)?;
    Some(PointsFile { output, scene, settings: view.space, colours: view.colours(), wish })
}

pub(crate) fn write_points(session: &mut Session, path: PathBuf, replaces: bool, file: PointsFile) {
    let to = path.clone();
    let work = move || {
        let (bytes, size) = file.bytes()?;
        files::write_or_keep(&to, &bytes, replaces).map_err(|err| err.to_string())?;
        Ok(size)
    };
    session.start_job(WRITE, work, move |session, size| {
        let text = format!("{} → {}", size_text(size), path.display());
        session.state.notices.add(Level::News, text, vec![Remedy::ShowInFolder(path)]);
    });
}

/// Formats `1200 points`, or `1200 points and 2300 triangles`.
pub(crate) fn size_text(CloudSize { points, faces }: CloudSize) -> String {
    let faces = if faces > 0 { format!(" and {faces} triangles") } else { String::new() };
    format!("{points} points{faces}")
}

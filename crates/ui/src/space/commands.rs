//! Export of the points of the 3-D view to a file once the shown result is on the host.

use crate::core::{Command, Core, Fault, Feature, Job, Level, Remedy, dialog};
use crate::space::{NotOnHost, PointsWish, Scene, ShownPoints, SpaceSettings, shown_points};
use egui::Context;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;
use stereopsis_base::files;
use stereopsis_frame::engine::Output;
use stereopsis_images::CloudSize;

const WRITE: Job = Job::new("writing the points");
/// Job that counts the points, hidden from the status line.
pub(crate) const COUNT: Job = Job::hidden("counting the points");

#[derive(Default)]
pub(crate) struct Points {
    /// File to write from the next result on the host.
    pub(crate) wanted: Option<PointsWish>,
    /// File whose size is shown while its menu is open.
    pub(crate) offered: Option<PointsWish>,
    counted: Option<PointsFile>,
}

impl Points {
    fn read_maps(&self) -> bool {
        self.wanted.is_some() || self.offered.is_some()
    }

    fn count(&mut self, core: &mut Core, output: &Arc<Output>) {
        let Some(wish) = self.offered.filter(|_| !core.jobs.is_running(COUNT)) else { return };
        let Some(file) = points_file(core, Arc::clone(output), wish) else { return };
        if self.counted.as_ref().is_some_and(|counted| counted.is_counted_by(&file)) {
            return;
        }
        self.counted = Some(file.clone());
        let work = move || file.size();
        core.start_job(COUNT, work, move |core, size| core.points_size = Some((wish, size)));
    }
}

impl Feature for Points {
    fn execute(&mut self, core: &mut Core, command: Command, _ctx: &Context) -> Result<(), Command> {
        match command {
            Command::OfferPoints(wish) => self.offered = wish,
            Command::SavePoints(wish) => self.wanted = Some(wish),
            command => return Err(command),
        }
        core.awaited.points = self.read_maps();
        Ok(())
    }

    /// Counts the points while their menu is open, and opens the file dialog once there are points to save.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        let output = core.output().filter(|output| output.map.is_some()).cloned();
        let Some(output) = output else { return };
        self.count(core, &output);
        let Some(wish) = self.wanted.take() else { return };
        core.awaited.points = self.read_maps();
        core.owned(Some(Command::SavePoints(wish).owner()), |core| choose_points_file(core, output, wish));
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
    fn points(&self) -> Result<ShownPoints, NotOnHost> {
        let Self { output, scene, settings, colours, .. } = self;
        let map = output.map.as_ref().ok_or(NotOnHost)?;
        Ok(shown_points(map, &output.job.frame.left, scene, settings, colours))
    }

    /// Returns the bytes of the file, or an error if the result is not on the host.
    fn bytes(&self) -> Result<(Vec<u8>, CloudSize), NotOnHost> {
        let points = self.points()?;
        let colours = self.wish.has_colours.then_some(&points.colors);
        Ok(stereopsis_images::cloud_bytes(&points.depth_m, &self.scene.geometry, colours, self.wish.shape))
    }

    fn size(&self) -> Result<CloudSize, NotOnHost> {
        Ok(stereopsis_images::cloud_size(&self.points()?.depth_m, &self.scene.geometry, self.wish.shape))
    }

    /// Returns whether `other` has the same numbers of points and triangles.
    fn is_counted_by(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.output, &other.output)
            && (self.scene, self.settings, self.wish) == (other.scene, other.settings, other.wish)
    }
}

fn choose_points_file(core: &mut Core, output: Arc<Output>, wish: PointsWish) {
    let Some(file) = points_file(core, output, wish) else {
        return core.notices.news("the points cannot be saved: there is no calibration");
    };
    let name = "points.ply".to_owned();
    let write = |core: &mut Core, path, replaces| write_points(core, path, replaces, file);
    dialog::commands::ask_new_file(core, "A file for the points", name, ("Points", &["ply"]), write);
}

/// Returns the points of `output` as shown now, or `None` without geometry.
pub(crate) fn points_file(core: &Core, output: Arc<Output>, wish: PointsWish) -> Option<PointsFile> {
    let view = &core.view;
    let scene = core.space_scene(&output, false)?;
    Some(PointsFile { output, scene, settings: view.space, colours: view.colours(), wish })
}

pub(crate) fn write_points(core: &mut Core, path: PathBuf, replaces: bool, file: PointsFile) {
    let to = path.clone();
    let work = move || {
        let (bytes, size) = file.bytes()?;
        files::write_or_keep(&to, &bytes, replaces)?;
        Ok::<_, Fault>(size)
    };
    core.start_job(WRITE, work, move |core, size| {
        let text = format!("{} → {}", size_text(size), path.display());
        core.notices.add(Level::News, text, vec![Remedy::ShowInFolder(path)]);
    });
}

/// Formats `1200 points`, or `1200 points and 2300 triangles`.
pub(crate) fn size_text(CloudSize { points, faces }: CloudSize) -> String {
    let faces = if faces > 0 { format!(" and {faces} triangles") } else { String::new() };
    format!("{points} points{faces}")
}

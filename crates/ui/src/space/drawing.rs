//! Drawing of a result in space as plain data, built from the settings and compared to detect changes.

use super::camera::{Lens, Pose, clip_from_world};
use super::lines::{self, LineEnd};
use super::settings::{Colouring, SpaceSettings, Surface};
use stereopsis_base::geometry::Geometry;

/// Uniform `Space` of the shader.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub(crate) struct Space {
    /// Matrix from metres in the left camera's axes to clip coordinates, column by column.
    pub(crate) clip_from_world: [[f32; 4]; 4],
    pub(crate) focal_px: f32,
    /// Focal length times baseline, px m.
    pub(crate) focal_times_baseline: f32,
    /// Negated disparity of infinity, px.
    pub(crate) doffs_px: f32,
    pub(crate) cx_px: f32,
    pub(crate) cy_px: f32,
    /// Value of the first colour: 1/m, or %.
    pub(crate) low: f32,
    pub(crate) high: f32,
    /// Smallest drawn disparity from infinity, px, above 0.
    pub(crate) least_px: f32,
    /// Largest drawn disparity from infinity, px.
    pub(crate) most_px: f32,
    /// Size of the target, px.
    pub(crate) target_width: f32,
    pub(crate) target_height: f32,
    /// Focal length on the target, px.
    pub(crate) scale_px: f32,
    /// Distance between drawn pixels, px.
    pub(crate) every: u32,
    /// Number of cells in a row: pixels, or quads between them.
    pub(crate) columns: u32,
    /// Index of the colouring in [`Colouring::ALL`].
    pub(crate) colouring: u32,
    pub(crate) unused: u32,
}

/// Properties of a result and of the adapter that draws it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Scene {
    pub(crate) geometry: Geometry,
    /// Size of the left image, px.
    pub(crate) size: (usize, usize),
    /// Nearest and farthest depth in colour, m.
    pub(crate) range_m: (f64, f64),
    pub(crate) has_confidence: bool,
    /// Whether the adapter computes on the CPU while the image moves.
    pub(crate) is_coarse: bool,
}

impl Scene {
    /// Returns the middle of the range in disparities as a depth in m, the initial pivot of the camera.
    pub(crate) fn middle_m(&self) -> f64 {
        let (near, far) = self.range_m;
        2.0 / (1.0 / near + 1.0 / far)
    }

    pub(crate) fn every(&self, settings: &SpaceSettings) -> usize {
        settings.every(self.is_coarse, self.size)
    }

    pub(crate) fn surface(&self, settings: &SpaceSettings) -> Surface {
        match settings.surface {
            Surface::Automatic if self.is_coarse => Surface::Points,
            Surface::Automatic => Surface::Mesh,
            surface => surface,
        }
    }

    /// Returns the chosen colouring, or the image's if confidence is missing.
    pub(crate) fn colouring(&self, settings: &SpaceSettings) -> Colouring {
        match settings.colouring {
            Colouring::Confidence if !self.has_confidence => Colouring::Picture,
            colouring => colouring,
        }
    }

    /// Returns the smallest and the largest disparity of a shown point relative to infinity, px.
    pub(crate) fn limits_px(&self, settings: &SpaceSettings) -> (f32, f32) {
        if !settings.is_limited {
            return (f32::MIN_POSITIVE, f32::MAX);
        }
        let focal_times_baseline = self.geometry.focal_px * self.geometry.baseline_m;
        let (near, far) = self.range_m;
        ((focal_times_baseline / far) as f32, (focal_times_baseline / near) as f32)
    }

    /// Returns the values of the first and the last colour: 1/m, or %.
    pub(crate) fn colour_range(&self, colouring: Colouring) -> (f32, f32) {
        match colouring {
            Colouring::Confidence => (0.0, 100.0),
            Colouring::Picture | Colouring::Depth => ((1.0 / self.range_m.1) as f32, (1.0 / self.range_m.0) as f32),
        }
    }
}

/// Data of a drawing except the pixels.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Drawing {
    pub(crate) size: (u32, u32),
    pub(crate) background: [u8; 3],
    pub(crate) surface: Surface,
    /// Number of cells: pixels, or quads between them.
    pub(crate) cells: u32,
    pub(crate) space: Space,
    /// Ends of lines, two per line.
    pub(crate) lines: Vec<LineEnd>,
}

impl Drawing {
    /// Draws `scene` from `pose` on a target of `size` px.
    pub(crate) fn new(
        scene: &Scene,
        settings: &SpaceSettings,
        pose: &Pose,
        size: (u32, u32),
        background: [u8; 3],
    ) -> Self {
        let Geometry { focal_px, baseline_m, doffs_px, cx_px, cy_px, .. } = scene.geometry;
        let lens = Lens::of(&scene.geometry, scene.size, size);
        let every = scene.every(settings);
        // n pixels have n - 1 quads between them
        let surface = scene.surface(settings);
        let borders = usize::from(surface == Surface::Mesh);
        let cells = |side: usize| (side.div_ceil(every) - borders.min(side)) as u32;
        let (columns, rows) = (cells(scene.size.0), cells(scene.size.1));
        let colouring = scene.colouring(settings);
        let (low, high) = scene.colour_range(colouring);
        let (least_px, most_px) = scene.limits_px(settings);
        let space = Space {
            clip_from_world: clip_from_world(pose, &lens).as_mat4().to_cols_array_2d(),
            focal_px: focal_px as f32,
            focal_times_baseline: (focal_px * baseline_m) as f32,
            doffs_px: doffs_px as f32,
            cx_px: cx_px as f32,
            cy_px: cy_px as f32,
            low,
            high,
            least_px,
            most_px,
            target_width: size.0 as f32,
            target_height: size.1 as f32,
            scale_px: lens.focal_px as f32,
            every: every as u32,
            columns,
            colouring: colouring as u32,
            unused: 0,
        };
        let mut lines = Vec::new();
        if settings.has_lines {
            lines = lines::grid(&scene.geometry, scene.size, scene.middle_m(), scene.range_m.1);
            // from within they would only cover the image
            if pose.eye_m().length() > 2.0 * baseline_m {
                lines.extend(lines::cameras(&scene.geometry, scene.size));
            }
        }
        Self { size, background, surface, cells: columns * rows, space, lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scene() -> Scene {
        let geometry = Geometry::centred(100.0, 0.1, 2.0, (7, 5));
        Scene { geometry, size: (7, 5), range_m: (0.5, 2.0), has_confidence: false, is_coarse: false }
    }

    #[test]
    fn a_mesh_has_a_quad_between_pixels_and_points_have_a_cell_each() {
        let pose = Pose::of_left_camera(1.0);
        let drawing = |surface, every| {
            let settings = SpaceSettings { surface, every: Some(every), ..SpaceSettings::default() };
            Drawing::new(&scene(), &settings, &pose, (70, 50), [0; 3])
        };
        let counted = |surface, every| (drawing(surface, every).space.columns, drawing(surface, every).cells);
        assert_eq!([counted(Surface::Points, 1), counted(Surface::Mesh, 1)], [(7, 35), (6, 24)]);
        assert_eq!([counted(Surface::Points, 3), counted(Surface::Mesh, 3)], [(3, 6), (2, 2)]);
        assert_eq!(drawing(Surface::Mesh, 8).cells, 0, "one pixel has no neighbour");
    }

    #[test]
    fn only_a_moving_software_view_is_drawn_as_points() {
        let settings = SpaceSettings::default();
        let coarse = Scene { is_coarse: true, ..scene() };
        assert_eq!([scene().surface(&settings), coarse.surface(&settings)], [Surface::Mesh, Surface::Points]);
        let chosen = SpaceSettings { surface: Surface::Mesh, ..settings };
        assert_eq!(coarse.surface(&chosen), Surface::Mesh);
    }

    #[test]
    fn the_range_limits_what_is_drawn_in_disparities() {
        let limited = SpaceSettings { is_limited: true, ..SpaceSettings::default() };
        assert_eq!(scene().limits_px(&limited), (5.0, 20.0));
        let (least, most) = scene().limits_px(&SpaceSettings { is_limited: false, ..limited });
        assert!(least > 0.0 && most > 1e6, "all in front of infinity");
        assert!((scene().middle_m() - 0.8).abs() < 1e-12, "12.5 px");
    }

    #[test]
    fn confidence_that_is_not_there_is_not_shown() {
        let wanted = SpaceSettings { colouring: Colouring::Confidence, ..SpaceSettings::default() };
        assert_eq!(scene().colouring(&wanted), Colouring::Picture);
        let computed = Scene { has_confidence: true, ..scene() };
        assert_eq!(computed.colouring(&wanted), Colouring::Confidence);
        assert_eq!(computed.colour_range(Colouring::Confidence), (0.0, 100.0));
        assert_eq!(computed.colour_range(Colouring::Depth), (0.5, 2.0));
    }
}

//! Method and directions of all exhibits of the paper.

use stereopsis_stereo::{Fill, Median, Preset, StereoParams};

/// Number of directions and angle of the first one in degrees, written `8/11` in the paper.
pub(super) type Directions = (u32, u32);

pub(super) const REFERENCE_DIRECTIONS: Directions = (8, 0);

/// Returns the paper's method, the author's preset without median, speckle filter and hole filling.
pub(super) fn method((paths, start_angle_deg): Directions) -> StereoParams {
    let mut params = StereoParams::default();
    Preset::Frommholz2020.apply(&mut params);
    StereoParams { paths, start_angle_deg, median: Median::Off, speckle_size: 0, fill: Fill::None, ..params }
}

/// Formats directions as in the paper, such as `8/11`.
pub(super) fn word((count, angle_deg): Directions) -> String {
    if angle_deg == 0 { count.to_string() } else { format!("{count}/{angle_deg}") }
}

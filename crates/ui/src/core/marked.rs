//! Pointer in the images, and the rectangle and points that the user marks to measure them.

use crate::view::Zoom;
use stereopsis_live::Subject;
use stereopsis_metrics::Region;

/// Position of the pointer, and the visible part of the images.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Pointer {
    pub(crate) hovered: Option<(usize, usize)>,
    /// Pixel held by a click.
    pub(crate) pinned: Option<(usize, usize)>,
    pub(crate) zoom: Zoom,
}

impl Pointer {
    /// Returns the pixel to read out.
    pub(crate) fn pixel(&self) -> Option<(usize, usize)> {
        self.hovered.or(self.pinned)
    }
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Marked {
    /// Measured rectangle, or `None` for the middle of the image.
    pub(crate) region: Option<Region>,
    /// At most two points.
    pub(crate) points: Vec<(usize, usize)>,
}

impl Marked {
    /// Returns the measured subject in images of this size, without points outside them.
    pub(crate) fn subject(&self, size: (usize, usize), true_distance_m: Option<f64>) -> Subject {
        let region = self.region.filter(|region| region.check_inside(size).is_ok());
        let inside = |&(x, y): &(usize, usize)| x < size.0 && y < size.1;
        let points = <[_; 2]>::try_from(&self.points[..]).ok().filter(|points| points.iter().all(inside));
        Subject { region: region.unwrap_or_else(|| Subject::middle(size)), true_distance_m, points }
    }

    /// Returns these marks with a pixel as the first or the second point, or as the first of a new pair.
    pub(crate) fn with_point(&self, pixel: (usize, usize)) -> Self {
        let mut points = self.points.clone();
        if points.len() >= 2 {
            points.clear();
        }
        points.push(pixel);
        Self { points, ..self.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_third_point_begins_anew_and_what_lies_outside_is_not_measured() {
        let mut marked = Marked::default().with_point((1, 2));
        assert_eq!(marked.subject((64, 48), None).points, None);
        marked = marked.with_point((30, 40));
        assert_eq!(marked.subject((64, 48), None).points, Some([(1, 2), (30, 40)]));
        assert_eq!(marked.subject((64, 32), None).points, None, "the image is smaller now");
        marked = marked.with_point((5, 6));
        assert_eq!(marked.points, [(5, 6)]);
        marked.region = Some(Region { x: 40, y: 4, width: 20, height: 20 });
        assert_eq!(marked.subject((64, 48), None).region.x, 40);
        assert_eq!(marked.subject((48, 48), None).region, Subject::middle((48, 48)));
    }
}

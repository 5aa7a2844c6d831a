//! Layout of the views in the images of videos: as the user says, as the film says, or side by side.

use crate::video::error::VideoError;
use std::fmt;
use stereopsis_base::image::Picture;
use stereopsis_base::remedy::option;
use stereopsis_frame::{Arrangement, SourceOptions, split};

#[derive(Clone, Copy)]
pub(super) struct ViewLayout {
    arrangement: Arrangement,
    /// Whether the left view is in the second half, or in the second track.
    swapped: bool,
}

/// Layout that a film states: by Matroska's `StereoMode`, MP4's `st3d`, or the frame packing of H.264 and H.265.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StatedLayout {
    pub(super) packing: Packing,
    /// Whether the right view is the first.
    pub(super) right_first: bool,
}

/// Way in which images hold both views.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Packing {
    Halves(Arrangement),
    Rows,
    Columns,
    Checkerboard,
    Frames,
    Anaglyph,
}

impl StatedLayout {
    /// Returns the layout of the type of ffprobe's side data "Stereo 3D" (names of ffmpeg 5.1); `None` for one view, and for unknown words.
    pub(super) fn of_type(words: &str, right_first: bool) -> Option<Self> {
        let packing = match words {
            "side by side" | "side by side (quincunx subsampling)" => Packing::Halves(Arrangement::SideBySide),
            "top and bottom" => Packing::Halves(Arrangement::TopBottom),
            "interleaved lines" => Packing::Rows,
            "interleaved columns" => Packing::Columns,
            "checkerboard" => Packing::Checkerboard,
            "frame alternate" => Packing::Frames,
            _ => return None,
        };
        Some(Self { packing, right_first })
    }

    /// Returns the layout of a tag `stereo_mode`, as ffprobe shows it for Matroska, and for H.264 at its frames.
    pub(super) fn of_tag(tag: &str) -> Option<Self> {
        let whole = match tag {
            "left_right" | "right_left" => Some(Packing::Halves(Arrangement::SideBySide)),
            "top_bottom" | "bottom_top" => Some(Packing::Halves(Arrangement::TopBottom)),
            _ if tag.starts_with("anaglyph") => Some(Packing::Anaglyph),
            _ => None,
        };
        if let Some(packing) = whole {
            return Some(Self { packing, right_first: matches!(tag, "right_left" | "bottom_top") });
        }
        let (packing, order) = tag.rsplit_once('_')?;
        let packing = match packing {
            "row_interleaved" => Packing::Rows,
            "col_interleaved" => Packing::Columns,
            "checkerboard" => Packing::Checkerboard,
            "block" => Packing::Frames,
            _ => return None,
        };
        Some(Self { packing, right_first: order == "rl" })
    }

    /// Returns the filter of ffmpeg that brings the views side by side, the left one first; `None` if none can.
    pub(super) fn filter(self) -> Option<String> {
        let stereo3d = |left: &str, right: &str| {
            let words = if self.right_first { right } else { left };
            Some(format!("stereo3d={words}"))
        };
        match self.packing {
            Packing::Rows => stereo3d("irl:sbsl", "irr:sbsl"),
            // ffmpeg 5.1 reads `icr` as `icl`
            Packing::Columns => stereo3d("icl:sbsl", "icl:sbsr"),
            Packing::Frames => stereo3d("al:sbsl", "ar:sbsl"),
            // `stereo3d` writes these and reads none
            Packing::Checkerboard => {
                let half = if self.right_first { "lt" } else { "gte" };
                let value = format!("p(mod(2*X,W)+mod(Y+{half}(2*X,W),2),Y)");
                Some(format!("format=yuv444p,geq=lum='{value}':cb='{value}':cr='{value}'"))
            }
            Packing::Halves(_) | Packing::Anaglyph => None,
        }
    }
}

impl fmt::Display for StatedLayout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.packing {
            Packing::Halves(arrangement) => f.write_str(arrangement.word())?,
            Packing::Rows => f.write_str("views that alternate by row")?,
            Packing::Columns => f.write_str("views that alternate by column")?,
            Packing::Checkerboard => f.write_str("views that alternate as on a checkerboard")?,
            Packing::Frames => f.write_str("views that alternate by frame")?,
            Packing::Anaglyph => f.write_str("an anaglyph")?,
        }
        f.write_str(if self.right_first { ", the right view first" } else { "" })
    }
}

impl ViewLayout {
    /// Returns the layout that the user says; where no half is said, the left view is in the first one.
    pub(super) fn of(options: &SourceOptions) -> Self {
        let arrangement = options.both_views.unwrap_or(Arrangement::SideBySide);
        Self { arrangement, swapped: options.cameras.swapped_halves }
    }

    /// Returns the layout of a film that states one, and a remark on it unless it is the usual one. What the user says wins.
    ///
    /// # Errors
    /// The stated layout, if it is none of halves.
    pub(super) fn stated(
        options: &SourceOptions,
        stated: Option<StatedLayout>,
    ) -> Result<(Self, Option<String>), StatedLayout> {
        let said = Self::of(options);
        let Some(stated) = stated else { return Ok((said, None)) };
        let wins = |name: &'static str| Some(format!("the file says {stated}: {}, as you say, is taken", option(name)));
        if let Some(arrangement) = options.both_views {
            let agrees = stated.packing == Packing::Halves(arrangement)
                && (options.swapped_views || options.cameras.swapped_halves) == stated.right_first;
            return Ok((said, if agrees { None } else { wins(arrangement.word()) }));
        }
        let Packing::Halves(arrangement) = stated.packing else { return Err(stated) };
        // who exchanges the views of a film that states its order says where they are
        let swapped = said.swapped ^ (stated.right_first && !options.swapped_views);
        let remark = if options.swapped_views && !stated.right_first {
            wins("swap-pictures")
        } else if arrangement == Arrangement::SideBySide && !stated.right_first {
            None
        } else {
            Some(format!("the file says {stated}: its images are taken so"))
        };
        Ok((Self { arrangement, swapped }, remark))
    }
}

/// Splits the image of one track, or takes the images of two, into left and right.
pub(super) fn views(mut pictures: Vec<Picture>, views: ViewLayout) -> Result<(Picture, Picture), VideoError> {
    match (pictures.pop(), pictures.pop()) {
        (Some(right), Some(left)) if left.size() == right.size() => Ok((left, right)),
        (Some(right), Some(left)) => Err(VideoError::Sizes { left: left.size(), right: right.size() }),
        (Some(both), None) => {
            let (size, arrangement) = (both.size(), views.arrangement);
            let length = if arrangement == Arrangement::SideBySide { size.0 } else { size.1 };
            if length % 2 != 0 {
                return Err(VideoError::Halves { size, arrangement });
            }
            let (first, second) = split(&both, arrangement);
            Ok(if views.swapped { (second, first) } else { (first, second) })
        }
        (None, _) => Err(VideoError::NoVideo),
    }
}

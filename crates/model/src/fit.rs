//! Images into the input of a model, and its output back into disparities of the image's pixels.

use crate::description::{Colors, Description};
use crate::error::{MAX_GROWTH, ModelError, USUAL};
use crate::values::Values;
use stereopsis_base::image::{Image, Luma, PictureRef};
use stereopsis_stereo::StereoParams;
use stereopsis_stereo::map::{DisparityMap, INVALID, SUBPIXEL_STEPS, reason};

/// Relation between an image and the input of a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Fit {
    image: (usize, usize),
    /// Width and height of the input, px.
    pub(crate) input: (usize, usize),
    /// Whether the image fills the input after a change of its size; else its last column and row are repeated.
    is_resized: bool,
}

impl Fit {
    /// Returns the relation for images of this size. An input of fixed size that is too small takes a smaller image.
    ///
    /// # Errors
    /// The input is far larger than the images, and most of the memory and time would be for its border.
    pub(crate) fn new(image: (usize, usize), description: &Description) -> Result<Self, ModelError> {
        let (width, height) = image;
        let whole = |extent: usize| extent.next_multiple_of(description.multiple);
        let fixed = description.width.zip(description.height);
        let input = fixed.unwrap_or_else(|| (whole(width), whole(height)));
        let is_resized = width > input.0 || height > input.1;
        let most = (MAX_GROWTH * width * height).max(USUAL.0 * USUAL.1);
        if input.0.saturating_mul(input.1) > most {
            return Err(ModelError::LargeInput(input, image));
        }
        Ok(Self { image, input, is_resized })
    }

    /// Returns the pixels of the image for one of the input, along x.
    fn shrinkage(self) -> f64 {
        if self.is_resized { self.image.0 as f64 / self.input.0 as f64 } else { 1.0 }
    }

    /// Refuses a range beyond the disparities that the model finds in the image, where they are known.
    pub(crate) fn check_range(self, description: &Description, params: &StereoParams) -> Result<(), ModelError> {
        let last = params.last_disparity();
        let largest_px = description.max_disparity.map(|largest| largest as f64 * self.shrinkage());
        let Some(largest_px) = largest_px.filter(|&largest| f64::from(last) > largest) else { return Ok(()) };
        let count = (largest_px.floor() as i32 + 1 - params.min_disparity).max(1);
        Err(ModelError::Range { largest_px, last, count })
    }

    /// Describes the change of the image: `640x480 resized to 736x320`, or `640x480 with a border to 640x512`; `None` without one.
    pub(crate) fn words(self) -> Option<String> {
        let ((width, height), (input_width, input_height)) = (self.image, self.input);
        if self.image == self.input {
            return None;
        }
        let how = if self.is_resized { "resized to" } else { "with a border to" };
        Some(format!("{width}x{height} {how} {input_width}x{input_height}"))
    }

    /// Returns the inputs of the model.
    pub(crate) fn inputs<'a>(self, pair: [PictureRef<'_>; 2], description: &'a Description) -> Vec<(&'a str, Values)> {
        let [mut left, mut right] = pair.map(|picture| self.channels(picture, description));
        let (width, height) = self.input;
        let of_values = |values: Vec<f32>| {
            let channels = values.len() / (width * height);
            Values { extents: vec![1, channels, height, width], values }
        };
        if description.left == description.right {
            if description.swapped {
                std::mem::swap(&mut left, &mut right);
            }
            left.extend(right);
            return vec![(&description.left, of_values(left))];
        }
        vec![(&description.left, of_values(left)), (&description.right, of_values(right))]
    }

    /// Returns the channels of one image one behind the other, in the size and the brightness of the input.
    fn channels(self, picture: PictureRef<'_>, description: &Description) -> Vec<f32> {
        let order: &[usize] = match description.colors {
            Colors::Rgb => &[0, 1, 2],
            Colors::Bgr => &[2, 1, 0],
            Colors::Grey => &[0],
        };
        let rgb = picture.rgb.filter(|_| description.colors != Colors::Grey);
        let mut all = Vec::with_capacity(order.len() * self.input.0 * self.input.1);
        for &channel in order {
            let (factor, offset) = description.brightness.of_channel(channel);
            let byte = |x: usize, y: usize| match (rgb, picture.luma) {
                (Some(rgb), _) => f32::from(rgb.at(x, y)[channel]),
                (None, Luma::U8(image)) => f32::from(image.at(x, y)),
                (None, Luma::U16 { image, bits }) => f32::from(image.at(x, y)) / f32::from(1_u16 << (bits - 8)),
            };
            self.resample(byte, &mut |value| all.push(factor.mul_add(value, offset)));
        }
        all
    }

    /// Calls `put` for each pixel of the input, row by row.
    fn resample(self, pixel: impl Fn(usize, usize) -> f32, put: &mut impl FnMut(f32)) {
        let ((width, height), (input_width, input_height)) = (self.image, self.input);
        if !self.is_resized {
            for y in 0..input_height {
                (0..input_width).for_each(|x| put(pixel(x.min(width - 1), y.min(height - 1))));
            }
            return;
        }
        // each pixel of the input is the mean of the pixels that it covers, by their shares
        let [columns, rows] = [(width, input_width), (height, input_height)].map(|(from, to)| shares(from, to));
        let mut lines: Vec<Option<Vec<f32>>> = vec![None; height];
        for row in &rows {
            lines[..row.first].fill(None);
            let mut sums = vec![0.0; input_width];
            for (y, share) in (row.first..).zip(&row.shares) {
                let line = lines[y].get_or_insert_with(|| {
                    let mean = |column: &Shares| {
                        (column.first..).zip(&column.shares).map(|(x, share)| share * pixel(x, y)).sum()
                    };
                    columns.iter().map(mean).collect()
                });
                sums.iter_mut().zip(line).for_each(|(sum, value)| *sum += share * *value);
            }
            sums.into_iter().for_each(&mut *put);
        }
    }

    /// Returns the disparity of each pixel of the image, px, from an output of the model; NaN where that has none.
    ///
    /// # Errors
    /// The output is no map of one image, or has no number at all.
    pub(crate) fn disparities(self, output: &Values, description: &Description) -> Result<Image<f32>, ModelError> {
        let wrong = || ModelError::Shape(description.output.clone(), output.extents.clone());
        let [before @ .., height, width] = &output.extents[..] else { return Err(wrong()) };
        let (width, height) = (*width, *height);
        // a flow has its y behind its x
        if height == 0 || width == 0 || !(1..=2).contains(&before.iter().product::<usize>()) {
            return Err(wrong());
        }
        let map = &output.values[..width * height];
        if !map.iter().any(|value| value.is_finite()) {
            return Err(ModelError::NoNumber(description.brightness));
        }
        let scale = description.scale * self.shrinkage() as f32;
        let of_map = |x: usize, y: usize| scale * map[y * width + x];
        let (image_width, image_height) = self.image;
        let seen = if self.is_resized { self.image } else { self.input };
        if (width, height) == seen {
            return Ok(Image::from_fn(image_width, image_height, of_map));
        }
        let [columns, rows] = [(width, seen.0), (height, seen.1)]
            .map(|(from, to)| (0..to).map(|at| between(at, from, to)).collect::<Vec<_>>());
        Ok(Image::from_fn(image_width, image_height, |x, y| {
            let (column, row) = (columns[x], rows[y]);
            let four = [row.0, row.1].map(|y| [column.0, column.1].map(|x| of_map(x, y)));
            let [nearest_x, nearest_y] =
                [column, row].map(|(first, last, share)| if share < 0.5 { first } else { last });
            let least = four.as_flattened().iter().fold(f32::INFINITY, |least, v| least.min(*v));
            let largest = four.as_flattened().iter().fold(f32::NEG_INFINITY, |largest, v| largest.max(*v));
            // no disparity between those of two surfaces
            if largest - least <= scale.abs() && four.as_flattened().iter().all(|v| v.is_finite()) {
                let [above, below] = four.map(|[first, last]| first + (last - first) * column.2);
                above + (below - above) * row.2
            } else {
                of_map(nearest_x, nearest_y)
            }
        }))
    }
}

/// Source pixels of a pixel and their shares.
struct Shares {
    first: usize,
    shares: Vec<f32>,
}

/// Returns the parts of `from` pixels that each of `to` pixels covers; at least the interpolated one where `to` has more.
fn shares(from: usize, to: usize) -> Vec<Shares> {
    let covered = |at: usize| {
        if to >= from {
            let (first, last, share) = between(at, from, to);
            return Shares { first, shares: if first == last { vec![1.0] } else { vec![1.0 - share, share] } };
        }
        let (start, end) = (at as f64 * from as f64 / to as f64, (at + 1) as f64 * from as f64 / to as f64);
        let first = start.floor() as usize;
        let last = (end.ceil() as usize).min(from).max(first + 1);
        let part = |x: usize| ((end.min((x + 1) as f64) - start.max(x as f64)) / (end - start)) as f32;
        Shares { first, shares: (first..last).map(part).collect() }
    };
    (0..to).map(covered).collect()
}

/// Returns the two source pixels around a pixel's centre, and the share of the second one.
fn between(at: usize, from: usize, to: usize) -> (usize, usize, f32) {
    let place = ((at as f64 + 0.5) * from as f64 / to as f64 - 0.5).clamp(0.0, (from - 1) as f64);
    let first = place.floor() as usize;
    (first, (first + 1).min(from - 1), (place - first as f64) as f32)
}

/// Returns the map of disparities in px: one without a number matches badly, one outside the range or with a partner outside the
/// right image has the range as its reason.
pub(crate) fn to_map(disparities_px: &Image<f32>, params: &StereoParams) -> DisparityMap {
    let (width, height) = disparities_px.size();
    let range = params.disparities();
    let mut values = Image::filled(width, height, INVALID);
    let mut reasons = Image::filled(width, height, 0);
    for y in 0..height {
        for (x, &px) in disparities_px.row(y).iter().enumerate() {
            let steps = (px * SUBPIXEL_STEPS as f32).round();
            let nearest = px.round() as i32;
            if !px.is_finite() {
                reasons.set(x, y, reason::MATCH);
            } else if range.contains(&nearest) && (0..width as i64).contains(&(x as i64 - i64::from(nearest))) {
                values.set(x, y, steps as i16);
            } else {
                reasons.set(x, y, reason::RANGE);
            }
        }
    }
    DisparityMap { values, reasons, confidence: None }
}

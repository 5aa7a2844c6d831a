//! Pairs and parameters with which engines are compared, drawn at random or made on purpose.

use fastrand::Rng;
use std::sync::Arc;
use std::time::SystemTime;
use stereopsis_base::image::{Image, Luma, Picture, PictureRef};
use stereopsis_base::parameter::{Domain, Value};
pub(crate) use stereopsis_base::testing::seeds;
use stereopsis_frame::engine::{Engine, Job, Output};
use stereopsis_frame::{Frame, RawPair};
use stereopsis_stereo::{DisparityMap, Maps, Past, StereoParams};

pub(crate) fn job([left, right]: [Picture; 2], params: &StereoParams) -> Job {
    // views and raw images separately: a raw pair converts both views to one depth
    let pictures = [&left, &right].map(|picture| Arc::new(picture.clone()));
    let raw = RawPair::new("test", 0, SystemTime::UNIX_EPOCH, left, right);
    let [left, right] = pictures;
    let frame = Frame { left, right, ..Frame::of_raw(Arc::new(raw)) };
    Job { frame: Arc::new(frame), params: Arc::new(params.clone()), read_back: true, wants_right: false }
}

#[derive(Clone, Debug)]
pub(crate) struct Case {
    pub(crate) left: Luma,
    pub(crate) right: Luma,
    pub(crate) params: StereoParams,
    pub(crate) wants_right: bool,
    pub(crate) colored: bool,
    pub(crate) is_masked: bool,
    pub(crate) what: String,
}

/// Computes three channels of a luma: equal brightness has equal colour, and steps between colours differ from those of brightness.
fn colors_of(luma: &Luma) -> Image<[u8; 3]> {
    luma.to_u8().map(|&v| [v, v.wrapping_mul(5), 255 - v / 2])
}

impl Case {
    pub(crate) fn new(rng: &mut Rng, size: (usize, usize), content: Content, bits: u8, params: StereoParams) -> Self {
        let (left, right) = content.pair(rng, size, bits);
        let words: Vec<_> = params.words().map(|(name, value)| format!("{name} {value}")).collect();
        let what = format!("{}x{}, {content:?}, {bits} bits, {}", size.0, size.1, words.join(", "));
        Self { left, right, params, wants_right: false, colored: false, is_masked: false, what }
    }

    pub(crate) fn random(seed: u64, largest: (usize, usize)) -> Self {
        let rng = &mut Rng::with_seed(seed);
        let size = (rng.usize(1..=largest.0), rng.usize(1..=largest.1));
        let content = *rng.choice(&Content::ALL).expect("some content");
        let bits = *rng.choice(&[8, 8, 8, 10, 12, 16]).expect("some depth");
        let params = random_params(rng);
        let mut case = Self::new(rng, size, content, bits, params);
        (case.wants_right, case.colored) = (rng.bool(), rng.bool());
        if rng.u8(0..4) == 0 {
            case.is_masked = true;
            for luma in [&mut case.left, &mut case.right] {
                blacken(rng, luma);
            }
        }
        let Self { wants_right, colored, is_masked, what, .. } = &case;
        case.what = format!("SEED={seed}, wants right {wants_right}, colored {colored}, masked {is_masked}: {what}");
        case
    }

    pub(crate) fn job(&self) -> Job {
        let job = job(self.pictures(), &self.params);
        let frame = Arc::new(Frame { is_masked: self.is_masked, ..Frame::clone(&job.frame) });
        Job { frame, wants_right: self.wants_right, ..job }
    }

    pub(crate) fn expected(&self) -> DisparityMap {
        self.expected_after(&mut Past::default()).left
    }

    /// Returns the maps of the reference after the pairs of `past`.
    pub(crate) fn expected_after(&self, past: &mut Past) -> Maps {
        let pictures = self.pictures();
        let [left, right] =
            pictures.each_ref().map(|picture| PictureRef { is_masked: self.is_masked, ..picture.into() });
        stereopsis_stereo::match_next(past, left, right, &self.params, self.wants_right)
    }

    pub(crate) fn pictures(&self) -> [Picture; 2] {
        let picture = |luma: &Luma| Picture { luma: luma.clone(), rgb: self.colored.then(|| colors_of(luma)) };
        [&self.left, &self.right].map(picture)
    }

    pub(crate) fn check(&self, engine: &mut dyn Engine) {
        let output =
            stereopsis_frame::engine::run(engine, self.job()).unwrap_or_else(|err| panic!("{err} ({})", self.what));
        let expected = self.expected_after(&mut Past::default());
        self.compare_maps(&output, &expected);
    }

    pub(crate) fn compare_maps(&self, output: &Output, expected: &Maps) {
        let who = format!("{:?}", output.engine.kind);
        self.compare(&who, output.map.as_ref().expect("asked for"), &expected.left);
        assert_eq!(output.right_map.is_some(), self.wants_right, "{who}: {}", self.what);
        if let (Some(map), Some(expected)) = (&output.right_map, &expected.right) {
            self.compare(&format!("{who}, right"), map, expected);
        }
    }

    pub(crate) fn compare(&self, who: &str, map: &DisparityMap, expected: &DisparityMap) {
        assert_eq!(map.size(), expected.size(), "{who}: {}", self.what);
        let (width, height) = map.size();
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let of = |m: &DisparityMap| {
                (m.values.at(x, y), m.reasons.at(x, y), m.confidence.as_ref().map(|confidence| confidence.at(x, y)))
            };
            let (got, wanted) = [map, expected].map(of).into();
            assert_eq!(got, wanted, "{who}: disparity, reasons and confidence at ({x}, {y}) of {}", self.what);
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Content {
    Noise,
    /// Texture, shifted by a few pixels that change over the image.
    Shifted,
    Flat,
    /// Large blocks of few grey levels: many ties.
    Blocks,
    /// Slanted walls with hardly any texture: surfaces that planes fill.
    Walls,
}

impl Content {
    const ALL: [Self; 5] = [Self::Noise, Self::Shifted, Self::Flat, Self::Blocks, Self::Walls];

    fn pair(self, rng: &mut Rng, (width, height): (usize, usize), bits: u8) -> (Luma, Luma) {
        let largest = ((1u32 << bits) - 1) as u16;
        let noise = Image::from_fn(width + 64, height, |_, _| rng.u16(0..=largest));
        let blocks = Image::from_fn(width / 6 + 12, height / 6 + 1, |_, _| rng.u16(0..4) * (largest / 4));
        let slope = rng.usize(1..8);
        let pixel = |x: usize, y: usize, right: bool| match self {
            Self::Noise => noise.at(x + 64 * usize::from(right && x.is_multiple_of(2)), y),
            Self::Shifted => noise.at(x + if right { (y * slope / 4) % 40 } else { 0 }, y),
            Self::Flat => largest / 2,
            Self::Blocks => blocks.at((x + if right { 5 } else { 0 }) / 6, y / 6),
            Self::Walls => {
                let x = x + if right { 2 + (y + 3 * x) / 40 } else { 0 };
                let wall = blocks.at((x / 40).min(width / 6 + 11), (y / 30).min(height / 6));
                let texture = noise.at(x.min(width + 63), y) / 16;
                // dots to match, and a slope of brightness
                wall / 2 + (x + y) as u16 / 8 * (largest / 255) + if texture.is_multiple_of(9) { texture } else { 0 }
            }
        };
        let borders = [(); 2].map(|()| black_border(rng, (width, height)));
        let luma = |right| {
            let is_black = |x, y| {
                borders[usize::from(right)].is_some_and(|[left, top, bend]| {
                    // the edge of an image from a lens that bends lines: farther in at the middle of a side
                    let (across, down) =
                        (x * (width - x) * bend / width.pow(2), y * (height - y) * bend / height.pow(2));
                    x < left + down || y < top + across
                })
            };
            let image = Image::from_fn(width, height, |x, y| if is_black(x, y) { 0 } else { pixel(x, y, right) });
            if bits == 8 { Luma::U8(image.map(|&v| v as u8)) } else { Luma::U16 { image, bits } }
        };
        (luma(false), luma(true))
    }
}

/// Draws a black rectangle somewhere in an image, as a mask leaves it.
fn blacken(rng: &mut Rng, luma: &mut Luma) {
    let (width, height) = luma.size();
    let (left, top) = (rng.usize(0..width), rng.usize(0..height));
    let (columns, rows) = (left..rng.usize(left..=width), top..rng.usize(top..=height));
    for y in rows {
        match luma {
            Luma::U8(image) => image.row_mut(y)[columns.clone()].fill(0),
            Luma::U16 { image, .. } => image.row_mut(y)[columns.clone()].fill(0),
        }
    }
}

/// Draws the depth of a black border at the left and at the top, and its additional depth at the middle of a side, px; in a third of cases.
fn black_border(rng: &mut Rng, (width, height): (usize, usize)) -> Option<[usize; 3]> {
    let depths = [rng.usize(0..=width.min(12)), rng.usize(0..=height.min(12)), rng.usize(0..30)];
    (rng.u8(0..3) == 0).then_some(depths)
}

/// Draws valid parameters, each from its domain; ranges are short so that the reference stays quick.
pub(crate) fn random_params(rng: &mut Rng) -> StereoParams {
    loop {
        let mut params = StereoParams::default();
        for parameter in StereoParams::table() {
            if rng.u8(0..4) == 0 {
                continue;
            }
            let short = rng.bool();
            let mut integer = |from: i64, to: i64| {
                let (from, to) = match parameter.name {
                    "min-disparity" => (if short { -8 } else { -40 }, if short { 8 } else { 40 }),
                    "num-disparities" => (1, if short { 16 } else { 80 }),
                    "sad-window" | "window" => (from, 9),
                    "arms" => (from, 7),
                    "speckle-size" => (from, 60),
                    "paths" => (0, if short { 8 } else { 40 }),
                    "start-angle-deg" => (from, to),
                    _ if short => (from, to.min(from + 64)),
                    _ => (from, to),
                };
                Value::Integer(rng.i64(from..=to))
            };
            let value = match &parameter.domain {
                Domain::Integer(range) => integer(*range.start(), *range.end()),
                Domain::OptionalInteger(range) if !short => integer(*range.start(), (*range.end()).min(3)),
                Domain::OptionalInteger(_) => Value::Off,
                Domain::Switch => Value::Switch(rng.bool()),
                Domain::Choice(words) => Value::Choice(rng.choice(words).expect("a word").0),
            };
            assert!((parameter.set)(&mut params, value), "{} takes {value}", parameter.name);
        }
        if params.validate().is_ok() {
            return params;
        }
    }
}

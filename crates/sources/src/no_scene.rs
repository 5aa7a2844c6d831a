//! Parts of views that are no scene, found by their brightness: even bars from one pair, and marks that stay, such as a clock, from several.

use std::ops::Range;
use stereopsis_base::image::{Image, Luma};

/// Brightest level of a bar, of 255: video black is 16.
const MAX_BAR_LEVEL: u8 = 32;
/// Largest difference of two pixels of a bar, levels: compression changes them a little.
const MAX_BAR_STEP: u8 = 3;
/// Thinnest bar, px.
const MIN_BAR_PX: usize = 4;
/// Largest difference of the widths of opposite bars, and of those of both views, px.
const MAX_BAR_DIFFERENCE_PX: usize = 2;
/// Smallest difference of two pixels just beyond a bar, levels: a dark scene begins smoothly.
const MIN_SCENE_STEP: u8 = 16;
/// Distance behind a bar at which there is scene, px: compression blurs its edge.
const BEHIND_BAR_PX: usize = 3;

/// Rows and columns of a view within its bars; the whole view where it has none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Within {
    pub(super) rows: Range<usize>,
    pub(super) columns: Range<usize>,
}

/// Finds bars of both views: at both ends of all rows or of all columns, even, dark and as wide in either view. `None` without bars, and for
/// those of brightness 0, which matching leaves out by itself.
pub(super) fn bars(left: &Luma, right: &Luma) -> Option<Within> {
    if left.size() != right.size() {
        return None;
    }
    let (width, height) = left.size();
    let rows = bars_along(height, [left, right].map(|luma| move |y: usize| (0..width).map(move |x| level(luma, x, y))));
    let columns =
        bars_along(width, [left, right].map(|luma| move |x: usize| (0..height).map(move |y| level(luma, x, y))));
    let is_found = rows.is_some() || columns.is_some();
    is_found.then(|| Within { rows: rows.unwrap_or(0..height), columns: columns.unwrap_or(0..width) })
}

/// Returns the brightness of a pixel in eight bits.
fn level(luma: &Luma, x: usize, y: usize) -> u8 {
    match luma {
        Luma::U8(image) => image.at(x, y),
        Luma::U16 { image, bits } => (image.at(x, y) >> (bits - 8)).min(255) as u8,
    }
}

/// Returns the lines within the bars at both ends of `lines` rows or columns; `line` has the brightness of one.
fn bars_along<P: Iterator<Item = u8>>(lines: usize, views: [impl Fn(usize) -> P; 2]) -> Option<Range<usize>> {
    let [of_left, of_right] = views.each_ref().map(|line| {
        let range = |at: usize| line(at).fold((u8::MAX, 0), |(low, high), v| (low.min(v), high.max(v)));
        let width = |lines: &mut dyn Iterator<Item = usize>| {
            let (mut low, mut high, mut count) = (u8::MAX, 0, 0);
            for at in lines {
                let (darkest, brightest) = range(at);
                (low, high) = (low.min(darkest), high.max(brightest));
                if low == 0 || high > MAX_BAR_LEVEL || high - low > MAX_BAR_STEP {
                    break;
                }
                count += 1;
            }
            count
        };
        let [first, last] = [width(&mut (0..lines)), width(&mut (0..lines).rev())];
        let is_wide = first >= MIN_BAR_PX && last >= MIN_BAR_PX && first.abs_diff(last) <= MAX_BAR_DIFFERENCE_PX;
        if !is_wide || first + last + 2 * BEHIND_BAR_PX >= lines {
            return None;
        }
        let is_scene = |at: usize| {
            let (darkest, brightest) = range(at);
            brightest - darkest >= MIN_SCENE_STEP
        };
        (is_scene(first + BEHIND_BAR_PX) && is_scene(lines - 1 - last - BEHIND_BAR_PX)).then_some([first, last])
    });
    let (l, r) = (of_left?, of_right?);
    let is_alike = (0..2).all(|end| l[end].abs_diff(r[end]) <= MAX_BAR_DIFFERENCE_PX);
    is_alike.then(|| l[0].max(r[0])..lines - l[1].max(r[1]))
}

/// Number of pairs after which marks are searched for.
const PAIRS: usize = 8;
/// Largest change of a pixel of a mark from pair to pair and from view to view, levels.
const MAX_MARK_CHANGE: u8 = 8;
/// Smallest change of a pixel in which the scene moved, levels.
const MIN_MOTION: u8 = 16;
/// Share of the pixels that must have changed.
const MIN_MOVED: f64 = 0.3;
/// Smallest step of brightness along a row at the sharp edges of a mark, levels; its pixels would differ from view to view at any other
/// disparity than 0.
const MIN_EDGE: u8 = 64;
/// Smallest number of such pixels of a mark.
const MIN_EDGE_PIXELS: usize = 40;
/// Distance within which pixels belong to one mark, px.
const REACH_PX: usize = 12;
/// Margin around the edges of a mark, px: its ground, and the windows of matching that see it.
const MARGIN_PX: usize = 4;
/// Largest share of a view that marks may cover.
const MAX_COVERED: f64 = 0.2;

/// Rectangle of a mark: columns and rows.
pub(super) type Mark = (Range<usize>, Range<usize>);

/// Search for marks that lie at one place of both views and stay there while the scene moves.
#[derive(Debug, Default)]
pub(super) struct MarkSearch {
    state: Option<Seen>,
}

/// What was seen of the pixels of the left view.
#[derive(Debug)]
struct Seen {
    first: Image<u8>,
    pairs: usize,
    /// Largest change since the first pair.
    changed: Image<u8>,
    /// Largest difference of the views.
    differs: Image<u8>,
}

impl MarkSearch {
    /// Looks at the next pair; returns the marks once enough pairs have been seen and the scene has moved in them.
    pub(super) fn look(&mut self, left: &Luma, right: &Luma) -> Option<Vec<Mark>> {
        if left.size() != right.size() {
            return Some(Vec::new());
        }
        let [left, right] = [left, right].map(Luma::to_u8);
        let zero = || Image::filled(left.width(), left.height(), 0);
        if self.state.as_ref().is_none_or(|seen| seen.first.size() != left.size()) {
            self.state = Some(Seen { first: left.clone(), pairs: 0, changed: zero(), differs: zero() });
        }
        let seen = self.state.as_mut()?;
        let pixels = left.pixels().iter().zip(right.pixels()).zip(seen.first.pixels());
        let known = seen.changed.pixels_mut().iter_mut().zip(seen.differs.pixels_mut());
        for (((&l, &r), &first), (changed, differs)) in pixels.zip(known) {
            *changed = (*changed).max(l.abs_diff(first));
            *differs = (*differs).max(l.abs_diff(r));
        }
        seen.pairs += 1;
        let moved = seen.changed.pixels().iter().filter(|&&v| v >= MIN_MOTION).count();
        let is_moving = moved as f64 >= MIN_MOVED * left.pixels().len() as f64;
        (seen.pairs >= PAIRS && is_moving).then(|| seen.marks(&left))
    }
}

impl Seen {
    fn marks(&self, now: &Image<u8>) -> Vec<Mark> {
        let (width, height) = now.size();
        let edge = |x: usize, y: usize| {
            let is_same = |x: usize| self.differs.at(x, y) <= MAX_MARK_CHANGE;
            let is_sharp = now.at(x - 1, y).abs_diff(now.at(x + 1, y)) >= MIN_EDGE;
            is_sharp && is_same(x - 1) && is_same(x) && is_same(x + 1)
        };
        // pixels with their marks so far; digits that change lie beside others that stay
        let mut marks: Vec<(Mark, usize)> = Vec::new();
        let edges = (0..height).flat_map(|y| (1..width.saturating_sub(1)).map(move |x| (x, y)));
        for (x, y) in edges.filter(|&(x, y)| edge(x, y)) {
            let stays = usize::from(self.changed.at(x, y) <= MAX_MARK_CHANGE);
            let mut mark = ((x..x + 1, y..y + 1), stays);
            let near = |(columns, rows): &Mark| {
                columns.start <= x + REACH_PX
                    && x < columns.end + REACH_PX
                    && rows.start <= y + REACH_PX
                    && y < rows.end + REACH_PX
            };
            marks.retain(|(other, of_other)| {
                let is_near = near(other);
                if is_near {
                    mark = ((joined(&mark.0.0, &other.0), joined(&mark.0.1, &other.1)), mark.1 + of_other);
                }
                !is_near
            });
            marks.push(mark);
        }
        let with_margin = |range: Range<usize>, length: usize| {
            range.start.saturating_sub(MARGIN_PX)..(range.end + MARGIN_PX).min(length)
        };
        let marks: Vec<Mark> = marks
            .into_iter()
            .filter(|&(_, stays)| stays >= MIN_EDGE_PIXELS)
            .map(|((columns, rows), _)| (with_margin(columns, width), with_margin(rows, height)))
            .collect();
        let covered: usize = marks.iter().map(|(columns, rows)| columns.len() * rows.len()).sum();
        if covered as f64 > MAX_COVERED * (width * height) as f64 { Vec::new() } else { marks }
    }
}

fn joined(one: &Range<usize>, other: &Range<usize>) -> Range<usize> {
    one.start.min(other.start)..one.end.max(other.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texture(x: usize, y: usize) -> u8 {
        60 + ((x * 7919 + y * 104_729 + x * y) % 130) as u8
    }

    /// Draws a view of 96x80 with bars of these numbers of rows at the top and at the bottom, of this level.
    fn letterbox([top, bottom]: [usize; 2], level: impl Fn(usize, usize) -> u8) -> Luma {
        let is_bar = |y: usize| y < top || y >= 80 - bottom;
        Luma::U8(Image::from_fn(96, 80, |x, y| if is_bar(y) { level(x, y) } else { texture(x, y) }))
    }

    #[test]
    fn even_dark_bars_of_both_views_are_found_and_dark_scenes_are_not() {
        let bars_of = |luma: Luma| bars(&luma, &luma);
        let video_black = |x: usize, y: usize| 16 + ((x + y) % 2) as u8;
        let within = Within { rows: 10..69, columns: 0..96 };
        assert_eq!(bars_of(letterbox([10, 11], video_black)), Some(within));
        let luma = letterbox([10, 11], video_black);
        let pillars = luma.turned(stereopsis_base::image::QuarterTurn::Left);
        let found = bars_of(pillars.clone()).unwrap();
        assert!(found.columns.len() == 59 && found.rows == (0..96), "{found:?}");
        let deep = Luma::U16 { image: luma.to_u8().map(|&v| u16::from(v) << 4), bits: 12 };
        assert!(bars_of(deep).is_some());
        for (what, luma) in [
            ("no bars", letterbox([0, 0], video_black)),
            ("a dark sky", letterbox([20, 0], video_black)),
            ("a dark sky above a dark road", letterbox([20, 12], video_black)),
            ("black of rectification, which is left out already", letterbox([10, 10], |_, _| 0)),
            ("a grey wall", letterbox([10, 10], |_, _| 60)),
            ("the noise of a dark room", letterbox([10, 10], |x, y| 8 + texture(x, y) / 12)),
            ("a vignette", Luma::U8(Image::from_fn(96, 80, |x, y| (x.min(95 - x).min(y).min(79 - y) * 5) as u8))),
            ("nothing", Luma::U8(Image::filled(96, 80, 16))),
        ] {
            assert_eq!(bars_of(luma), None, "{what}");
        }
        let other = letterbox([0, 0], video_black);
        assert_eq!(bars(&luma, &other), None, "one view alone");
    }

    /// Draws view `side` of pair `time`: a scene at 6 px that moves, below a clock whose last digit changes.
    fn with_clock(side: usize, time: usize, has_clock: bool) -> Luma {
        Luma::U8(Image::from_fn(160, 120, |x, y| {
            let (column, row) = (x.wrapping_sub(20), y.wrapping_sub(10));
            if !has_clock || column >= 48 || row >= 12 {
                return texture(x + 6 * side + 5 * time, y + time);
            }
            // six digits of bars
            let digit = column / 8;
            let changes = if digit == 5 { time % 3 } else { 0 };
            if (column % 8 + changes) % 4 < 2 && (2..10).contains(&row) { 240 } else { 0 }
        }))
    }

    #[test]
    fn a_clock_is_found_while_the_scene_moves() {
        let marks = |has_clock: bool, moves: usize| {
            let mut search = MarkSearch::default();
            (0..20).find_map(|time| {
                let [left, right] = [0, 1].map(|side| with_clock(side, moves * time, has_clock));
                search.look(&left, &right)
            })
        };
        let found = marks(true, 1).unwrap();
        let [(columns, rows)] = &found[..] else { panic!("{found:?}") };
        assert!(columns.start <= 20 && (67..=73).contains(&columns.end), "{columns:?}");
        assert!((6..=12).contains(&rows.start) && (20..=26).contains(&rows.end), "{rows:?}");
        assert_eq!(marks(false, 1), Some(Vec::new()));
        assert_eq!(marks(true, 0), None, "nothing moves: all of it may be scene");
    }
}

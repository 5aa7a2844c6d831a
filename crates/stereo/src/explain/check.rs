//! Left-right check for an explanation, as the filters compute it: from both maps after the median, at one pixel and its partner.

use super::partner::winner;
use super::{Explainer, Explanation, Unexplained, partner_column};
use crate::map::{SUBPIXEL_STEPS, reason};

/// Disparities that the left-right check compares at a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checked {
    /// Left disparity after the median, 1/16 px.
    pub left_16th: i32,
    /// Column of the partner in the right image; it may lie outside.
    pub column: i64,
    /// Right disparity at the partner after the median, 1/16 px; `None` outside, and without a disparity.
    pub right_16th: Option<i32>,
}

impl Checked {
    pub(super) fn reason(&self, width: usize, tolerance_px: u32) -> u8 {
        if !(0..width as i64).contains(&self.column) {
            return reason::RANGE;
        }
        let off_16th = self.right_16th.map(|back| back.abs_diff(self.left_16th));
        let holds = off_16th.is_some_and(|off| off <= SUBPIXEL_STEPS as u32 * tolerance_px);
        if holds { 0 } else { reason::LEFT_RIGHT }
    }
}

impl Explainer {
    /// Computes the left-right check of an explained pixel; `None` without a check, or where the winner was dropped before it. The median
    /// needs the winners of all pixels in two windows, so the check takes longer than the explanation by that factor.
    ///
    /// # Errors
    /// `goes_on` returned false.
    pub fn check(&self, explanation: &Explanation, goes_on: &dyn Fn() -> bool) -> Result<Option<Checked>, Unexplained> {
        if explanation.partner.is_none() || explanation.reasons != 0 {
            return Ok(None);
        }
        let (side, size) = (&self.left, self.left.size());
        let (x, y) = explanation.pixel;
        let left = |at| {
            if at == (x, y) {
                return Ok(Some(explanation.disparity_16th));
            }
            winner(side, at, goes_on).map(|found| found.disparity_16th).ok_or(Unexplained::Abandoned)
        };
        let left_16th = self.median_at((x, y), left)?;
        let left_16th = left_16th.unwrap_or(explanation.disparity_16th);
        let column = partner_column(x, left_16th);
        if !(0..size.0 as i64).contains(&column) {
            return Ok(Some(Checked { left_16th, column, right_16th: None }));
        }
        let right = |at| {
            let found = self.right_winner(at, None, goes_on);
            found.map(|found| found.disparity_16th).ok_or(Unexplained::Abandoned)
        };
        let right_16th = self.median_at((column as usize, y), right)?;
        Ok(Some(Checked { left_16th, column, right_16th }))
    }

    fn median_at(
        &self,
        (x, y): (usize, usize),
        value: impl Fn((usize, usize)) -> Result<Option<i32>, Unexplained>,
    ) -> Result<Option<i32>, Unexplained> {
        let (width, height) = self.left.size();
        let Some(centre) = value((x, y))? else { return Ok(None) };
        let r = self.left.params.median.radius() as isize;
        let mut window = Vec::new();
        for (dx, dy) in (-r..=r).flat_map(|dy| (-r..=r).map(move |dx| (dx, dy))) {
            let at = x.checked_add_signed(dx).zip(y.checked_add_signed(dy));
            let inside = at.filter(|&at| at.0 < width && at.1 < height && at != (x, y));
            let neighbour = inside.map(&value).transpose()?.flatten();
            window.push(neighbour.unwrap_or(centre));
        }
        window.sort_unstable();
        Ok(Some(window[window.len() / 2]))
    }
}

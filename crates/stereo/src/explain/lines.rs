//! Path costs along the line that ends in one pixel: the recursion of `stereo/aggregate` without a volume.

use crate::aggregate::Direction;
use crate::gating::Gate;

/// Path cost of a missing candidate. It exceeds every path cost plus P1 or P2, and with P1 added it fits in 16 bits: a path cost is at
/// most a cost (255) plus P2 (8191), P1 is at most 4096.
const MISSING: i16 = 20_000;

pub(super) fn line_to(pixel: (usize, usize), direction: Direction, size: (usize, usize)) -> Vec<(usize, usize)> {
    let before = |&(x, y): &(usize, usize)| direction.previous(x, y, size.0, size.1);
    let mut line: Vec<_> = std::iter::successors(Some(pixel), before).collect();
    line.reverse();
    line
}

/// Path costs at the current pixel of a line.
pub(super) struct PathCosts {
    /// Path costs of the current pixel, with a missing candidate at either end.
    last: Vec<i16>,
    next: Vec<i16>,
    smallest: i16,
    p1: i16,
}

impl PathCosts {
    pub(super) fn new(candidates: usize, p1: u32) -> Self {
        let none = vec![MISSING; candidates + 2];
        Self { last: none.clone(), next: none, smallest: 0, p1: p1 as i16 }
    }

    /// Advances to a pixel with the costs of all candidates; `gate` has the existing ones. `p2` is `None` at the start of a line.
    pub(super) fn step(&mut self, costs: &[u8], gate: Gate, p2: Option<u32>) {
        let candidates = costs.len();
        let Some(p2) = p2 else {
            for (slot, &cost) in self.next[1..=candidates].iter_mut().zip(costs) {
                *slot = i16::from(cost);
            }
            return self.finish(gate, candidates);
        };
        let (p1, largest, smallest) = (self.p1, self.smallest + p2 as i16, self.smallest);
        let below = &self.last[..candidates];
        let same = &self.last[1..=candidates];
        let above = &self.last[2..candidates + 2];
        let next = &mut self.next[1..=candidates];
        for i in 0..candidates {
            let beside = below[i].min(above[i]) + p1;
            next[i] = i16::from(costs[i]) + same[i].min(beside).min(largest) - smallest;
        }
        self.finish(gate, candidates);
    }

    fn finish(&mut self, gate: Gate, candidates: usize) {
        let (first, last) = (usize::from(gate.first), usize::from(gate.last));
        let existing = &mut self.next[1..=candidates];
        existing[..first].fill(MISSING);
        existing[last + 1..].fill(MISSING);
        self.smallest = existing.iter().copied().fold(MISSING, i16::min);
        std::mem::swap(&mut self.last, &mut self.next);
    }

    /// Returns the path costs of the current pixel; values of missing candidates have no meaning.
    pub(super) fn costs(&self) -> &[i16] {
        &self.last[1..self.last.len() - 1]
    }
}

//! Consistency checks by further solutions: each camera alone, halves of the views, squares of another aspect.

use super::adjust::{Bundle, FreeParameters, State};
use super::{Solution, rms};
use crate::{Board, View};
use glam::DVec2;

/// Number of steps of a further solution, which starts near its optimum.
const STEPS: usize = 12;

/// Consistency of a solution with further ones.
#[derive(Clone, Copy, Debug)]
pub struct Agreement {
    /// Joint re-projection error in common views, px.
    pub stereo_px: f64,
    /// Re-projection error of each camera alone, px.
    pub mono_px: f64,
    /// Height of the squares relative to their width.
    pub squares_aspect: f64,
    /// Error bound of the aspect.
    pub aspect_bound: f64,
    /// Largest relative change of a focal length between the halves of the views.
    pub focal_change: f64,
}

/// Computes the jackknife's standard deviation of values from solutions without one group of views each.
pub fn spread(values: impl Iterator<Item = f64>) -> f64 {
    let values: Vec<f64> = values.collect();
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    ((count - 1.0) / count * values.iter().map(|value| (value - mean).powi(2)).sum::<f64>()).sqrt()
}

impl Solution {
    /// Compares this solution with others of its views.
    pub fn agreement(&self, board: &Board, size: (usize, usize)) -> Agreement {
        let (squares_aspect, aspect_bound) = self.aspect(board, size);
        Agreement {
            stereo_px: self.common_rms(self.views.iter().map(|fit| fit.errors.clone())),
            mono_px: self.mono(board, size),
            squares_aspect,
            aspect_bound,
            focal_change: self.focal_change(board, size),
        }
    }

    pub(crate) fn bundle<'a>(
        &self,
        board: &'a Board,
        size: (usize, usize),
        views: &'a [&'a View],
        free: FreeParameters,
    ) -> Bundle<'a> {
        Bundle { board, kind: self.kind, size, views, free, sigma_px: self.sigma_px }
    }

    fn common_rms(&self, errors: impl Iterator<Item = [Vec<DVec2>; 2]>) -> f64 {
        let both = errors.filter(|errors| errors.iter().all(|errors| !errors.is_empty()));
        rms(both.flatten().flatten()).unwrap_or(0.0)
    }

    /// Computes re-projection errors with separate board poses for each camera, px.
    fn mono(&self, board: &Board, size: (usize, usize)) -> f64 {
        let mut halves = Vec::new();
        let mut poses = Vec::new();
        for fit in self.views.iter().filter(|fit| fit.view.corners.iter().all(|corners| !corners.is_empty())) {
            for side in 0..2 {
                let mut half = fit.view.clone();
                half.corners[1 - side].clear();
                halves.push(half);
                poses.push(fit.pose);
            }
        }
        let views: Vec<&View> = halves.iter().collect();
        let bundle = self.bundle(board, size, &views, FreeParameters { between: false, ..self.free });
        let mut state = State { poses, ..self.state.clone() };
        bundle.improve(&mut state, STEPS);
        rms((0..views.len()).flat_map(|number| bundle.errors(&state, number, number % 2))).unwrap_or(0.0)
    }

    /// Estimates the height of the squares relative to their width, and its error bound by the jackknife.
    fn aspect(&self, board: &Board, size: (usize, usize)) -> (f64, f64) {
        const GROUPS: usize = 6;
        let without = |group: Option<usize>| {
            let kept: Vec<usize> =
                (0..self.views.len()).filter(|view| group.is_none_or(|group| view % GROUPS != group)).collect();
            let views: Vec<&View> = kept.iter().map(|&view| &self.views[view].view).collect();
            let poses = kept.iter().map(|&view| self.state.poses[view]).collect();
            let mut state = State { poses, ..self.state.clone() };
            self.bundle(board, size, &views, FreeParameters { aspect: true, ..self.free }).improve(&mut state, STEPS);
            state.aspect
        };
        (without(None), 3.0 * spread((0..GROUPS).map(|group| without(Some(group)))))
    }

    /// Computes the largest relative change of a focal length between the halves of the views, 0 for few views.
    fn focal_change(&self, board: &Board, size: (usize, usize)) -> f64 {
        let middle = self.views.len() / 2;
        if middle < 6 || !self.free.cameras {
            return 0.0;
        }
        let focal = |range: std::ops::Range<usize>| {
            let views: Vec<&View> = self.views[range.clone()].iter().map(|fit| &fit.view).collect();
            let mut state = State { poses: self.state.poses[range].to_vec(), ..self.state.clone() };
            self.bundle(board, size, &views, self.free).improve(&mut state, STEPS);
            state.cameras.map(|camera| camera[0])
        };
        let (first, second) = (focal(0..middle), focal(middle..self.views.len()));
        first.iter().zip(second).map(|(first, second)| (second / first - 1.0).abs()).fold(0.0, f64::max)
    }
}

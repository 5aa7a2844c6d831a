//! Frame stored as differences from a base frame. Most of the scene is static, and a loop of whole frames would not fit in memory.

use super::Rendered;
use std::sync::Arc;
use stereopsis_base::image::{Image, Truth};

struct Plane<T> {
    /// Offset and length of each run.
    stretches: Vec<(u32, u32)>,
    /// Pixels of all runs.
    values: Vec<T>,
}

/// Differences of a frame from its base.
pub struct Delta {
    left: Plane<[u8; 3]>,
    right: Plane<[u8; 3]>,
    left_px: Plane<f32>,
    right_px: Option<Plane<f32>>,
    occluded: Option<Plane<bool>>,
}

/// Longest gap between differences that is stored as part of a run, px.
const MAX_GAP: usize = 4;

impl<T: Copy> Plane<T> {
    fn between(base: &Image<T>, new: &Image<T>, same: impl Fn(T, T) -> bool) -> Self {
        let (base, new) = (base.pixels(), new.pixels());
        let mut stretches: Vec<(u32, u32)> = Vec::new();
        for i in (0..new.len()).filter(|&i| !same(base[i], new[i])) {
            match stretches.last_mut() {
                Some((start, len)) if i - (*start + *len) as usize <= MAX_GAP => *len = i as u32 - *start + 1,
                _ => stretches.push((i as u32, 1)),
            }
        }
        let values = stretches.iter().flat_map(|&(start, len)| &new[start as usize..][..len as usize]).copied();
        Self { values: values.collect(), stretches }
    }

    fn between_both(base: Option<&Image<T>>, new: Option<&Image<T>>, same: impl Fn(T, T) -> bool) -> Option<Self> {
        base.zip(new).map(|(base, new)| Self::between(base, new, same))
    }

    fn onto(&self, base: &Image<T>) -> Image<T> {
        let mut image = base.clone();
        let mut values = &self.values[..];
        for &(start, len) in &self.stretches {
            let (stretch, rest) = values.split_at(len as usize);
            image.pixels_mut()[start as usize..][..len as usize].copy_from_slice(stretch);
            values = rest;
        }
        image
    }

    #[cfg(test)]
    fn bytes(&self) -> usize {
        size_of_val(&self.stretches[..]) + size_of_val(&self.values[..])
    }
}

impl Delta {
    /// Computes the differences of `new` from `base`; both have the same size.
    pub fn between(base: &Rendered, new: &Rendered) -> Self {
        let bits = |a: f32, b: f32| a.to_bits() == b.to_bits();
        Self {
            left: Plane::between(&base.left, &new.left, |a, b| a == b),
            right: Plane::between(&base.right, &new.right, |a, b| a == b),
            left_px: Plane::between(&base.truth.left_px, &new.truth.left_px, bits),
            right_px: Plane::between_both(base.truth.right_px.as_ref(), new.truth.right_px.as_ref(), bits),
            occluded: Plane::between_both(base.truth.occluded.as_ref(), new.truth.occluded.as_ref(), |a, b| a == b),
        }
    }

    /// Restores the frame from its base.
    pub fn onto(&self, base: &Rendered) -> Rendered {
        let truth = Truth {
            left_px: self.left_px.onto(&base.truth.left_px),
            right_px: self.right_px.as_ref().zip(base.truth.right_px.as_ref()).map(|(plane, base)| plane.onto(base)),
            occluded: self.occluded.as_ref().zip(base.truth.occluded.as_ref()).map(|(plane, base)| plane.onto(base)),
            scale: None,
        };
        Rendered { left: self.left.onto(&base.left), right: self.right.onto(&base.right), truth: Arc::new(truth) }
    }

    /// Returns the memory use, bytes.
    #[cfg(test)]
    pub fn bytes(&self) -> usize {
        let pictures = self.left.bytes() + self.right.bytes();
        let right_px = self.right_px.as_ref().map_or(0, Plane::bytes);
        pictures + self.left_px.bytes() + right_px + self.occluded.as_ref().map_or(0, Plane::bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use stereopsis_frame::SceneOptions;

    #[test]
    fn a_frame_comes_back_whole_and_takes_less_memory() {
        let options = SceneOptions { width: 160, height: 120, ..SceneOptions::default() };
        let stage = crate::StaticScene::new(&options);
        let (base, new) = (stage.frame(0), stage.frame(20));
        let delta = Delta::between(&base, &new);
        let again = delta.onto(&base);
        assert!(base.left != new.left, "something moves");
        assert!(again.left == new.left && again.right == new.right);
        assert!(again.truth.left_px == new.truth.left_px && again.truth.right_px == new.truth.right_px);
        assert!(again.truth.occluded == new.truth.occluded);
        let whole = 160 * 120 * (2 * 3 + 2 * 4 + 1);
        assert!(delta.bytes() < whole / 2, "{} of {whole} bytes", delta.bytes());
    }
}

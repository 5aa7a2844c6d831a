//! Linear equations.

/// Solves linear equations by Gaussian elimination with pivoting; `None` for a singular matrix.
pub(crate) fn solve<const COUNT: usize>(mut a: [[f64; COUNT]; COUNT], mut b: [f64; COUNT]) -> Option<[f64; COUNT]> {
    for i in 0..COUNT {
        let pivot = (i..COUNT).max_by(|&p, &q| a[p][i].abs().total_cmp(&a[q][i].abs()))?;
        a.swap(i, pivot);
        b.swap(i, pivot);
        if a[i][i].abs() < 1e-300 {
            return None;
        }
        for row in i + 1..COUNT {
            let (upper, lower) = a.split_at_mut(row);
            let factor = lower[0][i] / upper[i][i];
            for (below, above) in lower[0].iter_mut().zip(&upper[i]).skip(i) {
                *below -= factor * above;
            }
            b[row] -= factor * b[i];
        }
    }
    for i in (0..COUNT).rev() {
        let known: f64 = (i + 1..COUNT).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    Some(b)
}

//! Corners after Shi and Tomasi (1994): local maxima of the structure tensor's smaller eigenvalue. Only the best few of each cell of a grid
//! are kept, so that they cover the whole image.

use super::pyramid::SmoothedImage;

/// Corner, at whole pixels of the pyramid level in which it was detected.
#[derive(Clone, Copy, Debug)]
pub(super) struct Corner {
    pub(super) x: f32,
    pub(super) y: f32,
}

/// Number of grid cells along x and y.
const CELLS: (usize, usize) = (20, 15);
/// Largest number of corners per cell.
const PER_CELL: usize = 5;
/// Width of the border without corners, px, as patches need it.
pub(super) const BORDER: usize = 8;
/// Radius of the structure tensor's window, px.
const WINDOW_RADIUS: usize = 2;
/// Smallest eigenvalue: gradients of about 0.7 grey levels per pixel, squared and summed in units of the pyramid.
const MIN_EIGENVALUE: f32 = 3e4;

/// Finds the corners of an image, sorted by row.
pub(super) fn find(level: &SmoothedImage) -> Vec<Corner> {
    let (width, height) = level.size();
    if width < 2 * BORDER + 3 || height < 2 * BORDER + 3 {
        return Vec::new();
    }
    let strength = strengths(level);
    let mut cells: Vec<Vec<(f32, usize, usize)>> = vec![Vec::new(); CELLS.0 * CELLS.1];
    let at = |x: usize, y: usize| strength[y * width + x];
    for y in BORDER..height - BORDER {
        for x in BORDER..width - BORDER {
            let s = at(x, y);
            // of equal neighbours, only the first is a corner
            let largest = s > MIN_EIGENVALUE
                && s >= at(x + 1, y)
                && s > at(x - 1, y)
                && (x - 1..=x + 1).all(|x| s > at(x, y - 1) && s >= at(x, y + 1))
                && (x - 2..=x + 2).all(|x| s > at(x, y - 2) && s >= at(x, y + 2))
                && (y - 1..=y + 1).all(|y| s > at(x - 2, y) && s >= at(x + 2, y));
            if largest {
                cells[y * CELLS.1 / height * CELLS.0 + x * CELLS.0 / width].push((s, x, y));
            }
        }
    }
    let mut corners = Vec::new();
    for cell in &mut cells {
        cell.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.2, a.1).cmp(&(b.2, b.1))));
        corners.extend(cell.iter().take(PER_CELL).map(|&(_, x, y)| Corner { x: x as f32, y: y as f32 }));
    }
    corners.sort_by(|a, b| a.y.total_cmp(&b.y).then(a.x.total_cmp(&b.x)));
    corners
}

/// Computes the smaller eigenvalue of the structure tensor around each pixel; 0 at the border.
fn strengths(level: &SmoothedImage) -> Vec<f32> {
    let (width, height) = level.size();
    let mut out = vec![0.0f32; width * height];
    // gradient products, summed along x, of the rows that the sum along y needs
    let mut rows = vec![[vec![0i32; width], vec![0i32; width], vec![0i32; width]]; 2 * WINDOW_RADIUS + 1];
    let mut sums = [vec![0i32; width], vec![0i32; width], vec![0i32; width]];
    let mut products = sums.clone();
    for y in 1..height - 1 {
        gradient_products(level, y, &mut products);
        let slot = &mut rows[y % (2 * WINDOW_RADIUS + 1)];
        for ((sum, row), product) in sums.iter_mut().zip(slot.iter_mut()).zip(&products) {
            sum.iter_mut().zip(row.iter()).for_each(|(sum, &old)| *sum -= old);
            let windows = product.windows(2 * WINDOW_RADIUS + 1);
            for (out, w) in row[WINDOW_RADIUS..].iter_mut().zip(windows) {
                *out = w[0] + w[1] + w[2] + w[3] + w[4];
            }
            sum.iter_mut().zip(row.iter()).for_each(|(sum, &new)| *sum += new);
        }
        if y > 2 * WINDOW_RADIUS {
            let target = &mut out[(y - WINDOW_RADIUS) * width..][..width];
            for (((s, &xx), &xy), &yy) in target.iter_mut().zip(&sums[0]).zip(&sums[1]).zip(&sums[2]) {
                let (xx, xy, yy) = (xx as f32, xy as f32, yy as f32);
                let half = (xx - yy) * 0.5;
                *s = (xx + yy) * 0.5 - (half * half + xy * xy).sqrt();
            }
        }
    }
    out
}

fn gradient_products(level: &SmoothedImage, y: usize, products: &mut [Vec<i32>; 3]) {
    let width = level.width();
    let (row, above, below) = (level.row(y), &level.row(y - 1)[1..width - 1], &level.row(y + 1)[1..width - 1]);
    let [xx, xy, yy] = products;
    let along = row.windows(3).zip(above.iter().zip(below));
    let targets = xx[1..width - 1].iter_mut().zip(&mut xy[1..width - 1]).zip(&mut yy[1..width - 1]);
    for ((w, (&a, &b)), ((xx, xy), yy)) in along.zip(targets) {
        let (gx, gy) = (i32::from(w[2]) - i32::from(w[0]), i32::from(b) - i32::from(a));
        // a quarter, so that the sum over 25 pixels of the strongest edges fits
        (*xx, *xy, *yy) = (gx * gx / 4, gx * gy / 4, gy * gy / 4);
    }
}

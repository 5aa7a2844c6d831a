//! Points in messages: the bytes of each, and where others have put its numbers.

use crate::console::foreign;
use crate::message::Point;

/// Bytes of a point as it is written: three floats, then blue, green, red and a zero, which together are the packed `rgb` of PCL.
pub(super) const STEP: u32 = 16;
/// Where the colours of a point begin.
pub(super) const COLOR: u32 = 12;

/// Points as they are written.
pub(super) fn bytes(points: &[Point]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(points.len() * STEP as usize);
    for &Point { xyz_m, rgb: [red, green, blue] } in points {
        bytes.extend(xyz_m.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend([blue, green, red, 0]);
    }
    bytes
}

/// Points as a message describes them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Described<'a> {
    /// Offset of each field of 32-bit floats that is read: x, y, z.
    pub xyz: [Option<u32>; 3],
    /// Offset of blue, green and red.
    pub color: Option<u32>,
    /// Bytes from one point to the next.
    pub step: u32,
    /// Points; `None` for as many as there are bytes for.
    pub count: Option<u64>,
    pub data: &'a [u8],
}

impl Described<'_> {
    /// The points; white where they have no colours.
    ///
    /// # Errors
    /// A coordinate is missing, lies outside of a point, or there are fewer bytes than points need.
    pub(super) fn points(self) -> Result<Vec<Point>, String> {
        let Self { xyz, color, step, count, data } = self;
        let step = step as usize;
        let [Some(x), Some(y), Some(z)] = xyz else {
            return Err("its points lack x, y or z as 32-bit floats".to_owned());
        };
        let offsets = [Some(x), Some(y), Some(z), color];
        if offsets.into_iter().flatten().any(|at| at as usize + 4 > step) {
            return Err(format!("a number of its points lies behind their {step} bytes"));
        }
        let count = count.map_or(Some(data.len() / step), |count| usize::try_from(count).ok());
        let all = count.and_then(|count| data.get(..count.checked_mul(step)?)).ok_or_else(|| {
            let found = data.len();
            format!("its points of {step} bytes take more than the {found} bytes that it has")
        })?;
        let four = |point: &[u8], at: u32| -> [u8; 4] { std::array::from_fn(|k| point[at as usize + k]) };
        let point = |bytes: &[u8]| {
            let rgb = color.map_or([255; 3], |at| {
                let [blue, green, red, _] = four(bytes, at);
                [red, green, blue]
            });
            Point { xyz_m: [x, y, z].map(|at| f32::from_le_bytes(four(bytes, at))), rgb }
        };
        Ok(all.chunks_exact(step).map(point).collect())
    }
}

/// Offset of a named field, if it is of the wanted type.
pub(super) fn offset<'a>(
    fields: impl IntoIterator<Item = (&'a str, u32, bool)>,
    name: &str,
) -> Result<Option<u32>, String> {
    match fields.into_iter().find(|(known, ..)| *known == name) {
        Some((_, offset, true)) => Ok(Some(offset)),
        Some(_) => Err(format!("the field {} of its points is of a type that is not read here", foreign(name))),
        None => Ok(None),
    }
}

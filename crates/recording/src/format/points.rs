//! Points in messages: the bytes that are written, and points at the offsets that other programs use.

use crate::error::MessageError;
use crate::message::Point;

/// Bytes of a written point: three floats, then blue, green, red and a zero, which together are the packed `rgb` of PCL.
pub(super) const STEP: u32 = 16;
/// Offset of the colours in a written point, bytes.
pub(super) const COLOR: u32 = 12;

pub(super) fn bytes(points: &[Point]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(points.len() * STEP as usize);
    for &Point { xyz_m, rgb: [red, green, blue] } in points {
        bytes.extend(xyz_m.iter().flat_map(|v| v.to_le_bytes()));
        bytes.extend([blue, green, red, 0]);
    }
    bytes
}

/// Fields of a message with points.
#[derive(Clone, Copy, Debug)]
pub(super) struct PackedPoints<'a> {
    /// Offsets of the 32-bit floats x, y, z.
    pub xyz: [Option<u32>; 3],
    /// Offset of blue, green and red.
    pub color: Option<u32>,
    /// Bytes from one point to the next.
    pub step: u32,
    /// Number of points; `None` for as many as there are bytes for.
    pub count: Option<u64>,
    pub data: &'a [u8],
}

impl PackedPoints<'_> {
    /// Returns the points, white where they have no colours. Fails where a coordinate is missing or lies outside a point, or for too
    /// few bytes.
    pub(super) fn points(self) -> Result<Vec<Point>, MessageError> {
        let Self { xyz, color, step, count, data } = self;
        let step = step as usize;
        let [Some(x), Some(y), Some(z)] = xyz else {
            return Err(MessageError::Content("its points lack x, y or z as 32-bit floats"));
        };
        let offsets = [Some(x), Some(y), Some(z), color];
        if offsets.into_iter().flatten().any(|at| at as usize + 4 > step) {
            return Err(MessageError::PointStep(step));
        }
        let count = count.map_or(Some(data.len() / step), |count| usize::try_from(count).ok());
        let all = count.and_then(|count| data.get(..count.checked_mul(step)?));
        let all = all.ok_or(MessageError::PointBytes { step, found: data.len() })?;
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

/// Returns the offset of a named field; fails where it is of another type. The `bool` of a field is whether it has the wanted type.
pub(super) fn offset<'a>(
    fields: impl IntoIterator<Item = (&'a str, u32, bool)>,
    name: &str,
) -> Result<Option<u32>, MessageError> {
    match fields.into_iter().find(|(known, ..)| *known == name) {
        Some((_, offset, true)) => Ok(Some(offset)),
        Some(_) => Err(MessageError::PointField(name.to_owned())),
        None => Ok(None),
    }
}

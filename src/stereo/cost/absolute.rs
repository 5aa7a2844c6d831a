//! Absolute difference of two pixels' brightness, in eight bits (Scharstein & Szeliski 2002, section 3.1).

/// 0 to 255.
pub fn difference(left: u8, right: u8) -> u8 {
    left.abs_diff(right)
}

//! Colour maps for disparity and depth.

"""Disparity and depth of stereo pairs as NumPy arrays: the matcher of the program Stereopsis, with the same bits.

    import cv2, stereopsis
    left, right = (cv2.imread(name, cv2.IMREAD_GRAYSCALE) for name in ("left.png", "right.png"))
    calibration = stereopsis.Calibration.load("stereo.yml", unit="mm")
    left, right = calibration.rectify(left, right)
    matcher = stereopsis.Matcher(num_disparities=128, preset="balanced")
    disparity_px = matcher.disparity(left, right)     # float32, NaN where there is none
    depth_m = calibration.depth(disparity_px)

Errors in arguments are ValueError, with the words that the program prints.
"""

from ._native import Calibration, Matcher, Pair, Recording, __version__
from .opencv import StereoSGBM_create

__all__ = ["Calibration", "Matcher", "Pair", "Recording", "StereoSGBM_create", "read", "__version__"]

#: Bits of ``Matcher.reasons``: why a pixel has no disparity, or where it has it from.
REASONS = {
    "range": 1,
    "uniqueness": 2,
    "left_right": 4,
    "speckle": 8,
    "match": 16,
    "border": 32,
    "held": 64,
    "filled": 128,
}


def read(path):
    """Yield the pairs of a recording (MCAP of Stereopsis, ROS 2 or Foxglove) in their order, as ``Pair``.

    A damaged pair raises ValueError in its place; ``next`` goes on behind it. ``len`` tells their number.
    """
    return Recording(path)

"""Images that the tests share."""

import numpy as np
import pytest


def shifted_pair(seed, width, height, shift_px):
    """A smoothed random texture, and the same ``shift_px`` further left."""
    rng = np.random.default_rng(seed)
    wide = rng.integers(0, 256, (height, width + shift_px)).astype(np.float64)
    wide = (wide + np.roll(wide, 1, 1) + np.roll(wide, 1, 0)) / 3
    wide = wide.astype(np.uint8)
    return np.ascontiguousarray(wide[:, :width]), np.ascontiguousarray(wide[:, shift_px:])


@pytest.fixture
def pair():
    return shifted_pair(1, 120, 60, 7)

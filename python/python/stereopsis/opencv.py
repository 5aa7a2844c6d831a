"""``StereoSGBM_create`` with the arguments of OpenCV, for programs that have them already."""

import warnings

from ._native import Matcher

#: Directions of OpenCV's modes by their numbers: MODE_SGBM, MODE_HH, MODE_SGBM_3WAY, MODE_HH4.
_PATHS = {0: 5, 1: 8, 2: 3, 3: 4}


def StereoSGBM_create(
    minDisparity=0,
    numDisparities=16,
    blockSize=3,
    P1=0,
    P2=0,
    disp12MaxDiff=0,
    preFilterCap=0,
    uniquenessRatio=0,
    speckleWindowSize=0,
    speckleRange=0,
    mode=0,
):
    """Return a ``Matcher`` for the arguments of ``cv2.StereoSGBM_create``, and warn once about what they become.

    Costs are those of the census transform, not Birchfield and Tomasi's on Sobel images: the disparities are comparable, not
    equal. ``compute`` has OpenCV's type and scale: int16 in 1/16 px, ``(minDisparity - 1) * 16`` where there is none.
    """
    if mode not in _PATHS:
        raise ValueError(f"mode: expected 0 (SGBM), 1 (HH), 2 (SGBM_3WAY) or 3 (HH4), got {mode!r}")
    default = Matcher().parameters
    parameters = {
        "min_disparity": minDisparity,
        "num_disparities": numDisparities,
        "paths": _PATHS[mode],
        "uniqueness": max(uniquenessRatio, 0),
        "left_right": disp12MaxDiff if disp12MaxDiff >= 0 else None,
        "speckle_size": max(speckleWindowSize, 0),
        "speckle_range": max(speckleRange, 0),
    }
    told = ["costs are census instead of Birchfield and Tomasi's, so blockSize and preFilterCap change nothing"]
    if P1 > 0 or P2 > 0:
        # the penalties that OpenCV's documentation recommends become the defaults here
        area = max(blockSize, 1) ** 2
        parameters["p1"] = max(1, round(default["p1"] * P1 / (8 * area)))
        parameters["p2"] = max(parameters["p1"] + 1, round(default["p2"] * P2 / (32 * area)))
        told.append(
            f"P1={P1} and P2={P2} become p1={parameters['p1']} and p2={parameters['p2']}: "
            "8 and 32 times the block's area are the defaults here"
        )
    else:
        told.append(f"without P1 and P2 the defaults p1={default['p1']} and p2={default['p2']} are used")
    warnings.warn("StereoSGBM_create: " + "; ".join(told), UserWarning, stacklevel=2)
    return Matcher(**parameters)

#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-contrib-python-headless on PyPI): cv2.ximgproc.createDisparityWLSFilter(matcher) changes the matcher that
# it is given: the left-right check is set to 1000000, speckle filter, uniqueness ratio and (StereoBM) texture threshold to 0, for good.
#
# The documentation says that it "sets up all the relevant filter parameters automatically based on the matcher instance": of the filter,
# one would guess. createRightMatcher(matcher), the call beside it, leaves the matcher as it is.
#
# So the same matcher gives another map after the filter was made than before: its own map, shown or scored beside the filtered one, is
# full of matches that the settings on screen forbid, and settings made after the call quietly spoil the filter's input.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2
import numpy as np

rng = np.random.default_rng(1)
texture = cv2.GaussianBlur(rng.integers(0, 256, (120, 260)).astype(np.uint8), (0, 0), 1.2)
left, right = texture[:, :200].copy(), texture[:, 8:208].copy()
left[30:90, 90:140] = right[30:90, 70:120] = texture[30:90, 205:255]
right[:, 150:] = rng.integers(0, 256, (120, 50))  # nothing to match here
names = ["Disp12MaxDiff", "SpeckleWindowSize", "UniquenessRatio", "TextureThreshold"]


def read(matcher):
    return {name: getattr(matcher, "get" + name)() for name in names if hasattr(matcher, "get" + name)}


print("OpenCV", cv2.__version__)
as_seen = True
for kind in ("StereoSGBM", "StereoBM"):
    matcher = cv2.StereoSGBM_create(0, 32, 5, P1=200, P2=800) if kind == "StereoSGBM" else cv2.StereoBM_create(32, 9)
    matcher.setDisp12MaxDiff(1), matcher.setSpeckleWindowSize(60), matcher.setSpeckleRange(1), matcher.setUniquenessRatio(15)
    before, map_before = read(matcher), matcher.compute(left, right)
    cv2.ximgproc.createRightMatcher(matcher)
    as_seen &= read(matcher) == before
    cv2.ximgproc.createDisparityWLSFilter(matcher)
    after, map_after = read(matcher), matcher.compute(left, right)
    print(f"{kind} before {before}: {(map_before >= 0).mean():.1%} of the pixels matched")
    print(f"{kind} after  {after}: {(map_after >= 0).mean():.1%}")
    as_seen &= after == {name: 1000000 if name == "Disp12MaxDiff" else 0 for name in before}
    as_seen &= (map_after >= 0).sum() > (map_before >= 0).sum()
sys.exit(0 if as_seen else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-contrib-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"

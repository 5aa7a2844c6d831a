#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-python-headless on PyPI), StereoSGBM: numbers that read as "off" or "none" are replaced inside compute(),
# and the getters still return what was set.
#
# - disp12MaxDiff -1 or 0: 1 pixel. The documentation says "Set it to a non-positive value to disable the check"; only a large number does.
#   The default of StereoSGBM_create is 0, so the strictest left-right check is on where it looks to be off.
# - P1 0, P2 0 (the defaults): 2 and 5. P2 below P1: P1 + 1, although the documentation requires P2 > P1 and could refuse.
# - uniquenessRatio -1: 10 percent (0 is off). preFilterCap 0 to 14: 15. blockSize 4: 5.
#
# A good guess: 0 is no penalty and no check, or an error. Who compares two matchers "without penalties and without a check", or tunes P1
# and P2 down to nothing, compares something else.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2
import numpy as np

rng = np.random.default_rng(1)
texture = cv2.GaussianBlur(rng.integers(0, 256, (120, 260)).astype(np.uint8), (0, 0), 1.2)
left, right = texture[:, :200].copy(), texture[:, 8:208].copy()  # the background at 8 pixels
left[30:90, 90:140] = right[30:90, 70:120] = texture[30:90, 205:255]  # a square before it, at 20 pixels
right = np.clip(right + rng.normal(0, 10, right.shape), 0, 255).astype(np.uint8)


def compute(**named):
    named = dict(minDisparity=0, numDisparities=32, blockSize=3, P1=72, P2=288, disp12MaxDiff=1000000, uniquenessRatio=0) | named
    return cv2.StereoSGBM_create(**named).compute(left, right)


def missing(**named):
    return int((compute(**named) < 0).sum()) - int((compute(disp12MaxDiff=1000000) < 0).sum())


def same(one, other):
    return np.array_equal(compute(**one), compute(**other))


print("OpenCV", cv2.__version__)
lost = {number: missing(disp12MaxDiff=number) for number in (-1, 0, 1, 2, 1000000)}
for number, count in lost.items():
    print(f"disp12MaxDiff {number}: {count} pixels taken out by the check")
pairs = [
    (dict(P1=0, P2=0), dict(P1=2, P2=5)),
    (dict(P1=100, P2=10), dict(P1=100, P2=101)),
    (dict(uniquenessRatio=-1), dict(uniquenessRatio=10)),
    (dict(preFilterCap=0), dict(preFilterCap=15)),
    (dict(blockSize=4), dict(blockSize=5)),
]
for one, other in pairs:
    print(one, "equals" if same(one, other) else "differs from", other)
different = not same(dict(P1=0, P2=0), dict(P1=1, P2=2)) and not same(dict(uniquenessRatio=0), dict(uniquenessRatio=10))
kept = cv2.StereoSGBM_create(P1=0, P2=0, disp12MaxDiff=-1)
print("getters:", kept.getP1(), kept.getP2(), kept.getDisp12MaxDiff())
as_seen = lost[-1] == lost[0] == lost[1] > lost[2] > 0 and all(same(*pair) for pair in pairs) and different
sys.exit(0 if as_seen and (kept.getP1(), kept.getP2(), kept.getDisp12MaxDiff()) == (0, 0, -1) else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"

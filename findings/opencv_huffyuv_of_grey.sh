#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-python-headless on PyPI), VideoWriter with lossless codecs, of grey pictures (isColor=False), as infrared
# and machine vision cameras give them.
#
# - HFYU (HuffYUV), FFVH: stored as limited-range YUV, so 256 grey levels become 220. The same picture written in three equal channels to HFYU
#   keeps all 256. FFV1 and PNG keep them both ways.
# - Nothing says so: the codec is lossless, and the file opens with the right size and rate.
#
# A good guess: a lossless codec gives back what was written, and grey is the simpler case. A matcher reads the pair with every seventh
# level gone: small differences on dim or faint texture, which is what infrared pairs live on, vanish or double.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2
import numpy as np

expected = {("FFV1", "grey"): 256, ("FFV1", "colour"): 256, ("PNG ", "grey"): 256, ("PNG ", "colour"): 256}
expected |= {("HFYU", "grey"): 220, ("HFYU", "colour"): 256, ("FFVH", "grey"): 220}
grey = np.tile(np.arange(256, dtype=np.uint8), (64, 1))
seen = {}
for codec, kind in expected:
    path = f"{sys.argv[1]}/film.avi"
    writer = cv2.VideoWriter(path, cv2.CAP_FFMPEG, cv2.VideoWriter_fourcc(*codec), 30, (256, 64), kind == "colour")
    writer.write(grey if kind == "grey" else cv2.cvtColor(grey, cv2.COLOR_GRAY2BGR))
    writer.release()
    back = cv2.cvtColor(cv2.VideoCapture(path, cv2.CAP_FFMPEG).read()[1], cv2.COLOR_BGR2GRAY)
    seen[codec, kind] = len(np.unique(back))
    print(f"OpenCV {cv2.__version__} {codec} {kind}: {seen[codec, kind]} of 256 levels, largest difference {np.abs(back.astype(int) - grey).max()}")
sys.exit(0 if seen == expected else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" "$folder" 2>"$folder/log" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"

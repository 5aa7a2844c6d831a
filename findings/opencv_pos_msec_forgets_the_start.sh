#!/usr/bin/env bash
# OpenCV 4.11.0 and 5.0.0 (opencv-python-headless on PyPI): CAP_PROP_POS_MSEC of a film is counted from the film's own first frame. The
# time at which the container says that it begins is taken away, and no property gives it in seconds.
#
# The documentation: "Current position of the video file in milliseconds". A good guess: the presentation time that ffprobe and PyAV give.
#
# A recorder with one clock writes two files of which the right one begins a second later (a camera that started later, a file cut off by
# `-c copy -copyts`). Pairing left and right by POS_MSEC finds a partner for each frame, all of them a second off. CAP_PROP_PTS keeps the
# beginning, in the ticks of the film's frame rate: (CAP_PROP_PTS) / (CAP_PROP_FPS) is the time.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/av"
"$folder/av/bin/pip" install -q --disable-pip-version-check av==18.1.0 numpy==2.4.6
cat >"$folder/write.py" <<'PYTHON'
import sys
from fractions import Fraction

import av
import numpy as np

for name, begins in (("left.mp4", 0), ("right.mp4", 1), ("left.mkv", 0), ("right.mkv", 1)):
    with av.open(f"{sys.argv[1]}/{name}", "w") as film:
        stream = film.add_stream("mpeg4", rate=25)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for number in range(10):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64, 3), 20 * number, np.uint8), format="bgr24")
            frame.pts, frame.time_base = number + 25 * begins, Fraction(1, 25)
            film.mux(stream.encode(frame))
        film.mux(stream.encode())
    with av.open(f"{sys.argv[1]}/{name}") as film:
        print(f"PyAV {av.__version__} {name}: first frames at", [float(frame.time) for frame in film.decode(video=0)][:3], "s")
PYTHON
"$folder/av/bin/python" "$folder/write.py" "$folder"
cat >"$folder/see.py" <<'PYTHON'
import sys

import cv2

as_seen = True
for name in ("left.mp4", "right.mp4", "left.mkv", "right.mkv"):
    film = cv2.VideoCapture(f"{sys.argv[1]}/{name}", cv2.CAP_FFMPEG)
    positions, ticks = [], []
    while film.read()[0]:
        positions.append(film.get(cv2.CAP_PROP_POS_MSEC))
        ticks.append(film.get(cv2.CAP_PROP_PTS))
    rate = film.get(cv2.CAP_PROP_FPS)
    print(f"OpenCV {cv2.__version__} {name}: POS_MSEC", positions[:3], "PTS / FPS", [tick / rate for tick in ticks[:3]])
    as_seen &= positions == [40.0 * number for number in range(10)]
    as_seen &= [round(tick / rate, 3) for tick in ticks] == [round(0.04 * number + name.startswith("right"), 3) for number in range(10)]
sys.exit(0 if as_seen else 1)
PYTHON
changed=0
for version in 4.11.0.86 5.0.0.93; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "opencv-python-headless==$version"
  "$folder/$version/bin/python" "$folder/see.py" "$folder" || changed=1
done
[ "$changed" = 0 ] && echo "as described" || echo "CHANGED"
exit "$changed"

#!/usr/bin/env bash
# imageio 2.38.1 with imageio-ffmpeg 0.8.1 (ffmpeg 9.0.2), PyPI: the ffmpeg reader gives more frames than a film of variable rate has. Where a
# frame came late, the one before it is given again, so that the frames fill the nominal rate. The same imageio with its pyav plugin
# (av 18.1.0) gives the frames of the file; imageio_ffmpeg.count_frames_and_secs counts those too, and so disagrees with its own reader.
#
# A good guess: get_reader and imiter give each frame of the file once; a repetition would need an option such as `fps`.
#
# Webcams and phones write variable rates. Read a left and a right film of as many frames each, and frame k of one is no longer taken
# with frame k of the other: behind the first late frame of either camera all pairs are apart in time. Moving things get a false depth, and a
# frame that is there twice is a pair of its own for statistics.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check imageio==2.38.1 imageio-ffmpeg==0.8.1 av==18.1.0 numpy==2.4.6

"$folder/python/bin/python" - "$folder" <<'PYTHON'
import sys
from fractions import Fraction

import av
import imageio.v2
import imageio.v3
import imageio_ffmpeg
import numpy as np

FRAMES = 12


def write(path, late):
    """Writes 30 frames a second; from frame `late` on all come 67 ms later. Frame k has grey level 16 k."""
    with av.open(path, "w") as film:
        stream = film.add_stream("ffv1", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "gray"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64), 16 * number, np.uint8), format="gray")
            frame.pts, frame.time_base = round(number * 1000 / 30) + (67 if number >= late else 0), Fraction(1, 1000)
            film.mux(stream.encode(frame))
        film.mux(stream.encode())


def numbers(frames):
    return [round(int(frame[24, 32].mean()) / 16) for frame in frames]


left, right = f"{sys.argv[1]}/left.mkv", f"{sys.argv[1]}/right.mkv"
write(left, late=3)
write(right, late=8)
seen = {}
for name, read in {
    "v2 get_reader": lambda path: imageio.v2.get_reader(path, "ffmpeg"),
    "v3 imiter FFMPEG": lambda path: imageio.v3.imiter(path, plugin="FFMPEG"),
    "v3 imiter pyav": lambda path: imageio.v3.imiter(path, plugin="pyav"),
}.items():
    films = numbers(read(left)), numbers(read(right))
    pairs = list(zip(*films))
    seen[name] = [len(film) for film in films] + [sum(one == other for one, other in pairs)]
    print(f"{name}: left {films[0]}, right {films[1]}")
    print(f"  {seen[name][2]} of {len(pairs)} pairs show one moment")
counted = imageio_ffmpeg.count_frames_and_secs(left)[0]
print("count_frames_and_secs:", counted)
as_seen = counted == FRAMES and seen["v3 imiter pyav"] == [FRAMES] * 3
as_seen &= all(count > FRAMES for name in ("v2 get_reader", "v3 imiter FFMPEG") for count in seen[name][:2])
as_seen &= all(seen[name][2] < FRAMES for name in ("v2 get_reader", "v3 imiter FFMPEG"))
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON

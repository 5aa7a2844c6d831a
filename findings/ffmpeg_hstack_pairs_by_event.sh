#!/usr/bin/env bash
# FFmpeg 7.0.2 and 9.0.2 (in imageio-ffmpeg 0.6.0 and 0.8.1), hstack and vstack: the usual way to make one side-by-side film of two.
#
# The filter makes a picture whenever EITHER input has a new frame, of the newest frame of each. Two cameras whose frames are a
# millisecond apart, as all that are not triggered by one wire, give two events for each pair: left k beside right k-1, then left k beside
# right k. The output drops those that come too soon for its rate; what is left is, for a right camera that is 1 ms later, left k beside
# right k-1 in nearly all frames, and one frame more than either film has. (Each file is taken to begin at 0: what counts is by how much
# the cameras drift from their first frames.)
#
# A good guess: frame k beside frame k, or the nearest in time. The documentation of hstack names sizes and pixel formats, and `shortest`.
# Here, the pair is a whole frame interval apart where the cameras are one millisecond apart: at 30 frames a second a hand that moves 1 m/s
# has moved 33 mm. A cure: number the frames first, [0:v]setpts=N/30/TB[l];[1:v]setpts=N/30/TB[r];[l][r]hstack.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
for version in 0.6.0 0.8.1; do
  python3 -m venv "$folder/$version"
  "$folder/$version/bin/pip" install -q --disable-pip-version-check "imageio-ffmpeg==$version" av==18.1.0 numpy==2.4.6
  "$folder/$version/bin/python" -c 'import imageio_ffmpeg; print(imageio_ffmpeg.get_ffmpeg_exe())' >>"$folder/programs"
done

"$folder/0.8.1/bin/python" - "$folder" <<'PYTHON'
import subprocess
import sys
from fractions import Fraction

import av
import numpy as np

folder = sys.argv[1]
FRAMES = 12


def write(name, later_ms):
    """Writes 30 frames a second, all but the first of them `later_ms` late. Frame k has grey level 16 k."""
    with av.open(f"{folder}/{name}.mkv", "w") as film:
        stream = film.add_stream("ffv1", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "gray"
        stream.time_base = stream.codec_context.time_base = Fraction(1, 1000)
        for number in range(FRAMES):
            frame = av.VideoFrame.from_ndarray(np.full((48, 64), 16 * number, np.uint8), format="gray")
            frame.pts, frame.time_base = round(number * 1000 / 30) + (later_ms if number else 0), Fraction(1, 1000)
            film.mux(stream.encode(frame))
        film.mux(stream.encode())


def pairs(program, graph):
    command = [program, "-nostdin", "-v", "error", "-i", f"{folder}/left.mkv", "-i", f"{folder}/right.mkv", "-filter_complex", graph]
    subprocess.run([*command, "-c:v", "ffv1", "-y", f"{folder}/both.mkv"], check=True)
    with av.open(f"{folder}/both.mkv") as film:
        pictures = [frame.to_ndarray() for frame in film.decode(video=0)]
    return [(round(int(picture[24, 32]) / 16), round(int(picture[24, 96]) / 16)) for picture in pictures]


write("left", 0)
as_seen = True
for program in open(f"{folder}/programs").read().split():
    version = subprocess.run([program, "-version"], capture_output=True, text=True, check=True).stdout.split()[2].lstrip("n").split("-")[0]
    for later_ms in (0, 1, -1):
        write("right", later_ms)
        found = pairs(program, "hstack")
        together = sum(left == right for left, right in found)
        print(f"ffmpeg {version} right {later_ms:+d} ms: {len(found)} frames of {FRAMES}, {together} with left k beside right k: {found}")
        as_seen &= (len(found), together) == (FRAMES, FRAMES) if later_ms == 0 else len(found) > FRAMES and together <= 3
    numbered = pairs(program, "[0:v]setpts=N/30/TB[l];[1:v]setpts=N/30/TB[r];[l][r]hstack")
    print(f"ffmpeg {version} numbered: {sum(left == right for left, right in numbered)} of {len(numbered)}")
    as_seen &= numbered == [(number, number) for number in range(FRAMES)]
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON

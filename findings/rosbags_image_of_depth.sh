#!/usr/bin/env bash
# rosbags-image 0.10.4 (PyPI, with rosbags 0.11.9), message_to_cvimage, on images as stereo and depth cameras publish them:
#
# - CompressedImage "16UC1; png compressed": an array of uint8, the high byte. 1000 mm is 3, and 1023 mm too. The PNG holds 16 bits.
# - Image whose rows are padded (step 192 for 160 bytes, as drivers with aligned rows send): step is not looked at. The result has the right
#   shape, no error, and each row stands 32 pixels further to the right than the one above it, with the padding as black between.
#
# A good guess: the depth in millimetres, as cv_bridge gives it, and the picture. Depth read through it is wrong by a factor of 256 and in
# steps of 256 mm. A pair with padded rows leans alike on both sides, so that rows still correspond and calibration and depth look plausible
# where they should not.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check rosbags==0.11.9 rosbags-image==0.10.4 opencv-python-headless==4.11.0.86 numpy==2.4.6

"$folder/python/bin/python" - <<'PYTHON'
import sys

import cv2
import numpy as np
from rosbags.image import message_to_cvimage
from rosbags.typesys import Stores, get_typestore

store = get_typestore(Stores.ROS2_JAZZY)
Header, Time = store.types["std_msgs/msg/Header"], store.types["builtin_interfaces/msg/Time"]
Image, Compressed = store.types["sensor_msgs/msg/Image"], store.types["sensor_msgs/msg/CompressedImage"]
header = Header(stamp=Time(sec=1, nanosec=0), frame_id="left")

depth_mm = np.repeat(np.array([[0, 255, 256, 1000, 1023, 5000]], np.uint16), 8, axis=0)
png = cv2.imencode(".png", depth_mm)[1].ravel()
message = Compressed(header=header, format="16UC1; png compressed", data=png)
seen = message_to_cvimage(message)
print("PNG holds", cv2.imdecode(png, cv2.IMREAD_UNCHANGED)[0].tolist(), "; message_to_cvimage:", seen.dtype, seen[0].tolist())
as_seen = seen.dtype == np.uint8 and seen[0].tolist() == [0, 0, 1, 3, 3, 19]

picture = np.tile(np.arange(160, dtype=np.uint8), (120, 1))  # the value of a pixel is its column
rows = np.zeros((120, 192), np.uint8)
rows[:, :160] = picture
message = Image(header=header, height=120, width=160, encoding="mono8", is_bigendian=0, step=192, data=rows.ravel())
seen = message_to_cvimage(message)
print("padded rows:", seen.shape, "first pixels of rows 0, 1, 2:", seen[:3, 0].tolist(), "; right pixels:", f"{(seen == picture).mean():.0%}")
as_seen &= seen.shape == (120, 160) and np.array_equal(seen.ravel(), rows.ravel()[: 120 * 160])
message = Image(header=header, height=120, width=160, encoding="mono8", is_bigendian=0, step=160, data=picture.ravel())
as_seen &= np.array_equal(message_to_cvimage(message), picture)
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON

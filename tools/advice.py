#!/usr/bin/env python3
"""Runs every command that a message of the program names, as its reader would: in a bare Debian, on a file of the kind that the message
is about, made by a tool of that kind; then opens what the command made.

    tools/package/in_debian.sh bookworm amd64 python3 tools/advice.py PROGRAM      installs Debian's packages; needs root
    tools/advice.py PROGRAM                                                        with the tools that are here
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PACKAGES = "dcraw ffmpeg imagemagick libheif-examples libimage-exiftool-perl libjxl-tools libopenjp2-tools libtiff-tools python3-pip python3-venv"
ROSBAGS = "rosbags==0.11.9"
#: Smallest share of pixels with a disparity that shows the pair: the right one has 95 %, two other images less than a tenth.
LEAST_VALID = 60
#: Commands of the words of a message, which it puts between backquotes.
COMMAND = re.compile(r"`([^`]+)`")

DNG = """
import random, struct
size, place = (208, 160), 8 + 2 + 12 * 20 + 4
word = lambda *parts: int.from_bytes(bytes(parts), "little")
abc = int.from_bytes(b"Abc" + bytes(1), "little")
tags = [(254, 4, 1, 0), (256, 4, 1, size[0]), (257, 4, 1, size[1]), (258, 3, 1, 16), (259, 3, 1, 1), (262, 3, 1, 32803), (271, 2, 4, abc),
        (272, 2, 4, abc), (273, 4, 1, place + 72), (274, 3, 1, 1), (277, 3, 1, 1), (278, 4, 1, size[1]), (279, 4, 1, 2 * size[0] * size[1]),
        (33421, 3, 2, 2 << 16 | 2), (33422, 1, 4, word(0, 1, 1, 2)), (50706, 1, 4, word(1, 4, 0, 0)), (50707, 1, 4, word(1, 1, 0, 0)),
        (50708, 2, 4, abc), (50717, 4, 1, 4095), (50721, 10, 9, place)]
head = b"II*" + bytes(1) + struct.pack("<IH", 8, len(tags)) + b"".join(struct.pack("<HHII", *tag) for tag in tags) + bytes(4)
matrix = b"".join(struct.pack("<ii", k % 4 == 0, 1) for k in range(9))
noise = random.Random(7)
rows = [[noise.randrange(4096) for _ in range(size[0] + 8)] for _ in range(size[1])]
for name, at in (("left", 0), ("right", 8)):
    pixels = b"".join(struct.pack(f"<{size[0]}H", *row[at:at + size[0]]) for row in rows)
    open(name + ".dng", "wb").write(head + matrix + pixels)
"""
BAG = """
from pathlib import Path
import numpy as np
from PIL import Image as Picture
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore
store = get_typestore(Stores.ROS1_NOETIC)
Time, Header, Image = (store.types[f"{name}"] for name in ("builtin_interfaces/msg/Time", "std_msgs/msg/Header", "sensor_msgs/msg/Image"))
with Writer(Path("pair.bag")) as bag:
    for view in ("left", "right"):
        pixels = np.array(Picture.open(view + ".png").convert("L"))
        topic = bag.add_connection(f"/stereo/{view}/image_raw", Image.__msgtype__, typestore=store)
        for number in range(3):
            head = Header(seq=number, stamp=Time(sec=1, nanosec=10**8 * number), frame_id=view)
            image = Image(header=head, height=pixels.shape[0], width=pixels.shape[1], encoding="mono8", is_bigendian=0,
                          step=pixels.shape[1], data=pixels.ravel())
            bag.write(topic, 10**9 + 10**8 * number, store.serialize_ros1(image, Image.__msgtype__))
"""


def python(code):
    return f"python3 - <<'PYTHON'\n{code}\nPYTHON"


#: Kind, how a tool of its kind makes it of left.png and right.png, what is opened, and what is opened behind the command.
CASES = [
    ("HEIC with both views", "heif-enc -q 95 left.png right.png -o pair.heic; rm *.png", ["pair.heic"], ["pair-1.png", "pair-2.png"]),
    ("folder of such HEIC", "heif-enc -q 95 left.png right.png -o a.heic; cp a.heic b.heic; rm *.png", ["."], ["."]),
    ("HEIC of one view", "heif-enc -q 95 left.png -o left.heic; rm left.png", ["left.heic", "right.png"], ["left.png", "right.png"]),
    ("JPEG 2000", "opj_compress -i left.png -o left.jp2; rm left.png", ["left.jp2", "right.png"], ["left.png", "right.png"]),
    ("folder of JPEG 2000", "for v in left right; do opj_compress -i $v.png -o $v.jp2; done; rm *.png", ["."], ["."]),
    ("JPEG XL", "cjxl -q 95 left.png left.jxl; rm left.png", ["left.jxl", "right.png"], ["left.png", "right.png"]),
    ("folder of JPEG XL", "for v in left right; do cjxl -q 95 $v.png $v.jxl; done; rm *.png", ["."], ["."]),
    ("TGA", "convert left.png left.tga; rm left.png", ["left.tga", "right.png"], ["left.png", "right.png"]),
    ("folder of TGA", "convert left.png left.tga; convert right.png right.tga; rm *.png", ["."], ["."]),
    ("PCX", "convert left.png left.pcx; rm left.png", ["left.pcx", "right.png"], ["left.png", "right.png"]),
    ("SGI", "convert left.png left.sgi; rm left.png", ["left.sgi", "right.png"], ["left.png", "right.png"]),
    ("GIF of both views", "convert left.png right.png pair.gif; rm *.png", ["pair.gif"], ["pair-000.png", "pair-001.png"]),
    ("folder of GIF", "for v in left right; do convert $v.png $v.gif; done; rm *.png", ["."], ["left-000.png", "right-000.png"]),
    ("animated WebP", "convert left.png right.png -define webp:lossless=true pair.webp; rm *.png", ["pair.webp"], ["pair-000.png", "pair-001.png"]),
    ("raw photos", python(DNG), ["left.dng", "right.dng"], ["left.tiff", "right.tiff"]),
    ("TIFF packed by LZMA", "convert left.png a.tif; tiffcp -c lzma a.tif left.tif", ["left.tif", "right.png"], ["left_zip.tif", "right.png"]),
    ("TIFF with its bits in reverse", "convert left.png a.tif; tiffcp -c packbits -f lsb2msb a.tif left.tif", ["left.tif", "right.png"],
     ["left_msb.tif", "right.png"]),
    ("images of two sizes", "convert left.png -resize 416x320 large.png", ["large.png", "right.png"], ["OUT.png", "right.png"]),
    ("photo with a view in its XMP", "for v in left right; do convert -quality 95 $v.png $v.jpg; done; rm *.png; "
     "exiftool -q -overwrite_original -XMP-GImage:ImageMimeType=image/jpeg '-XMP-GImage:ImageData<=right.jpg' left.jpg; rm right.jpg",
     ["left.jpg"], ["left.jpg", "left_right.jpg"]),
    ("bag of ROS 1", python(BAG), ["pair.bag"], ["pair"]),
]

program = str(Path(sys.argv[1]).resolve())
failed = []


def shell(command, folder):
    done = subprocess.run(["bash", "-c", command], cwd=folder, capture_output=True, text=True)
    if done.returncode != 0:
        raise AssertionError(f"`{command}` ended with {done.returncode}: {(done.stdout + done.stderr).strip()[-400:]}")


def compute(arguments, folder):
    """The exit code of a computation into the folder `out`, what the program says, and the least share of valid pixels."""
    shutil.rmtree(folder / "out", ignore_errors=True)
    (folder / "out").mkdir()
    output = "out/map.pfm" if all((folder / one).is_file() for one in arguments if not one.startswith("-")) else "out"
    if any(one.endswith((".mp4", ".mkv", ".mcap")) for one in arguments):
        output = "out"
    command = [program, "compute", *arguments, "-o", output, "--num-disparities", "32", "--engine", "cpu"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    said = done.stdout + done.stderr
    return done.returncode, said, min((float(share) for share in re.findall(r"valid ([\d.]+) %", said)), default=0)


def case(name, make, arguments, again):
    """Makes a file, runs the command that the refusal names, and opens the result."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for view in ("left", "right"):
            shutil.copy(pair / f"{view}.png", folder)
        try:
            shell(make, folder)
            code, said, _ = compute(arguments, folder)
            commands = [command for command in COMMAND.findall(said) if not command.startswith("stereopsis")]
            if code == 0 or not commands:
                raise AssertionError(f"no command in: {said.strip()[-400:]}")
            # of a folder the last command is for all of its files
            commands = [command for command in commands if not command.startswith("pip ")]
            command = commands[-1 if arguments == ["."] else 0]
            shell(command, folder)
            if arguments[0].replace("left", "right") in arguments[1:]:
                shell(command.replace("left", "right"), folder)  # the other image is refused in its turn
            code, said, valid = compute(again, folder)
            if code != 0 or valid < LEAST_VALID:
                raise AssertionError(f"after `{command}`: {valid} % valid, {said.strip()[-400:]}")
            print(f"  ok    {name}: {command}", flush=True)
        except AssertionError as err:
            failed.append(name)
            print(f"  WRONG {name}: {err}", flush=True)


if os.geteuid() == 0 and Path("/project").is_dir():
    install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {PACKAGES} >/dev/null"
    subprocess.run(["bash", "-c", install], check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    tools = Path(tempfile.mkdtemp())
    subprocess.run(["python3", "-m", "venv", tools], check=True)
    subprocess.run([tools / "bin/pip", "install", "-q", ROSBAGS, "pillow"], check=True)
    os.environ["PATH"] = f"{tools}/bin:{os.environ['PATH']}"

with tempfile.TemporaryDirectory() as place:
    pair = Path(place)
    size = ["--size", "208x160", "--frames", "2", "--lossless", "--engine", "cpu"]
    subprocess.run([program, "record", "--source", "scene", *size, "-o", pair / "scene.mcap"], check=True, capture_output=True)
    subprocess.run([program, "export", pair / "scene.mcap", "--to", pair / "out", "--what", "left,right"], check=True, capture_output=True)
    for view in ("left", "right"):
        shutil.copy(pair / f"out/000000_{view}.png", pair / f"{view}.png")

    for one in CASES:
        case(*one)
print(f"{len(failed)} commands do not help: {', '.join(failed)}" if failed else "every command helps")
sys.exit(bool(failed))

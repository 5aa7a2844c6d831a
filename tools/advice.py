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

#: Kind, how a tool of its kind makes it of left.png and right.png, what is opened, and what is opened behind the command.
CASES = [
    ("HEIC with both views", "heif-enc -q 95 left.png right.png -o pair.heic; rm *.png", ["pair.heic"], ["pair-1.png", "pair-2.png"]),
    ("folder of such HEIC", "heif-enc -q 95 left.png right.png -o a.heic; cp a.heic b.heic; rm *.png", ["."], ["."]),
    ("HEIC of one view", "heif-enc -q 95 left.png -o left.heic; rm left.png", ["left.heic", "right.png"], ["left.png", "right.png"]),
    ("AVIF", "heif-enc -A -q 95 left.png -o left.avif; rm left.png", ["left.avif", "right.png"], ["left.png", "right.png"]),
    ("JPEG 2000", "opj_compress -i left.png -o left.jp2; rm left.png", ["left.jp2", "right.png"], ["left.png", "right.png"]),
    ("JPEG XL", "cjxl -q 95 left.png left.jxl; rm left.png", ["left.jxl", "right.png"], ["left.png", "right.png"]),
    ("TGA", "convert left.png left.tga; rm left.png", ["left.tga", "right.png"], ["left.png", "right.png"]),
    ("folder of TGA", "convert left.png left.tga; convert right.png right.tga; rm *.png", ["."], ["."]),
    ("GIF of both views", "convert left.png right.png pair.gif; rm *.png", ["pair.gif"], ["pair-000.png", "pair-001.png"]),
    ("animated WebP", "convert left.png right.png -define webp:lossless=true pair.webp; rm *.png", ["pair.webp"], ["pair-000.png", "pair-001.png"]),
    ("TIFF packed by LZMA", "convert left.png IN.tif; tiffcp -c lzma IN.tif left.tif; cp left.tif IN.tif", ["left.tif", "right.png"], ["OUT.tif", "right.png"]),
    ("images of two sizes", "convert left.png -resize 416x320 large.png", ["large.png", "right.png"], ["OUT.png", "right.png"]),
    ("bag of ROS 1", "ffmpeg -v error -i left.png -i right.png x.mkv; true", ["a.bag"], ["a.mcap"]),
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


def case(name, make, arguments, again, pick=0):
    """Makes a file, runs the command that the refusal names (the one of this number), and opens the result."""
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
            shell(commands[pick].replace("pip install rosbags", f"pip install {ROSBAGS}"), folder)
            code, said, valid = compute(again, folder)
            if code != 0 or valid < LEAST_VALID:
                raise AssertionError(f"after `{commands[pick]}`: {valid} % valid, {said.strip()[-400:]}")
            print(f"  ok    {name}: {commands[pick]}", flush=True)
        except AssertionError as err:
            failed.append(name)
            print(f"  WRONG {name}: {err}", flush=True)


if os.geteuid() == 0 and Path("/project").is_dir():
    install = f"apt-get update -qq && apt-get install -y -qq --no-install-recommends {PACKAGES} >/dev/null"
    subprocess.run(["bash", "-c", install], check=True, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"})
    tools = Path(tempfile.mkdtemp())
    subprocess.run(["python3", "-m", "venv", tools], check=True)
    subprocess.run([tools / "bin/pip", "install", "-q", ROSBAGS], check=True)
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

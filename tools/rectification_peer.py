#!/usr/bin/env python3
"""Compares our rectification maps with OpenCV's.

    python3 -m venv venv && venv/bin/pip install opencv-python-headless numpy
    venv/bin/python tools/rectification_peer.py DATA

DATA is the folder of the test data. For each rig and alpha it prints our focal length and principal point beside those of
cv2.stereoRectify (CALIB_ZERO_DISPARITY), and the largest distance, in raw px, between where both maps fetch a pixel: with
OpenCV's own P, and with ours given to cv2.initUndistortRectifyMap, which leaves rotations and lens to compare. Exits with 1
where the second one exceeds 0.1 px.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import cv2
import numpy as np

ROOT = pathlib.Path(__file__).resolve().parent.parent
ALPHAS = (0.0, 0.3, 1.0)
TOLERANCE_PX = 0.1


def euroc(folder):
    """EuRoC's two sensor files."""
    cameras, poses = [], []
    for name in ("cam0_sensor.yaml", "cam1_sensor.yaml"):
        text = (folder / name).read_text()

        def numbers(key):
            return np.array([float(v) for v in re.search(rf"{key}:\s*\[([^\]]*)\]", text).group(1).split(",")])

        fx, fy, cx, cy = numbers("intrinsics")
        cameras.append((np.array([[fx, 0, cx], [0, fy, cy], [0, 0, 1]]), numbers("distortion_coefficients")))
        poses.append(numbers("data").reshape(4, 4))
    across = np.linalg.inv(poses[1]) @ poses[0]
    return (*cameras[0], *cameras[1], across[:3, :3], across[:3, 3]), (752, 480)


def published(folder):
    """OpenCV's own file pair."""
    def read(name, keys):
        storage = cv2.FileStorage(str(folder / name), cv2.FILE_STORAGE_READ)
        return [storage.getNode(key).mat() for key in keys]

    return (*read("intrinsics.yml", ("M1", "D1", "M2", "D2")), *read("extrinsics.yml", ("R", "T"))), (640, 480)


def reference(folder):
    """A set's reference calibration."""
    meta = json.loads((folder / "meta.json").read_text())
    found = meta["reference_calibration"]
    rig = [np.array(found[key], float) for key in ("K1", "D1", "K2", "D2", "R", "T")]
    return rig, (meta["width"], meta["height"])


def ours(rig, size, alpha):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "rig.yml"
        storage = cv2.FileStorage(str(path), cv2.FILE_STORAGE_WRITE)
        for key, value in zip(("K1", "D1", "K2", "D2", "R", "T"), rig):
            value = np.asarray(value, float)
            storage.write(key, value.reshape(1, -1) if key[0] == "D" else value.reshape(3, -1))
        storage.write("image_width", size[0])
        storage.write("image_height", size[1])
        storage.release()
        command = ["cargo", "run", "-q", "--example", "rectification_points", "--", str(path), *map(str, size), str(alpha)]
        return json.loads(subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE).stdout)


def distance(found, rig, size, rotations, projections):
    """Largest distance between both maps where both stay inside, px."""
    worst = 0.0
    for side, (k, d), rotation, projection in zip(("left", "right"), (rig[:2], rig[2:4]), rotations, projections):
        x_map, y_map = cv2.initUndistortRectifyMap(k, d, rotation, projection, size, cv2.CV_32FC1)
        for point in found["points"]:
            x, y = point["at"]
            source = np.array([x_map[y, x], y_map[y, x]])
            if point[side] and (source >= 0).all() and (source <= np.array(size) - 1).all():
                worst = max(worst, np.linalg.norm(source - point[side]))
    return worst


def main():
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    data = pathlib.Path(sys.argv[1])
    rigs = {
        "euroc": euroc(data / "sequence/euroc_raw"),
        "chessboard, published": published(data / "calib/opencv_chessboard"),
        "chessboard": reference(data / "calib/opencv_chessboard"),
        "webcams": reference(data / "calib/webcam_640x360"),
        "stereopi": reference(data / "calib/stereopi_320x240"),
        "charuco": reference(data / "calib/charuco_1280x800"),
    }
    print(f"OpenCV {cv2.__version__}")
    print("rig                     alpha   focal, cx, cy here        focal, cx, cy OpenCV      largest px, own P   same P")
    failed = False
    for name, (rig, size) in rigs.items():
        for alpha in ALPHAS:
            found = ours(rig, size, alpha)
            r1, r2, p1, p2 = cv2.stereoRectify(*rig[:4], size, rig[4], rig[5].reshape(3, 1), flags=cv2.CALIB_ZERO_DISPARITY, alpha=alpha)[:4]
            geometry = found["geometry"]
            here = [geometry[key] for key in ("focal_px", "cx_px", "cy_px")]
            there = [p1[0, 0], p1[0, 2], p1[1, 2]]
            focal, cx, cy = here
            same = np.array([[focal, 0, cx, 0], [0, focal, cy, 0], [0, 0, 1, 0]])
            own_px = distance(found, rig, size, (r1, r2), (p1, p2))
            same_px = distance(found, rig, size, (r1, r2), (same, same))
            failed |= same_px > TOLERANCE_PX
            words = ["{:8.2f}{:8.2f}{:8.2f}".format(*numbers) for numbers in (here, there)]
            print(f"{name:24}{alpha:5}  {words[0]}  {words[1]}  {own_px:18.3f} {same_px:8.3f}")
    sys.exit(int(failed))


if __name__ == "__main__":
    main()

"""Opens the files of an export with programs that this project did not write, and compares their numbers.

    files.py FOLDER      an export of every part; see check.sh

Readers: OpenCV (PFM, TIFF, PNG, calibration, Q), Pillow (PNG, TIFF, MPO), tifffile and rasterio (TIFF, PNG), Open3D (PLY).
"""

import json
import sys
from pathlib import Path

import cv2
import numpy as np
import open3d
import rasterio
import tifffile
from PIL import Image

folder = Path(sys.argv[1])
about = json.loads((folder / "recording.json").read_text())
rig = about["geometry"]
mistakes = []


def check(what, is_right):
    print(f"  {'ok   ' if is_right else 'WRONG'} {what}")
    if not is_right:
        mistakes.append(what)


def same(a, b):
    return a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f")


def with_rasterio(path):
    with rasterio.open(path) as file:
        return file.read(1)


def readers(ending):
    """The numbers of a file of the first pair, by every reader that opens its kind."""
    path = folder / f"000000{ending}"
    found = {"OpenCV": cv2.imread(str(path), cv2.IMREAD_UNCHANGED), "Pillow": np.array(Image.open(path)), "rasterio": with_rasterio(path)}
    if ending.endswith("tiff"):
        found["tifffile"] = tifffile.imread(path)
    return {name: array.astype("<u2") if array.dtype == np.int32 else array for name, array in found.items()}


numbers = {}
for ending in ("_depth_mm.png", "_depth_m.tiff", "_disp_x256.png", "_disp.tiff"):
    found = readers(ending)
    numbers[ending] = found["OpenCV"]
    for name, array in list(found.items())[1:]:
        check(f"{ending}: {name} sees the numbers that OpenCV sees ({array.dtype}, {array.shape})", same(array, numbers[ending]))

disparity, depth_m, depth_mm = numbers["_disp.tiff"], numbers["_depth_m.tiff"], numbers["_depth_mm.png"]
valid = np.isfinite(disparity)
check(f"disparity is there for {100 * valid.mean():.1f} % of the pixels", 0.5 < valid.mean() < 1)
pfm = cv2.imread(str(folder / "000000_disp.pfm"), cv2.IMREAD_UNCHANGED)
check("_disp.pfm: OpenCV sees +infinity where the TIFF has NaN, and the same numbers elsewhere",
      np.array_equal(np.where(np.isposinf(pfm), np.float32(np.nan), pfm), disparity, equal_nan=True))
check("_disp_x256.png: 256 times the disparity, 0 where there is none",
      np.array_equal(np.where(valid, np.maximum(np.round(256 * disparity), 1), 0), numbers["_disp_x256.png"]))
in_front = valid & (disparity + rig["doffs_px"] > 0)
expected = rig["focal_px"] * rig["baseline_m"] / (disparity[in_front].astype(float) + rig["doffs_px"])
check("_depth_m.tiff: z = f T / (d + doffs), NaN elsewhere",
      np.allclose(depth_m[in_front], expected, rtol=1e-6) and np.isnan(depth_m[~in_front]).all())
mm = np.floor(1000 * depth_m[in_front].astype(float) + 0.5)
check("_depth_mm.png: rounded millimetres, 0 elsewhere and beyond 65.535 m",
      np.array_equal(depth_mm[in_front], np.where(mm > 65_535, 0, mm)) and (depth_mm[~in_front] == 0).all())

points = np.asarray(open3d.io.read_point_cloud(str(folder / "000000_cloud.ply")).points)
colours = np.asarray(open3d.io.read_point_cloud(str(folder / "000000_cloud.ply")).colors)
rows, columns = np.nonzero(in_front)
z = depth_m[in_front].astype(float)
expected = np.stack([(columns - rig["cx_px"]) * z / rig["focal_px"], (rows - rig["cy_px"]) * z / rig["focal_px"], z], 1)
expected *= {"opencv": (1, 1, 1), "opengl": (1, -1, -1)}[sys.argv[2]]
check(f"_cloud.ply: Open3D sees {len(points)} points where depth is, on the axes of {sys.argv[2]}",
      points.shape == expected.shape and np.allclose(points, expected, rtol=1e-5, atol=1e-6))
left = np.array(Image.open(folder / "000000_left.png").convert("RGB"))
check("_cloud.ply: Open3D sees the colours of the left image", np.allclose(colours * 255, left[in_front], atol=0.01))

beside = np.array(Image.open(folder / "000000_sbs.png"))
above = np.array(Image.open(folder / "000000_tb.png"))
views = np.split(beside, 2, axis=1)
check("_sbs.png and _tb.png have the same views", all(map(np.array_equal, views, np.split(above, 2))))
screen = about["screen_px"]
check(f"_sbs.png: the left view begins {screen} px to the right", np.array_equal(views[0], left[:, screen:]))
mpo = Image.open(folder / "000000_pair.mpo")
check("_pair.mpo: Pillow sees two images", (mpo.format, mpo.n_frames) == ("MPO", 2))
for number, view in enumerate(views):
    mpo.seek(number)
    difference = np.abs(np.array(mpo.convert("RGB")).astype(int) - view).mean()
    check(f"_pair.mpo: image {number} is the {('left', 'right')[number]} view (differs by {difference:.2f} of 255)", difference < 4)

opencv = cv2.FileStorage(str(folder / "calibration/opencv.yaml"), cv2.FILE_STORAGE_READ)
K1, D1, K2, D2, R, T, Q = (opencv.getNode(name).mat() for name in ("K1", "D1", "K2", "D2", "R", "T", "Q"))
size = tuple(int(opencv.getNode(f"image_{side}").real()) for side in ("width", "height"))
check(f"opencv.yaml: the size is that of the images {size}", size == left.shape[1::-1])
check("opencv.yaml: the baseline is that of recording.json", np.isclose(np.linalg.norm(T), rig["baseline_m"]))
again = cv2.stereoRectify(K1, D1, K2, D2, size, R, T, flags=cv2.CALIB_ZERO_DISPARITY, alpha=0)
check("opencv.yaml: stereoRectify finds the rotations of the file", np.allclose(again[0], opencv.getNode("R1").mat(), atol=1e-9))
space = cv2.reprojectImageTo3D(np.where(in_front, disparity, np.float32(1)), Q)
check("opencv.yaml: reprojectImageTo3D with Q gives the depth of _depth_m.tiff", np.allclose(space[in_front][:, 2], z, rtol=1e-5))
print(f"{len(mistakes)} mistakes" if mistakes else f"OpenCV {cv2.__version__}, Open3D {open3d.__version__}, rasterio {rasterio.__version__}: all agree")
sys.exit(bool(mistakes))

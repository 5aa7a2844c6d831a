"""Compares `stereopsis calibrate` with OpenCV on sets of board images.

Usage: calibration_peer.py PROGRAM DATA [SET...]

DATA/calib/SET has left/, right/ and meta.json with the board. For each set and each program: images in which the board is found, or
corners of a ChArUco board; rows of left-out views (root mean square, px of the left camera; a fifth of the views is left out in turn by
OpenCV, up to 20 groups by stereopsis); focal length and baseline. OpenCV solves each camera, then both jointly.
"""

import json
import subprocess
import sys
from pathlib import Path

import cv2
import numpy as np

CRITERIA = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 200, 1e-9)
UNIT_MM = {"opencv_chessboard": 25.0, "stereopi_320x240": 25.0, "webcam_640x360": 24.23, "charuco_1280x800": 49.33}


class Board:
    def __init__(self, name, meta):
        board = meta["board"]
        self.square = UNIT_MM.get(name, 1e3 * board["square"]) * 1e-3
        self.is_charuco = board["type"] == "charuco"
        if self.is_charuco:
            columns, rows = board["squares"]
            ratio = board["marker"] / board["square"]
            dictionary = cv2.aruco.getPredefinedDictionary(getattr(cv2.aruco, board["dictionary"]))
            self.shape = (columns - 1, rows - 1)
            mm = [1e3 * self.square, 1e3 * self.square * ratio]
            self.words = "charuco-legacy:%dx%d:%.4gmm:%.4gmm:%s" % (columns, rows, *mm, board["dictionary"])
            pattern = cv2.aruco.CharucoBoard((columns, rows), self.square, self.square * ratio, dictionary)
            pattern.setLegacyPattern(True)
            self.detector = cv2.aruco.CharucoDetector(pattern)
        else:
            self.shape = tuple(board["inner_corners"])
            self.words = "chessboard:%dx%d:%.4gmm" % (*self.shape, 1e3 * self.square)
        x, y = np.meshgrid(np.arange(self.shape[0]), np.arange(self.shape[1]))
        self.points = np.stack([x.ravel(), y.ravel(), 0 * x.ravel()], 1).astype(np.float32) * self.square

    def classic(self, picture):
        """Corners by number: {id: (x, y)}."""
        if self.is_charuco:
            corners, ids, _, _ = self.detector.detectBoard(picture)
            if ids is None:
                return {}
            return dict(zip(ids.ravel().tolist(), corners.reshape(-1, 2)))
        found, corners = cv2.findChessboardCorners(picture, self.shape)
        if not found:
            return {}
        corners = cv2.cornerSubPix(picture, corners.reshape(-1, 1, 2), (5, 5), (-1, -1), CRITERIA)
        return dict(enumerate(corners.reshape(-1, 2)))

    def sector(self, picture):
        if self.is_charuco:
            return {}
        found, corners = cv2.findChessboardCornersSB(picture, self.shape)
        return dict(enumerate(corners.reshape(-1, 2))) if found else {}


def solve(board, views, size, flags):
    def side(eye):
        used = [view[eye] for view in views if len(view[eye]) >= 6]
        points = [board.points[sorted(corners)] for corners in used]
        pixels = [np.array([corners[i] for i in sorted(corners)], np.float32) for corners in used]
        return cv2.calibrateCamera(points, pixels, size, None, None, flags=flags, criteria=CRITERIA)[1:3]

    left, right = side(0), side(1)
    points, pixels = [], ([], [])
    for view in views:
        common = sorted(set(view[0]) & set(view[1]))
        if len(common) >= 6:
            points.append(board.points[common])
            for eye in range(2):
                pixels[eye].append(np.array([view[eye][i] for i in common], np.float32))
    flags |= cv2.CALIB_USE_INTRINSIC_GUESS
    return cv2.stereoCalibrate(points, *pixels, *left, *right, size, flags=flags, criteria=CRITERIA)[1:7]


def rows(rig, views, size):
    k1, d1, k2, d2, r, t = rig
    r1, r2 = cv2.stereoRectify(k1, d1, k2, d2, size, r, t)[:2]
    errors = []
    for view in views:
        common = sorted(set(view[0]) & set(view[1]))
        if not common:
            continue
        sides = [np.array([view[eye][i] for i in common], np.float64).reshape(-1, 1, 2) for eye in range(2)]
        left = cv2.undistortPoints(sides[0], k1, d1, R=r1).reshape(-1, 2)
        right = cv2.undistortPoints(sides[1], k2, d2, R=r2).reshape(-1, 2)
        errors += list((left[:, 1] - right[:, 1]) * k1[1, 1])
    return errors


def main():
    program, data = sys.argv[1], Path(sys.argv[2]) / "calib"
    names = sys.argv[3:] or sorted(folder.name for folder in data.iterdir())
    print("set | found: OpenCV classic, SB; ours | rows left out, px: OpenCV; ours | ratio | focal px; baseline mm: OpenCV; ours | verdict")
    for name in names:
        meta = json.loads((data / name / "meta.json").read_text())
        board = Board(name, meta)
        sides = [sorted((data / name / side).iterdir()) for side in ("left", "right")]
        views, by_sector = [], 0
        for pair in zip(*sides):
            pictures = [cv2.imread(str(file), cv2.IMREAD_GRAYSCALE) for file in pair]
            views.append([board.classic(picture) for picture in pictures])
            by_sector += sum(bool(board.sector(picture)) for picture in pictures)
        size = pictures[0].shape[::-1]
        flags = cv2.CALIB_RATIONAL_MODEL if "rational" in meta["reference_calibration"]["model"] else 0
        errors = []
        for fold in range(5):
            kept = [view for i, view in enumerate(views) if i % 5 != fold]
            errors += rows(solve(board, kept, size, flags), [view for i, view in enumerate(views) if i % 5 == fold], size)
        whole = solve(board, views, size, flags)
        theirs = np.sqrt(np.mean(np.square(errors)))
        if board.is_charuco:
            found = sum(len(eye) for view in views for eye in view)
        else:
            found = sum(bool(eye) for view in views for eye in view)
        command = [program, "calibrate", str(data / name), "--board", board.words, "--json"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        if not run.stdout:
            print(f"{name} | {run.stderr.strip()}")
            continue
        own = json.loads(run.stdout)
        corners = [count for view in own["views"] for count in view["corners"]]
        own_found = sum(corners) if board.is_charuco else sum(count > 0 for count in corners)
        rig = own["rig"]
        rows_px = own["judgement"]["left_out_rows_px"]
        print(
            f"{name} | {found}, {by_sector}; {own_found} | {theirs:.3f}; {rows_px:.3f} | {rows_px / theirs:.2f} | "
            f"{whole[0][0, 0]:.1f}, {1e3 * np.linalg.norm(whole[5]):.2f}; {rig['left']['fx_px']:.1f}, {1e3 * rig['baseline_m']:.2f} | "
            f"{own['lens_model']}; {own['verdict']}; {'; '.join(own['refusals'])}"
        )


if __name__ == "__main__":
    main()

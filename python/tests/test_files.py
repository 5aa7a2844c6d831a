"""Calibrations, settings and recordings from files."""

import os
import pathlib
import subprocess

import numpy as np
import pytest
import stereopsis

ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = ROOT / "calibration" / "example-rig.toml"


def test_a_calibration_rectifies_and_gives_metres():
    calibration = stereopsis.Calibration.load(RIG)
    width, height = calibration.size
    rng = np.random.default_rng(5)
    gray = rng.integers(0, 256, (height, width), dtype=np.uint8)
    colors = np.dstack([gray, 255 - gray, gray // 2])
    left, right = calibration.rectify(gray, gray)
    left_colors, right_colors = calibration.rectify(colors, colors)
    assert left.shape == (height, width) and left.dtype == np.uint8
    assert (left_colors[:, :, 0] == left).all() and (right_colors[:, :, 0] == right).all()
    wide, _ = calibration.rectify(gray.astype(np.uint16) * 257, gray.astype(np.uint16) * 257)
    assert wide.dtype == np.uint16
    disparity = np.full((height, width), 16.0, np.float32)
    disparity[0, 0] = np.nan
    depth = calibration.depth(disparity)
    expected = calibration.focal_px(width, height) * calibration.baseline_m / 16
    assert np.isnan(depth[0, 0]) and depth[5, 5] == pytest.approx(expected, rel=0.2)
    points = calibration.points(disparity)
    assert points.shape == (height, width, 3) and np.isnan(points[0, 0]).all()
    assert (points[5:, 5:, 2] == depth[5:, 5:]).all()


def test_wrong_files_and_sizes_are_named(tmp_path):
    with pytest.raises(ValueError, match="nowhere.yml"):
        stereopsis.Calibration.load("nowhere.yml")
    with pytest.raises(ValueError, match="expected one calibration file"):
        stereopsis.Calibration.load()
    with pytest.raises(ValueError, match="unit"):
        stereopsis.Calibration.load(RIG, unit="inch")
    calibration = stereopsis.Calibration.load(RIG)
    with pytest.raises(ValueError, match="float32"):
        calibration.depth(np.zeros((4, 4), np.int16))
    with pytest.raises(ValueError):
        calibration.rectify(np.zeros((100, 900), np.uint8), np.zeros((100, 900), np.uint8))
    broken = tmp_path / "broken.toml"
    broken.write_text("num-disparities = 64\np1 = many\n")
    with pytest.raises(ValueError, match="broken.toml"):
        stereopsis.Matcher.from_settings(broken)
    with pytest.raises(ValueError, match="walk.mcap"):
        stereopsis.read(tmp_path / "walk.mcap")
    (tmp_path / "walk.mcap").write_bytes(b"no recording")
    with pytest.raises(ValueError, match="walk.mcap"):
        stereopsis.read(tmp_path / "walk.mcap")


def test_settings_of_a_file_can_be_changed_further(tmp_path):
    file = tmp_path / "tuned.toml"
    file.write_text('preset = "accurate"\nnum-disparities = 48\nengine = "gpu"\n')
    parameters = stereopsis.Matcher.from_settings(file, p1=9).parameters
    assert (parameters["num_disparities"], parameters["p1"]) == (48, 9)


def test_a_recording_yields_what_the_program_recorded(tmp_path):
    program = os.environ.get("STEREOPSIS_PROGRAM")
    if not program:
        pytest.skip("STEREOPSIS_PROGRAM names no program that records")
    path = tmp_path / "scene.mcap"
    record = [program, "record", "--source", "scene", "--size", "160x120", "--num-disparities", "32", "--frames", "4"]
    subprocess.run([*record, "--engine", "cpu", "-o", path], check=True, capture_output=True)
    recording = stereopsis.read(path)
    assert len(recording) == 4
    pairs = list(recording)
    assert [pair.sequence for pair in pairs] == sorted(pair.sequence for pair in pairs) and len(pairs) == 4
    for pair in pairs:
        assert pair.left.shape == pair.right.shape == (120, 160) and pair.time_s > 1e9
        assert pair.depth is None or np.isfinite(pair.depth).mean() > 0.5
        assert pair.disparity is None or np.isfinite(pair.disparity).mean() > 0.5
    assert any(pair.depth is not None or pair.disparity is not None for pair in pairs)

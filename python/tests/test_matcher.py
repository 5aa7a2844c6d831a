"""Matching of arrays: values, types, errors, threads, and the same bits as the program."""

import os
import subprocess
import threading
import time
import warnings

import numpy as np
import pytest
import stereopsis
from conftest import shifted_pair


def test_disparity_is_found_in_both_forms(pair):
    matcher = stereopsis.Matcher(num_disparities=32, min_disparity=-3)
    px = matcher.disparity(*pair)
    assert px.dtype == np.float32 and px.shape == (60, 120)
    assert np.nanmedian(px) == 7.0
    fixed = matcher.compute(*pair)
    assert fixed.dtype == np.int16
    invalid = np.isnan(px)
    assert invalid.any() and (fixed[invalid] == (-3 - 1) * 16).all()
    assert (fixed[~invalid] == px[~invalid] * 16).all()
    reasons = matcher.reasons
    others = 255 - (stereopsis.REASONS["held"] | stereopsis.REASONS["filled"])
    assert (reasons[invalid] != 0).all() and (reasons[~invalid] & others == 0).all()


def test_confidence_is_there_if_it_is_asked_for(pair):
    matcher = stereopsis.Matcher(num_disparities=16)
    with pytest.raises(ValueError, match="no pair was matched yet"):
        matcher.reasons
    matcher.compute(*pair)
    with pytest.raises(ValueError, match="confidence=True"):
        matcher.confidence
    matcher = stereopsis.Matcher(num_disparities=16, confidence=True)
    px = matcher.disparity(*pair)
    assert (matcher.confidence[~np.isnan(px)] > 0).any()


def test_parameters_have_the_names_of_flags_and_are_told():
    matcher = stereopsis.Matcher(preset="accurate", num_disparities=48, left_right=None, p2=77)
    parameters = matcher.parameters
    assert (parameters["num_disparities"], parameters["p2"], parameters["left_right"]) == (48, 77, "off")
    assert "num_disparities=48" in repr(matcher)


@pytest.mark.parametrize(
    "parameters, words",
    [
        ({"num_disparitys": 64}, "num_disparitys"),
        ({"num_disparities": 5000}, "num_disparities"),
        ({"num_disparities": 12.5}, "num_disparities"),
        ({"preset": "most"}, "^preset"),
        ({"confidence": "maybe"}, "^confidence"),
        ({"p1": 50, "p2": 20}, "p"),
    ],
)
def test_wrong_parameters_are_named(parameters, words):
    with pytest.raises(ValueError, match=words):
        stereopsis.Matcher(**parameters)


def test_wrong_arrays_are_named(pair):
    left, right = pair
    matcher = stereopsis.Matcher(num_disparities=16)
    wrong = [
        (left.astype(np.float32), right, r"left: .*shape \[60, 120\] and dtype float32"),
        (left, np.dstack([right] * 4), r"right: expected three channels, got an array of shape \[60, 120, 4\]"),
        (left, np.dstack([right] * 3).astype(np.uint16), "right: .* dtype uint16"),
        (left, right[:, :-1], "same size and bit depth: left has 120x60 px of 8 bits, right has 119x60"),
        (left, right.astype(np.uint16), "right has 120x60 px of 16 bits"),
        (left[:0], right[:0], "empty"),
        ("left.png", right, "got a <class 'str'>"),
        (None, right, "got a <class 'NoneType'>"),
    ]
    for one, other, words in wrong:
        with pytest.raises(ValueError, match=words):
            matcher.compute(one, other)


def test_strides_do_not_matter(pair):
    matcher = stereopsis.Matcher(num_disparities=16)
    expected = matcher.compute(*pair)
    for view in (np.asfortranarray, lambda a: np.repeat(a, 2, 1)[:, ::2], lambda a: a[::-1].copy()[::-1]):
        left, right = (view(a) for a in pair)
        assert (matcher.compute(left, right) == expected).all()


def test_sixteen_bits_give_the_map_of_eight(pair):
    matcher = stereopsis.Matcher(num_disparities=16)
    expected = matcher.compute(*pair)
    wide = [a.astype(np.uint16) << 8 for a in pair]
    assert (matcher.compute(*wide) == expected).all()


def test_several_threads_match_at_a_time():
    jobs = [shifted_pair(seed, 96, 40, 3 + seed) for seed in range(6)]
    expected = [stereopsis.Matcher(num_disparities=16).compute(*job) for job in jobs]
    shared = stereopsis.Matcher(num_disparities=16)
    found = {}

    def work(matcher, name, job):
        found[name] = matcher.compute(*job)

    threads = []
    for i, job in enumerate(jobs):
        own = stereopsis.Matcher(num_disparities=16, threads=1)
        threads += [threading.Thread(target=work, args=(m, (i, m is own), job)) for m in (own, shared)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 12
    for (i, _), map_ in found.items():
        assert (map_ == expected[i]).all()


def test_the_gil_is_released():
    left, right = shifted_pair(9, 1200, 700, 20)
    matcher = stereopsis.Matcher(num_disparities=256, threads=1)
    done = threading.Event()

    def work():
        matcher.compute(left, right)
        done.set()

    thread = threading.Thread(target=work)
    thread.start()
    turns = 0
    while not done.is_set() and turns < 5:
        time.sleep(0.001)
        turns += 1
    assert turns >= 5, "no turn of this thread while another one matched"
    thread.join()


def write_picture(path, picture):
    """Brightness, or colours in OpenCV's order."""
    height, width = picture.shape[:2]
    kind = b"P5" if picture.ndim == 2 else b"P6"
    pixels = picture if picture.ndim == 2 else picture[..., ::-1]
    path.write_bytes(kind + b"\n%d %d\n255\n" % (width, height) + pixels.tobytes())


def read_pfm(path):
    with open(path, "rb") as file:
        assert file.readline().strip() == b"Pf"
        width, height = map(int, file.readline().split())
        kind = "<f4" if float(file.readline()) < 0 else ">f4"
        return np.frombuffer(file.read(), kind).reshape(height, width)[::-1]


def random_settings(rng):
    choices = {
        "cost": ["census-5x5", "census-7x7", "rank", "sad", "ad-census"],
        "num-disparities": [1, 13, 40, 64],
        "min-disparity": [-5, 0, 3],
        "paths": [1, 4, 8, 13],
        "uniqueness": [0, 10],
        "left-right": ["off", 1],
        "speckle-size": [0, 40],
        "subpixel": ["off", "parabola", "equiangular"],
        "fill": ["none", "interpolate", "planes"],
        "weighted-median": ["on", "off"],
    }
    return {name: values[rng.integers(len(values))] for name, values in choices.items() if rng.random() < 0.7}


def test_the_program_gives_the_same_bits(tmp_path):
    program = os.environ.get("STEREOPSIS_PROGRAM")
    if not program:
        pytest.skip("STEREOPSIS_PROGRAM names no program to compare with")
    rng = np.random.default_rng(int(os.environ.get("SEED", time.time())))
    compared = 0
    for k in range(40):
        left, right = shifted_pair(rng.integers(1 << 30), int(rng.integers(20, 120)), int(rng.integers(10, 60)), int(rng.integers(0, 12)))
        if rng.random() < 0.5:
            left, right = (np.dstack([a, 255 - a, a[:, ::-1] // 2]) for a in (left, right))
        settings = random_settings(rng)
        file = tmp_path / f"{k}.toml"
        quoted = [f"{n} = {v if isinstance(v, (int, np.integer)) else chr(34) + v + chr(34)}" for n, v in settings.items()]
        file.write_text("\n".join(quoted) + "\n")
        write_picture(tmp_path / "left.pgm", left)
        write_picture(tmp_path / "right.pgm", right)
        out = tmp_path / f"{k}.pfm"
        command = [program, "compute", "left.pgm", "right.pgm", "-o", out, "--engine", "cpu", "--settings", file]
        ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
        try:
            px = stereopsis.Matcher.from_settings(file).disparity(left, right)
        except ValueError as error:
            # both refuse it, in the same words
            assert ran.returncode != 0 and str(error) in ran.stderr, (settings, str(error), ran.stderr)
            continue
        assert ran.returncode == 0, (settings, ran.stderr)
        theirs = read_pfm(out)
        ours = np.where(np.isnan(px), np.inf, px)
        theirs = np.where(np.isfinite(theirs), theirs, np.inf)
        assert (ours == theirs).all(), settings
        compared += 1
    assert compared >= 30, compared


def test_arguments_of_opencv_become_parameters(pair):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        matcher = stereopsis.StereoSGBM_create(
            minDisparity=2, numDisparities=48, blockSize=5, P1=8 * 25, P2=32 * 25, disp12MaxDiff=-1, uniquenessRatio=7, mode=1
        )
    assert len(told) == 1 and "census" in str(told[0].message) and "p1=" in str(told[0].message)
    parameters, default = matcher.parameters, stereopsis.Matcher().parameters
    assert parameters["min_disparity"] == 2 and parameters["num_disparities"] == 48 and parameters["paths"] == 8
    assert (parameters["p1"], parameters["p2"]) == (default["p1"], default["p2"])
    assert parameters["left_right"] == "off" and parameters["uniqueness"] == 7
    map_ = matcher.compute(*pair)
    assert map_.dtype == np.int16 and np.median(map_) == 7 * 16 and map_.min() == 16
    with pytest.raises(ValueError, match="mode"):
        stereopsis.StereoSGBM_create(mode=9)


def test_beside_opencv_on_the_same_arrays(capsys):
    cv2 = pytest.importorskip("cv2")
    left, right = shifted_pair(3, 640, 480, 24)
    theirs = cv2.StereoSGBM_create(0, 128, 5, 8 * 25, 32 * 25, mode=cv2.STEREO_SGBM_MODE_HH)
    ours = stereopsis.Matcher(num_disparities=128)
    times = []
    for matcher in (theirs, ours):
        matcher.compute(left, right)
        start = time.perf_counter()
        map_ = matcher.compute(left, right)
        times.append(time.perf_counter() - start)
        assert np.median(map_) == 24 * 16
    with capsys.disabled():
        print(f"\nMODE_HH {times[0] * 1e3:.1f} ms, Matcher {times[1] * 1e3:.1f} ms: {times[0] / times[1]:.1f} times as fast")


def test_a_pair_of_one_camera_above_the_other_is_matched_along_columns(pair):
    beside = stereopsis.Matcher(num_disparities=16).compute(*pair)
    above = stereopsis.Matcher(num_disparities=16, vertical=True).compute(*(np.rot90(picture, -1).copy() for picture in pair))
    assert (np.rot90(above) == beside).all()

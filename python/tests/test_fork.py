"""Objects in processes that were forked: they go on there, or say why they cannot; none waits for ever."""

import gc
import multiprocessing
import os
import pathlib
import signal
import sys
import threading
import time
import traceback

import numpy as np
import pytest
import stereopsis
from conftest import shifted_pair

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]
ROOT = pathlib.Path(__file__).resolve().parents[2]
RIG = ROOT / "calibration" / "example-rig.toml"
RECORDING = ROOT / "tests" / "fixtures" / "ecdb518" / "ros2.mcap"
#: A child that takes longer hangs.
LIMIT_S = 60


def in_child(work):
    """Runs ``work`` in a fork, which has to end by itself."""
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            work()
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    end = time.monotonic() + LIMIT_S
    while time.monotonic() < end:
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0, f"the child ended with {status}"
            return
        time.sleep(0.01)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    pytest.fail(f"the child hangs: {LIMIT_S} s and no end")


def same(matcher, pair, expected):
    assert (matcher.compute(*pair) == expected).all()


def test_a_matcher_goes_on_before_behind_and_on_both_sides_of_a_fork(pair):
    expected = stereopsis.Matcher(num_disparities=16).compute(*pair)
    unused = stereopsis.Matcher(num_disparities=16)
    in_child(lambda: same(unused, pair, expected))
    same(unused, pair, expected)
    in_child(lambda: [same(unused, pair, expected) for _ in range(3)])
    same(unused, pair, expected)
    in_child(lambda: same(stereopsis.Matcher(num_disparities=16), pair, expected))


def test_what_was_remembered_is_remembered_in_the_child(tmp_path):
    pairs = [shifted_pair(seed, 80, 50, 5) for seed in range(3)]

    def remembering():
        return stereopsis.Matcher(num_disparities=16, temporal=True)

    whole = remembering()
    expected = [whole.compute(*pair) for pair in pairs]
    forked = remembering()
    forked.compute(*pairs[0])
    forked.compute(*pairs[1])
    in_child(lambda: same(forked, pairs[2], expected[2]))
    same(forked, pairs[2], expected[2])


def test_a_child_of_a_child_matches_and_rectifies(pair):
    matcher = stereopsis.Matcher(num_disparities=16)
    expected = matcher.compute(*pair)
    calibration = stereopsis.Calibration.load(RIG)
    width, height = calibration.size
    picture = np.random.default_rng(4).integers(0, 256, (height, width, 3), dtype=np.uint8)
    rectified = calibration.rectify(picture, picture)

    def works():
        same(matcher, pair, expected)
        for ours, before in zip(calibration.rectify(picture, picture), rectified):
            assert (ours == before).all()

    def child():
        works()
        in_child(works)
        works()

    in_child(child)
    in_child(lambda: in_child(works))
    works()


def test_a_parents_objects_are_dropped_in_a_child(pair):
    kept = [stereopsis.Matcher(num_disparities=16), stereopsis.Calibration.load(RIG)]
    kept[0].compute(*pair)
    kept[1].focal_px(*kept[1].size)

    def drops():
        kept.clear()
        gc.collect()

    in_child(drops)
    again = [stereopsis.Matcher(num_disparities=16)]

    def drops_after_use():
        again[0].compute(*pair)
        again.clear()
        gc.collect()

    again[0].compute(*pair)
    in_child(drops_after_use)


def test_a_recording_is_read_on_by_both():
    whole = [pair.left.tobytes() for pair in stereopsis.read(RECORDING)]
    assert len(whole) > 2
    recording = stereopsis.read(RECORDING)
    assert next(recording).left.tobytes() == whole[0]

    def reads_on():
        assert [pair.left.tobytes() for pair in recording] == whole[1:]

    in_child(reads_on)
    in_child(reads_on)
    reads_on()


def test_a_fork_while_another_thread_matches_is_told_in_words():
    pair = shifted_pair(2, 900, 600, 9)
    matcher = stereopsis.Matcher(num_disparities=128, preset="accurate")
    expected = matcher.compute(*pair)
    ended = threading.Event()

    def matches():
        while not ended.is_set():
            matcher.compute(*pair)

    thread = threading.Thread(target=matches)
    thread.start()

    def matches_or_says_why():
        try:
            same(matcher, pair, expected)
        except ValueError as why:
            assert "another thread used this object when the process was forked" in str(why)
            same(stereopsis.Matcher(num_disparities=128, preset="accurate"), pair, expected)

    try:
        for _ in range(3):
            in_child(matches_or_says_why)
    finally:
        ended.set()
        thread.join(LIMIT_S)


MATCHER = stereopsis.Matcher(num_disparities=16)


def matched(seed):
    return MATCHER.compute(*shifted_pair(seed, 100, 60, 6))


def test_a_pool_of_forked_processes_maps_pairs():
    expected = [matched(seed) for seed in range(4)]
    with multiprocessing.get_context("fork").Pool(2) as pool:
        found = pool.map_async(matched, range(4)).get(timeout=LIMIT_S)
    for ours, theirs in zip(found, expected):
        assert (ours == theirs).all()

#!/usr/bin/env python3
"""Times Stereopsis beside OpenCV's semi-global matching: the same images, the same number of threads, in turn.

    make bench [ARGS="..."]          or: .venv/bin/python tools/bench_opencv.py

The images are pairs of the built-in scene, which the program writes for this. Each round runs OpenCV's MODE_HH (8 paths), then
MODE_SGBM_3WAY (3 paths), then Stereopsis (8 paths) with each level of vector instructions that this processor has, some pairs
without the clock and then --frames pairs with it.

Stereopsis is timed by itself, from rectified luma to the filtered disparity map: census 5x5, 8 paths, adaptive P2, winner with
sub-pixel, left-right check, median 3x3, speckle filter. OpenCV is called as its users do and does what its compute() does: pixel cost, paths, winner
with sub-pixel, left-right check, median 3x3, speckle filter. Its parameters are those that its documentation advises for one channel and block size 1:
P1 = 8, P2 = 32; disp12MaxDiff 1, uniquenessRatio 0, preFilterCap 63, speckles of 100 px with steps of 1 px.
"""
import argparse
import pathlib
import sys
import tempfile
import time

import bench_program as ours

try:
    import cv2
except ImportError:
    raise SystemExit(
        "stereopsis: OpenCV for Python is missing: run `make bench`, which puts numpy and opencv-python-headless into .venv, or "
        "install them and run this script with that Python; without OpenCV: cargo run -- bench"
    )

MODES = {"hh": cv2.STEREO_SGBM_MODE_HH, "3way": cv2.STEREO_SGBM_MODE_SGBM_3WAY}
SIZES = ["640x480", "1024x768", "1280x960"]
LEVELS = ["avx512", "avx2", "sse4.2", "portable"]
# as the program itself does
WARM_UP = 3


def size(text):
    width, x, height = text.partition("x")
    if not (x and width.isdigit() and height.isdigit()):
        raise argparse.ArgumentTypeError("expected WIDTHxHEIGHT, such as 640x480")
    return text


def at_least_one(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected a whole number from 1")
    return int(text)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", action="append", type=size, metavar="WxH", help=f"repeat for several [default: {', '.join(SIZES)}]")
    parser.add_argument("--num-disparities", type=at_least_one, default=128, metavar="N", help="a multiple of 16 [default: 128]")
    parser.add_argument("--threads", type=at_least_one, metavar="N", help="of each [default: 2, or 1 where there is one core]")
    parser.add_argument("--level", action="append", choices=LEVELS, help="of Stereopsis, repeat for several [default: all of this processor]")
    parser.add_argument("--rounds", type=at_least_one, default=5, metavar="N", help="[default: 5]")
    parser.add_argument("--frames", type=at_least_one, default=6, metavar="N", help="pairs of each in each round [default: 6]")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures")
    given = parser.parse_args()
    if given.num_disparities % 16:
        parser.error("--num-disparities: OpenCV takes multiples of 16 only")
    given.size = given.size or SIZES
    given.threads = given.threads or min(2, ours.cores())
    return given


def matcher(mode, disparities):
    return cv2.StereoSGBM_create(
        minDisparity=0,
        numDisparities=disparities,
        blockSize=1,
        P1=8,
        P2=32,
        disp12MaxDiff=1,
        preFilterCap=63,
        uniquenessRatio=0,
        speckleWindowSize=100,
        speckleRange=1,
        mode=MODES[mode],
    )


def time_opencv(sgbm, pairs, frames):
    """Times of `frames` pairs, ms, after some without the clock."""
    times = []
    for number in range(WARM_UP + frames):
        left, right = pairs[number % len(pairs)]
        start = time.perf_counter()
        sgbm.compute(left, right)
        times.append(1e3 * (time.perf_counter() - start))
    return times[WARM_UP:]


def read_pairs(folder):
    pairs = []
    for left in sorted(folder.glob("left*.png")):
        right = left.with_name(left.name.replace("left", "right"))
        pairs.append([cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) for path in (left, right)])
    return pairs


def measure(program, given, folder, of_size):
    """All rounds of one size."""
    common = ["--engine", "cpu", "--threads", given.threads, "--num-disparities", given.num_disparities]
    common += ["--weighted-median", "off"]  # OpenCV's compute() has none
    ours.bench(program, ["--size", of_size, "--write-pairs", folder, "--frames", 1, *common])
    pairs = read_pairs(folder / of_size)
    matchers = {mode: matcher(mode, given.num_disparities) for mode in MODES}
    times, said = {name: [] for name in [*MODES, *given.level]}, {}
    for round_ in range(given.rounds):
        ours.tell(f"{of_size}, {given.num_disparities} disparities: round {round_ + 1} of {given.rounds}")
        for mode, sgbm in matchers.items():
            times[mode] += time_opencv(sgbm, pairs, given.frames)
        for level in given.level:
            said[level] = ours.bench(program, [folder / of_size, "--frames", given.frames, *common], level)
            times[level] += said[level]["frame_ms"]["all"]
    found = {name: ours.figures(all_) for name, all_ in times.items()}
    return [
        {
            "size": of_size,
            "num_disparities": given.num_disparities,
            "level": level,
            "adapter": said[level]["engine"]["adapter"],
            "program": said[level]["program"],
            "ms": {**{mode: found[mode] for mode in MODES}, "ours": found[level]},
            "times_as_fast_as": {
                mode: {key: found[mode][key] / found[level][key] for key in ("best", "median")} for mode in MODES
            },
            "parameters": said[level]["parameters"],
            "stages_ms": said[level]["stages_ms"],
            "engine_mb": said[level]["engine_mb"],
            "peak_mb": said[level]["peak_mb"],
        }
        for level in given.level
    ]


def has_level(program, level):
    """Whether the processor has it; the program refuses another."""
    try:
        ours.bench(program, ["--engine", "cpu", "--size", "16x16", "--num-disparities", 16, "--frames", 1], level)
    except ours.Refused:
        return False
    return True


def table(results):
    lines = [
        "                                    OpenCV MODE_HH    MODE_SGBM_3WAY        stereopsis    times as fast as HH   as 3WAY",
        "size       disparities     level     best   median      best   median      best   median      best   median    best   median",
    ]
    for row in results:
        ms, ratio = row["ms"], row["times_as_fast_as"]
        times = "  ".join(f"{ms[name]['best']:8.1f} {ms[name]['median']:8.1f}" for name in ("hh", "3way", "ours"))
        ratios = "  ".join(f"{ratio[mode]['best']:6.2f}   {ratio[mode]['median']:6.2f}" for mode in ("hh", "3way"))
        lines.append(f"{row['size']:<10} {row['num_disparities']:>11}  {row['level']:>8}  {times}    {ratios}")
    return "\n".join(lines)


def main():
    given = arguments()
    load_before = ours.load()
    program = ours.built()
    given.level = given.level or [level for level in LEVELS if has_level(program, level)]
    cv2.setNumThreads(given.threads)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for of_size in given.size:
            try:
                results += measure(program, given, pathlib.Path(folder), of_size)
            except ours.Refused as words:
                raise SystemExit(f"stereopsis: {of_size} cannot be timed: {words}")
    where = {**ours.about(results[0]["adapter"], results[0]["program"]), "load_before": load_before}
    where |= {"opencv": cv2.__version__, "threads": given.threads}
    print(ours.headline(where))
    print(f"OpenCV {where['opencv']}; threads of each: {given.threads}; rounds: {given.rounds}, pairs in each: {given.frames}; times in ms")
    print(table(results))
    ours.write(given.json, {**where, "rounds": given.rounds, "frames": given.frames, "results": results})


if __name__ == "__main__":
    sys.exit(main())

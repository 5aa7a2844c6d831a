#!/usr/bin/env python3
"""Counts the instructions of the CPU engine for each pixel and disparity, and compares them with those that are kept.

    make bench-instructions [ARGS="..."]          or: tools/bench_instructions.py

Counts vary far less than times, so a change of a few per cent is seen that no time would show; let nothing else run meanwhile. valgrind
counts them while the program matches pairs of the built-in scene with one thread: those of six pairs without those of four. It has no
AVX-512. tools/instructions.json keeps the counts, with the compiler that made them; more by above 5 % end this with code 1.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import bench_program as ours

KEPT = pathlib.Path(__file__).with_name("instructions.json")
ALLOWED = 1.05
SIZE, DISPARITIES = "640x480", 128
LEVELS = {"x86_64": ["portable", "avx2"]}.get(os.uname().machine, ["portable"])
# what is counted, by the words of its parameters
SETTINGS = {"8 paths": ["--weighted-median", "off"]}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep these counts instead of comparing them")
    return parser.parse_args()


def instructions(program, pairs, level, settings, frames):
    """Of a whole run."""
    command = ["valgrind", "--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null", program, "bench", pairs]
    command += ["--engine", "cpu", "--threads", 1, "--num-disparities", DISPARITIES, "--frames", frames, *settings]
    done = subprocess.run(
        [str(word) for word in command], env={**os.environ, "STEREOPSIS_SIMD": level}, capture_output=True, text=True
    )
    found = re.search(r"I +refs: +([\d,]+)", done.stderr)
    if done.returncode != 0 or not found:
        raise SystemExit(f"stereopsis: {level} could not be counted: {done.stderr.strip().splitlines()[-1:]}")
    return int(found[1].replace(",", ""))


def count(program):
    """For each level and each setting."""
    width, height = map(int, SIZE.split("x"))
    counts = {}
    with tempfile.TemporaryDirectory() as folder:
        ours.bench(program, ["--engine", "cpu", "--size", SIZE, "--write-pairs", folder, "--frames", 1])
        for level in LEVELS:
            for name, settings in SETTINGS.items():
                ours.tell(f"counting {level}, {name}")
                few, many = (instructions(program, pathlib.Path(folder) / SIZE, level, settings, frames) for frames in (1, 3))
                counts[f"{level}, {name}"] = round((many - few) / 2 / (width * height * DISPARITIES), 3)
    return counts


def main():
    given = arguments()
    if not shutil.which("valgrind"):
        raise SystemExit("stereopsis: valgrind is missing: `make bench-instructions` installs it, or your package manager")
    program = ours.built()
    counts = count(program)
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    if given.keep:
        KEPT.write_text(json.dumps({"compiler": compiler, "instructions": counts}, indent=1) + "\n")
        print(f"kept {len(counts)} counts in {KEPT}")
        return 0
    kept = json.loads(KEPT.read_text())
    print(f"instructions for each pixel and disparity, {SIZE} x {DISPARITIES}; kept: by {kept['compiler']}, now: by {compiler}")
    worse = 0
    for name, now in counts.items():
        before = kept["instructions"].get(name)
        change = f"{100 * (now / before - 1):+6.1f} %" if before else "   new"
        is_worse = bool(before) and now > ALLOWED * before
        worse += is_worse
        print(f"{name:<28} {now:8.3f}  kept {before or 0:8.3f}  {change}{'  TOO MANY' if is_worse else ''}")
    if worse:
        print(f"stereopsis: {worse} of {len(counts)} need more by above 5 %: find out why, or keep them with --keep", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

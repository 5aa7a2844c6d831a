#!/usr/bin/env python3
"""Times of a build, of the tests, and of an edit, as tables for CONTRIBUTING.md. Run on a machine that does nothing else.

    tools/times.py build          what `make run` builds, by the direct dependency that brings it; into an empty folder: minutes
    tools/times.py tests          each test binary and the slowest tests; one binary after the other
    tools/times.py edit           a line changed in four places, until their tests have run
    tools/times.py start          the program's start up to its help, to the map of two files and of the scene; as root, cold ones too
"""

import collections
import datetime
import json
import os
import pathlib
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
TESTS = ["--workspace", "--exclude", "stereopsis-lab", "--exclude", "stereopsis-attack"]
EDITS = {
    "the window": ("crates/ui/src/panels/pictures.rs", ["-p", "stereopsis-ui", "picture"]),
    "the CPU engine": ("crates/cpu/src/winner/mod.rs", ["-p", "stereopsis-cpu"]),
    "a parser": ("crates/calibration/src/formats/kalibr.rs", ["-p", "stereopsis-calibration", "formats"]),
    "a filter": ("crates/stereo/src/filter/speckle.rs", ["-p", "stereopsis-stereo", "filter"]),
}


def cargo(*words, **options):
    env = os.environ | {"CARGO_TERM_COLOR": "never"}
    return subprocess.run(["cargo", *words], cwd=ROOT, env=env, check=True, text=True, **options)


def table(head, rows):
    print("| " + " | ".join(head) + " |\n" + "|---" * len(head) + "|")
    for row in rows:
        print("| " + " | ".join(str(cell) for cell in row) + " |")
    print()


def machine(command):
    model = re.search(r"model name\s*: (.*)", pathlib.Path("/proc/cpuinfo").read_text())
    commit = subprocess.check_output(["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, text=True).strip()
    cores = len(os.sched_getaffinity(0))
    print(f"`{command}`, {cores} cores of {model[1] if model else 'this machine'}, {datetime.date.today():%d %B %Y}, commit {commit}.\n")


def exclusive():
    """Returns for each package the direct dependencies of the workspace that bring it; own packages are one group."""
    metadata = json.loads(cargo("metadata", "--locked", "--format-version", "1", stdout=subprocess.PIPE).stdout)
    names = {package["id"]: package["name"] for package in metadata["packages"]}
    graph = {
        node["id"]: {d["pkg"] for d in node["deps"] if any(kind["kind"] != "dev" for kind in d["dep_kinds"])}
        for node in metadata["resolve"]["nodes"]
    }
    own = set(metadata["workspace_members"])
    direct = {d for member in own for d in graph[member]} - own
    brought = collections.defaultdict(set)
    for first in direct:
        seen, todo = set(), [first]
        while todo:
            package = todo.pop()
            if package not in seen:
                seen.add(package)
                todo.extend(graph[package])
        for package in seen:
            brought[names[package]].add(names[first])
    roots = {name: " + ".join(sorted(found)) if len(found) <= 3 else "four or more" for name, found in brought.items()}
    return roots | {names[member]: "own crates" for member in own}


def build():
    """Prints the seconds of each direct dependency with what only it brings, and of the slowest crates."""
    roots = exclusive()
    with tempfile.TemporaryDirectory() as folder:
        started = time.monotonic()
        cargo("build", "--locked", "--timings", "--target-dir", folder)
        wall_s = time.monotonic() - started
        cpu_s = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        page = (pathlib.Path(folder) / "cargo-timings/cargo-timing.html").read_text()
    units = json.loads(re.search(r"const UNIT_DATA = (\[.*?\n?\]);", page, re.S)[1])
    total = sum(unit["duration"] for unit in units)
    groups, crates = collections.Counter(), collections.Counter()
    for unit in units:
        groups[roots.get(unit["name"], "four or more")] += unit["duration"]
        crates[unit["name"]] += unit["duration"]
    machine("tools/times.py build")
    print(f"{len(units)} units, {wall_s:.0f} s on the clock, {cpu_s:.0f} s of processors.\n")
    for head, counts, most in (("brought by", groups, 25), ("crate", crates, 30)):
        rows = [(name, f"{s:.1f}", f"{100 * s / total:.1f} %") for name, s in counts.most_common(most)]
        table([head, "unit seconds", "share"], rows)


def binaries():
    """Returns the test binaries with the folders that cargo starts them in."""
    lines = cargo("test", "--locked", "--no-run", *TESTS, "--message-format", "json", stdout=subprocess.PIPE).stdout.splitlines()
    found = []
    for message in map(json.loads, lines):
        if message.get("executable") and message["profile"]["test"]:
            target, folder = message["target"], pathlib.Path(message["manifest_path"]).parent
            package = "stereopsis" if folder == ROOT else folder.name
            found.append((f"{package} {target['name']}" if "lib" not in target["kind"] else package, message["executable"], folder))
    return found


def tests():
    """Prints the seconds of each test binary, and the slowest tests."""
    threads = os.environ.get("RUST_TEST_THREADS") or str(2 * len(os.sched_getaffinity(0)))
    env = os.environ | {"RUSTC_BOOTSTRAP": "1", "RUST_TEST_THREADS": threads}
    rows, slow = [], []
    for name, binary, folder in binaries():
        before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        # --report-time is not stable yet; it prints seconds only
        run = subprocess.run(
            [binary, "-Z", "unstable-options", "--report-time"], cwd=folder, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        wall_s, after = time.monotonic() - started, resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu_s = sum(after[:2]) - sum(before[:2])
        passed = re.findall(r"^test (\S+).* \.\.\. ok <([\d.]+)s>$", run.stdout, re.M)
        slow += [(name, test, float(s)) for test, s in passed]
        rows.append((name, len(passed), wall_s, cpu_s, "" if run.returncode == 0 else "failed"))
        print(f"{name}: {wall_s:.0f} s", file=sys.stderr, flush=True)
    machine("tools/times.py tests")
    rows.sort(key=lambda row: -row[2])
    rows.insert(0, ("all", *(sum(row[k] for row in rows) for k in (1, 2, 3)), ""))
    table(["binary", "tests", "s", "s of processors", ""], [(n, c, f"{w:.1f}", f"{u:.1f}", f) for n, c, w, u, f in rows if w >= 1 or f])
    slow.sort(key=lambda row: -row[2])
    table(["binary", "test", "s"], [(name, test, f"{s:.1f}") for name, test, s in slow[:60]])
    return any(row[4] for row in rows)


def edit():
    """Prints the seconds from a changed line to the end of its tests."""
    rows = []
    for name, (file, words) in EDITS.items():
        cargo("test", "--locked", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        path = ROOT / file
        text = path.read_text()
        try:
            path.write_text(text + f"\nconst _: u64 = {time.time_ns()};\n")
            started = time.monotonic()
            cargo("test", "--locked", *words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            rows.append((name, f"`cargo test {' '.join(words)}`", f"{time.monotonic() - started:.0f} s"))
        finally:
            path.write_text(text)
    machine("tools/times.py edit")
    table(["a line in", "what runs its tests", "built and run"], rows)


STARTS = [
    ("`--help`", ["--help"]),
    ("the map of two files of 640x480, CPU engine", ["compute", "left.pgm", "right.pgm", "--engine", "cpu", "--overwrite", "-o", "map.pfm"]),
    ("the same on the GPU", ["compute", "left.pgm", "right.pgm", "--engine", "gpu", "--overwrite", "-o", "map.pfm"]),
    ("the scene's first map and preview, CPU engine", ["live", "--headless", "--frames", "1", "--engine", "cpu"]),
    ("the same on the GPU", ["live", "--headless", "--frames", "1", "--engine", "gpu"]),
]


def start():
    """Prints how long the built program takes to its end, with what it keeps and in memory (warm), and without both (cold)."""
    program = ROOT / "target/debug/stereopsis"
    drop = pathlib.Path("/proc/sys/vm/drop_caches")
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        noise = random.Random(7).randbytes(704 * 480)
        for name, shift in (("left", 40), ("right", 52)):
            rows_of_pixels = (noise[704 * y + shift : 704 * y + shift + 640] for y in range(480))
            (pathlib.Path(folder) / f"{name}.pgm").write_bytes(b"P5 640 480 255\n" + b"".join(rows_of_pixels))

        def seconds(words, home):
            env = {k: v for k, v in os.environ.items() if not k.startswith("XDG_") and k != "MESA_SHADER_CACHE_DIR"} | {"HOME": home}
            started = time.monotonic()
            subprocess.run([program, *words], cwd=folder, env=env, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            return time.monotonic() - started

        for name, words in STARTS:
            cold = []
            for _ in range(3):
                if not os.access(drop, os.W_OK):
                    break
                os.sync()
                drop.write_text("3")
                cold.append(seconds(words, tempfile.mkdtemp(dir=folder)))
            home = tempfile.mkdtemp(dir=folder)
            seconds(words, home)
            warm = [seconds(words, home) for _ in range(7)]
            rows.append((name, f"{statistics.median(cold):.2f} s" if cold else "not measured", f"{statistics.median(warm):.2f} s"))
    machine("tools/times.py start")
    table(["until", "cold", "warm"], rows)


COMMANDS = {"build": build, "tests": tests, "edit": edit, "start": start}
if len(sys.argv) != 2 or sys.argv[1] not in COMMANDS:
    sys.exit(__doc__)
sys.exit(COMMANDS[sys.argv[1]]())

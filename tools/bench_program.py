"""Calls `stereopsis bench` for the scripts beside this one, and says on what machine and of which state of the program."""
import datetime
import json
import os
import pathlib
import platform
import statistics
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Refused(Exception):
    """The program's own words why it does not do what it was asked for."""


def built():
    """The program of STEREOPSIS_PROGRAM, or that of `make run`, made now where it is missing or old; ends the script where that fails."""
    if named := os.environ.get("STEREOPSIS_PROGRAM"):
        return pathlib.Path(named)
    build = subprocess.run(["cargo", "build", "--locked"], cwd=ROOT)
    if build.returncode != 0:
        raise SystemExit("stereopsis: the program could not be built: its compiler says why above")
    return target_folder() / "debug" / ("stereopsis.exe" if os.name == "nt" else "stereopsis")


def target_folder():
    """Where cargo puts what it builds."""
    about = subprocess.run(
        ["cargo", "metadata", "--locked", "--no-deps", "--format-version", "1"], cwd=ROOT, check=True, stdout=subprocess.PIPE
    )
    return pathlib.Path(json.loads(about.stdout)["target_directory"])


def bench(program, arguments, level=None):
    """What `bench --json` says with these arguments, as the only one of its results; raises Refused with its words. `level` is that of
    the vector instructions, by its word; the best one without."""
    command = [str(program), "bench", "--json", *map(str, arguments)]
    environment = {**os.environ, "STEREOPSIS_SIMD": level} if level else None
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
    if done.returncode != 0:
        lines = [line for line in done.stderr.strip().splitlines() if line.strip()]
        raise Refused(lines[0].removeprefix("stereopsis: ") if lines else f"it ended with code {done.returncode}")
    said = json.loads(done.stdout)
    (result,) = said["results"]
    return {**result, "program": said["program"]}


def cores():
    """Cores that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def load():
    """Programs that wanted a core in the last minute; None where the system does not tell."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def state():
    """The commit, with + where files differ from it; None outside a git tree."""

    def git(*words):
        done = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        return done.stdout.strip() if done.returncode == 0 else None

    try:
        commit = git("rev-parse", "--short=12", "HEAD")
        return commit and commit + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except FileNotFoundError:
        return None


def about(adapter, program):
    """Where and with what figures were taken."""
    return {
        "program": program,
        "commit": state(),
        "adapter": adapter,
        "system": f"{platform.system()} {platform.release()}, {platform.machine()}",
        "cores": cores(),
        "load_before": load(),
        "time": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def headline(where):
    """The same in one line, and a warning where others work on this machine."""
    commit = f" at {where['commit']}" if where["commit"] else ""
    line = f"{where['program']}{commit} on {where['adapter']}; {where['system']}, {where['cores']} cores"
    busy = where["load_before"]
    if busy is not None and busy > 0.5:
        line += f"\nother programs wanted {busy:.1f} cores in the minute before: times may be too long, close them and repeat"
    return line


def figures(times):
    """Best and median of some times, ms, with all of them."""
    return {"best": min(times), "median": statistics.median(times), "all": times}


def write(path, figures_of_run):
    """Writes the figures for other programs."""
    if path:
        path.write_text(json.dumps(figures_of_run, indent=1) + "\n")
        print(f"wrote {path}", file=sys.stderr)


def tell(text):
    """Says what is going on; the table alone goes to standard output."""
    print(f"stereopsis: {text}", file=sys.stderr, flush=True)

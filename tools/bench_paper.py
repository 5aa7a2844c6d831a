#!/usr/bin/env python3
"""Times Stereopsis as Frommholz (2020) timed his: against the number of path directions, and of threads.

    make bench-paper [ARGS="..."]          or: python3 tools/bench_paper.py

The first table stands beside Table 4 of his "Lock-free multithreaded semi-global matching with an arbitrary number of path
directions", the second one beside its Table 5 (x86-64 SSE2/4, seconds).
His are whole runs on large aerial images with gated search ranges, reading and writing included, on 24 cores of an AMD EPYC 7402P; ours
are one pair of the built-in scene, from rectified luma to the filtered map. So only the relative columns can be compared: how much
longer more directions take, and how much quicker more threads are.

Every configuration runs once in each round, so that what else the machine does meets all of them alike. Arguments after -- go to
`stereopsis bench`, such as -- --cost census-7x7 --gating 2.
"""
import argparse
import pathlib
import sys

import bench_program as ours

# directions and threads: seconds
TABLE_4 = {1: 64, 2: 69, 4: 71, 8: 73, 16: 82, 24: 90, 32: 99, 64: 131, 128: 198, 256: 331, 384: 462}
TABLE_5 = {1: 997, 2: 575, 4: 340, 8: 199, 16: 102, 24: 77, 32: 71, 48: 66}
DIRECTIONS = [1, 2, 4, 8, 16, 24, 32, 64]
# of his Table 5
DIRECTIONS_OF_TABLE_5 = 16


def numbers(text):
    found = [word for word in text.split(",") if word.isdigit() and int(word) > 0]
    if found != text.split(","):
        raise argparse.ArgumentTypeError("expected whole numbers with commas, such as 4,8,16")
    return [int(word) for word in found]


def at_least_one(text):
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError("expected a whole number from 1")
    return int(text)


def arguments():
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="cpu", choices=("cpu", "gpu"), help="[default: cpu; threads are timed on the CPU only]")
    parser.add_argument("--size", default="640x480", metavar="WxH", help="[default: 640x480]")
    parser.add_argument("--num-disparities", type=at_least_one, default=128, metavar="N", help="[default: 128]")
    parser.add_argument("--paths", type=numbers, default=DIRECTIONS, metavar="N,N,...", help="[default: 1,2,4,8,16,24,32,64]")
    parser.add_argument("--threads", type=numbers, metavar="N,N,...", help="[default: 1, 2, 4 ... up to all cores]")
    parser.add_argument(
        "--paths-of-threads", type=at_least_one, default=DIRECTIONS_OF_TABLE_5, metavar="N", help="directions there [default: 16, as his]"
    )
    parser.add_argument("--rounds", type=at_least_one, default=5, metavar="N", help="[default: 5]")
    parser.add_argument("--frames", type=at_least_one, default=6, metavar="N", help="pairs in each round [default: 6]")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write all figures")
    given = parser.parse_args(words[:split])
    given.more = words[split + 1 :]
    given.threads = given.threads or all_threads()
    return given


def all_threads():
    """Powers of two up to all cores, and all cores."""
    cores = ours.cores()
    powers = [1 << n for n in range(cores.bit_length()) if 1 << n <= cores]
    return sorted({*powers, cores})


def measure(program, given, configurations):
    """Times of each configuration, interleaved; the words of those that the program refuses; what it said last."""
    times, refused, said = {key: [] for key in configurations}, {}, None
    for round_ in range(given.rounds):
        ours.tell(f"round {round_ + 1} of {given.rounds}: {len(configurations)} configurations")
        for key, flags in configurations.items():
            if key in refused:
                continue
            common = ["--size", given.size, "--num-disparities", given.num_disparities, "--frames", given.frames]
            try:
                said = ours.bench(program, [*common, *flags, *given.more])
                times[key] += said["frame_ms"]["all"]
            except ours.Refused as words:
                refused[key] = str(words)
    return {key: ours.figures(all_) for key, all_ in times.items() if all_}, refused, said


def table(head, keys, found, refused, paper, base, faster):
    """Rows with what was measured and the paper's figures, each relative to the row `base` of its own column."""

    def relative(value, of_base):
        if not (value and of_base):
            return f"{'-':>9}"
        return f"{of_base / value if faster else value / of_base:9.2f}"

    lines = [head]
    best = {key: ms["best"] for key, ms in found.items()}
    for key in keys:
        ours_ms = f"{best[key]:9.2f} {found[key]['median']:9.2f}" if key in found else f"{'refused':>19}"
        his_s = f"{paper[key]:9.0f}" if key in paper else f"{'-':>9}"
        ratios = [relative(column.get(key), column.get(base)) for column in (best, paper)]
        lines.append("  ".join([f"{key:>10}", ours_ms, ratios[0], his_s, ratios[1]]))
    lines += [f"{key} refused: {words}" for key, words in refused.items()]
    return "\n".join(lines)


def main():
    given = arguments()
    load_before = ours.load()
    program = ours.built()
    of_paths = {paths: ["--engine", given.engine, "--paths", paths] for paths in given.paths}
    found_paths, refused_paths, said = measure(program, given, of_paths)
    with_threads = ["--engine", "cpu", "--paths", given.paths_of_threads, "--threads"]
    found_threads, refused_threads, said_last = measure(program, given, {n: [*with_threads, n] for n in given.threads})
    said = said or said_last
    if said is None:
        words = next(iter({**refused_paths, **refused_threads}.values()))
        raise SystemExit(f"stereopsis: nothing could be timed: {words}")
    where = {**ours.about(said["engine"]["adapter"], said["program"]), "load_before": load_before}
    print(ours.headline(where))
    work = f"{given.size}, {given.num_disparities} disparities" + (f", {' '.join(given.more)}" if given.more else "")
    print(f"{work}; rounds: {given.rounds}, pairs in each: {given.frames}; his: Frommholz 2020, x86-64 SSE2/4\n")
    base = 8 if 8 in given.paths else given.paths[0]
    print(f"Time against directions, beside his Table 4; relative to {base} directions (ours: best times)")
    head = "directions    best ms median ms   relative      his s   relative"
    print(table(head, given.paths, found_paths, refused_paths, TABLE_4, base, faster=False))
    first = given.threads[0]
    print(f"\nTime against threads at {given.paths_of_threads} directions, beside his Table 5; times as fast as with {first} (ours: best times)")
    head = "   threads    best ms median ms     faster      his s     faster"
    print(table(head, given.threads, found_threads, refused_threads, TABLE_5, first, faster=True))
    ours.write(given.json, {**where, **results(given, (found_paths, refused_paths), (found_threads, refused_threads))})


def rows(name, paper, found, refused):
    keys = sorted({*found, *refused})
    return [{name: key, "ms": found.get(key), "refused": refused.get(key), "paper_s": paper.get(key)} for key in keys]


def results(given, of_paths, of_threads):
    return {
        "size": given.size,
        "num_disparities": given.num_disparities,
        "rounds": given.rounds,
        "frames": given.frames,
        "more": given.more,
        "paths": rows("paths", TABLE_4, *of_paths),
        "paths_of_threads": given.paths_of_threads,
        "threads": rows("threads", TABLE_5, *of_threads),
    }


if __name__ == "__main__":
    main()

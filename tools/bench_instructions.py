#!/usr/bin/env python3
"""Counts the instructions of the CPU engine for each pixel and disparity, and compares them with those that are kept.

    make bench-instructions [ARGS="..."]          or: tools/bench_instructions.py

qemu-user executes crates/cpu/examples/match_scene.rs, built as the program is, with one thread, for each level of x86-64 and for NEON;
tools/instructions.c counts. Counts are those of two pairs of the built-in scene without those of the first one. They vary by less than a
thousandth, on a busy machine too, so a change is seen that no time would show. qemu has no AVX-512. tools/instructions.json keeps the
totals, with the compiler that made them; more by above 5 % end this with code 1.
"""
import argparse
import collections
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
PLUGIN = pathlib.Path(__file__).with_name("instructions.c")
ALLOWED = 1.05
SIZE, DISPARITIES = "640x480", 128
ARM = "aarch64-unknown-linux-gnu"
ARM_LINKER = "aarch64-linux-gnu-gcc"
# the processor, and the word of STEREOPSIS_SIMD
LEVELS = {
    "avx2": ("x86_64", "avx2"),
    "sse4.2": ("x86_64", "sse4.2"),
    "portable": ("x86_64", "portable"),
    "neon": ("aarch64", "portable"),
}
# beside num-disparities
SETTINGS = {
    "8 paths": ["weighted-median=off"],
    "16 paths": ["weighted-median=off", "paths=16"],
    "gating": ["weighted-median=off", "gating=1"],
    "uniqueness": ["weighted-median=off", "uniqueness=10"],
    "weighted median": ["weighted-median=on"],
}
# A vector instruction computes with vector registers; a copy puts one into another. On x86-64 an instruction that computes may have an
# operand in memory: it is counted as what it computes, and once more as `operands`.
CLASSES = ["vector", "copies", "memory", "scalar", "branches", "operands"]
BRANCHES = re.compile(r"j\w+|call\w*|ret\w*|b|b\.\w+|bl|blr|br|cbn?z|tbn?z")
COPY = re.compile(r"%[xyz]mm\d+, %[xyz]mm\d+|v\d+\.16b, v\d+\.16b")
X86_MOVES = ("mov", "vmov", "vpbroadcast", "vbroadcast", "lddqu", "vlddqu", "push", "popq", "prefetch")
ARM_MOVES = ("ld", "st", "prf", "cas", "swp")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--keep", action="store_true", help="keep these counts instead of comparing them")
    parser.add_argument("--most", type=int, default=0, metavar="N", help="print the N most frequent instructions of each row too")
    return parser.parse_args()


def lacks(machine):
    """What this machine lacks to build and execute the example for a processor; None where it has all."""
    if not shutil.which(f"qemu-{machine}"):
        return f"qemu-{machine} is missing (Debian: qemu-user)"
    if machine == os.uname().machine:
        return None
    if machine != "aarch64":
        return f"it is not built on {os.uname().machine}"
    if not shutil.which(ARM_LINKER):
        return f"{ARM_LINKER} is missing (Debian: gcc-aarch64-linux-gnu)"
    library = subprocess.run(["rustc", "--print", "target-libdir", "--target", ARM], capture_output=True, text=True).stdout.strip()
    return None if os.path.isdir(library) else f"the standard library is missing: rustup target add {ARM}"


def built(machine):
    """The example for a processor, built where it is missing or old, and the words before it that execute it."""
    build = ["cargo", "build", "--locked", "--release", "-p", "stereopsis-cpu", "--example", "match_scene"]
    environment, folder, qemu = dict(os.environ), ours.target_folder(), [f"qemu-{machine}", "-cpu", "max"]
    if machine != os.uname().machine:
        build += ["--target", ARM]
        environment |= {f"CARGO_TARGET_{ARM.replace('-', '_').upper()}_LINKER": ARM_LINKER, f"CC_{ARM.replace('-', '_')}": ARM_LINKER}
        folder, qemu = folder / ARM, [*qemu, "-L", "/usr/aarch64-linux-gnu"]
    if subprocess.run(build, cwd=ours.ROOT, env=environment).returncode != 0:
        raise SystemExit("stereopsis: match_scene could not be built: its compiler says why above")
    return folder / "release" / "examples" / "match_scene", qemu


def plugin(machine, folder):
    """The plugin, compiled for the interface of this qemu."""
    version = subprocess.run([f"qemu-{machine}", "--version"], capture_output=True, text=True).stdout
    interface = 2 if int(re.search(r"version (\d+)", version)[1]) >= 9 else 1
    path = folder / f"{machine}.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O2", f"-DAPI={interface}", PLUGIN, "-o", path], check=True)
    return path


def classes_of(mnemonic, operands):
    """What an instruction of either processor is counted as: one class, and `operands` where it has one in memory beside."""
    if BRANCHES.fullmatch(mnemonic):
        return ["branches"]
    if "%" in operands:
        is_vector, moves = re.search("%[xyz]mm", operands), mnemonic.startswith(X86_MOVES)
        in_memory = "(" in operands and not mnemonic.startswith(("lea", "nop")) or mnemonic.startswith(("push", "popq"))
    else:
        is_vector = re.search(r"\b[vqdshb]\d+\b", operands)
        in_memory = moves = mnemonic.startswith(ARM_MOVES)
    if in_memory and moves:
        return ["memory"]
    copies = mnemonic.startswith(("mov", "vmov")) and COPY.fullmatch(operands)
    return ["copies" if copies else "vector" if is_vector else "scalar"] + ["operands"] * in_memory


def executed(words, counts_file):
    """Instructions of a run, by mnemonic and classes."""
    done = subprocess.run([str(word) for word in words], capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"stereopsis: {' '.join(map(str, words))}: {done.stderr.strip().splitlines()[-1:]}")
    counts = collections.Counter()
    for line in counts_file.read_text().splitlines():
        count, mnemonic, *operands = line.split(maxsplit=2)
        if mnemonic in ("rep", "lock", "repne"):
            mnemonic, *operands = operands[0].split(maxsplit=1)
        counts[mnemonic, *classes_of(mnemonic, operands[0] if operands else "")] += int(count)
    return counts


def count(machine, levels, folder):
    """For each of these levels of a processor and each setting: instructions for each pixel and disparity, by mnemonic and classes."""
    program, qemu = built(machine)
    counter = plugin(machine, folder)
    pairs, counts_file = folder / f"{SIZE}.grey", folder / "counts.txt"
    if not pairs.exists():  # by the first processor, for all
        subprocess.run([*([] if machine == os.uname().machine else qemu), program, pairs, SIZE, "0"], check=True)
    width, height = map(int, SIZE.split("x"))
    found = {}
    for level in levels:
        for name, settings in SETTINGS.items():
            ours.tell(f"counting {level}, {name}")
            words = [*qemu, "-E", f"STEREOPSIS_SIMD={LEVELS[level][1]}", "-plugin", f"{counter},out={counts_file}", program, pairs, SIZE]
            settings = [f"num-disparities={DISPARITIES}", *settings]
            few, many = (executed([*words, matched, *settings], counts_file) for matched in (1, 2))
            many.subtract(few)
            found[f"{level}, {name}"] = {key: n / (width * height * DISPARITIES) for key, n in many.items()}
    return found


def show(found, kept, most):
    """Prints a row for each of the counts; returns how many have grown too much."""
    print("".join([f"{'':<26}{'all':>8}{'kept':>8}{'change':>10}", *(f"{word:>10}" for word in CLASSES)]))
    worse = 0
    for name, counts in found.items():
        now, before = sum(counts.values()), kept.get(name)
        grew = bool(before) and now > ALLOWED * before
        worse += grew
        change = f"{100 * (now / before - 1):+.1f} %" if before else "new"
        classes = (sum(n for key, n in counts.items() if word in key[1:]) for word in CLASSES)
        row = f"{name:<26}{now:8.3f}{before or 0:8.3f}{change:>10}" + "".join(f"{n:10.3f}" for n in classes)
        print(row + ("  TOO MANY" if grew else ""))
        by_mnemonic = collections.Counter()
        for (mnemonic, kind, *_), n in counts.items():
            by_mnemonic[f"{mnemonic} ({kind})"] += n
        for text, n in by_mnemonic.most_common(most):
            print(f"{'':<26}{n:8.3f}  {text}")
    return worse


def main():
    given = arguments()
    levels = {}
    for level, (machine, _) in LEVELS.items():
        levels.setdefault(machine, []).append(level)
    for machine in list(levels):
        if reason := lacks(machine):
            ours.tell(f"{', '.join(levels.pop(machine))}: skipped, {reason}")
            if given.keep:
                raise SystemExit("stereopsis: counts are kept for all levels together: nothing was kept")
    found = {}
    with tempfile.TemporaryDirectory() as folder:
        for machine, of_machine in levels.items():
            found |= count(machine, of_machine, pathlib.Path(folder))
    compiler = subprocess.run(["rustc", "--version"], capture_output=True, text=True).stdout.strip()
    if given.keep:
        totals = {name: round(sum(counts.values()), 3) for name, counts in found.items()}
        KEPT.write_text(json.dumps({"compiler": compiler, "instructions": totals}, indent=1) + "\n")
        print(f"kept {len(totals)} counts in {KEPT}")
        return 0
    kept = json.loads(KEPT.read_text())
    print(f"instructions for each pixel and disparity, {SIZE} x {DISPARITIES}; kept: by {kept['compiler']}, now: by {compiler}")
    if worse := show(found, kept["instructions"], given.most):
        print(f"stereopsis: {worse} of {len(found)} need more by above 5 %: find out why, or keep them with --keep", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())

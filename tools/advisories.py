#!/usr/bin/env python3
"""Looks the versions of the lock file up in RustSec's database of known faults, and fails where one has a fault. Packages that
nobody maintains any more are named only. The database is a git repository: a folder with it, or it is cloned for this run.
Where it cannot be had, that is said, and nothing fails.

    tools/advisories.py [FOLDER]
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

DATABASE = "https://github.com/rustsec/advisory-db"


def version(text):
    """A version that can be compared: numbers, and whether it is a finished one."""
    numbers, _, before = text.strip().split("+")[0].partition("-")
    numbers = [int(number) for number in numbers.split(".")]
    return (*numbers, *[0] * (3 - len(numbers))), not before, before


def fits(found, requirement):
    """Whether a version meets a requirement in Cargo's words, such as `>=1.2.3, <2.0.0` or `^0.4.5`."""
    for part in requirement.split(","):
        sign, wanted = re.fullmatch(r"\s*(>=|<=|>|<|=|\^|~)?\s*(\S+)\s*", part).groups()
        this, that = version(found), version(wanted)
        # what may not change: for ^ all up to the first number that is not 0, for ~ the first two
        fixed = next((place for place, number in enumerate(that[0]) if number), 2) + 1 if sign in (None, "^") else 2
        meets = {
            ">=": this >= that,
            "<=": this <= that,
            ">": this > that,
            "<": this < that,
            "=": this == that,
        }.get(sign, this >= that and this[0][:fixed] == that[0][:fixed])
        if not meets:
            return False
    return True


def known(folder, packages):
    """What the database says of these versions, as (is a fault, words)."""
    import tomllib  # of Python 3.11

    for path in sorted(folder.glob("crates/*/*.md")):
        text = path.read_text()
        head = re.search(r"```toml\n(.*?)```", text, re.DOTALL)
        entry = tomllib.loads(head.group(1))
        advisory, versions = entry["advisory"], entry.get("versions", {})
        safe = versions.get("patched", []) + versions.get("unaffected", [])
        for found in () if "withdrawn" in advisory else packages.get(advisory["package"], ()):
            if not any(fits(found, requirement) for requirement in safe):
                title = re.search(r"^# (.+)$", text[head.end() :], re.MULTILINE)
                kind = advisory.get("informational")
                words = f"{advisory['id']} {advisory['package']} {found}: {title.group(1) if title else kind}"
                yield kind in (None, "unsound"), words


def main():
    lock = (Path(__file__).resolve().parent.parent / "Cargo.lock").read_text()
    packages = {}
    for name, found in re.findall(r'name = "([^"]+)"\nversion = "([^"]+)"\nsource', lock):
        packages.setdefault(name, []).append(found)
    with tempfile.TemporaryDirectory() as clone:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else clone)
        if len(sys.argv) == 1:
            command = ["git", "clone", "-q", "--depth", "1", DATABASE, clone]
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
                why = done.stderr.strip().splitlines()[-1:] if done.returncode else []
            except (OSError, subprocess.TimeoutExpired) as err:
                why = [str(err)]
            if why:
                print(f"advisories: not looked at, the database cannot be had here ({why[0]})")
                return 0
        found = list(known(folder, packages))
        count = sum(1 for _ in folder.glob("crates/*/*.md"))
    for is_fault, words in found:
        print(("FAULT: " if is_fault else "note: ") + words)
    faults = sum(is_fault for is_fault, _ in found)
    print(f"advisories: {sum(map(len, packages.values()))} versions against {count} entries, {faults} with a fault")
    return 1 if faults or not count else 0


if __name__ == "__main__":
    sys.exit(main())

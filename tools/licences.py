#!/usr/bin/env python3
"""Checks the dependencies of the lock file: each has a licence that may be built in, and comes from crates.io. Names those
that are there in several versions.

    tools/licences.py
"""

import collections
import json
import re
import subprocess
import sys
from pathlib import Path

# may be linked into a program under MIT or Apache-2.0; MPL-2.0 asks for its own files' source alone, OFL and Ubuntu are of fonts,
# CDLA-Permissive of the list of authorities by which TLS knows certificates
ALLOWED = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "BSL-1.0", "CC0-1.0", "CDLA-Permissive-2.0", "ISC", "MIT",
    "MPL-2.0", "OFL-1.1", "Ubuntu-font-1.0", "Unicode-3.0", "Unlicense", "Zlib",
}
REGISTRY = "registry+"


def is_allowed(licence):
    """Whether an SPDX expression can be met with licences that are allowed."""
    words = re.split(r"(\(|\)|\bOR\b|\bAND\b)", licence.replace("/", " OR "))
    python = "".join(
        {"OR": " or ", "AND": " and ", "(": "(", ")": ")"}.get(word.strip(), repr(word.strip() in ALLOWED))
        for word in words
        if word.strip()
    )
    return bool(eval(python, {"__builtins__": {}}))  # True, False, or, and, brackets: nothing else is left


def main():
    root = Path(__file__).resolve().parent.parent
    command = ["cargo", "metadata", "--locked", "--format-version", "1"]
    packages = json.loads(subprocess.run(command, cwd=root, check=True, capture_output=True).stdout)["packages"]
    others = [package for package in packages if package["source"]]
    wrong = [
        f"{package['name']} {package['version']}: licence {package['license'] or 'unknown'}"
        for package in others
        if not package["license"] or not is_allowed(package["license"])
    ]
    wrong += [
        f"{package['name']} {package['version']}: comes from {package['source']}"
        for package in others
        if not package["source"].startswith(REGISTRY)
    ]
    versions = collections.defaultdict(set)
    for package in others:
        versions[package["name"]].add(package["version"])
    several = {name: sorted(found) for name, found in versions.items() if len(found) > 1}
    print(f"licences: {len(others)} packages, {len(wrong)} that may not be built in")
    print(f"several versions of {len(several)}: " + "; ".join(f"{name} {', '.join(v)}" for name, v in sorted(several.items())))
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Lists public functions and constants of the crates that no other crate, test or example names: they can be pub(crate), or go.

    tools/unused_pub.py

An item is taken by its name alone, so one that shares its name with another's is missed. Types are left out, as values of them are used
without their names, and so are the stages of the reference, which are its interface. Exits 1 if there are any.
"""
import collections
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
ITEM = re.compile(r"^\s*pub (?:const fn|unsafe fn|fn|const|static) (?:mut )?([A-Za-z_][A-Za-z0-9_]*)", re.M)
WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def owner(path):
    """The crate of a file; tests beside it, examples and the program are users of their own."""
    parts = path.relative_to(ROOT).parts
    if parts[0] == "crates" and parts[2] == "src":
        return parts[1]
    return "shaders" if parts[0] == "shaders" else "/".join(parts[:3])


def main():
    files = [path for folder in ("crates", "shaders", "src", "tests", "examples", "python", "fuzz", "lab") for path in (ROOT / folder).rglob("*.rs")]
    files = [path for path in files if "target" not in path.parts]
    users = collections.defaultdict(set)
    texts = {path: path.read_text() for path in files}
    for path, text in texts.items():
        for word in set(WORD.findall(text)):
            users[word].add(owner(path))
    everything = "\n".join(texts.values())
    unused = []
    for path in sorted(files):
        crate = owner(path)
        if "/" in crate or crate == "stereo":
            continue
        for item in ITEM.finditer(texts[path]):
            if users[item[1]] == {crate} and f"{item[1]} as " not in everything:
                line = texts[path].count("\n", 0, item.start(1)) + 1
                unused.append(f"{path.relative_to(ROOT)}:{line}: {item[1]}")
    print("\n".join(unused) if unused else "every public item of the crates is named by another one")
    sys.exit(bool(unused))


if __name__ == "__main__":
    main()

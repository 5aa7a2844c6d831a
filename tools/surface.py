#!/usr/bin/env python3
"""Prints the library's public surface, one item a line.

cargo-public-api lists what a crate defines, and of what it takes from other crates only the name. So each crate of the workspace
from which the library takes something is listed too, and its items come into the library's list under their names there. A type
that only occurs in them, and that the library does not name, is listed without its path: its crate may change.
"""
import json
import re
import subprocess
import sys

KINDS = ["mod", "enum", "struct", "trait", "const", "fn", "type"]
UNNAMED = re.compile(r"\bstereopsis_\w+::(?:[a-z0-9_]+::)*(?=[A-Z])")
IN_DOCUMENTATION = {"module": "mod", "function": "fn", "constant": "const", "type_alias": "type"}
ITEM = re.compile(r"pub (?:(?:const |unsafe |async )+(?=fn))?(%s) (\w+(?:::\w+)*)" % "|".join(KINDS))


def listed(*options):
    # without the implementations that derive and the compiler add
    command = ["cargo", "+nightly", "public-api", "-sss", *options]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.splitlines()


def without_generics(line):
    while (shorter := re.sub(r"<[^<>]*>", "", line.replace("->", ""))) != line:
        line = shorter
    return line


def blocks(lines):
    """Splits a list into items, by kind and path, each with its lines: fields, methods and implementations follow their type."""
    modules = {line.split()[2] for line in lines if line.startswith("pub mod ")}
    found = {}
    for line in lines:
        item = ITEM.match(without_generics(line))
        of_module = item and (item[2] in modules or item[2].rpartition("::")[0] in modules)
        if of_module:
            block = found.setdefault((item[1], item[2]), [])
        elif line.startswith("pub use "):
            continue
        block.append(line)
    return found


def main():
    lines = listed("--no-default-features", "--features", "cameras,gpu,recording")
    metadata = ["cargo", "metadata", "--no-deps", "--format-version", "1"]
    target = json.loads(subprocess.run(metadata, check=True, stdout=subprocess.PIPE).stdout)["target_directory"]
    with open(f"{target}/doc/stereopsis.json") as file:
        documentation = json.load(file)
    taken = {}  # name in the library: kind and path where it is defined
    modules = [(item["name"], item["inner"]["module"]) for item in documentation["index"].values() if "module" in item["inner"]]
    for module, items in modules:
        uses = [documentation["index"].get(str(id), {"inner": {}})["inner"].get("use") for id in items["items"]]
        for use in filter(None, uses):
            kind, path = (documentation["paths"][str(use["id"])][key] for key in ("kind", "path"))
            if path[0] != "stereopsis":
                taken[f"stereopsis::{module}::{use['name']}"] = (IN_DOCUMENTATION.get(kind, kind), path)
    members = {crate: blocks(listed("-p", crate.replace("_", "-"))) for crate in sorted({path[0] for _, path in taken.values()})}

    surface, names = blocks(lines), {}
    for name, (kind, path) in sorted(taken.items()):
        defined = "::".join(path)
        crate = members[path[0]]
        same = [public for of, public in crate if of == kind and public.rpartition("::")[2] == path[-1]]
        same = [public for public in same if public == defined] or same
        if kind not in ("fn", "const"):
            names |= {known: name for known in (defined, *same) if known not in names}
        # one item that has several public names has the same lines under each
        own, found = re.compile(r"\b(%s)\b" % "|".join([defined, *same])), []
        for public in same:
            below = [key for key in crate if key == (kind, public) or kind == "mod" and key[1].startswith(public + "::")]
            found.append({(of, own.sub(name, item)): [own.sub(name, line) for line in crate[of, item]] for of, item in below})
        if not found or found.count(found[0]) != len(found):
            sys.exit(f"surface: it is not clear which item {name} is: {same}")
        surface |= found[0]
    longest_first = sorted(names, key=len, reverse=True)
    known = re.compile(r"\b(%s)\b" % "|".join(longest_first))

    # the order of cargo-public-api: a module, those below it, then its items by kind and name
    def place(key):
        kind, path = key
        parents = path if kind == "mod" else path.rpartition("::")[0]
        depth = parents.count("::")
        return (parents, kind != "mod", KINDS.index(kind), path) if depth < 2 else (parents.rpartition("::")[0], False, 1, path)

    for key in sorted(surface, key=place):
        for line in surface[key]:
            print(UNNAMED.sub("", known.sub(lambda found: names[found[1]], line)))


if __name__ == "__main__":
    main()

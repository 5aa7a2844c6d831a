#!/usr/bin/env python3
"""Counts lines of product code for each crate: Rust and WGSL without comments, blank lines and tests.

    tools/lines.py [PATH] [--commit REV [--to REV]] [--outside FOLDER,FOLDER]

Counts the checkout at PATH (this one without it) as it lies there, or one revision of it, or two side by side with the difference. What
lies outside stands in the table and not in the total: `--outside lab,fuzz` leaves out the laboratory and the fuzzing, so that a crate that
left the program counts before and not after.

Tests are the folders tests, examples and benches, and whatever is compiled for tests alone: behind `#[cfg(test)]` or a feature that is
called testing, inline or as files of their own; and the modules that the tests of other crates take: emulated, fixture, killed, testing,
trace.
"""
import argparse
import collections
import io
import pathlib
import re
import subprocess
import tarfile
import tempfile

TOKEN = re.compile(
    r"""//[^\n]*|/\*"""
    r'''|b?r(?P<hashes>\#*)"(?:.|\n)*?"(?P=hashes)|b?"(?:\\(?:.|\n)|[^"\\])*"'''
    r"""|b?'(?:\\u\{[^}]*\}|\\x..|\\.|[^'\\])'"""
)
OF_TESTS = re.compile(r'(?:doc)?test|feature\s*=\s*"[a-z-]*testing"')
FOR_TESTS = ("emulated", "fixture", "killed", "testing", "trace")
ATTRIBUTE = re.compile(r"\s*#\[")
ITEM = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?(?:async|const|enum|extern|fn|impl|macro_rules|mod|static|struct|trait|type|unsafe|use)\b")
MODULE = re.compile(r"\s*(?:pub(?:\([^)]*\))?\s+)?mod\s+(\w+)\s*;")
Lines = collections.namedtuple("Lines", "product tests docs files")


def blank(text, by=" "):
    return re.sub(r"[^\n]", by, text)


def plain(text):
    """The text with blanks for comments and zeros for literals, so that every brace and slash that is left is code."""
    out, at = [], 0
    while found := TOKEN.search(text, at):
        end = found.end()
        if found[0] == "/*":
            depth = 1
            for mark in re.compile(r"/\*|\*/").finditer(text, end):
                depth += 1 if mark[0] == "/*" else -1
                if depth == 0:
                    end = mark.end()
                    break
        out += text[at : found.start()], blank(text[found.start() : end], " " if found[0][0] == "/" else "0")
        at = end
    return "".join(out) + text[at:]


def closing(text, at):
    """The place behind the bracket that closes the one at a place."""
    depth = 0
    for place in range(at, len(text)):
        depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    return len(text)


def is_of_tests(condition):
    """Whether a condition of compilation holds for tests alone."""
    condition = condition.strip().rstrip(",")
    if not (group := re.match(r"(any|all)\s*\(", condition)):
        return bool(OF_TESTS.fullmatch(condition))
    inner, parts, at = condition[group.end() : -1], [], 0
    for comma in re.finditer(",", inner):
        if inner.count("(", at, comma.start()) == inner.count(")", at, comma.start()):
            parts.append(inner[at : comma.start()])
            at = comma.end()
    parts.append(inner[at:])
    return (all if group[1] == "any" else any)(is_of_tests(part) for part in parts if part.strip())


def item_end(text, at):
    """The place behind the item, field, variant or statement at a place: its block, its semicolon, its comma."""
    ends = ";" if ITEM.match(text, at) else ";,"
    while at < len(text) and text[at] not in ")]}":
        if text[at] in ends:
            return at + 1
        is_block = text[at] == "{"
        at = closing(text, at) if text[at] in "([{" else at + 1
        if is_block:
            return re.compile(r"(?:\s*[;,])?").match(text, at).end()
    return at


def without_tests(code, text):
    """The code without items for tests, and the names of modules for tests that are files of their own. `text` has the literals."""
    names = []
    for mark in re.finditer(r"#\[cfg\(", code):
        start, end = mark.start(), closing(code, mark.start() + 1)
        if not is_of_tests(text[mark.end() : end - 2]) or not code[start].strip():
            continue
        while more := ATTRIBUTE.match(code, end):
            end = closing(code, more.end() - 1)
        if module := MODULE.match(code, end):
            names.append(module[1])
        stop = item_end(code, end)
        code = code[:start] + blank(code[start:stop]) + code[stop:]
    return code, names + [name for name in FOR_TESTS if re.search(rf"\bmod {name};", code)]


def count(text):
    return sum(1 for line in text.splitlines() if line.strip())


def lines_of(folder, files):
    """The lines of a crate with these files."""
    product, of_tests, docs = {}, set(), 0
    whole = {}
    for path in files:
        text = path.read_text()
        docs += sum(1 for line in text.splitlines() if line.strip().startswith("//"))
        whole[path] = plain(text)
        product[path], names = without_tests(whole[path], text)
        below = path.parent if path.name in ("lib.rs", "main.rs", "mod.rs") else path.with_suffix("")
        of_tests |= {path for name in names for path in (below / f"{name}.rs", below / name)}
    of_tests |= {folder / name for name in ("tests", "examples", "benches")}
    for path in files:
        if path in of_tests or of_tests & set(path.parents):
            del product[path]
    total, of_product = (sum(map(count, texts.values())) for texts in (whole, product))
    return Lines(of_product, total - of_product, docs, len(product))


def crates(root):
    """The lines of each crate below a folder, by the crate's folder; the program itself is `src`."""
    folders = [root, root / "shaders", root / "lab", root / "fuzz", *root.glob("crates/*"), *root.glob("fuzz/*")]
    folders = {folder for folder in folders if (folder / "Cargo.toml").exists()}
    found = {}
    for folder in folders:
        parts = [folder / part for part in ("src", "tests", "examples", "benches")] if folder == root else [folder]
        files = [path for part in parts for ending in ("rs", "wgsl") for path in part.rglob(f"*.{ending}")]
        # what a crate below has is its own
        others = folders - {root, folder} - set(folder.parents)
        files = [path for path in files if "target" not in path.parts[len(folder.parts) :] and not others & set(path.parents)]
        found["src" if folder == root else str(folder.relative_to(root))] = lines_of(folder, files)
    return found


def of_revision(root, revision):
    archive = subprocess.run(["git", "archive", revision], cwd=root, capture_output=True, check=True).stdout
    with tempfile.TemporaryDirectory() as folder, tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        tar.extractall(folder, filter="data")
        return crates(pathlib.Path(folder))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("path", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--commit", metavar="REV", help="count this revision")
    parser.add_argument("--to", metavar="REV", help="and this one beside it; `.` is the checkout as it lies there")
    parser.add_argument("--outside", metavar="FOLDERS", default="", help="folders that are not in the total, with commas between")
    args = parser.parse_args()
    revisions = [args.commit or ".", *([args.to] if args.to else [])]
    columns = [crates(args.path.resolve()) if revision == "." else of_revision(args.path, revision) for revision in revisions]
    names = sorted(set().union(*columns))
    outside = [name for name in names if name.split("/")[0] in args.outside.split(",")]
    none = Lines(0, 0, 0, 0)

    def row(name, cells):
        text = f"{name:<20}" + "".join(" |" + "".join(f"{value:>8}" for value in cell) for cell in cells)
        print(text + (f" |{cells[1].product - cells[0].product:>+8}" if len(cells) == 2 else ""))

    def total(names):
        return [Lines(*map(sum, zip(none, *(column.get(name, none) for name in names)))) for column in columns]

    print(f"{'':<20}" + "".join(f" | {revision[:31]:<31}" for revision in revisions))
    print(f"{'':<20}" + " | product   tests    docs   files" * len(columns) + (" | product" if args.to else ""))
    for name in names:
        row(name, [column.get(name, none) for column in columns])
    row("total", total([name for name in names if name not in outside]))
    if outside:
        row("outside", total(outside))


if __name__ == "__main__":
    main()

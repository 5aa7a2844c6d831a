#!/usr/bin/env python3
"""Finds circles of imports between the files of a crate.

A file imports another one if a path in its product code leads there: `use`, `crate::`, `super::`, or a name that a `use` or a
module brings in. Re-exports are followed to the file that defines the name, so a door that only hands names on has no part in a
circle. Code behind `#[cfg(test)]` does not count. Prints the circles of each crate, each as the files that reach one another;
exits with 1 if one has more than two files.

Usage: tools/circles.py [FOLDER ...]   folders of crates; all crates of the workspace without any
"""

import os
import re
import sys

PATH = re.compile(r"(?<![\w:.$])(?:\$crate|[A-Za-z_]\w*)(?:\s*::\s*(?:[A-Za-z_]\w*|\*))*")
ITEM = re.compile(r"\b(?:fn|struct|enum|union|trait|type|const|static|macro_rules!)\s+(?:mut\s+)?([A-Za-z_]\w*)")
MOD = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?\bmod\s+(\w+)\s*;")
INLINE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?\bmod\s+(\w+)\s*\{")
USE = re.compile(r"(?:pub(?:\([^)]*\))?\s+)?\buse\s+([^;]+);")
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|b?"(?:\\.|[^"\\])*"|b?\'(?:\\[^\']+|[^\'\\])\'', re.S)


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def product_code(text):
    """Returns the text without comments, strings and what is compiled for tests only."""
    text = TOKEN.sub(" ", text)
    result, at = "", 0
    for test in re.finditer(r"#\[cfg\((?:all\()?test\b[^\]]*\]\s*(?:#\[[^\]]*\]\s*)*", text):
        if test.start() < at:
            continue
        result += text[at : test.start()]
        at = end_of_item(text, test.end())
    return result + text[at:]


def end_of_item(text, at):
    """Returns the position after the item that begins at `at`."""
    depth = 0
    for at in range(at, len(text)):
        if text[at] in "([{":
            depth += 1
        elif text[at] in ")]}":
            depth -= 1
            if depth == 0 and text[at] == "}":
                return at + 1
        elif text[at] == ";" and depth == 0:
            return at + 1
    return len(text)


def leaves(tree, prefix=()):
    """Yields the path and the new name of each leaf of a `use` tree."""
    tree = tree.strip()
    if "{" in tree:
        head, _, rest = tree.partition("{")
        prefix += tuple(part.strip() for part in head.split("::") if part.strip())
        depth, part = 0, ""
        for char in rest[: rest.rindex("}")] + ",":
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                if part.strip():
                    yield from leaves(part, prefix)
                part = ""
            else:
                part += char
        return
    path, _, name = tree.partition(" as ")
    path = prefix + tuple(part.strip() for part in path.split("::") if part.strip())
    if path[-1] == "self":
        path = path[:-1]
    yield path, name.strip() or path[-1]


class Module:
    """Module of a crate: a file, or an inline module of one."""

    def __init__(self, file, code, parent, folder):
        self.file, self.parent, self.children, self.uses = file, parent, {}, []
        while inline := INLINE.search(code):
            end = end_of_item(code, inline.end() - 1)
            self.children[inline[1]] = Module(file, code[inline.end() : end - 1], self, os.path.join(folder, inline[1]))
            code = code[: inline.start()] + code[end:]
        for name in MOD.findall(code):
            inner = os.path.join(folder, name)
            for found in filter(os.path.exists, (f"{inner}.rs", os.path.join(inner, "mod.rs"))):
                self.children[name] = Module(found, product_code(read(found)), self, inner)
        for use in USE.finditer(code):
            is_public = use.group().startswith("pub")
            self.uses += [(path, name, is_public) for path, name in leaves(use[1])]
        self.code = USE.sub(" ", MOD.sub(" ", code))
        self.items = set(ITEM.findall(self.code))

    def all(self):
        yield self
        for child in self.children.values():
            yield from child.all()

    def root(self):
        return self.parent.root() if self.parent else self

    def resolve(self, path, seen=(), is_start=True):
        """Returns the module where a path ends, and whether it ends at an item of it; `None` outside the crate."""
        if not path:
            return self, False
        if (id(self), path) in seen:
            return None
        seen += ((id(self), path),)
        head, rest = path[0], path[1:]
        if is_start and head in ("crate", "$crate"):
            return self.root().resolve(rest, seen, False)
        if head == "super":
            return self.parent and self.parent.resolve(rest, seen, False)
        if head == "self":
            return self.resolve(rest, seen, False)
        if head in self.children:
            return self.children[head].resolve(rest, seen, False)
        for target, name, _ in self.uses:
            if name == head and target[0] != head:
                return self.resolve(target + rest, seen)
        if head in self.items:
            return self, True
        for target, name, _ in self.uses:
            source = self.resolve(target[:-1], seen) if name == "*" else None
            if source and (found := source[0].resolve(path, seen, False)):
                return found
        return None


def paths_of(code):
    """Returns the paths in code; a single name in small letters counts only where it is called, else it is mostly a variable."""
    paths = [(tuple(part.strip() for part in m.group().split("::")), code[m.end() : m.end() + 1]) for m in PATH.finditer(code)]
    return [path for path, next_char in paths if len(path) > 1 or not path[0].islower() or next_char in ("(", "!")]


def imports(crate):
    """Returns the files that each file of a crate imports."""
    result = {}
    for module in crate.all():
        own = result.setdefault(module.file, set())
        paths = set(paths_of(module.code))
        paths |= {path for path, name, is_public in module.uses if not is_public and name != "*"}
        for path in paths:
            target, is_item = module.resolve(path) or (module, False)
            if is_item and target.file != module.file:
                own.add(target.file)
    return result


def circles(graph):
    """Returns the strongly connected components of more than one file (Tarjan)."""
    index, low, stack, result = {}, {}, [], []

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph.get(node, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[node] = min(low[node], low[other])
        if low[node] == index[node]:
            part = []
            while not part or part[-1] != node:
                part.append(stack.pop())
            if len(part) > 1:
                result.append(sorted(part))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return result


def main():
    folders = sys.argv[1:] or [os.path.join("crates", crate) for crate in sorted(os.listdir("crates"))] + ["shaders", "."]
    longest = 0
    for folder in folders:
        source = os.path.join(folder, "src")
        roots = [os.path.join(source, root) for root in ("lib.rs", "main.rs")]
        for root in filter(os.path.exists, roots):
            crate = Module(root, product_code(read(root)), None, source)
            for circle in circles(imports(crate)):
                longest = max(longest, len(circle))
                print(f"{folder}: {len(circle)} files: " + ", ".join(os.path.relpath(file, source) for file in circle))
    return longest > 2


if __name__ == "__main__":
    sys.exit(main())

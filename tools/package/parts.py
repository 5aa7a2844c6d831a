#!/usr/bin/env python3
"""Writes what a built program consists of: the licences of all crates in one text, and a software bill of materials (CycloneDX).

    tools/package/parts.py TRIPLE --licences FILE [--sbom FILE] [--manifest Cargo.toml ...]

The licences are those of all manifests, the bill is that of the first. It needs cyclonedx-python-lib; the licences need cargo alone. Ends with 1 where a crate's licence has no text.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
NAMES = re.compile(r"(licen[cs]e|copying|notice|unlicense|copyright|ofl|ufl)", re.IGNORECASE)
MIT = "Permission is hereby granted"  # how the text begins, behind the names


def cargo(*words):
    return subprocess.run(["cargo", *words], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def features_of(manifest):
    """What a package is built with, beside its default features."""
    return ["--features", "full"] if manifest == "Cargo.toml" else []


def linked_crates(triple, manifest):
    """The crates that are linked into the program for a target, as cargo's metadata has them."""
    tree = cargo("tree", "--locked", "--manifest-path", manifest, *features_of(manifest), "--target", triple, "-e", "normal", "--prefix", "none", "-f", "{p}")
    linked = {tuple(line.split()[:2]) for line in tree.splitlines() if line and "(proc-macro)" not in line}
    packages = json.loads(cargo("metadata", "--locked", "--manifest-path", manifest, *features_of(manifest), "--format-version", "1"))["packages"]
    of_others = (p for p in packages if p["source"] and (p["name"], "v" + p["version"]) in linked)
    return sorted(of_others, key=lambda p: (p["name"], p["version"]))


def texts_of(package):
    """The texts of licences that a crate brings."""
    folder = Path(package["manifest_path"]).parent
    files = sorted(f for f in [*folder.glob("*"), *folder.glob("*/*")] if f.is_file() and NAMES.match(f.name))
    files = [f for f in files if f.suffix.lower() in ("", ".md", ".txt", ".mit", ".apache", ".bsd") or "-" in f.name]
    return [f.read_text(errors="replace").strip() for f in files if f.suffix not in (".rs", ".toml", ".html")]


def standard_text(package, crates):
    """The text for a crate that names its licence and brings no text: ours, with its authors; Boost's, which names nobody, from another crate."""
    licence = package["license"] or ""
    if licence == "BSL-1.0":
        return next((text for other in crates if other["license"] == licence for text in texts_of(other)), None)
    if "Apache-2.0" in licence:
        return (ROOT / "LICENSE-APACHE").read_text().strip()
    if "MIT" in licence:
        body = (ROOT / "LICENSE-MIT").read_text()
        authors = ", ".join(package["authors"]) or f"the authors of {package['name']}"
        return f"MIT License\n\nCopyright (c) {authors}\n\n{body[body.index(MIT):].strip()}"
    return None


def write_licences(crates, path):
    """Each text once, behind the names of its crates. Returns the names of those that have none."""
    by_text, missing = collections.defaultdict(list), []
    for package in crates:
        texts = texts_of(package) or [standard_text(package, crates)]
        label = f"{package['name']} {package['version']} ({package['license'] or 'licence in its text'})"
        if None in texts:
            missing.append(label)
            continue
        for text in texts:
            by_text[re.sub(r"\s+", " ", text)].append((label, text))
    parts = [
        f"Stereopsis contains the standard library of Rust (MIT OR Apache-2.0) and {len(crates)} libraries of others. Each text stands behind the "
        "libraries that it belongs to."
    ]
    for same in sorted(by_text.values(), key=lambda same: (-len(same), same[0][0])):
        names = "\n".join(sorted({label for label, _ in same}))
        parts.append(f"{'=' * 78}\n{names}\n{'-' * 78}\n{same[0][1]}")
    path.write_text("\n\n".join(parts) + "\n")
    return missing


def write_bill(crates, path, manifest, triple):
    from cyclonedx.model import HashAlgorithm, HashType, Property
    from cyclonedx.model.bom import Bom
    from cyclonedx.model.component import Component, ComponentType
    from cyclonedx.contrib.license.factories import LicenseFactory
    from cyclonedx.output import make_outputter
    from cyclonedx.schema import OutputFormat, SchemaVersion
    from packageurl import PackageURL

    licences = LicenseFactory()
    lock = tomllib.loads((ROOT / manifest).with_name("Cargo.lock").read_text())
    sums = {(p["name"], p["version"]): p.get("checksum") for p in lock["package"]}

    def component(name, version, licence, kind, checksum=None):
        return Component(
            type=kind,
            name=name,
            version=version,
            purl=PackageURL("cargo", name=name, version=version),
            bom_ref=f"{name}@{version}",
            licenses=[licences.make_from_string(licence.strip().replace("/", " OR "))] if licence else [],
            hashes=[HashType(alg=HashAlgorithm.SHA_256, content=checksum)] if checksum else [],
        )

    packages = json.loads(cargo("metadata", "--locked", "--no-deps", "--manifest-path", manifest, "--format-version", "1"))["packages"]
    own = next(p for p in packages if Path(p["manifest_path"]) == (ROOT / manifest).resolve())
    bill = Bom()
    bill.metadata.component = component(own["name"], own["version"], own["license"], ComponentType.APPLICATION)
    bill.metadata.component.properties.add(Property(name="target", value=triple))
    for p in crates:
        bill.components.add(component(p["name"], p["version"], p["license"], ComponentType.LIBRARY, sums.get((p["name"], p["version"]))))
    bill.register_dependency(bill.metadata.component, bill.components)
    text = make_outputter(bill, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=1)
    path.write_text(text + "\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("triple")
    parser.add_argument("--licences", type=Path, required=True)
    parser.add_argument("--sbom", type=Path)
    parser.add_argument("--manifest", nargs="+", default=["Cargo.toml"])
    args = parser.parse_args()
    crates_of = [linked_crates(args.triple, manifest) for manifest in args.manifest]
    all_crates = {(p["name"], p["version"]): p for crates in crates_of for p in crates}
    missing = write_licences([all_crates[key] for key in sorted(all_crates)], args.licences)
    if args.sbom:
        write_bill(crates_of[0], args.sbom, args.manifest[0], args.triple)
    print(f"{args.triple}: {len(all_crates)} libraries, {args.licences.stat().st_size} bytes of licences")
    for label in missing:
        print(f"no text for the licence of {label}", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())

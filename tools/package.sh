#!/usr/bin/env bash
# Builds packages into dist/: for Linux a .deb, a .tar.gz and a wheel, for Windows a .zip and a wheel; each with licences, and with a
# software bill of materials beside it. A wheel has the library for Python and the program.
#
#   tools/package.sh [TARGET ...]             default: x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu
#   tools/package.sh --built [TARGET ...]     packs the programs that an earlier call has built
#   tools/package.sh --program FILE           packs a program of this machine that is built already, without a wheel, which tests do
#
# zig links for glibc 2.28 (2018), so that the packages run on Debian 10, Ubuntu 20.04, RHEL 8 and all that is newer.
set -euo pipefail
umask 022 # packages are for everyone to read and for nobody else to write
cd "$(dirname "$0")/.."
root=$PWD
glibc=2.28
targets=(x86_64-unknown-linux-gnu aarch64-unknown-linux-gnu x86_64-pc-windows-gnu)
version=$(sed -n 's/^version = "\(.*\)"/\1/p' Cargo.toml | head -n 1)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || date +%s)}; export SOURCE_DATE_EPOCH
export PATH=$root/.venv/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p dist

build() { # target: the path of its program is the last line
  local end=
  [[ $1 != *-windows-* ]] || end=.exe
  if [ -z "$built" ]; then
    rustup target list --installed | grep -qx "$1" || rustup target add "$1" >&2
    # the date is for archives: build scripts would run again with each commit
    case $1 in
      *-linux-gnu) env -u SOURCE_DATE_EPOCH cargo zigbuild --locked --release --features full --target "$1.$glibc" >&2 ;;
      *) env -u SOURCE_DATE_EPOCH CC_x86_64_pc_windows_gnu=x86_64-w64-mingw32-gcc cargo build --locked --release --features full --target "$1" >&2 ;;
    esac
  fi
  [ -x "target/$1/release/stereopsis$end" ] || { echo "package: target/$1/release has no program: build it first" >&2; exit 1; }
  echo "target/$1/release/stereopsis$end"
}

documents() { # target, folder: what every package says about itself
  mkdir -p "$2"
  python3 "$root/tools/package/parts.py" "$1" --licences "$2/THIRD-PARTY-LICENCES.txt" --sbom "dist/stereopsis-$version-$1.cdx.json"
  cp README.md CHANGELOG.md LICENSE-MIT LICENSE-APACHE "$2/"
  cp -r docs assets calibration examples "$2/"
  rm -rf "$2/assets/desktop" "$2/assets/choice.net"
}

linux() { # target, program, the program that writes the pages
  local name=stereopsis-$version-$1 tree=$work/$1/usr
  rm -rf "$work/$1"; mkdir -p "$tree/bin"
  install -m 755 "$2" "$tree/bin/stereopsis"
  "$3" integrate "$tree/share" >/dev/null
  gzip -9n "$tree"/share/man/man1/*.1
  documents "$1" "$tree/share/doc/stereopsis"
  cp assets/desktop/70-stereo-cameras.rules "$tree/share/doc/stereopsis/examples/"
  find "$work/$1" -type d -exec chmod 755 {} + ; find "$work/$1" -type f ! -perm -u+x -exec chmod 644 {} +
  mkdir -p "$work/tar"; rm -rf "$work/tar/$name"; cp -a "$tree" "$work/tar/$name"
  tar -C "$work/tar" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner -czf "dist/$name.tar.gz" "$name"
  deb "$1" "$tree"
}

deb() { # target, tree
  local arch=amd64 doc=$2/share/doc/stereopsis control=$work/$1/DEBIAN
  [[ $1 = x86_64-* ]] || arch=arm64
  { echo "Stereopsis $version. $(grep -m 1 -i '^copyright' LICENSE-MIT)"
    echo "MIT (LICENSE-MIT) or Apache-2.0 (/usr/share/common-licenses/Apache-2.0), at your option."
    echo "Libraries of others that it contains: THIRD-PARTY-LICENCES.txt.gz. All of them are beside this file."; } >"$doc/copyright"
  rm "$doc/LICENSE-APACHE"
  gzip -9nc "$doc/CHANGELOG.md" >"$doc/changelog.gz"; rm "$doc/CHANGELOG.md"
  gzip -9n "$doc/THIRD-PARTY-LICENCES.txt"
  mkdir -p "$control"
  # what the program loads at run time is recommended: apt installs it, and a machine without a screen can do without
  cat >"$control/control" <<CONTROL
Package: stereopsis
Version: $version
Architecture: $arch
Maintainer: The Stereopsis authors <authors@stereopsis.invalid>
Installed-Size: $(du -sk --apparent-size "$2" | cut -f1)
Depends: libc6 (>= $glibc)
Recommends: libvulkan1, mesa-vulkan-drivers | vulkan-icd, libwayland-client0, libx11-6, libx11-xcb1, libxcursor1, libxi6, libxkbcommon0, libxkbcommon-x11-0, libxrandr2
Suggests: fuse3, psmisc
Section: graphics
Priority: optional
Description: live depth from two ordinary cameras
 Stereopsis turns two webcams, or one camera with both views side by side,
 into a depth camera: it shows disparity and depth live, makes every
 parameter of semi-global matching a slider, and records depth streams that
 ROS 2, Foxglove, rerun and Python open.
 .
 It runs on any GPU with Vulkan, and on the processor alone.
CONTROL
  (cd "$work/$1" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
  dpkg-deb --root-owner-group -Zxz --build "$work/$1" "dist/stereopsis_${version}_$arch.deb" >/dev/null
}

windows() { # target, program
  local name=stereopsis-$version-$1
  rm -rf "$work/$name"; mkdir -p "$work/$name"
  cp "$2" "$work/$name/stereopsis.exe"
  documents "$1" "$work/$name"
  rm -f "dist/$name.zip"
  (cd "$work" && python3 -m zipfile -c "$root/dist/$name.zip" "$name")
}

built=
if [ "${1:-}" = --built ]; then built=yes; shift; fi
case ${1:-} in
  --program)
    linux "$(uname -m)-unknown-linux-gnu" "$2" "$2" ;;
  *)
    [ "$#" -gt 0 ] || set -- "${targets[@]}"
    for target in "$@"; do
      [[ " ${targets[*]} " == *" $target "* ]] || { echo "package: '$target' is none of ${targets[*]}" >&2; exit 2; }
    done
    own=$(uname -m)-unknown-linux-gnu
    for target in "$@"; do
      program=$(build "$target" | tail -n 1)
      case $target in
        # pages and completions are the same everywhere: a program that runs here writes them
        "$own") linux "$target" "$program" "$program" ;;
        *-linux-gnu) linux "$target" "$program" "$(build "$own" | tail -n 1)" ;;
        *) windows "$target" "$program" ;;
      esac
      tools/python.sh --build "$target" "$program"
    done ;;
esac
(cd dist && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%P\n' | sort | xargs sha256sum >SHA256SUMS)
ls -l dist

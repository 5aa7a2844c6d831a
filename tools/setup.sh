#!/bin/sh
# Installs what a build or a run needs and this machine lacks, and says so. Debian and Ubuntu; elsewhere it names what is missing.
# For bench it also puts OpenCV for Python into .venv, to compare with; for package zig's linker and what writes a bill of materials.
#
#   tools/setup.sh run|test|bench|instructions|package
#
# Asks on a terminal, goes ahead without one; with neither root nor sudo it prints the command and stops.
set -eu
purpose=${1:-run}

any_exists() { # of patterns that the shell has expanded
  for file in "$@"; do [ -e "$file" ] && return 0; done
  return 1
}
have_library() { # by file name, wherever the loader or the usual folders have it
  { ldconfig -p 2>/dev/null || /sbin/ldconfig -p 2>/dev/null; } | grep -q "$1" ||
    any_exists /usr/lib/llvm-*/lib/"$1"* /usr/lib/*/"$1"* /usr/lib/"$1"* /usr/lib64/"$1"*
}
have_vulkan_driver() { any_exists /usr/share/vulkan/icd.d/*.json /etc/vulkan/icd.d/*.json; }

without_opencv() {
  echo "stereopsis: $* (the lines above may say why; pip needs a network)" >&2
  echo "stereopsis: where a Python has both, that one runs the comparison: python3 tools/bench_opencv.py" >&2
  echo "stereopsis: without OpenCV: cargo run -- bench" >&2
  exit 1
}
in_venv() { # what to call where it fails, what to import, packages
  without=$1 imports=$2; shift 2
  if .venv/bin/python -c "import $imports" >/dev/null 2>&1; then return; fi
  echo "stereopsis: putting $* into .venv, for this folder only"
  if [ ! -e .venv ]; then
    python3 -m venv .venv || { rm -rf .venv; $without "python3 -m venv .venv failed"; }
  fi
  .venv/bin/python -m pip install -q --disable-pip-version-check --retries 1 --timeout 15 "$@" ||
    $without "$* could not be installed into .venv"
}
opencv_in_venv() { in_venv without_opencv "cv2, numpy" numpy opencv-python-headless; }
without_zig() {
  echo "stereopsis: $* (the lines above may say why; pip needs a network)" >&2
  exit 1
}

if [ "$(uname -s)" != Linux ]; then
  [ "$purpose" != bench ] || opencv_in_venv
  exit 0 # macOS and Windows bring the rest
fi
if ! command -v cargo >/dev/null 2>&1; then
  echo "stereopsis: cargo was not found; install Rust 1.95 or newer with rustup, then run this again" >&2
  exit 1
fi

missing=
need() { missing="$missing $*"; }
command -v cc >/dev/null 2>&1 || need gcc libc6-dev
if { [ "$purpose" = bench ] || [ "$purpose" = package ]; } && [ ! -x .venv/bin/python ]; then
  python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || need python3 python3-venv
fi
if [ "$purpose" = package ]; then
  command -v x86_64-w64-mingw32-gcc >/dev/null 2>&1 || need gcc-mingw-w64-x86-64
  command -v dpkg-deb >/dev/null 2>&1 || need dpkg
fi
if [ "$purpose" = instructions ]; then
  { command -v qemu-x86_64 && command -v qemu-aarch64; } >/dev/null 2>&1 || need qemu-user
  [ "$(uname -m)" = aarch64 ] || command -v aarch64-linux-gnu-gcc >/dev/null 2>&1 || need gcc-aarch64-linux-gnu libc6-dev-arm64-cross
fi
if [ "$purpose" = test ] || [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  have_library libvulkan.so.1 || need libvulkan1
  have_vulkan_driver || need mesa-vulkan-drivers
fi
if [ "$purpose" = run ] && [ -n "${DISPLAY:-}${WAYLAND_DISPLAY:-}" ]; then
  for pair in libxkbcommon.so.0=libxkbcommon0 libxkbcommon-x11.so.0=libxkbcommon-x11-0 libX11.so.6=libx11-6 \
    libX11-xcb.so.1=libx11-xcb1 libXcursor.so.1=libxcursor1 libXi.so.6=libxi6 libXrandr.so.2=libxrandr2 \
    libwayland-client.so.0=libwayland-client0; do
    have_library "${pair%%=*}" || need "${pair#*=}"
  done
fi

if [ -n "$missing" ]; then
  missing=${missing# }
  if ! command -v apt-get >/dev/null 2>&1; then
    echo "stereopsis: this machine lacks what Debian calls: $missing" >&2
    echo "stereopsis: install them with your package manager, then run this again" >&2
    exit 1
  fi
  if [ "$(id -u)" = 0 ]; then
    sudo=
  elif command -v sudo >/dev/null 2>&1 && { [ -t 0 ] || sudo -n true 2>/dev/null; }; then
    sudo=sudo
  else
    echo "stereopsis: this machine lacks: $missing. As root, run" >&2
    echo "  apt-get update && apt-get install -y --no-install-recommends $missing" >&2
    echo "and then this again" >&2
    exit 1
  fi
  echo "stereopsis: installing $missing"
  if [ -t 0 ]; then
    printf 'stereopsis: go ahead? [Y/n] '
    read -r answer
    case $answer in [nN]*) echo "stereopsis: nothing was installed" >&2; exit 1 ;; esac
  fi
  $sudo apt-get update -qq
  # shellcheck disable=SC2086 # a list of packages
  $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi

[ "$purpose" != bench ] || opencv_in_venv
[ "$purpose" != package ] || in_venv without_zig "ziglang, cyclonedx" -r tools/package/requirements.txt
if [ "$purpose" = instructions ]; then
  rustup target add aarch64-unknown-linux-gnu >/dev/null 2>&1 || true # without it Arm is skipped
fi

case $purpose in
  run | bench) [ -x target/debug/stereopsis ] || echo "stereopsis: the first build compiles about 430 crates, four to ten minutes on two cores; later ones take seconds" ;;
  instructions) [ -x target/release/examples/match_scene ] || echo "stereopsis: the first build takes two to six minutes on two cores" ;;
  package) [ -x target/x86_64-unknown-linux-gnu/release/stereopsis ] || echo "stereopsis: packages for three systems take about an hour on two cores" ;;
  test) [ -d target/debug/deps ] || echo "stereopsis: building and running the tests takes ten to twenty-five minutes on two cores" ;;
esac

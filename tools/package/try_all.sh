#!/usr/bin/env bash
# Installs and uses every package in dist/ on a bare system: Debian 11, 12, 13, Debian on Arm in qemu, Windows under wine; the wheels
# with the oldest and newest Python that Debian has.
set -euo pipefail
cd "$(dirname "$0")/../.."
shopt -s nullglob
if [ "$(id -u)" != 0 ]; then
  echo "try-packages: bare systems are made by root; what is in dist/ was not tried. Next: sudo make try-packages" >&2
  exit 1
fi
if ! command -v mmdebstrap >/dev/null || ! command -v update-binfmts >/dev/null || ! command -v arch-test >/dev/null; then
  apt-get update -qq && apt-get install -y -qq --no-install-recommends mmdebstrap qemu-user-static binfmt-support arch-test >/dev/null
fi
[ -e /proc/sys/fs/binfmt_misc/status ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
update-binfmts --enable qemu-aarch64 2>/dev/null || true
tried=0
within() { tools/package/in_debian.sh "$@"; tried=$((tried + 1)); }
amd64=(dist/stereopsis_*_amd64.deb) arm64=(dist/stereopsis_*_arm64.deb)
for package in "${amd64[@]}"; do
  for suite in bullseye bookworm trixie; do within "$suite" amd64 bash tools/package/try_deb.sh "$package"; done
done
for package in "${arm64[@]}"; do within trixie arm64 bash tools/package/try_deb.sh "$package"; done
for archive in dist/stereopsis-*-x86_64-unknown-linux-gnu.tar.gz; do within trixie amd64 bash tools/package/try_tar.sh "$archive"; done
for wheel in dist/stereopsis-*x86_64.whl; do
  for suite in bullseye bookworm trixie sid; do within "$suite" amd64 bash tools/package/try_wheel.sh "$wheel"; done
done
for wheel in dist/stereopsis-*aarch64.whl; do within trixie arm64 bash tools/package/try_wheel.sh "$wheel"; done
for archive in dist/stereopsis-*-x86_64-pc-windows-gnu.zip dist/stereopsis-*-win_amd64.whl; do within trixie amd64 bash tools/package/try_windows.sh "$archive"; done
[ "$tried" -gt 0 ] || { echo "try-packages: dist/ has no package; run 'make package' first" >&2; exit 1; }
(cd dist && sha256sum --quiet -c SHA256SUMS)
echo "$tried passed, 0 failed"

#!/usr/bin/env bash
# Matches pairs of the built-in scene on the GPU under Vulkan's validation layer, which also checks that no command reads or writes what
# another one may still be writing. Fails where the layer complains. Says so where there is no layer (Debian, Ubuntu:
# vulkan-validationlayers), and fails then only where CI=true.
#
#   tools/validation.sh [PROGRAM]      default: target/debug/stereopsis, else target/release/stereopsis
set -euo pipefail
cd "$(dirname "$0")/.."
. tools/optional.sh "${1:-}"
has_layer() { ls /usr/share/vulkan/explicit_layer.d/*validation* /etc/vulkan/explicit_layer.d/*validation* >/dev/null 2>&1; }
if [ "$(uname -s)" = Linux ] && ! has_layer; then
  [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null && apt-get update -qq &&
    apt-get install -y -qq --no-install-recommends vulkan-validationlayers >/dev/null || cannot "it needs vulkan-validationlayers"
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
settings=(
  ""
  "--preset best"
  "--paths 16"
  "--gating 2"
  "--cost mutual-information"
  "--fill=planes"
  "--aggregation cross"
  "--spatial 2 --temporal on"
)
failed=0
for setting in "${settings[@]}"; do
  # what the loader says shows that the layer is there; older layers know no other name for what is asked of them
  # shellcheck disable=SC2086 # words
  WGPU_VALIDATION=1 RUST_LOG=wgpu_hal=warn VK_LOADER_DEBUG=layer \
    VK_LAYER_ENABLES=VK_VALIDATION_FEATURE_ENABLE_SYNCHRONIZATION_VALIDATION_EXT \
    "$program" live --headless --engine gpu --size 200x150 --num-disparities 40 --frames 3 --preview "$scratch/preview.png" --overwrite $setting \
    >"$scratch/out" 2>&1 || { echo "validation: ${setting:-defaults}: the program failed"; tail -n 5 "$scratch/out"; failed=1; continue; }
  grep -q 'Insert.*device layer.*validation' "$scratch/out" || { echo "validation: ${setting:-defaults}: the layer is not in use"; failed=1; }
  # layers of 2023 do not know the number of the language from which the shaders come
  complaints=$(grep -E 'VUID|SYNC-HAZARD|Validation Error' "$scratch/out" | grep -v 'Invalid source language' || true)
  if [ -n "$complaints" ]; then
    echo "validation: ${setting:-defaults}:"
    echo "$complaints" | head -n 10
    failed=1
  else
    echo "validation: ${setting:-defaults}: no complaint"
  fi
done
exit "$failed"

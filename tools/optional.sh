# Helper of scripts that run the program where a machine allows it, sourced with the script's first argument: sets `program` to that, or else to
# the program that is built, and defines `cannot REASON`, which skips, and fails only where CI=true.
tool=$(basename "$0" .sh)

cannot() {
  echo "$tool: skipped, $*"
  [ "${CI:-}" = true ] && exit 1
  exit 0
}

program=${1:-}
for built in target/debug/stereopsis target/release/stereopsis; do
  [ -n "$program" ] || { [ -x "$built" ] && program=$built; } || true
done
[ -x "$program" ] || { echo "$tool: build the program first: cargo build" >&2; exit 1; }

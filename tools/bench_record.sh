#!/bin/sh
# What recording costs: the built-in scene at the rates of webcams, with each set of streams and each compression.
# usage: tools/bench_record.sh PROGRAM [FOLDER [SECONDS]]; prints a table in Markdown.
set -eu
program=$(realpath "${1:?usage: tools/bench_record.sh PROGRAM [FOLDER [SECONDS]]}")
folder=${2:-.}
seconds=${3:-10}
file="$folder/bench_record_$$.mcap"
trap 'rm -f "$file"' EXIT

echo "| size | rate | streams | compression | pairs/s | results/s | pairs dropped | MB/min | CPU, % of a core | of it recording |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for mode in 640x480:30 640x480:60 1280x720:30; do
    size=${mode%:*} rate=${mode#*:}
    for streams in raw raw,disparity raw,depth raw,rectified,disparity,depth; do
        for compression in none lz4 zstd; do
            "$program" record --source scene --size "$size" --rate "$rate" --scene-noise 2 --seconds "$seconds" \
                --streams "$streams" --compression "$compression" --json -o "$file" 2>/dev/null |
                python3 -c '
import json, sys
size, rate, streams, compression = sys.argv[1:]
s = json.load(sys.stdin)
per_s = lambda key: s[key] / s["seconds"]
percent = lambda value: "?" if value is None else f"{value:.0f}"
print(f"| {size} | {rate} | {streams} | {compression} | {per_s(\"pairs\"):.1f} | {per_s(\"results\"):.1f} | {s[\"dropped_by_disk\"]} | "
      f"{s[\"mb_per_minute\"]:.0f} | {percent(s[\"run\"][\"cpu_percent\"])} | {percent(s[\"recorder_cpu_percent\"])} |")
' "$size" "$rate" "$streams" "$compression"
            rm -f "$file"
        done
    done
done

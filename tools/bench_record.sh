#!/bin/sh
# Cost of recording at the rates of webcams, with each set of streams and each compression. Pairs are those of the built-in scene,
# in colour and with noise, played from a recording, because to render them takes longer than all the rest.
# usage: tools/bench_record.sh PROGRAM [FOLDER [SECONDS]]; prints a table in Markdown. MODES and STREAMS choose others.
set -eu
program=$(realpath "${1:?usage: tools/bench_record.sh PROGRAM [FOLDER [SECONDS]]}")
folder=${2:-.}
seconds=${3:-10}
file="$folder/bench_record_$$.mcap" scene="$folder/bench_record_$$_scene.mcap"
trap 'rm -f "$file" "$scene"' EXIT

row='
import json, sys
s = json.load(sys.stdin)
percent = lambda value: "?" if value is None else f"{value:.0f}"
cells = sys.argv[1:] + ["%.1f" % (s[key] / s["seconds"]) for key in ("pairs", "results")]
cells += [s["dropped_by_disk"], "%.0f" % s["mb_per_minute"], percent(s["run"]["cpu_percent"]), percent(s["recorder_cpu_percent"])]
print("|", " | ".join(map(str, cells)), "|")
'
echo "| size | rate | streams | compression | pairs/s | results/s | pairs dropped | MB/min | CPU, % of a core | of it recording |"
echo "|---|---|---|---|---|---|---|---|---|---|"
for mode in ${MODES:-640x480:30 640x480:60 1280x720:30}; do
    size=${mode%:*} rate=${mode#*:}
    rm -f "$scene"
    rendered=$("$program" record --source scene --size "$size" --scene-noise 2 --frames 60 --lossless --streams raw --compression none \
        --json -o "$scene" 2>/dev/null | python3 -c 'import json, sys; print(json.load(sys.stdin)["seconds"])')
    speed=$(python3 -c "print(f'{min($rate * $rendered / 60, 10):.3f}')")
    for streams in ${STREAMS:-raw raw,disparity raw,depth raw,rectified,disparity,depth}; do
        for compression in none lz4 zstd; do
            "$program" record --source "$scene" --speed "$speed" --seconds "$seconds" \
                --streams "$streams" --compression "$compression" --json -o "$file" 2>/dev/null |
                python3 -c "$row" "$size" "$rate" "$streams" "$compression"
            rm -f "$file"
        done
    done
done

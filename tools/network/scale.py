#!/usr/bin/env python3
"""How far a network of heads and engines goes: rigs, engines, throughput, drops by place, age of results, processor time. Heads, router,
engines and a viewer of every rig are processes of this machine, in namespaces that are connected by a bridge.

    tools/network/scale.py PROGRAM RECORDING [--rigs 1,2,4,8,16] [--engines 1,2,4] [--stub-ms 10 | --pinned] [--mbit N]
        [--delay-ms N] [--stall-ms N] [--num-disparities N] [--seconds 8]

Heads play RECORDING (raw pairs, such as MJPEG) at --rate. With --stub-ms engines wait so long for each pair instead of matching it, which
shows what the network does; without it they match, with --pinned each on one core. --mbit limits every machine's link; --delay-ms and
--stall-ms put a long or bad way (relay.py) between each head and the router. Prints a table. The age of a result is from the capture of
its pair to its arrival at a third machine; take the time of the engine away for what the network adds.
"""

import argparse
import json
import os
import sys
import time

from rig import Net, census, sh, wait_for

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("program")
arguments.add_argument("recording")
arguments.add_argument("--rigs", default="1,2,4,8,16")
arguments.add_argument("--engines", default="1,2,4")
arguments.add_argument("--stub-ms", type=float)
arguments.add_argument("--pinned", action="store_true")
arguments.add_argument("--mbit", type=float)
arguments.add_argument("--rate", type=float, default=30)
arguments.add_argument("--delay-ms", type=float, default=0)
arguments.add_argument("--stall-ms", type=float, default=0)
arguments.add_argument("--num-disparities", type=int, default=64)
arguments.add_argument("--seconds", type=float, default=8)
args = arguments.parse_args()
RELAY = os.path.join(os.path.dirname(os.path.abspath(__file__)), "relay.py")
TICKS = os.sysconf("SC_CLK_TCK")


def cpu_s(program):
    """Processor time of a process and its threads, s."""
    with open(f"/proc/{program.process.pid}/stat") as file:
        fields = file.read().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def numbers(words):
    return [int(word) for word in words.split(",")]


print("| rigs | engines | pairs/s | results/s | dropped by head, network, receiver, engine | age of results p50, p99, ms | "
      "CPU of a head, the router, an engine, % |")
print("|---|---|---|---|---|---|---|")
for rigs in numbers(args.rigs):
    for engines in numbers(args.engines):
        if engines > rigs:
            continue
        with Net() as net:
            router = f"tcp/{net.add('hub')}:7447"
            hub = net.start("hub", ["router", "--listen", "tcp/0.0.0.0:7447", "--open"], args.program)
            time.sleep(1)
            heads, workers = [], []
            for k in range(engines):
                net.add(f"e{k}", mbit=args.mbit)
                words = ["engine", "--name", f"engine-{k}", "--threads", "1", "--connect", router]
                words += ["--stub-ms", str(args.stub_ms)] if args.stub_ms else []
                workers.append(net.start(f"e{k}", words, args.program, cpu=k % os.cpu_count() if args.pinned else None))
            net.add("eye")
            wait_for("the engines are there", lambda: sum(m["role"] == "engine" for m in census(net, "eye", args.program, router)["members"]) == engines)
            for k in range(rigs):
                net.add(f"h{k}", mbit=args.mbit)
                to = router
                if args.delay_ms or args.stall_ms:
                    way = ["--delay-ms", args.delay_ms, "--stall-ms", args.stall_ms]
                    net.start(f"h{k}", [RELAY, 7447, router.removeprefix("tcp/"), *way], sys.executable)
                    time.sleep(0.3)
                    to = "tcp/127.0.0.1:7447"
                words = ["head", "--name", f"rig-{k}", "--source", args.recording, "--rate", args.rate, "--connect", to]
                words += ["--num-disparities", args.num_disparities]
                heads.append(net.start(f"h{k}", words, args.program))
            watch = ["net", "--results", str(args.seconds), "--json", "--connect", router]
            wait_for("all rigs are matched", lambda: sum(len((m["status"] or {}).get("engine", {}).get("rigs", [])) for m in census(net, "eye", args.program, router)["members"]) >= rigs, 60)
            time.sleep(3)

            def counters():
                found = census(net, "eye", args.program, router)["members"]
                status = [m["status"] or {} for m in found]
                sent = [s["head"] for s in status if s.get("head")]
                own = [rig for s in status if s.get("engine") for rig in s["engine"]["rigs"]]
                return {
                    "captured": sum(h["captured"] for h in sent),
                    "head": sum(h["sent"]["dropped"] for h in sent),
                    "network": sum(r["received"]["dropped_by_network"] for r in own),
                    "receiver": sum(r["received"]["dropped_here"] for r in own),
                    "engine": sum(r["dropped"] for r in own),
                    "results": sum(r["sent"]["sent"] for r in own),
                }, time.time()

            (before, since), cpu_before = counters(), [cpu_s(one) for one in (*heads, hub, *workers)]
            seen = json.loads(sh("ip", "netns", "exec", net.full("eye"), args.program, *watch))
            (after, until), cpu_after = counters(), [cpu_s(one) for one in (*heads, hub, *workers)]
            passed = until - since
            share = [100 * (b - a) / passed for a, b in zip(cpu_before, cpu_after)]
            each = {key: after[key] - before[key] for key in before}
            drops = ", ".join(str(each[place]) for place in ("head", "network", "receiver", "engine"))
            print(f"| {rigs} | {engines} | {each['captured'] / passed:.0f} | {seen['results'] / args.seconds:.0f} | {drops} | "
                  f"{seen['age_ms_p50']:.1f}, {seen['age_ms_p99']:.1f} | {sum(share[:rigs]) / rigs:.0f}, {share[rigs]:.0f}, "
                  f"{sum(share[rigs + 1:]) / engines:.0f} |", flush=True)

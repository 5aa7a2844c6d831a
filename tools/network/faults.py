#!/usr/bin/env python3
"""Three machines and a router, as namespaces of this one, started by the commands of docs/network.md: what happens to the others when
one of them is slow, stops, loses its cable or is killed. Needs root and the commands ip and tc.

    tools/network/faults.py PROGRAM [--size 320x240] [--rate 15] [--seconds 4] [--kept 0.95] [--stub-ms MS]

Prints a line for each fault; exit code 1 if another consumer kept less than 95 % of its rate, or a rig was without an engine for too
long. A rate is what the consumer's own status line says. With --stub-ms engines wait so long for each pair instead of matching it.
"""

import argparse
import re
import signal
import sys
import threading
import time

from rig import Net, census, wait_for

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("program")
arguments.add_argument("--size", default="320x240")
arguments.add_argument("--seconds", type=float, default=4)
arguments.add_argument("--rate", type=float, default=15)
arguments.add_argument("--kept", type=float, default=0.95)
arguments.add_argument("--stub-ms", type=float)
args = arguments.parse_args()
failures = []


def report(fault, rates, ok, more=""):
    shown = ", ".join(f"{name} {rate:.1f}/s" for name, rate in rates.items())
    print(f"{'ok   ' if ok else 'WRONG'} {fault}: {shown}{more}", flush=True)
    if not ok:
        failures.append(fault)


def keep(fault, consumers, baseline, more=""):
    """Rates of consumers now, beside those before."""
    rates = {}
    threads = [threading.Thread(target=lambda name=name, one=one: rates.update({name: one.rate(args.seconds)})) for name, one in consumers.items()]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    report(fault, rates, all(rates[name] >= args.kept * baseline[name] for name in consumers), more)
    return rates


with Net() as net:
    program = args.program
    where = {name: net.add(name) for name in ("hub", "head", "desk", "rack", "viewer", "recorder")}
    where["slow"] = net.add("slow", mbit=10)
    router = f"tcp/{where['hub']}:7447"
    listen = ["router", "--listen", "tcp/0.0.0.0:7447", "--open"]
    hub = net.start("hub", listen, program)
    time.sleep(1)
    head = ["head", "--name", "robot", "--source", "scene", "--size", args.size, "--rate", str(args.rate), "--connect", router]
    net.start("head", head, program)

    def engine(name):
        stub = ["--stub-ms", str(args.stub_ms)] if args.stub_ms else []
        return net.start(name, ["engine", "--name", name, "--threads", "1", *stub, "--connect", router], program)

    engines = {name: engine(name) for name in ("desk", "rack")}

    def owner():
        return census(net, "viewer", program, router)["engines"].get("robot")

    wait_for("both engines are there", lambda: sum(m["role"] == "engine" for m in census(net, "viewer", program, router)["members"]) == 2)
    wait_for("the rig has an engine", owner)
    source = ["--source", f"zenoh:robot@{router}"]
    raw = ["record", *source, "--streams", "raw", "-o", f"{net.folder.name}/walk.mcap"]
    live = ["live", *source, "--headless", "--engine", "network", "--frames", "100000", "--overwrite", "--preview", f"{net.folder.name}/view.png"]
    viewer, recorder = net.start("viewer", live, program), net.start("recorder", raw, program)
    wait_for("results come", lambda: viewer.rate(1) > 0.8 * args.rate)
    wait_for("pairs come", lambda: recorder.rate(1) > 0.8 * args.rate)
    both = {"viewer": viewer, "recorder": recorder}
    baseline = {name: args.rate for name in both}
    keep("nothing", both, baseline)

    slow = net.start("slow", [*live[:-1], f"{net.folder.name}/slow.png"], program)
    wait_for("the slow viewer shows something", lambda: slow.rate(1) > 0)
    keep("a viewer behind 10 Mbit/s", both, baseline, f"; itself {slow.rate(args.seconds):.1f}/s")
    slow.send(signal.SIGSTOP)
    keep("a viewer stopped", both, baseline)
    slow.kill()

    recorder.send(signal.SIGSTOP)
    keep("a recorder stopped", {"viewer": viewer}, baseline)
    recorder.send(signal.SIGCONT)
    keep("it goes on", both, baseline)

    net.cable("viewer", plugged=False)
    keep("the viewer's cable pulled", {"recorder": recorder}, baseline)
    net.cable("viewer", plugged=True)
    back = wait_for("the viewer is back", lambda: viewer.rate(1) > 0.8 * args.rate)
    keep("put back", both, baseline, f"; back after {back:.1f} s")

    def failover(fault, stop, limit):
        """The engine of the rig stops; how long no results come."""
        name = owner()
        before = len(viewer.lines())
        start = time.time()
        stop(engines[name])
        wait_for("another engine", lambda: owner() not in (None, name))
        moved = time.time() - start
        wait_for("results again", lambda: viewer.rate(1) > 0.8 * args.rate)
        lowest = min(float(found[1]) for line in viewer.lines()[before:] if (found := re.search(r"computed ([\d.]+)/s", line)))
        report(fault, {"lowest rate in a second": lowest}, moved <= limit, f"; another engine after {moved:.1f} s")
        return name

    frozen = failover("the engine frozen", lambda engine: engine.send(signal.SIGSTOP), 3.0)
    engines[frozen].send(signal.SIGCONT)
    wait_for("it has its rig again", lambda: owner() == frozen)
    keep("it goes on", both, baseline)
    killed = failover("the engine killed", lambda engine: engine.kill(), 2.0)
    engines[killed] = engine(killed)
    wait_for("it has its rig again", lambda: owner() == killed)
    keep("started again", both, baseline)

    hub.kill()
    time.sleep(2)
    hub = net.start("hub", listen, program)
    back = wait_for("the viewer is back", lambda: viewer.rate(1) > 0.8 * args.rate, 60)
    wait_for("the recorder is back", lambda: recorder.rate(1) > 0.8 * args.rate, 60)
    keep("the router started again", both, baseline, f"; back after {back:.1f} s")
    two = [line for line in viewer.lines() if "fault of this program" in line]
    report("no program has died", {}, not two and all(one.process.poll() is None for one in (viewer, recorder, *engines.values())))

sys.exit(1 if failures else 0)

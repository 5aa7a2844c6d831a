"""Processes of stereopsis in network namespaces of this machine, and what they say of themselves."""

import json
import os
import re
import signal
import subprocess
import tempfile
import time

SUBNET = "10.94.7"


def sh(*words, check=True):
    """Runs a command; its output."""
    done = subprocess.run(words, capture_output=True, text=True)
    if check and done.returncode:
        raise RuntimeError(f"{' '.join(words)}: {done.stderr.strip()}")
    return done.stdout


class Net:
    """A bridge, and namespaces that are connected to it; deleted at the end."""

    def __init__(self):
        self.bridge, self.names, self.started = f"st{os.getpid() % 100000}", [], []
        self.folder = tempfile.TemporaryDirectory()
        sh("ip", "netns", "add", self.bridge)
        self.in_bridge("ip", "link", "add", "name", "hub0", "type", "bridge")
        self.in_bridge("ip", "link", "set", "hub0", "up")

    def in_bridge(self, *words, check=True):
        return sh("ip", "netns", "exec", self.bridge, *words, check=check)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for program in self.started:
            program.kill()
        for name in self.names:
            sh("ip", "netns", "del", self.full(name), check=False)
        sh("ip", "netns", "del", self.bridge, check=False)
        self.folder.cleanup()

    def full(self, name):
        return f"{self.bridge}-{name}"

    def add(self, name, mbit=None):
        """A namespace on the bridge; mbit limits what goes to it and what comes from it. Its address."""
        number = len(self.names) + 1
        self.names.append(name)
        full, here = self.full(name), f"v{number}"
        sh("ip", "netns", "add", full)
        self.in_bridge("ip", "link", "add", here, "type", "veth", "peer", "name", "eth0", "netns", full)
        self.in_bridge("ip", "link", "set", here, "master", "hub0", "up")
        address = f"{SUBNET}.{number}"
        for words in (["addr", "add", f"{address}/24", "dev", "eth0"], ["link", "set", "eth0", "up"], ["link", "set", "lo", "up"]):
            sh("ip", "netns", "exec", full, "ip", *words)
        if mbit:
            limit = ["root", "tbf", "rate", f"{mbit}mbit", "burst", "64kb", "latency", "20ms"]
            self.in_bridge("tc", "qdisc", "add", "dev", here, *limit)
            sh("ip", "netns", "exec", full, "tc", "qdisc", "add", "dev", "eth0", *limit)
        return address

    def cable(self, name, plugged):
        """Pulls a namespace's cable, or puts it back."""
        number = self.names.index(name) + 1
        self.in_bridge("ip", "link", "set", f"v{number}", "up" if plugged else "down")

    def start(self, name, words, program, cpu=None):
        """Starts the program in a namespace."""
        pinned = ["taskset", "-c", str(cpu)] if cpu is not None else []
        command = ["ip", "netns", "exec", self.full(name), *pinned, program, *map(str, words)]
        started = Started(command, os.path.join(self.folder.name, f"{len(self.started)}.log"))
        self.started.append(started)
        return started


class Started:
    """A running program."""

    def __init__(self, command, log):
        self.log = log
        with open(log, "w") as file:
            self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=file, start_new_session=True)

    def send(self, number):
        os.killpg(self.process.pid, number)

    def kill(self):
        for number in (signal.SIGCONT, signal.SIGKILL):
            try:
                self.send(number)
            except ProcessLookupError:
                pass
        self.process.wait()

    def lines(self):
        with open(self.log, errors="replace") as file:
            return file.read().splitlines()

    def rate(self, seconds):
        """What its status line says in the next so many seconds: the mean of its rates, per second."""
        before = len(self.lines())
        time.sleep(seconds)
        rates = [float(found[1]) for line in self.lines()[before:] if (found := re.search(r"\b(?:computed|in) ([\d.]+)/s", line))]
        return sum(rates) / len(rates) if rates else 0.0


def census(net, name, program, router):
    """What `net --json` says in a namespace."""
    out = sh("ip", "netns", "exec", net.full(name), program, "net", "--json", "--connect", router, check=False)
    return json.loads(out) if out.strip() else {"members": [], "engines": {}}


def wait_for(what, condition, seconds=30):
    """Waits until something is so; how long it took, s."""
    start = time.time()
    while time.time() - start < seconds:
        if condition():
            return time.time() - start
        time.sleep(0.1)
    raise RuntimeError(f"{what}: not within {seconds} s")

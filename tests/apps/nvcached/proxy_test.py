#!/usr/bin/env python3
"""Three servers behind twemproxy (nutcracker), configured by contrib/twemproxy.yml. One of them is
killed and comes back on the same file. Counts a client's misses before, during and after that,
with nvcached and with memcached, and shows that nvcached comes back warm.

usage: proxy_test.py NVCACHED TWEMPROXY_YML
The seed is printed; NVCACHE_TEST_SEED replays what the client asks for.
"""
import bisect
import itertools
import os
import random
import re
import socket
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor

from running_server import LONG_SECONDS, Server, free_port, peer, pymemcache_client, wait_until

SEED = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))
KEYS = 6000
READS = 12_000  # in each phase
SKEW = 0.9
UPDATED = 200  # keys, while a server is away
OPTIONS = ("-m", "64")  # nothing is evicted
RETRY_SECONDS = 2  # server_retry_timeout of the configuration


def configuration(path, listen, ports):
    """The configuration file with the addresses of this run, and with patience: a server that the
    machine keeps from answering is not one that is gone, which refuses connections."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    text, proxies = re.subn(r"listen: \S+", f"listen: 127.0.0.1:{listen}", text)
    ports = iter(ports)
    text, servers = re.subn(r"- \S+:\d+:1 ", lambda _: f"- 127.0.0.1:{next(ports)}:1 ", text)
    text, timeouts = re.subn(r"\btimeout: \d+", f"timeout: {LONG_SECONDS}000", text)
    retry = f"server_retry_timeout: {RETRY_SECONDS}000"
    if (proxies, servers, timeouts) != (1, 3, 1) or retry not in text:
        raise RuntimeError(f"{path} is not the configuration that this test expects")
    return text


class Proxy:
    def __init__(self, nutcracker, template, folder, ports):
        self.port = free_port()
        file = os.path.join(folder, "twemproxy.yml")
        with open(file, "w", encoding="utf-8") as out:
            out.write(configuration(template, self.port, ports))
        log = os.path.join(folder, "nutcracker.log")
        self.process = subprocess.Popen([nutcracker, "-c", file, "-o", log, "-a", "127.0.0.1",
                                         "-s", str(free_port())], stderr=subprocess.DEVNULL)

        def listens():
            if self.process.poll() is not None:
                raise RuntimeError("nutcracker ended")
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=LONG_SECONDS).close()
                return True
            except ConnectionRefusedError:
                return False

        try:
            wait_until(listens, "nutcracker does not listen")
        except Exception as error:
            self.stop()
            with open(log, encoding="utf-8", errors="replace") as lines:
                raise RuntimeError(f"{error}: {lines.read()}") from None

    def stop(self):
        self.process.terminate()
        self.process.wait()


class Reader:
    """A client that keeps what it reads in the cache: a miss is answered by the origin and
    stored. Which keys it reads follows a Zipfian distribution."""

    def __init__(self, port):
        self.client = direct(port)
        self.random = random.Random(SEED)
        weights = [1 / (i + 1) ** SKEW for i in range(KEYS)]
        self.sums = list(itertools.accumulate(weights))
        self.keys = [f"key{i}" for i in range(KEYS)]
        self.random.shuffle(self.keys)
        self.origin = {key: f"{key} 0 ".encode() + b"v" * 1000 for key in self.keys}
        self.misses = self.errors = self.old = 0

    def count(self):
        counted = {"misses": self.misses, "errors": self.errors, "old": self.old}
        self.misses = self.errors = self.old = 0
        return counted

    def read(self, key):
        try:
            value = self.client.get(key)
            if value is None:
                self.misses += 1
                self.client.set(key, self.origin[key], noreply=False)
            else:
                self.old += value != self.origin[key]
        except Exception:  # pylint: disable=broad-except
            self.errors += 1  # the proxy says that a server is gone

    def read_many(self):
        for _ in range(READS):
            at = bisect.bisect_left(self.sums, self.random.random() * self.sums[-1])
            self.read(self.keys[min(at, KEYS - 1)])
        return self.count()

    def write(self, key):
        while True:
            try:
                return self.client.set(key, self.origin[key], noreply=False)
            except Exception:  # pylint: disable=broad-except
                self.errors += 1

    def update(self, keys):
        for key in keys:
            self.origin[key] = self.origin[key].replace(b" 0 ", b" 1 ")
            self.write(key)


def direct(port):
    return pymemcache_client()(("127.0.0.1", port), timeout=LONG_SECONDS,
                               connect_timeout=LONG_SECONDS)


def wait_until_served(reader, port):
    """Reads until the proxy uses the server that came back."""
    client = direct(port)

    def asked():
        for key in reader.keys[-50:]:  # the coldest
            reader.read(key)
        return client.stats()[b"cmd_get"] > 0

    wait_until(asked, "the proxy does not ask the server that came back")
    client.close()


def run(program, nutcracker, template):
    """The counts of each phase."""
    result = {}
    with tempfile.TemporaryDirectory(prefix="nvcached_proxy_") as folder:
        folders = [os.path.join(folder, str(i)) for i in range(3)]
        for one in folders:
            os.mkdir(one)
        ports = [free_port() for _ in folders]
        servers = [Server(program, *OPTIONS, port=port, folder=one)
                   for port, one in zip(ports, folders)]
        proxy = None
        try:
            proxy = Proxy(nutcracker, template, folder, ports)
            reader = Reader(proxy.port)
            for key in reader.keys:
                reader.write(key)
            client = direct(ports[0])
            result["its keys"] = client.stats()[b"curr_items"]
            mine = [key for key in reader.keys[-1000:] if client.get(key) is not None]
            client.close()
            result["all up"] = reader.read_many()
            servers[0].kill()
            result["one killed"] = reader.read_many()
            reader.update(mine[:UPDATED])
            reader.count()
            servers[0] = Server(program, *OPTIONS, port=ports[0], folder=folders[0])
            wait_until_served(reader, ports[0])
            reader.count()
            result["it is back"] = reader.read_many()
            for key in mine[:UPDATED]:
                reader.read(key)
            result["updated meanwhile"] = reader.count()
            result["updated"] = len(mine[:UPDATED])
        finally:
            if proxy is not None:
                proxy.stop()
            for server in servers:
                server.stop()
    return result


def main():
    nvcached, template = sys.argv[1:3]
    nutcracker, memcached = peer("nutcracker"), peer("memcached")
    if None in (nutcracker, memcached, pymemcache_client()):
        print("skipped: nutcracker, memcached or pymemcache cannot be had")
        return 77
    print(f"seed {SEED}; {KEYS} keys of 1 KB, {READS} Zipfian reads ({SKEW}) in each phase",
          flush=True)
    with ThreadPoolExecutor(2) as at_once:
        ours, theirs = at_once.map(lambda program: run(program, nutcracker, template),
                                   (nvcached, memcached))
    for name, result in (("nvcached", ours), ("memcached", theirs)):
        print(f"{name}, {result['its keys']} keys on the server that is killed:")
        for phase in ("all up", "one killed", "it is back"):
            counted = result[phase]
            print(f"  {phase:12} {counted['misses']:5} misses, {counted['errors']} errors")
        print(f"  of {result['updated']} of its keys updated meanwhile, old values: "
              f"{result['updated meanwhile']['old']}")
    failures = []
    if ours["all up"]["misses"] or theirs["all up"]["misses"]:
        failures.append("misses with all servers up")
    if ours["one killed"]["misses"] == 0 or theirs["it is back"]["misses"] < 100:
        failures.append("the kill did not show, so that nothing is shown")
    if ours["it is back"]["misses"] * 4 > theirs["it is back"]["misses"]:
        failures.append("nvcached did not come back warm")
    if theirs["updated meanwhile"]["old"] or ours["all up"]["old"] + ours["one killed"]["old"]:
        failures.append("an old value where there can be none")
    for failure in failures:
        print("WRONG", failure)
    print("FAILED" if failures else "passed")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Kills nvcached under load from a real client (pymemcache) and starts it again on the same file,
round after round. Each key must then have its newest acknowledged value, the value in flight at
the kill, or nothing; never an older, a torn or a deleted value. A miss counts as lost, and must
stay a miss. SIGTERM must lose nothing; with durability each or each_lru, neither must a kill.

Each round kills the server under load, during its start, and idle.

usage: kill9_test.py SERVER [DURABILITY | --control]
  --control  negative control: puts an older copy of the file back, and passes only if the check
             finds older values and deleted ones

The seed is printed; NVCACHE_TEST_SEED replays what the clients send (not its timing), and
NVCACHE_TEST_ROUNDS sets the number of kills.
"""
import os
import random
import shutil
import sys
import tempfile
import threading
import time
import zlib

from running_server import LONG_SECONDS, Server, pymemcache_client, wait_until

PROGRAM = sys.argv[1]
CONTROL = "--control" in sys.argv[2:]
SEED = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))
ROUNDS = int(os.environ.get("NVCACHE_TEST_ROUNDS") or 14)
THREADS = 4
KEYS_PER_THREAD = 500
OPERATIONS = (500, 6000)  # of all threads before a kill: a random number between these
DURABILITY = "cache" if CONTROL or len(sys.argv) < 3 else sys.argv[2]
# Many times what the keys need: nothing is evicted.
OPTIONS = ("-m", "64", "--durability", DURABILITY)
GONE = None


def make_value(key, number):
    """A value whose key and number determine all its bytes, so that a torn one cannot pass."""
    mix = zlib.crc32(f"{key} {number}".encode())
    size = mix % 900 if mix % 50 else 20_000 + mix % 30_000
    head = f"{key} {number} ".encode()
    return head + bytes([65 + mix % 26]) * size + mix.to_bytes(4, "big")


def number_of(key, value):
    """The number of the value, or why this test cannot have stored it."""
    words = value.split(b" ", 2)
    if len(words) < 3 or words[0].decode(errors="replace") != key or not words[1].isdigit():
        return f"torn, or another key's: {value[:60]!r}"
    number = int(words[1])
    return number if value == make_value(key, number) else f"torn: {value[:60]!r}"


class Worker(threading.Thread):
    """A client. Only it writes its keys, so it knows their values."""

    def __init__(self, index, seed):
        super().__init__()
        self.random = random.Random(seed)
        self.keys = [f"w{index}k{i}" for i in range(KEYS_PER_THREAD)]
        self.known = {}  # key: the number that was acknowledged last, or GONE
        self.pending = {}  # key: the number, or GONE, of what was not answered
        self.next_number = 0
        self.done = 0
        self.wrong = []
        self.client = None
        self.ended_by = None

    def prepare(self, client):
        threading.Thread.__init__(self)
        self.client = client
        self.ended_by = None

    def run(self):
        try:
            while True:
                self.step()
                self.done += 1
        except Exception as error:  # pylint: disable=broad-except
            self.ended_by = error  # the kill

    def step(self):
        key = self.random.choice(self.keys)
        kind = self.random.random()
        now = self.known.get(key, GONE)
        if kind < 0.15:
            self.pending = {key: GONE}
            answer = self.client.delete(key, noreply=False)
            self.expect(answer == (now is not GONE), f"delete {key} said {answer}, had {now}")
            self.known[key] = GONE
        elif kind < 0.3:
            self.pending = {}
            value = self.client.get(key)
            got = GONE if value is None else number_of(key, value)
            self.expect(got == now, f"get {key} is {got}, not {now}, before the kill")
        else:
            self.next_number += 1
            value = make_value(key, self.next_number)
            self.pending = {key: self.next_number}
            if kind < 0.4:
                stored = self.client.add(key, value, noreply=False)
                self.expect(stored == (now is GONE), f"add {key} said {stored}, had {now}")
            elif kind < 0.5:
                _, cas = self.client.gets(key)
                stored = cas is not None and self.client.cas(key, value, cas, noreply=False)
                self.expect(bool(stored) == (now is not GONE), f"cas {key} said {stored}")
            else:
                stored = self.client.set(key, value, noreply=False)
                self.expect(stored, f"set {key} was refused")
            if stored:
                self.known[key] = self.next_number
        self.pending = {}

    def expect(self, good, what):
        if not good:
            self.wrong.append(what)

    def verify(self, client):
        """Compares all keys. Afterwards, what was found counts as known."""
        there = lost = 0
        for at in range(0, len(self.keys), 50):
            found = client.get_many(self.keys[at:at + 50])
            for key in self.keys[at:at + 50]:
                now = self.known.get(key, GONE)
                allowed = {now, self.pending.get(key, now)}
                got = number_of(key, found[key]) if key in found else GONE
                there += now is not GONE
                if got is GONE:
                    lost += now is not GONE and GONE not in allowed
                elif got not in allowed:
                    kind = ("deleted" if now is GONE else "torn" if isinstance(got, str)
                            else "older" if got < now else "newer")
                    self.wrong.append(f"{kind}: {key} is {got}, allowed: {allowed}")
                self.known[key] = got if isinstance(got, int) else GONE
        self.pending = {}
        return there, lost


def connect(server):
    return pymemcache_client()(("127.0.0.1", server.port), timeout=LONG_SECONDS,
                               connect_timeout=LONG_SECONDS)


def load(server, workers, enough, end):
    """Lets the workers work until `enough` is true, and calls `end` while they do."""
    clients = [connect(server) for _ in workers]
    for worker, client in zip(workers, clients):
        worker.prepare(client)
        worker.start()
    try:
        wait_until(lambda: enough() or any(worker.ended_by for worker in workers),
                   "too little is done")
        early = [f"ended before the server: {worker.ended_by!r}" for worker in workers
                 if worker.ended_by]
    finally:
        end()
        for worker, client in zip(workers, clients):
            worker.join()
            client.close()
    workers[0].wrong += early


def operations(workers, count):
    """True of the workers once they have done so many more."""
    goal = sum(worker.done for worker in workers) + count
    return lambda: sum(worker.done for worker in workers) >= goal


def verify(server, workers):
    client = connect(server)
    counts = [worker.verify(client) for worker in workers]
    client.close()
    return sum(there for there, _ in counts), sum(lost for _, lost in counts)


def wrong_of(workers):
    return [what for worker in workers for what in worker.wrong]


def kill_rounds(folder, workers, moments):
    """Acknowledged items that were there to be lost, and how many were: by kills under load,
    and by kills after all items were read and nothing was written."""
    loaded, idle = [0, 0], [0, 0]
    for number in range(ROUNDS):
        server = Server(PROGRAM, *OPTIONS, folder=folder)
        load(server, workers, operations(workers, moments.randint(*OPERATIONS)), server.kill)
        server = Server(PROGRAM, *OPTIONS, folder=folder, wait=False)
        time.sleep(moments.uniform(0, 0.04))  # about as long as an opening takes
        server.kill()
        server = Server(PROGRAM, *OPTIONS, folder=folder)
        loaded = [a + b for a, b in zip(loaded, verify(server, workers))]
        if number % 5 == 4:  # a flush counts as a delete of everything
            client = connect(server)
            client.flush_all(noreply=False)
            client.close()
            for worker in workers:
                worker.known.clear()
        # Kills without load: what was missed must not come back.
        server.kill()
        server = Server(PROGRAM, *OPTIONS, folder=folder)
        idle = [a + b for a, b in zip(idle, verify(server, workers))]
        server.kill()
    return loaded, idle


def graceful_round(folder, workers):
    server = Server(PROGRAM, *OPTIONS, folder=folder)
    load(server, workers, operations(workers, 2000), server.process.terminate)
    server.wait()
    code, log = server.stop()
    if code != 0 or "shutting down" not in log:
        workers[0].wrong.append(f"SIGTERM: exit code {code}, log {log}")
    server = Server(PROGRAM, *OPTIONS, folder=folder)
    there, lost = verify(server, workers)
    server.stop()
    if lost:
        workers[0].wrong.append(f"SIGTERM lost {lost} of {there} items")
    return there, lost


def control(folder, workers, moments):
    """Puts an older file back, as if the store had forgotten updates and deletes."""
    data = os.path.join(folder, "nvcached", "data")
    server = Server(PROGRAM, *OPTIONS, folder=folder)
    load(server, workers, operations(workers, 2 * OPERATIONS[1]), server.kill)
    shutil.copy(data, data + ".old")
    server = Server(PROGRAM, *OPTIONS, folder=folder)
    verify(server, workers)
    old = [dict(worker.known) for worker in workers]

    def changed():
        """How many of the older file's values are newer by now, and how many deleted."""
        newer = deleted = 0
        for worker, before in zip(workers, old):
            for key, number in before.items():
                if number is not GONE:
                    now = worker.known[key]
                    deleted += now is GONE
                    newer += now is not GONE and now > number
        return newer, deleted

    load(server, workers, lambda: min(changed()) >= 50, server.kill)
    if wrong_of(workers):
        return f"wrong before the older file was put back: {wrong_of(workers)[:5]}"
    os.replace(data + ".old", data)
    server = Server(PROGRAM, *OPTIONS, folder=folder)
    verify(server, workers)
    server.stop()
    kinds = [what.split(":")[0] for what in wrong_of(workers)]
    print(f"the check found {kinds.count('older')} older "
          f"and {kinds.count('deleted')} deleted values")
    return "" if "older" in kinds and "deleted" in kinds else "the check does not bite"


def main():
    if pymemcache_client() is None:
        print("skipped: pymemcache is not installed")
        return 77
    print(f"seed {SEED}", flush=True)
    moments = random.Random(SEED)
    workers = [Worker(i, SEED + 1 + i) for i in range(THREADS)]
    with tempfile.TemporaryDirectory(prefix="nvcached_kill9_") as folder:
        if CONTROL:
            failure = control(folder, workers, moments)
            print(failure or "passed")
            return 1 if failure else 0
        loaded, idle = kill_rounds(folder, workers, moments)
        kept, gone = graceful_round(folder, workers)
    done = sum(worker.done for worker in workers)
    there, lost = loaded
    print(f"durability {DURABILITY}, {done} operations; acknowledged items lost: {lost} of {there} "
          f"({100 * lost / max(there, 1):.1f}%) by {ROUNDS} kills under load, "
          f"{idle[1]} of {idle[0]} by {ROUNDS} kills without, {gone} of {kept} by SIGTERM")
    wrong = wrong_of(workers)
    for what in wrong[:20]:
        print("WRONG", what)
    if DURABILITY.startswith("each") and lost + idle[1] > 0:
        wrong.append(f"durability {DURABILITY} lost {lost + idle[1]} items")
        print(wrong[-1])
    if done < 1000 or there < 1000:
        wrong.append("too little was done to show anything")
        print(wrong[-1])
    print("FAILED" if wrong else "passed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Random commands to memcached and to nvcached; each answer must be the same, byte by byte.

usage: differ_test.py NVCACHED [--protocol text|meta|binary] [--commands N] [--seed N] [--control]
  --protocol  without it, all three, one after the other; meta has text commands among them
  --control   spoils one answer of nvcached in each of three ways, and fails unless each is found

The seed is printed; --seed or NVCACHE_TEST_SEED replays it. differ_commands.py makes the commands,
differ_alike.py has the differences that are allowed. At a difference, the fewest commands are
looked for that make it, and printed. Exit codes: 0 no difference; 1 one; 77 memcached cannot be
had.
"""
import argparse
import os
import pathlib
import random
import struct
import sys
import time

import differ_alike
import differ_commands
import running_server
from differ_alike import Alike, Different
from running_server import CLOSED, Server

PROTOCOLS = ["text", "meta", "binary"]
GUIDE = pathlib.Path(__file__).resolve().parents[3] / "docs" / "guide" / "nvcached.md"
# memcached's own threads hold on to items now and then, and a number that counts while they do
# becomes a new item.
MEMCACHED_OPTIONS = ["-m", "64", "-o", "no_lru_maintainer,no_lru_crawler"]
MOST_REPORTS = 5
MOST_REPLAYS = 300
HISTORY = 3000  # commands in which the cause of a difference is looked for


class Peer:
    """One of the two servers, and the connection to it."""

    def __init__(self, server, is_ours):
        self.server = server
        self.is_ours = is_ours
        self.client = server.connect()
        self.asked = 0

    def reconnect(self):
        self.client.close()
        self.client = self.server.connect()

    def filled(self, part, alike):
        """The bytes of a part of a command, for this server."""
        if isinstance(part, differ_commands.Cas):
            number = alike.cas(part.key, part.nth, self.is_ours)
            return struct.pack(">Q", number) if part.binary else b"%d" % number
        if isinstance(part, differ_commands.Later):
            number = int(time.time()) + part.seconds
            return struct.pack(">I", number) if part.binary else b"%d" % number
        return part

    def send(self, command, alike, binary):
        request = b"".join(self.filled(part, alike) for part in command.parts)
        self.asked += 1
        # The answer to a last request shows that all before it is answered. Not if the server
        # closes: it would lose its answer.
        if command.closes:
            last, self.end = b"", None
        elif binary:
            last = b"".join(differ_commands.binary(0x0a, opaque=1000 + self.asked))
            self.end = b"\x81" + last[1:]
        else:
            self.end = b"NF O%d\r\n" % self.asked
            last = b"md last-of-all O%d\r\n" % self.asked
        running_server.send(self.client, request + last)

    def answer(self):
        answer = running_server.receive(self.client, self.end)
        if answer.endswith(CLOSED):
            self.reconnect()
            return answer
        return answer[:len(answer) - len(self.end)]


class Differ:
    def __init__(self, theirs, ours, binary, spoil=None):
        self.peers = [Peer(theirs, False), Peer(ours, True)]
        self.binary = binary
        self.alike = Alike()
        self.spoil = spoil

    def ask(self, command):
        """The two answers, and what is different about them, or None."""
        began = time.monotonic()
        for peer in self.peers:
            peer.send(command, self.alike, self.binary)
        theirs, ours = (peer.answer() for peer in self.peers)
        self.alike.longest_s = max(self.alike.longest_s, time.monotonic() - began)
        if self.spoil:
            ours = self.spoil(ours)
        try:
            self.alike.compare(command, theirs, ours)
        except Different as difference:
            return theirs, ours, difference
        except (ValueError, IndexError) as error:
            return theirs, ours, error
        return theirs, ours, None

    def begin_anew(self):
        """Both servers without items, and with no memory of any."""
        flush = differ_commands.binary(0x08) if self.binary else [b"flush_all\r\n"]
        for peer in self.peers:
            peer.send(differ_commands.Command(tuple(flush), frozenset(), False, False), self.alike,
                      self.binary)
            peer.answer()
        self.alike.forget()

    def fails(self, commands):
        """Whether the last of these commands is answered differently."""
        self.begin_anew()
        for command in commands[:-1]:
            if self.ask(command)[2]:
                return False
        return self.ask(commands[-1])[2] is not None

    def shortest(self, history):
        """The fewest commands that we find, of which the last is answered differently."""
        last = history[-1]
        related = [command for command in history if command.keys & last.keys or not command.keys]
        for commands in (related, history):
            length = 1
            while not self.fails(commands[-length:]) and length < len(commands):
                length *= 2
            if self.fails(commands[-length:]):
                break
        else:
            return None
        commands, replays, part = commands[-length:], 0, max(1, length // 2)
        while part >= 1 and replays < MOST_REPLAYS:
            at = 0
            while at + part < len(commands) and replays < MOST_REPLAYS:
                fewer = commands[:at] + commands[at + part:]
                replays += 1
                if self.fails(fewer):
                    commands = fewer
                else:
                    at += part
            part //= 2
        return commands

    def show(self, commands):
        self.begin_anew()
        for command in commands:
            theirs, ours, difference = self.ask(command)
            print(f"    {shown(command)}")
            if difference:
                print(f"      memcached {running_server.shortened(theirs)}\n"
                      f"      nvcached  {running_server.shortened(ours)}")

    def run(self, commands, count):
        """How many of `count` answers were different. Ends after MOST_REPORTS."""
        history, found = [], 0
        for number in range(count):
            history.append(commands.next())
            theirs, ours, difference = self.ask(history[-1])
            if not difference:
                if len(history) > 2 * HISTORY:
                    del history[:HISTORY]
                continue
            found += 1
            print(f"  command {number} is answered differently ({difference}):\n"
                  f"    {shown(history[-1])}\n"
                  f"      memcached {running_server.shortened(theirs)}\n"
                  f"      nvcached  {running_server.shortened(ours)}", flush=True)
            fewest = self.shortest(history)
            if fewest:
                print("  the fewest commands that show it:")
                self.show(fewest)
            else:
                print("  not again from the beginning: replay the seed", flush=True)
            if found == MOST_REPORTS:
                return found
            self.begin_anew()
            history.clear()
        return found


def shown(command):
    parts = [part if isinstance(part, bytes) else
             b"<cas %d of %s>" % (part.nth, part.key) if isinstance(part, differ_commands.Cas) else
             b"<%d s from now>" % part.seconds for part in command.parts]
    return running_server.shortened(b"".join(parts))


class Spoiler:
    """Spoils one answer, the first that it can from command `at` on."""

    def __init__(self, how, at):
        self.how, self.left, self.done = how, at, False

    def __call__(self, answer):
        self.left -= 1
        if self.done or self.left > 0:
            return answer
        spoilt = self.how(answer)
        self.done = spoilt != answer
        return spoilt


def first_byte(answer):
    return bytes([answer[0] ^ 1]) + answer[1:] if answer else answer


def last_byte_of_value(answer):
    lines, _ = differ_alike.words_and_data(answer) if answer[:2] == b"VA" else ([], b"")
    data = lines[0][1] if lines else b""
    if not data.strip():
        return answer
    at = answer.rindex(data) + len(data.rstrip()) - 1
    return answer[:at] + bytes([answer[at] ^ 1]) + answer[at + 1:]


def the_whole(answer):
    return b"" if answer else answer


def control(theirs, ours, seed, count):
    """Each answer that is spoilt must be found, and no other."""
    missed = 0
    for how in (first_byte, last_byte_of_value, the_whole):
        spoiler = Spoiler(how, count // 2)
        differ = Differ(theirs, ours, False, spoiler)
        differ.begin_anew()
        commands = differ_commands.Commands(random.Random(seed), "meta")
        found = 0
        for _ in range(count):
            was_done = spoiler.done
            difference = differ.ask(commands.next())[2]
            if difference and spoiler.done and not was_done:
                found += 1
                break
            if difference:
                print(f"  a difference that was not made: {difference}")
                return 1
        print(f"  {how.__name__}: {'found' if found else 'MISSED'}", flush=True)
        missed += not found
    return 1 if missed else 0


def allowed_are_in_the_guide():
    guide = " ".join(GUIDE.read_text(encoding="utf-8").split())
    return [name for name, words in differ_alike.ALLOWED.items() if words and words not in guide]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--protocol", choices=PROTOCOLS)
    parser.add_argument("--commands", type=int, default=3000)
    parser.add_argument("--seed", type=int)
    parser.add_argument("--control", action="store_true")
    options = parser.parse_args()
    seed = options.seed
    if seed is None:
        seed = int(os.environ.get("NVCACHE_TEST_SEED") or time.time_ns() % (1 << 32))
    memcached = running_server.peer("memcached")
    if memcached is None:
        print("memcached cannot be had")
        return 77
    missing = allowed_are_in_the_guide()
    if missing:
        print(f"allowed, and not in {GUIDE.name}: {', '.join(missing)}")
        return 1
    found = 0
    print(f"NVCACHE_TEST_SEED={seed}", flush=True)
    with Server(options.server, "--medium=dram", "-m", "64") as ours, \
            Server(memcached, *MEMCACHED_OPTIONS) as theirs:
        if options.control:
            return control(theirs, ours, seed, options.commands)
        for protocol in [options.protocol] if options.protocol else PROTOCOLS:
            began = time.monotonic()
            differ = Differ(theirs, ours, protocol == "binary")
            differ.begin_anew()
            different = differ.run(differ_commands.Commands(random.Random(seed), protocol),
                                   options.commands)
            print(f"{protocol}: {options.commands} commands, {different} answers differ, "
                  f"{time.monotonic() - began:.0f} s; allowed: " +
                  ", ".join(f"{name} {n}" for name, n in sorted(differ.alike.counts.items())),
                  flush=True)
            found += different
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())

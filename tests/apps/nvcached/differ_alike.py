"""Whether two answers to the same command mean the same, for differ_test.py.

Answers are taken apart into words and blocks of data, and compared byte by byte. The allowed
differences are in ALLOWED, by the words with which docs/guide/nvcached.md says so; each is counted.
"""
import base64
import collections
import re
import struct

import differ_commands

# name: a piece of the guide, or None if it is no difference between the two servers: numbers that
# each makes for itself, and seconds that pass.
ALLOWED = {
    "cas numbers": None,
    "a second passes": None,
    "version": "the rest is nvcached's own version",
    "value of a refused line": "the value behind a line that is refused",
    "padding": "`decr` to fewer digits",
    "form of the key": "`mg k` of a key stored with `b` by another client",
    "ttl of the dead": "`t` behind a `T` that ends the item",
    "a time of the wall clock": "an item that expires at a time of the wall clock",
    "last access": "seconds since the last access",
    "all of an item": "all an item has",
}

META = (b"HD", b"VA", b"EN", b"NF", b"NS", b"EX")


class Different(Exception):
    pass


def words_and_data(answer):
    """[(words of a line, data behind it or None)], and what is left over."""
    lines, at = [], 0
    while at < len(answer):
        end = answer.find(b"\r\n", at)
        if end < 0:
            break
        words = answer[at:end].split(b" ")
        at = end + 2
        length = words[1] if words[0] == b"VA" else words[3] if words[0] == b"VALUE" else None
        data = None
        if length is not None:
            data = answer[at:at + int(length)]
            if answer[at + int(length):at + int(length) + 2] != b"\r\n":
                raise Different("a value does not end")
            at += int(length) + 2
        lines.append((words, data))
    return lines, answer[at:]


class Alike:
    """Knows which cas number of memcached is which of nvcached."""

    def __init__(self):
        self.counts = collections.Counter()
        self.longest_s = 0.0  # that both servers took to answer: so far may times be apart
        self.ours, self.theirs = {}, {}  # from the other's number
        self.of_key = collections.defaultdict(list)  # [(theirs, ours)], the last one last

    def forget(self):
        self.ours, self.theirs = {}, {}
        self.of_key.clear()

    def cas(self, key, nth, of_ours):
        known = self.of_key[key]
        return known[-nth][1 if of_ours else 0] if len(known) >= nth else 12345

    def allow(self, name, condition=True):
        if not condition:
            raise Different(name)
        if name not in ALLOWED:
            raise KeyError(name)
        self.counts[name] += 1

    def same_cas(self, theirs, ours, key):
        if (theirs == 0) != (ours == 0):
            raise Different(f"cas {theirs} and {ours}")
        if theirs == 0:
            return
        self.allow("cas numbers", self.ours.setdefault(theirs, ours) == ours and
                   self.theirs.setdefault(ours, theirs) == theirs)
        pair = (theirs, ours)
        if key is not None and pair not in self.of_key[key][-3:]:
            self.of_key[key] = self.of_key[key][-3:] + [pair]

    def compare(self, command, theirs, ours):
        """Raises Different, or returns."""
        if theirs[:1] == b"\x81" or ours[:1] == b"\x81":
            return self.compare_binary(command, theirs, ours)
        if command.value_may_run and theirs == ours + b"ERROR\r\n":
            return self.allow("value of a refused line")
        their_lines, their_rest = words_and_data(theirs)
        our_lines, our_rest = words_and_data(ours)
        if len(their_lines) != len(our_lines) or their_rest != our_rest:
            raise Different("lines")
        for (their_words, their_data), (our_words, our_data) in zip(their_lines, our_lines):
            self.compare_line(command, their_words, our_words)
            self.compare_data(command, their_data, our_data)
        return None

    @staticmethod
    def narrow(command):
        return any(key in differ_commands.NARROW for key in command.keys)

    def compare_data(self, command, theirs, ours):
        if theirs == ours:
            return
        if theirs is None or ours is None or not self.narrow(command):
            raise Different("values")
        self.allow("padding", theirs.rstrip(b" ") == ours.rstrip(b" "))

    def compare_line(self, command, theirs, ours):
        if theirs[0] != ours[0]:
            raise Different("codes")
        key = next(iter(command.keys), None) if len(command.keys) == 1 else None
        if theirs[0] == b"VALUE":
            return self.compare_value_line(theirs, ours)
        if theirs[0] == b"VERSION":
            return self.allow("version")
        if theirs[0] == b"ME":
            return self.compare_debug(theirs, ours, key)
        if theirs[0] not in META:
            if theirs != ours:
                raise Different("lines")
            return None
        theirs, ours = self.with_plain_key(theirs), self.with_plain_key(ours)
        if len(theirs) != len(ours):
            raise Different("flags")
        for at, (their_word, our_word) in enumerate(zip(theirs, ours)):
            if at > 0:
                is_length = theirs[0] == b"VA" and at == 1
                self.compare_flag(command, key, is_length, their_word, our_word)
        return None

    def with_plain_key(self, words):
        """A key in base64 as it is."""
        for at in range(1, len(words) - 1):
            if words[at][:1] == b"k" and words[at + 1] == b"b":
                self.allow("form of the key")
                return [*words[:at], b"k" + base64.b64decode(words[at][1:]), *words[at + 2:]]
        return words

    def compare_flag(self, command, key, is_length, theirs, ours):
        name = theirs[:1]
        if name == b"c" and ours[:1] == b"c" and theirs[1:].isdigit() and ours[1:].isdigit():
            return self.same_cas(int(theirs[1:]), int(ours[1:]), key)
        if theirs == ours:
            return None
        if name == ours[:1] == b"t":
            their_seconds, our_seconds = int(theirs[1:]), int(ours[1:])
            if their_seconds >= 2**31:
                return self.allow("ttl of the dead", our_seconds == 0)
            if min(their_seconds, our_seconds) <= 0:
                raise Different("flags")
            return self.same_seconds(key, their_seconds, our_seconds)
        if name == ours[:1] == b"l":
            return self.allow("last access")
        if (is_length or name == ours[:1] == b"s") and self.narrow(command):
            return self.allow("padding", int(theirs.lstrip(b"s")) > int(ours.lstrip(b"s")))
        raise Different("flags")

    def compare_value_line(self, theirs, ours):
        if len(theirs) != len(ours) or theirs[:3] != ours[:3]:
            raise Different("lines")
        if theirs[3] != ours[3]:
            self.allow("padding", theirs[1] in differ_commands.NARROW and
                       int(theirs[3]) > int(ours[3]))
        if len(theirs) == 5:
            self.same_cas(int(theirs[4]), int(ours[4]), theirs[1])

    def compare_debug(self, theirs, ours, key):
        """ME key exp= la= cas= fetch= cls= size="""
        form = re.compile(rb"exp=(-?\d+) la=\d+ cas=(\d+) fetch=(yes|no) cls=\d+ size=\d+$")
        their_parts, our_parts = (form.match(b" ".join(words[2:])) for words in (theirs, ours))
        if not their_parts or not our_parts or their_parts[3] != our_parts[3]:
            raise Different("all of an item")
        their_key, our_key = theirs[1], ours[1]
        self.allow("all of an item", their_key in (our_key, base64.b64encode(our_key)) or
                   our_key == base64.b64encode(their_key))
        self.same_cas(int(their_parts[2]), int(our_parts[2]), key)
        their_seconds, our_seconds = int(their_parts[1]), int(our_parts[1])
        if (their_seconds, our_seconds) != (-1, -1):
            self.same_seconds(key, -their_seconds, our_seconds)

    def same_seconds(self, key, theirs, ours):
        late = int(self.longest_s)
        if abs(theirs - ours) > 1 + late and key in differ_commands.WALL_CLOCK:
            return self.allow("a time of the wall clock", 2 <= theirs - ours <= 3 + late)
        return self.allow("a second passes", abs(theirs - ours) <= 1 + late)

    def compare_binary(self, command, theirs, ours):
        at_theirs = at_ours = 0
        key = next(iter(command.keys), None)
        while at_theirs < len(theirs) or at_ours < len(ours):
            if len(theirs) - at_theirs < 24 or len(ours) - at_ours < 24:
                if theirs[at_theirs:] != ours[at_ours:]:
                    raise Different("frames")
                return
            their_head = struct.unpack(">BBHBBHIIQ", theirs[at_theirs:at_theirs + 24])
            our_head = struct.unpack(">BBHBBHIIQ", ours[at_ours:at_ours + 24])
            their_body = theirs[at_theirs + 24:at_theirs + 24 + their_head[6]]
            our_body = ours[at_ours + 24:at_ours + 24 + our_head[6]]
            if their_head[:6] + their_head[7:8] != our_head[:6] + our_head[7:8]:
                raise Different("headers")
            if their_head[1] == 0x0b and their_head[5] == 0:
                self.allow("version")
            elif their_body != our_body:
                self.compare_data(command, their_body, our_body)
            self.same_cas(their_head[8], our_head[8], key)
            at_theirs += 24 + their_head[6]
            at_ours += 24 + our_head[6]

"""Random commands for differ_test.py, of memcached's text, meta and binary protocols.

A command is made of bytes and of holes: a cas number that this server gave, a second from now. The
two servers have different ones, so the holes are filled for each when it is sent. Commands depend
on the seed alone, never on answers: what failed can be repeated, and made shorter.

Keys are of kinds, because some differences between the servers are on purpose (the guide's table)
and would be found again and again:
  plain   p0 to p5, and two more: their values are no numbers; all commands
  wide    w0 to w3: numbers that keep their ten digits; all but append and prepend
  narrow  n0 to n3: numbers of any width, and what looks like one; nothing that marks an item as
          stale, won or fetched, as memcached makes a new item when the digits grow
"""
import base64
import collections
import struct

Cas = collections.namedtuple("Cas", "key nth binary")  # the nth last that was seen of the key
Later = collections.namedtuple("Later", "seconds binary")  # so many seconds from now
# `value_may_run`: memcached takes the value of a line that it refuses for a command. `closes`: the
# connection.
Command = collections.namedtuple("Command", "parts keys value_may_run closes")

LONGEST = b"l" * 250
RARE = b"rare"
PLAIN = [b"p%d" % i for i in range(6)] + [LONGEST, RARE]
WIDE = [b"w%d" % i for i in range(4)]
NARROW = [b"n%d" % i for i in range(4)]
WALL_CLOCK = PLAIN[:1] + WIDE[:1] + NARROW[:1]  # may expire at a time of the wall clock

# Far from each other, so that no answer depends on when exactly it was made.
TIMES = [b"0", b"0", b"0", b"0", b"2000", b"2000", b"9000", b"+5000", b"2592000", b"-1", b"2592001",
         b"-2592001"]
RECACHES = [b"0", b"-1", b"30", b"100000", b"2592001"]
ODD_NUMBERS = [b" 12", b"+7", b"-1", b"0012", b"18446744073709551615", b"18446744073709551616",
               b"5 x", b"1 ", b"x", b"", b"1x", b"9", b"99",
               b"0", b"10", b"000000000000000000000000017"]
# A word that no server takes for a command, where a server may take a value for one.
NO_COMMAND = b"zz"

OPCODES = {"get": 0x00, "set": 0x01, "add": 0x02, "replace": 0x03, "delete": 0x04, "incr": 0x05,
           "decr": 0x06, "quit": 0x07, "flush": 0x08, "getq": 0x09, "noop": 0x0a, "version": 0x0b,
           "getk": 0x0c, "getkq": 0x0d, "append": 0x0e, "prepend": 0x0f, "setq": 0x11,
           "addq": 0x12, "replaceq": 0x13, "deleteq": 0x14, "incrq": 0x15, "decrq": 0x16,
           "quitq": 0x17, "flushq": 0x18, "appendq": 0x19, "prependq": 0x1a, "touch": 0x1c,
           "gat": 0x1d, "gatq": 0x1e, "sasl list": 0x20, "gatk": 0x23, "gatkq": 0x24}


def binary(opcode, extras=(), key=b"", value=b"", cas=b"\0" * 8, opaque=7):
    """A frame, in parts."""
    extras = list(extras)
    extras_bytes = sum(len(part) if isinstance(part, bytes) else 4 for part in extras)
    body_bytes = extras_bytes + len(key) + len(value)
    head = struct.pack(">BBHBBHII", 0x80, opcode, len(key), extras_bytes, 0, 0,
                       body_bytes, opaque)
    return [head, cas, *extras, key, value]


class Commands:
    """An endless series."""

    def __init__(self, random, protocol):
        self.random = random
        self.protocol = protocol

    def next(self):
        if self.protocol == "binary":
            return self.binary()
        if self.protocol == "meta" and self.chance(70):
            return self.meta()
        return self.text()

    # The parts of commands.

    def chance(self, percent):
        return self.random.random() * 100 < percent

    def pick(self, *of):
        return self.random.choice(of)

    def key(self):
        return self.random.choice(self.random.choice([PLAIN, PLAIN, WIDE, NARROW]))

    def value(self, key):
        if key in WIDE:
            return b"%d" % self.random.randrange(4 * 10**9, 6 * 10**9)
        if key in NARROW:
            return self.random.choice(ODD_NUMBERS)
        size = self.pick(0, 1, 2, 10, 60, 1000) if self.chance(98) else self.pick(5000, 100000)
        return (b"v%d \r\n" % self.random.randrange(1000) * (size // 5 + 1))[:size]

    def delta(self, key):
        if key in NARROW and self.chance(10):
            return self.pick(b"18446744073709551615", b"0", b"+3", b"100")
        return b"%d" % self.random.randrange(100)

    def time(self, key=None, binary_form=False):
        """A time of expiry. Not one that comes during the run."""
        if key in WALL_CLOCK and self.chance(30):
            return Later(5000, binary_form)
        text = self.random.choice(TIMES if not binary_form else
                                  [b"0", b"0", b"0", b"2000", b"2592001"])
        return struct.pack(">I", int(text)) if binary_form else text

    def cas(self, key, binary_form=False):
        if self.chance(10):
            number = self.random.choice([1, 2**63])
            return struct.pack(">Q", number) if binary_form else b"%d" % number
        # One of another key is another number.
        of = key if self.chance(90) else self.random.choice(PLAIN)
        return Cas(of, self.pick(1, 1, 1, 1, 2, 3), binary_form)

    @staticmethod
    def line(words):
        """Words, each bytes, a hole or a list of these, become a line."""
        parts = []
        for word in words:
            parts += [b" "] if parts else []
            parts += word if isinstance(word, list) else [word]
        return parts + [b"\r\n"]

    @staticmethod
    def command(parts, *keys, value_may_run=False, closes=False):
        return Command(tuple(parts), frozenset(keys), value_may_run, closes)

    # Text.

    def text(self):
        kind = self.random.choice([self.text_get] * 4 + [self.text_store] * 5 +
                                  [self.text_change] * 4 + [self.text_delete, self.text_wrong])
        return kind()

    def text_get(self):
        keys = [self.key() for _ in range(self.pick(1, 1, 1, 2, 4))]
        verb = self.pick(b"get", b"gets", b"gets", b"gat", b"gats", b"bget")
        when = [self.time()] if verb in (b"gat", b"gats") else []
        return self.command(self.line([verb, *when, *keys]), *keys)

    def text_store(self):
        key = self.key()
        verbs = [b"set", b"set", b"add", b"replace", b"cas"]
        if key in PLAIN:
            verbs += [b"append", b"prepend"]
        verb, value = self.random.choice(verbs), self.value(key)
        words = [verb, key, b"%d" % self.pick(0, 0, 1, 77, 2**32 - 1), self.time(key),
                 b"%s%d" % (self.pick(b"", b"", b"", b"+"), len(value))]
        words += [self.cas(key)] if verb == b"cas" else []
        words += [b"noreply"] if self.chance(10) else []
        if self.chance(97):
            return self.command([*self.line(words), value, b"\r\n"], key)
        if self.chance(30):  # the value is longer than was said
            return self.command([*self.line(words), value, b"x\r\n"], key)
        # A line that is refused. Where its length can be read, it is that of the value.
        words = words[:4] + [b"2"] + words[5:]
        place = self.random.randrange(1, len(words))
        wrong = [[b"-x"], [LONGEST + b"l"]] + ([[b"2"] * 4, []] if verb != b"cas" else [])
        words[place:place + 1] = self.random.choice(wrong)
        return self.command([*self.line(words), NO_COMMAND, b"\r\n"], key, value_may_run=True)

    def text_change(self):
        key = self.key()
        verb = self.pick(b"incr", b"decr", b"touch") if key not in WIDE else self.pick(
            b"incr", b"incr", b"touch")
        words = [verb, key, self.time(key) if verb == b"touch" else self.delta(key)]
        if self.chance(5):
            words[2] = self.pick(b"x", b"-1x", b"1.5", b"noreply")
        words += [self.pick(b"noreply", b"noreply", b"maybe")] if self.chance(10) else []
        words += [b"noreply"] if self.chance(1) else []
        return self.command(self.line(words), key)

    def text_delete(self):
        key = self.key()
        rest = self.pick([], [], [], [b"0"], [b"noreply"], [b"0", b"noreply"], [b"5"], [b"0", b"0"],
                         [b"noreply", b"0"], [b"5", b"noreply"], [b"0", b"noreply", b"1"])
        return self.command(self.line([b"delete", key, *rest]), key)

    def text_wrong(self):
        if self.chance(2):
            rest = self.pick([], [], [b"noreply"], [b"0", b"noreply"], [b"-1"])
            return self.command(self.line([b"flush_all", *rest]))
        return self.command(self.pick(
            b"", b"get", b"gets", b"gat", b"gat 0", b"gat x p0", b"touch p0", b"incr p0", b"set",
            b"cas",
            b"set p0 0 0", b"set p0 0 0 noreply", b"flush_all x", b"flush_all noreply 0",
            b"flush_all x noreply", b"flush_all 1 2 3", b"verbosity", b"verbosity noreply",
            b"verbosity x", b"verbosity 0", b"verbosity noreply 0", b"verbosity 0 0", b"version",
            b"delete", b"GET p0", b"get\tp0", b" get p0", b"get  p0  p1 ", b"m", b"mx", b"mg",
            b"ms", b"ms p0", b"md", b"ma", b"me", b"mn x", b"get " + LONGEST + b"x",
            b"mg " + LONGEST + b"x", b"md " + LONGEST + b"x", b"delete " + LONGEST + b"x",
            b"touch " + LONGEST + b"x 0", b"incr " + LONGEST + b"x 1", b"misbehave", b"\x80x")
            .split(b"\r\n") + [b"\r\n"])

    # Meta.

    def meta(self):
        verb = self.random.choice([b"mg"] * 6 + [b"ms"] * 5 + [b"md"] * 2 + [b"ma"] * 3 + [b"me"])
        key = self.key()
        if verb == b"me":
            if key in NARROW:
                key = self.random.choice(PLAIN)
            words = [verb, *self.meta_key(key), *self.pick([], [], [b"b"], [b"x"], [b"v", b"b"])]
            return self.command(self.line(words), key)
        if verb == b"ma" and key in PLAIN and self.chance(70):
            key = self.random.choice(WIDE + NARROW)
        flags = self.flags(verb, key)
        name, *mark = self.meta_key(key)
        flags += [mark] if mark else []
        self.random.shuffle(flags)
        if verb != b"ms":
            return self.command(self.line([verb, name, *flags]), key)
        value = self.value(key)
        if self.chance(1):  # the length cannot be read, or the flags are too many
            wrong = self.pick([b"x"], [b"-1"], [b"2"] + [b"k"] * self.pick(17, 18, 22))
            return self.command([*self.line([verb, name, *wrong]), NO_COMMAND, b"\r\n"], key,
                                value_may_run=True)
        end = b"\r\n" if self.chance(99) else b"x\r\n"
        return self.command([*self.line([verb, name, b"%d" % len(value), *flags]), value, end], key)

    def meta_key(self, key):
        """The key, and sometimes as base64 and the flag that says so."""
        if key == LONGEST or self.chance(85):
            return [key]
        return [base64.b64encode(key), b"b"]

    def flags(self, verb, key):
        """Flags of all commands, whichever it is."""
        some = [b"c", b"f", b"k", b"l", b"q", b"s", b"t", b"u", b"v", b"P1", b"L2",
                b"O%d" % self.pick(1, 22), [b"T", self.time(key)], [b"C", self.cas(key)],
                b"F%d" % self.pick(0, 5, 2**32 - 1), b"D" + self.delta(key),
                [b"N", self.time(key)], self.mode(verb, key), b"q", b"v", b"c"]
        if key in WIDE:
            some += [b"J5000000000", b"I", b"h", b"R" + self.random.choice(RECACHES)]
        elif key in PLAIN:
            some += [b"J7", b"I", b"I", b"h", b"h", b"R" + self.random.choice(RECACHES)]
        else:
            some += [b"J9"]
        chosen = self.random.sample(some, self.pick(0, 1, 2, 2, 3, 3, 4, 6))
        flags = [flag if isinstance(flag, list) else [flag] for flag in chosen]
        seen, once = set(), []
        for flag in flags:
            if flag[0][:1] not in seen:
                once.append(flag)
            seen.add(flag[0][:1])
        if verb == b"ma":
            # These would make a number of a plain key, one of few digits of a wide one, or change
            # the time of a number whose digits may grow.
            unwanted = {b"N"} if key in PLAIN else {b"T"} if key in NARROW else set()
            once = [flag for flag in once if flag[0][:1] not in unwanted]
            if key in WIDE and b"N" in seen and b"J" not in seen:
                once.append([b"J5000000000"])
        if self.chance(4):
            once.append([self.wrong_flag(verb)])
        if self.chance(1):
            once.append(self.random.choice(once) if once else [b"z"])
        return once

    def mode(self, verb, key):
        if verb == b"ma":
            return self.pick(b"MI", b"M+") if key in WIDE else self.pick(b"MI", b"MD", b"M+", b"M-")
        return b"M" + self.pick(b"E", b"R", b"S", *([b"A", b"P"] if key in PLAIN else []))

    def wrong_flag(self, verb):
        if verb in (b"ms", b"md") and self.chance(20):
            return b"O" + b"o" * self.pick(31, 32, 40)
        wrong = [b"z", b"E5", b"x", b"M", b"MX", b"Mset", b"Tx", b"T", b"Cx", b"C", b"Fx", b"Jx",
                 b"Dx", b"Rx", b"1", b"~", b"\x7f", b"\xc3\xa9"]
        return self.random.choice(wrong + [b"Nx"])

    # Binary.

    def binary(self):
        key = self.key()
        name = self.random.choice(
            ["get", "getq", "getk", "getkq", "set", "set", "setq", "add", "addq", "replace",
             "replaceq", "delete", "deleteq", "incr", "incr",
             "incrq", "decr", "decrq", "touch", "gat", "gatq",
             "gatk", "gatkq", "append", "appendq", "prepend", "prependq"])
        if self.chance(3):
            return self.binary_rare()
        opcode, loud = OPCODES[name], name.rstrip("q")
        cas = self.cas(key, True) if self.chance(20) else b"\0" * 8
        if loud in ("append", "prepend") and key not in PLAIN:
            key = self.random.choice(PLAIN)
        if loud == "decr" and key in WIDE:
            opcode = OPCODES["incr"]
        if loud in ("get", "getk"):
            parts = binary(opcode, (), key)
        elif loud in ("set", "add", "replace"):
            flags = struct.pack(">I", self.pick(0, 5, 2**32 - 1))
            parts = binary(opcode, (flags, self.time(key, True)), key, self.value(key), cas)
        elif loud in ("append", "prepend"):
            parts = binary(opcode, (), key, self.value(key), cas)
        elif loud == "delete":
            parts = binary(opcode, (), key, b"", cas)
        elif loud in ("incr", "decr"):
            parts = binary(opcode, self.binary_change(key), key, b"", cas)
        else:
            parts = binary(opcode, (self.time(key, True),), key)
        return self.command(parts, key)

    def binary_change(self, key):
        delta = int(self.delta(key))
        initial = 5 * 10**9 if key in WIDE else self.pick(0, 9, 2**64 - 1)
        create = key not in PLAIN and self.chance(70)
        return [struct.pack(">QQ", delta, initial), self.time(key, True) if create else b"\xff" * 4]

    def binary_rare(self):
        """Frames without a key, and wrong ones, which close the connection."""
        key = self.key()
        if self.chance(60):
            return self.command(self.pick(
                binary(0x0a), binary(0x0b), binary(0x20), binary(0x1f), binary(0x77),
                binary(0x77, (), b"", b"value"), *([binary(0x08), binary(0x18),
                binary(0x08, (b"\0" * 4,))] if self.chance(20) else [binary(0x0a)])))
        return self.command(self.pick(
            binary(0x07), binary(0x17), binary(0x00), binary(0x00, (b"\0" * 4,), key),
            binary(0x01, (b"\0" * 4,), key, b"v"), binary(0x0a, (), key),
            binary(0x0b, (), b"", b"v"), binary(0x05, (b"\0" * 8,), key), binary(0x1c, (), key),
            binary(0x04, (), b""),
            binary(0x0e, (b"\0" * 8,), key, b"v"), binary(0x00, (), LONGEST + b"x")), closes=True)

#!/usr/bin/env python3
"""The table of docs/guide/rocksdb.md: which tests pass under which version of RocksDB, by face.

usage: rocksdb_table.py note RESULTS.json VERSION JUNIT.xml...   note what ctest said of a version
       rocksdb_table.py print RESULTS.json                       print the table
       rocksdb_table.py write RESULTS.json GUIDE.md              put it between the guide's markers
       rocksdb_table.py --self-test

Of a test that is in several reports of ctest the last one counts: those after the first are of
tests that ran again.
Rows: the versions that tools/rocksdb_source.sh has, those of RESULTS.json, and those that the guide
has. A version without a result keeps its row of the guide; without a row it is `not run`.
"""
import datetime
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

BEGIN = "<!-- script/test rocksdb: versions -->"
END = "<!-- end of versions -->"
# A test belongs to the first face whose expression its name matches.
FACES = {
    "by a string": r"ByString|RestartUri|RegistersItsUri|WithAUri",
    "TieredCache": r"Tiered|SharedTier|ProgramSettings",
    "PersistentCache": r"PersistentCache|/Persistent$",
    "SecondaryCache": r"Secondary|PolicyTest|DeviceInsert|RocksdbKillNames",
    "several": r"",  # both of the above, listeners, keys, settings
}
COLUMNS = ["SecondaryCache", "PersistentCache", "TieredCache", "by a string", "several"]


def face_of(name):
    return next(face for face, pattern in FACES.items() if re.search(pattern, name))


def counts_of(junits):
    """{face: {passed, failed, skipped}} of ctest's reports."""
    status = {}
    for junit in junits:
        for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
            # Behind # are a parameter's bytes, which differ from run to run.
            status[case.get("name").split("  # ")[0]] = case.get("status")
    counts = {face: {"passed": 0, "failed": 0, "skipped": 0} for face in COLUMNS}
    for name, said in status.items():
        counts[face_of(name)][{"run": "passed", "fail": "failed"}.get(said, "skipped")] += 1
    return counts


def read(path):
    return json.loads(path.read_text()) if path.exists() else {}


def note(path, version, junits):
    results = read(path)
    results[version] = {"day": datetime.date.today().isoformat(), "faces": counts_of(junits)}
    part = path.with_suffix(".part")
    part.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")
    part.replace(path)


def cell(count):
    words = [str(count["passed"])] if count["passed"] or not count["skipped"] else []
    words += [f"{count[kind]} {kind}" for kind in ("failed", "skipped") if count[kind]]
    return ", ".join(words)


def in_order(version):
    return [int(part) for part in version.split(".")]


def rows_of(table):
    return {match[1]: match[0] for match in re.finditer(r"^\| (\d[\d.]*) \|.*\|$", table, re.M)}


def table_of(results, wanted, old_rows):
    lines = ["| RocksDB | " + " | ".join(COLUMNS) + " | run on |",
             "|---" * (len(COLUMNS) + 2) + "|"]
    for version in sorted({*results, *wanted, *old_rows}, key=in_order):
        if version in results:
            result = results[version]
            cells = [cell(result["faces"][face]) for face in COLUMNS]
            lines.append(f"| {version} | " + " | ".join(cells) + f" | {result['day']} |")
        else:
            nothing = f"| {version} |" + " |" * len(COLUMNS) + " not run |"
            lines.append(old_rows.get(version, nothing))
    return "\n".join(lines)


def tested_versions():
    script = pathlib.Path(__file__).parent / "rocksdb_source.sh"
    return subprocess.run([script, "--versions"], capture_output=True, text=True,
                          check=True).stdout.split()


def write(results, guide, wanted):
    text = guide.read_text()
    before, begin, rest = text.partition(BEGIN)
    old, end, after = rest.partition(END)
    if not begin or not end:
        sys.exit(f"{guide} lacks the markers '{BEGIN}' and '{END}'")
    table = table_of(results, wanted, rows_of(old))
    guide.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}")


def self_test():
    junit = """<testsuite>
      <testcase name="SecondaryCacheTest.A" status="fail"/>
      <testcase name="Faces/RestartDbTest.B/Persistent" status="fail"/>
      <testcase name="TieredDb.C" status="run"/>
      <testcase name="ByStringTest.D" status="notrun"/>
      <testcase name="KeyTest.E" status="run"/></testsuite>"""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder)
        (path / "run.xml").write_text(junit)
        (path / "again.xml").write_text(
            '<testsuite><testcase name="SecondaryCacheTest.A" status="run"/></testsuite>')
        note(path / "results.json", "10.10.1", [path / "run.xml", path / "again.xml"])
        guide = path / "guide.md"
        old = "| 9.7.4 | old |\n| 10.10.1 | old |"
        guide.write_text(f"above\n{BEGIN}\n{old}\n{END}\nbelow\n")
        write(read(path / "results.json"), guide, ["8.10.2", "9.7.4"])
        today = datetime.date.today().isoformat()
        expected = (f"above\n{BEGIN}\n"
                    "| RocksDB | SecondaryCache | PersistentCache | TieredCache | by a string | "
                    "several | run on |\n|---|---|---|---|---|---|---|\n"
                    "| 8.10.2 | | | | | | not run |\n| 9.7.4 | old |\n"
                    f"| 10.10.1 | 1 | 0, 1 failed | 1 | 1 skipped | 1 | {today} |\n{END}\nbelow\n")
        right = guide.read_text() == expected
        print("the table is right" if right else guide.read_text() + "WRONG, expected\n" + expected)
        return 0 if right else 1


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    match arguments:
        case ["note", path, version, _, *_]:
            note(pathlib.Path(path), version, arguments[3:])
        case ["print", path]:
            print(table_of(read(pathlib.Path(path)), tested_versions(), {}))
        case ["write", path, guide]:
            write(read(pathlib.Path(path)), pathlib.Path(guide), tested_versions())
        case _:
            sys.exit(__doc__)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

#!/usr/bin/env python3
"""Says which figures of a release changed by more than noise since the release before.

usage: result_changes.py VERSION FOLDER FIGURES.json   prints a page; writes FOLDER/figures.json
       result_changes.py --self-test

FOLDER has what script/results made: reproduce.json and simulate*.json. FIGURES.json has the figures
of the release before, as FOLDER/figures.json will have those of this one: {"version", "figures":
{name: {"value", "source"}}}.

A simulation of the same code gives the same number, and a model does: from half a percent on they
changed. A number of real engines moves by a tenth from run to run on a quiet machine: it changed
from 15% on.
"""
import json
import pathlib
import sys
import tempfile

NOISE = {"simulated": 0.005, "model": 0.005, "parameter": 0, "real": 0.15}


def of_papers(document):
    for result in document["results"]:
        for finding in result["findings"]:
            for at, (low, high) in enumerate(finding["parts"]):
                part = f" part {at + 1}" if len(finding["parts"]) > 1 else ""
                yield (f"{result['id']}{part} ({finding['source']})",
                       {"value": (low + high) / 2, "source": finding["source"]})


def of_simulations(document):
    for run in document["runs"]:
        options = run["options"]
        name = (f"{options['engine']} {options['workload']} {run['configuration']} "
                f"{options['nvram_bytes'] >> 30} GiB seed {options['seed']}, ops/s")
        yield name, {"value": run["result"]["ops_per_second"], "source": "simulated"}


def figures_of(folder):
    figures = dict(of_papers(json.loads((folder / "reproduce.json").read_text())))
    for path in sorted(folder.glob("simulate*.json")):
        figures.update(of_simulations(json.loads(path.read_text())))
    return figures


def changes(before, now):
    """(name, value before or None, value now or None), by how much they changed."""
    found = []
    for name in before.keys() | now.keys():
        old, new = before.get(name), now.get(name)
        if old is None or new is None:
            found.append((float("inf"), name, old, new))
            continue
        size = max(abs(old["value"]), abs(new["value"]))
        by = abs(new["value"] - old["value"]) / size if size else 0
        if by > NOISE[new["source"]]:
            found.append((by, name, old, new))
    return [each[1:] for each in sorted(found, key=lambda each: (-each[0], each[1]))]


def page(version, earlier, found, total):
    lines = ["# Figures that changed", "",
             f"`script/results {version}` writes this page. Do not edit it."]
    if earlier is None:
        return "\n".join(lines + ["", f"{total} figures; there is no release to compare with.", ""])
    lines += ["", f"{len(found)} of {total} figures of {version} are not those of {earlier}: real "
              "ones by more than 15%,", "simulated ones by more than half a percent.", ""]
    if found:
        lines += [f"| figure | {earlier} | {version} |", "|---|---|---|"]
    for name, old, new in found:
        cells = [f"{each['value']:.4g}" if each else "none" for each in (old, new)]
        lines.append(f"| {name} | {cells[0]} | {cells[1]} |")
    return "\n".join(lines + [""])


def self_test():
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        parts = {"parts": [[1, 3]], "source": "real"}
        (folder / "reproduce.json").write_text(json.dumps(
            {"results": [{"id": "gain", "findings": [parts]}]}))
        assert figures_of(folder) == {"gain (real)": {"value": 2, "source": "real"}}
    old = {"a": {"value": 100, "source": "real"}, "b": {"value": 100, "source": "simulated"},
           "c": {"value": 0, "source": "model"}, "gone": {"value": 1, "source": "model"}}
    new = {"a": {"value": 110, "source": "real"}, "b": {"value": 101, "source": "simulated"},
           "c": {"value": 0, "source": "model"}, "here": {"value": 1, "source": "model"}}
    assert [each[0] for each in changes(old, new)] == ["gone", "here", "b"], changes(old, new)
    assert changes(old, old) == []
    assert "| b | 100 | 101 |" in page("2", "1", changes(old, new), 4)


def main():
    if sys.argv[1:] == ["--self-test"]:
        self_test()
        return 0
    if len(sys.argv) != 4:
        print(__doc__, file=sys.stderr)
        return 2
    version, folder, earlier = sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3])
    figures = figures_of(folder)
    before = json.loads(earlier.read_text()) if earlier.exists() else None
    text = json.dumps({"version": version, "figures": figures}, indent=1, sort_keys=True)
    (folder / "figures.json").write_text(text + "\n")
    found = changes(before["figures"], figures) if before else []
    print(page(version, before["version"] if before else None, found, len(figures)))
    return 0


if __name__ == "__main__":
    sys.exit(main())

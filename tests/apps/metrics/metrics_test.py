#!/usr/bin/env python3
"""The dashboards (contrib/grafana) and the rules (contrib/prometheus) against what programs really
tell: each metric that they name is there, and is asked for as the counter or the gauge that it is.
Prometheus' own promtool checks the rules, and tries each alert, where it is installed (Debian:
`prometheus`).

usage: metrics_test.py SOURCE STATS_WRITER NVCACHED
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request

SOURCE = pathlib.Path(sys.argv[1]).resolve()
WRITER, NVCACHED = (os.path.abspath(program) for program in sys.argv[2:4])
sys.path.insert(0, str(SOURCE / "tests" / "apps" / "nvcached"))
from running_server import LONG_SECONDS, Server, check, equal, run  # noqa: E402

DASHBOARDS = [SOURCE / "contrib" / "grafana" / name for name in ("nvcache.json", "nvcached.json")]
RULES = SOURCE / "contrib" / "prometheus" / "nvcache.rules.yml"
CASES = SOURCE / "tests" / "apps" / "metrics" / "rules_test.yml"
PROMTOOL = shutil.which("promtool")
NO_PROMTOOL = "promtool is not installed (Debian: prometheus)"

SPECS = {"cache": "nvcache://?size=4MiB", "tiered": "tiered://?dram=1MiB&tier=(size=4MiB)",
         "store": "nvkv://?size=4MiB", "files": "nvcache://?size=4MiB"}
METRIC = re.compile(r"\bnvcached?_[a-z0-9_]+\b")
RECORD = re.compile(r"\bnvcached?:[a-z0-9_:]+\b")
OF_COUNTER = re.compile(r"\b(?:rate|irate|increase|resets)\($")


class Metrics:
    """What Prometheus text tells: the kind of each name, and the values of its labels."""

    def __init__(self):
        self.kinds, self.labels = {}, {}

    def add(self, text):
        for line in text.splitlines():
            if line.startswith("# TYPE "):
                _, _, name, kind = line.split(" ")
                self.kinds[name] = kind
            elif line and line[0] != "#":
                self.labels.setdefault(METRIC.match(line)[0], set()).update(
                    re.findall(r'(\w+)="([^"]*)"', line))

    def faults(self, where, expression):
        """The mistakes in the names of an expression."""
        for found in METRIC.finditer(expression):
            name, before = found[0], expression[:found.start()]
            kind = self.kinds.get(name)
            if kind is None:
                yield f"{where}: there is no metric {name}"
            elif (kind == "counter") != bool(OF_COUNTER.search(before)):
                yield (f"{where}: {name} is a {kind}; counters, and they alone, are asked for by "
                       "rate(), increase() or resets()")
            matched = re.match(r"\{([^}]*)\}", expression[found.end():])
            for label, value in re.findall(r'(\w+)="([^"$]+)"', matched[1] if matched else ""):
                if (label, value) not in self.labels.get(name, set()):
                    yield f"{where}: no {name} has {label}=\"{value}\""


def told_metrics():
    metrics = Metrics()
    with tempfile.TemporaryDirectory() as folder:
        for kind, spec in SPECS.items():
            path = pathlib.Path(folder, kind)
            subprocess.run([WRITER, kind, "prometheus", path, spec, "3000"], check=True,
                           stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                           timeout=LONG_SECONDS)
            metrics.add(path.read_text())
    with Server(NVCACHED, "-m", "8", "--metrics-port", "-1") as server:
        url = f"http://127.0.0.1:{server.ports['METRICS']}/metrics"
        with urllib.request.urlopen(url, timeout=LONG_SECONDS) as answer:
            metrics.add(answer.read().decode())
    return metrics


TOLD = told_metrics()


def panels_of(path):
    return [panel for panel in json.loads(path.read_text())["panels"] if panel["type"] != "row"]


def expressions_of(path):
    """(where, expression), of panels and of variables."""
    for panel in panels_of(path):
        for target in panel["targets"]:
            yield f"{path.name}: {panel['title']}", target["expr"]


def rules_of(text):
    """{name: {"expr": ..., "runbook": ...}} of the file as it is laid out here. promtool has the
    whole of YAML."""
    rules, name, block = {}, None, None
    for line in text.splitlines():
        begun = re.match(r" *- (?:alert|record): (\S+)$", line)
        if begun:
            name, block = begun[1], None
            rules[name] = {"expr": "", "alert": "alert:" in line}
        elif re.match(r" {8}expr: \|$", line):
            block = "expr"
        elif block and line.startswith(" " * 10):
            rules[name]["expr"] += line.strip() + "\n"
        else:
            block = None
            runbook = re.match(r' *runbook: "(.*)"$', line)
            if runbook:
                rules[name]["runbook"] = runbook[1]
    return rules


RULE_TABLE = rules_of(RULES.read_text())
ALERTS = [name for name, rule in RULE_TABLE.items() if rule["alert"]]


def the_checker_finds_faults():
    """The negative control: what is wrong on purpose is found."""
    for wrong, told in (("rate(nvcache_nothing_total[5m])", "no metric nvcache_nothing_total"),
                        ("nvcache_hits_total", "is a counter"),
                        ("rate(nvcache_blocks[5m])", "is a gauge"),
                        ("sum(rate(nvcached_items[5m]))", "is a gauge"),
                        ('rate(nvcache_refused_total{reason="whim"}[5m])', 'reason="whim"')):
        faults = list(TOLD.faults("control", wrong))
        check(len(faults) == 1 and told in faults[0], f"{wrong}: {faults}")
    equal(list(TOLD.faults("control", "rate(nvcache_hits_total[5m]) / nvcache_blocks")), [])
    wrong = RULES.read_text().replace("nvcache_failed == 1", "nvcache_broken == 1")
    check(list(TOLD.faults("", rules_of(wrong)["NvcacheMediumOff"]["expr"])), "not found in rules")


def dashboards_name_what_is_told():
    for path in DASHBOARDS:
        expressions = list(expressions_of(path))
        check(len(expressions) > 20, f"{path}: {len(expressions)} expressions")
        equal([fault for where, text in expressions for fault in TOLD.faults(where, text)], [])
        for variable in json.loads(path.read_text())["templating"]["list"]:
            for name in METRIC.findall(json.dumps(variable)):
                check(name in TOLD.kinds, f"{path.name}: {variable['name']}: no metric {name}")


def dashboards_are_what_is_made():
    made = [sys.executable, str(SOURCE / "tools" / "dashboards.py"), "--check"]
    answer = subprocess.run([*made, str(DASHBOARDS[0].parent)], capture_output=True, text=True,
                            check=False)
    equal((answer.returncode, answer.stdout, answer.stderr), (0, "", ""))
    with tempfile.TemporaryDirectory() as folder:  # the control
        for path in DASHBOARDS:
            pathlib.Path(folder, path.name).write_text(path.read_text().replace("rate(", "irate("))
        equal(subprocess.run([*made, folder], capture_output=True, check=False).returncode, 1)


def dashboards_can_be_imported():
    """What Grafana 9 to 12 need, and nothing of one machine."""
    for path in DASHBOARDS:
        dashboard = json.loads(path.read_text())
        equal((dashboard["id"], dashboard["schemaVersion"]), (None, 38))
        variables = {each["name"]: each["type"] for each in dashboard["templating"]["list"]}
        equal(variables["datasource"], "datasource")
        sources = set(re.findall(r'"uid": "([^"]*)"', path.read_text())) - {dashboard["uid"]}
        equal(sources, {"${datasource}"})
        used = set(re.findall(r"\$\{?([a-z]\w*)", path.read_text())) - {"__rate_interval"}
        equal(used - set(variables), set())
        panels = dashboard["panels"]
        equal(len({panel["id"] for panel in panels}), len(panels))
        taken = set()
        for panel in panels:
            place = panel["gridPos"]
            check(place["x"] + place["w"] <= 24, f"{panel['title']}: too far right")
            cells = {(x, y) for x in range(place["x"], place["x"] + place["w"])
                     for y in range(place["y"], place["y"] + place["h"])}
            check(not cells & taken, f"{path.name}: {panel['title']} lies on another")
            taken |= cells
        for panel in panels_of(path):
            check(len(panel["description"]) > 15, f"{panel['title']}: says too little")
            check(panel["fieldConfig"]["defaults"]["unit"], f"{panel['title']}: has no unit")


def rules_name_what_is_told():
    records = set(RULE_TABLE) - set(ALERTS)
    check(len(records) >= 5 and len(ALERTS) >= 14, RULE_TABLE.keys())
    for name, rule in RULE_TABLE.items():
        check(rule["expr"], f"{name}: no expression")
        equal(list(TOLD.faults(name, rule["expr"])), [])
        equal(set(RECORD.findall(rule["expr"])) - records, set())
    guide = (SOURCE / "docs" / "guide" / "configuration.md").read_text()
    for name in ALERTS:
        check(f"`{name}`" in guide, f"{name} is not in the guide")
        runbook = RULE_TABLE[name]["runbook"]
        path, _, anchor = runbook.partition("#")
        titles = re.findall(r"^#+ (.*)$", (SOURCE / path).read_text(), flags=re.M)
        anchors = {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}
        check(anchor in anchors, f"{name}: {runbook} leads nowhere")


def each_alert_is_tried():
    """Whether in both ways is seen by each_case_matters()."""
    text = CASES.read_text()
    for name in ALERTS:
        check(f'alertname="{name}"' in text, f"{name} has no case")


def promtool(*words):
    return subprocess.run([PROMTOOL, *words], capture_output=True, text=True, check=False,
                          timeout=LONG_SECONDS)


def promtool_takes_the_rules():
    if PROMTOOL is None:
        return NO_PROMTOOL
    answer = promtool("check", "rules", RULES)
    equal(answer.returncode, 0)
    answer = promtool("test", "rules", CASES)
    check(answer.returncode == 0, answer.stdout + answer.stderr)
    return None


def each_case_matters():
    """The negative control: of rules that always fire, and of rules that never do, a case of each
    alert fails. So there is one in which it must not fire, and one in which it must."""
    if PROMTOOL is None:
        return NO_PROMTOOL
    cases = CASES.read_text().replace("../../../contrib/prometheus/", "")
    for spoilt in ("vector(1) or on ()", "vector(0) > 1 unless"):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "cases.yml").write_text(cases)
            text = re.sub(r"(- alert: \w+\n {8}expr: \|\n)", rf"\1          {spoilt}\n",
                          RULES.read_text())
            text = re.sub(r"\n +for: .*", "", text) if "or on" in spoilt else text
            pathlib.Path(folder, RULES.name).write_text(text)
            answer = promtool("test", "rules", f"{folder}/cases.yml")
            check(answer.returncode != 0, "spoilt rules pass")
            for name in ALERTS:
                check(f'alertname=\\"{name}\\"' in answer.stdout + answer.stderr,
                      f"{name} with '{spoilt}': no case fails: {answer.stdout}{answer.stderr}")
    return None


def promtool_reads_the_dashboards():
    """Grafana sends these expressions to Prometheus: each must be one."""
    if PROMTOOL is None:
        return NO_PROMTOOL
    lines = ["groups:", "  - name: dashboards", "    rules:"]
    for path in DASHBOARDS:
        for number, (_, expression) in enumerate(expressions_of(path)):
            known = (expression.replace("$__rate_interval", "1m").replace("$drive_terabytes", "600")
                     .replace("$job", ".*").replace("$instance", ".*"))
            lines += [f"      - record: {path.stem}:panel:{number}",
                      f"        expr: {json.dumps(known)}"]
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "dashboards.yml")
        file.write_text("\n".join(lines) + "\n")
        answer = promtool("check", "rules", file)
        check(answer.returncode == 0, answer.stdout + answer.stderr)
        file.write_text("\n".join(lines).replace("rate(", "rate((", 1) + "\n")  # the control
        check(promtool("check", "rules", file).returncode != 0, "no fault is found")
    return None


if __name__ == "__main__":
    sys.exit(run([the_checker_finds_faults, dashboards_name_what_is_told,
                  dashboards_are_what_is_made, dashboards_can_be_imported,
                  rules_name_what_is_told, each_alert_is_tried, promtool_takes_the_rules,
                  each_case_matters, promtool_reads_the_dashboards]))

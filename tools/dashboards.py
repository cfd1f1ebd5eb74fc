#!/usr/bin/env python3
"""Makes the Grafana dashboards in contrib/grafana: nvcache.json for programs with a cache of the
library, nvcached.json for the server. Each panel is a line or two here, and some forty in Grafana's
format.

usage: dashboards.py FOLDER          write both there
       dashboards.py --check FOLDER  compare; exit code 1 if a file is another

The format is that of Grafana 9 (schema 38), which later ones take and bring up to date. The data
source is a variable; nothing in it is of one machine. tests/apps/metrics checks that all metrics
are there, and are asked for as counters or gauges.
"""
import json
import pathlib
import sys

SCHEMA = 38
COLUMNS = 24
RED, ORANGE, GREEN = "red", "orange", "green"
# By $job and $instance, which each dashboard has.
OF = 'job=~"$job",instance=~"$instance"'


def rate(metric, more="", window="$__rate_interval"):
    return f"rate({metric}{{{OF}{more}}}[{window}])"


def gauge(metric, more=""):
    return f"{metric}{{{OF}{more}}}"


def ratio(part, whole, matched=""):
    """Nothing where there was nothing to divide by."""
    return f"{part} / {matched}({whole} > 0)"


def foreground(metric, window="$__rate_interval"):
    """Lookups of engines' own work, such as compaction, are left out."""
    return (f"({rate(f'nvcache_{metric}_total', window=window)} - "
            f"{rate(f'nvcache_background_{metric}_total', window=window)})")


def days(metric):
    """Until $drive_terabytes are written at the pace of the last day."""
    return f"$drive_terabytes * 1e12 / ({rate(metric, window='1d')} * 86400 > 0)"


def panel(title, kind, unit, width, text, *targets, low_is_bad=None, high_is_bad=None, most=None):
    """targets: (expression, legend). low_is_bad, high_is_bad: (orange, red)."""
    steps = [{"color": GREEN, "value": None}]
    if high_is_bad:
        orange, red = high_is_bad
        steps += [{"color": ORANGE, "value": orange}] if orange != red else []
        steps += [{"color": RED, "value": red}]
    if low_is_bad:
        orange, red = low_is_bad
        steps = [{"color": RED, "value": None}, {"color": ORANGE, "value": red},
                 {"color": GREEN, "value": orange}]
    source = {"type": "prometheus", "uid": "${datasource}"}
    field = {"unit": unit, "min": 0, "thresholds": {"mode": "absolute", "steps": steps},
             "color": {"mode": "thresholds" if kind == "stat" else "palette-classic"}}
    if most is not None:
        field["max"] = most
    options = {"legend": {"displayMode": "list", "placement": "bottom", "showLegend": True},
               "tooltip": {"mode": "multi", "sort": "desc"}}
    if kind == "stat":
        options = {"colorMode": "value", "graphMode": "area", "textMode": "auto",
                   "reduceOptions": {"calcs": ["lastNotNull"], "fields": "", "values": False}}
    else:
        field["custom"] = {"fillOpacity": 10, "lineWidth": 1, "showPoints": "never"}
    return {"title": title, "type": kind, "description": text, "datasource": source,
            "fieldConfig": {"defaults": field, "overrides": []}, "options": options,
            "targets": [{"datasource": source, "expr": expression, "legendFormat": legend,
                         "refId": chr(ord("A") + i), "editorMode": "code", "range": True}
                        for i, (expression, legend) in enumerate(targets)],
            "gridPos": {"w": width, "h": 4 if kind == "stat" else 8}}


def stat(title, unit, text, expression, **more):
    return panel(title, "stat", unit, 4, text, (expression, ""), **more)


def graph(title, unit, text, *targets, width=8, **more):
    return panel(title, "timeseries", unit, width, text, *targets, **more)


TIER = "{{instance}} {{tier}}"
HITS, MISSES = foreground("hits"), foreground("misses")
NVCACHE = {
    "Now": [
        stat("Hit ratio", "percentunit", "Share of lookups that were served, engines' own work "
             "left out. Good: steady. Bad: far below what it was for as long as the load is the "
             "same.", ratio(f"sum({HITS})", f"(sum({HITS}) + sum({MISSES}))"), most=1),
        stat("Lookups", "ops", "Lookups a second. 0: the engine does not use the cache, or its own "
             "cache serves everything.",
             f"sum({rate('nvcache_hits_total')}) + sum({rate('nvcache_misses_total')})"),
        stat("Media off", "none", "Caches whose medium fails: they are tried once a second. "
             "Good: 0. Else look at the kernel's log, and at docs/troubleshooting.md.",
             f"sum({gauge('nvcache_failed')})", high_is_bad=(1, 1)),
        stat("Coming back", "none", "Caches whose blocks come back after a restart. Good: 0 soon "
             "after it.", f"sum({gauge('nvcache_recovering')})", high_is_bad=(1, 100)),
        stat("Tiers not open", "none", "Tiers whose medium could not be opened; the label problem "
             "of nvcache_tier_info says why. Good: 0.",
             f"count({gauge('nvcache_tier_info', more=',problem!=' + chr(34) * 2)}) or vector(0)",
             high_is_bad=(1, 1)),
        stat("The drive lasts", "d", "Days until $drive_terabytes TB are written, at the pace of "
             "the last day: set the variable to what the maker allows (TBW) less what the drive "
             "has taken. A drive writes more than it is told to. Good: years.",
             f"min({days('nvcache_medium_written_bytes_total')})", low_is_bad=(1000, 300)),
    ],
    "Hits": [
        graph("Hit ratio by cache", "percentunit", "Each block cache; tiers by their number. "
              "A restart of a cold cache shows as a fall and a slow climb.",
              (ratio(HITS, f"({HITS} + {MISSES})"), TIER), most=1),
        graph("Which tier served", "percentunit", "Of the lookups of a tiered cache, the share "
              "that each tier served; 0 is DRAM. What is missing to 100% was read from storage.",
              (ratio(f"sum by (job, instance, tier) ({rate('nvcache_tier_hits_total')})",
                     f"sum by (job, instance) ({rate('nvcache_tiered_lookups_total')})",
                     matched="on (job, instance) group_left () "),
               TIER), most=1),
        graph("Lookups", "ops", "Hits and misses a second; background: engines' own work, such as "
              "compaction.", (HITS, f"hits {TIER}"), (MISSES, f"misses {TIER}"),
              (f"{rate('nvcache_background_hits_total')} + "
               f"{rate('nvcache_background_misses_total')}", f"background {TIER}")),
    ],
    "Blocks that enter and leave": [
        graph("Inserts, evictions", "ops", "Blocks a second. Evictions follow inserts once the "
              "cache is full. Bad: both high while hits are few.",
              (rate("nvcache_inserts_total"), f"inserted {TIER}"),
              (rate("nvcache_evictions_total"), f"evicted {TIER}"),
              (rate("nvcache_rewritten_blocks_total"), f"rewritten {TIER}")),
        graph("Refused, by reason", "ops", "Blocks that were not admitted. Mostly good: each write "
              "has a price. docs/guide/configuration.md says of each reason what to do. "
              "write_budget: the budget is used up; medium_failed: the medium fails.",
              (f"sum by (instance, reason) ({rate('nvcache_refused_total')}) > 0",
               "{{instance}} {{reason}}")),
        graph("How long a block stays", "s", "Blocks in the cache over those that leave a second. "
              "Bad: seconds; the cache is too small for what is read again.",
              (ratio(gauge("nvcache_blocks"), rate("nvcache_evictions_total", window="10m")),
               TIER)),
    ],
    "The medium": [
        graph("Read and written", "Bps", "Bytes a second, padding and rewritten blocks included.",
              (rate("nvcache_medium_read_bytes_total"), f"read {TIER}"),
              (rate("nvcache_medium_written_bytes_total"), f"written {TIER}")),
        graph("Space", "bytes", "Bytes taken, and the size of the medium. Set aside: writes there "
              "failed. Good: full, and nothing set aside.",
              (gauge("nvcache_used_bytes"), f"used {TIER}"),
              (gauge("nvcache_size_bytes"), f"size {TIER}"),
              (gauge("nvcache_set_aside_bytes") + " > 0", f"set aside {TIER}")),
        graph("Faults", "none", "In the last hour. Good: nothing. Errors: reads and writes that "
              "failed; lost: blocks that went with them; damaged: a wrong checksum, each was a "
              "miss.", *((f"increase({gauge(f'nvcache_{name}_total')}[1h]) > 0", f"{word} {TIER}")
                         for name, word in (("medium_errors", "errors"), ("failed_blocks", "lost"),
                                            ("damaged_blocks", "damaged blocks"),
                                            ("damaged_regions", "damaged regions"),
                                            ("discard_errors", "discards failed")))),
        graph("After a restart", "none", "Blocks that came back in the last hour, and whether more "
              "still come (1).",
              (f"increase({gauge('nvcache_recovered_blocks_total')}[1h])", f"came back {TIER}"),
              (gauge("nvcache_recovering"), f"under way {TIER}")),
        graph("DRAM beside the blocks", "bytes", "Metadata (24 bytes and more a block), open "
              "regions, and blocks that wait to be written.",
              (gauge("nvcache_metadata_bytes"), f"metadata {TIER}"),
              (gauge("nvcache_buffer_bytes"), f"open regions {TIER}"),
              (gauge("nvcache_pending_bytes"), f"waiting {TIER}")),
        graph("Overhead ratio", "none", "Blocks inserted and removed for each lookup "
              "(Writes Hurt, section 3.2.3). Good under obp(0.1): near 0.1.",
              (gauge("nvcache_overhead_ratio"), TIER)),
    ],
    "WiredTiger's files, key-value stores": [
        graph("Reads of files", "ops", "Served by the cache, and from disk.",
              (rate("nvcache_file_served_reads_total"), "served {{instance}}"),
              (rate("nvcache_file_disk_reads_total"), "disk {{instance}}")),
        graph("Hit ratio of stores", "percentunit", "Of the gets of each key-value store.",
              (ratio(rate("nvcache_kv_hits_total"), rate("nvcache_kv_gets_total")),
               "{{instance}}"), most=1),
        graph("Stores", "ops", "Puts and evicted items a second. Bad: evictions in a store that "
              "should keep everything.", (rate("nvcache_kv_puts_total"), "put {{instance}}"),
              (rate("nvcache_kv_evicted_total"), "evicted {{instance}}")),
    ],
}

EACH = "{{instance}}"
GETS = "nvcached_cmd_get_total"
NVCACHED = {
    "Now": [
        stat("Hit ratio", "percentunit", "Share of the keys looked up that were there. Good: "
             "steady, and after a restart as before it.",
             ratio(f"sum({rate('nvcached_get_hits_total')})", f"sum({rate(GETS)})"), most=1),
        stat("Keys looked up", "ops", "A second, of all servers shown.", f"sum({rate(GETS)})"),
        stat("Stores failed", "none", "Servers that refuse changes, because their medium failed. "
             "Good: 0. Else look at the disk and the kernel's log, and restart.",
             f"sum({gauge('nvcached_store_failed')})", high_is_bad=(1, 1)),
        stat("Files lost", "none", "Servers whose data file is not at its path: their items end "
             "with them. Good: 0.", f"sum({gauge('nvcached_store_file_lost')})",
             high_is_bad=(1, 1)),
        stat("Youngest server", "s", "Seconds since the last start of any of them.",
             f"min({gauge('nvcached_uptime_seconds')})"),
        stat("The drive lasts", "d", "Days until $drive_terabytes TB are written, at the pace of "
             "the last day: set the variable to what the maker allows (TBW) less what the drive "
             "has taken. A drive writes more than it is told to. Good: years.",
             f"min({days('nvcached_store_medium_written_bytes_total')})", low_is_bad=(1000, 300)),
    ],
    "Requests": [
        graph("Hit ratio", "percentunit", "By server. A fall at a restart that does not come back "
              "at once: items were lost, or expired.",
              (ratio(rate("nvcached_get_hits_total"), rate(GETS)), EACH), most=1),
        graph("Requests", "ops", "A second, by what they ask for.", (rate(GETS), f"get {EACH}"),
              (rate("nvcached_cmd_set_total"), f"set {EACH}"),
              (rate("nvcached_cmd_touch_total"), f"touch {EACH}"),
              (rate("nvcached_delete_hits_total") + " + " +
               rate("nvcached_delete_misses_total"), f"delete {EACH}")),
        graph("Why lookups missed", "ops", "Beside keys that were never there: expired; outdated, "
              "from before a long absence (--max-absence).",
              (rate("nvcached_get_misses_total"), f"missed {EACH}"),
              (rate("nvcached_get_expired_total"), f"expired {EACH}"),
              (rate("nvcached_get_outdated_total"), f"outdated {EACH}")),
        graph("Network", "Bps", "Received from clients, and sent to them.",
              (rate("nvcached_bytes_read_total"), f"received {EACH}"),
              (rate("nvcached_bytes_written_total"), f"sent {EACH}")),
        graph("Connections", "none", "Open now. At -c, further ones are rejected.",
              (gauge("nvcached_connections"), EACH)),
        graph("Turned away", "ops", "Good: nothing. Rejected: -c is reached; closed: "
              "--buffer-memory is used up; refused: an item larger than -I, or no room; "
              "passwords: attempts that failed.",
              (rate("nvcached_connections_rejected_total"), f"rejected {EACH}"),
              (rate("nvcached_buffer_kicks_total"), f"closed {EACH}"),
              (rate("nvcached_store_too_large_total"), f"too large {EACH}"),
              (rate("nvcached_store_no_memory_total"), f"no room {EACH}"),
              (rate("nvcached_auth_errors_total"), f"passwords {EACH}")),
    ],
    "The store": [
        graph("Bytes", "bytes", "Keys and values, and the size of the medium. Beyond 85% of it, "
              "cleaning drops items that were not used lately.",
              (gauge("nvcached_data_bytes"), f"items {EACH}"),
              (gauge("nvcached_size_bytes"), f"size {EACH}")),
        graph("Evicted", "ops", "Items a second. Good: 0, unless the store is meant to be full. "
              "Table: the table of items is full; a restart makes a larger one.",
              (rate("nvcached_evictions_total"), EACH),
              (rate("nvcached_store_table_evictions_total"), f"table {EACH}")),
        graph("The table of items", "percentunit", "Share of its places that are taken. Bad: near "
              "100%, items are evicted though there is room; restart then.",
              (ratio(gauge("nvcached_items"), gauge("nvcached_store_table_places")), EACH),
              most=1),
        graph("Written", "Bps", "Bytes to the medium a second, and those that cleaning moved. "
              "Bad: mostly cleaning; the store is too full.",
              (rate("nvcached_store_medium_written_bytes_total"), f"written {EACH}"),
              (rate("nvcached_relocated_bytes_total"), f"moved {EACH}"),
              (rate("nvcached_store_flushed_bytes_total"), f"flushed {EACH}")),
        graph("Cleaning", "ops", "Zones emptied a second, and items moved for that.",
              (rate("nvcached_zones_cleaned_total"), f"zones {EACH}"),
              (rate("nvcached_relocated_items_total"), f"items {EACH}")),
        graph("The last start", "none", "Items found. Good: as many as before it.",
              (gauge("nvcached_recovered_items"), f"recovered {EACH}"),
              (gauge("nvcached_items"), f"now {EACH}")),
        graph("How long the last start took", "s", "Recovery, and how long no server had the "
              "store before it.", (gauge("nvcached_recovery_seconds"), f"recovery {EACH}"),
              (gauge("nvcached_away_seconds"), f"away {EACH}")),
        graph("DRAM", "bytes", "Metadata of the store; requests and answers in flight, which "
              "--buffer-memory bounds.", (gauge("nvcached_metadata_bytes"), f"metadata {EACH}"),
              (gauge("nvcached_buffer_bytes"), f"in flight {EACH}")),
        graph("Damaged items", "none", "In the last hour: their checksum failed after a crash. "
              "Each is a miss. Good: nothing.",
              (f"increase({gauge('nvcached_store_damaged_items_total')}[1h])", EACH)),
    ],
}


def variable(name, label, query):
    """A choice of one or more values, all at first."""
    return {"name": name, "label": label, "type": "query", "multi": True, "includeAll": True,
            "allValue": ".*", "refresh": 2, "sort": 1,
            "datasource": {"type": "prometheus", "uid": "${datasource}"},
            "query": {"query": query, "refId": name}, "definition": query,
            "current": {"selected": True, "text": ["All"], "value": ["$__all"]}}


def placed(rows):
    """The panels, left to right and row by row, behind a heading each."""
    panels, y = [], 0
    for title, members in rows.items():
        panels.append({"type": "row", "title": title, "collapsed": False, "panels": [],
                       "gridPos": {"x": 0, "y": y, "w": COLUMNS, "h": 1}})
        x, y = 0, y + 1
        for each in members:
            place = each["gridPos"]
            if x + place["w"] > COLUMNS:
                x, y = 0, y + place["h"]
            panels.append({**each, "gridPos": {"x": x, "y": y, **place}})
            x += place["w"]
        y += members[-1]["gridPos"]["h"]
    return [{"id": i, **each} for i, each in enumerate(panels, 1)]


def dashboard(name, text, metric, rows):
    source = {"name": "datasource", "label": "Data source", "type": "datasource",
              "query": "prometheus", "current": {}, "refresh": 1}
    terabytes = {"name": "drive_terabytes", "label": "TB the drive still takes", "type": "textbox",
                 "query": "600", "current": {"text": "600", "value": "600"}}
    of_job = metric.removesuffix("}") + (", " if "{" in metric else "{") + 'job=~"$job"}'
    return {"title": name, "uid": name, "description": text, "tags": ["nvcache"],
            "schemaVersion": SCHEMA, "version": 1, "id": None, "editable": True, "refresh": "30s",
            "time": {"from": "now-6h", "to": "now"}, "timezone": "", "graphTooltip": 1,
            "annotations": {"list": []}, "links": [],
            "templating": {"list": [
                source, variable("job", "Job", f"label_values({metric}, job)"),
                variable("instance", "Instance", f"label_values({of_job}, instance)"),
                terabytes]},
            "panels": placed(rows)}


DASHBOARDS = {
    "nvcache.json": dashboard("nvcache", "Caches of the library: hits, writes, media.",
                              '{__name__=~"nvcache_info|nvcache_kv_info"}', NVCACHE),
    "nvcached.json": dashboard("nvcached", "Servers: requests, items, the store.",
                               "nvcached_uptime_seconds", NVCACHED),
}


def main():
    folder = pathlib.Path(sys.argv[-1])
    code = 0
    for name, made in DASHBOARDS.items():
        text = json.dumps(made, indent=1) + "\n"
        if sys.argv[1] != "--check":
            (folder / name).write_text(text)
        elif (folder / name).read_text() != text:
            print(f"{folder / name}: not what tools/dashboards.py makes; run it")
            code = 1
    return code


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[-1].startswith("-"):
        sys.exit(__doc__)
    sys.exit(main())

#!/usr/bin/env python3
"""Checks that every file includes only from its own room and from rooms below it, and of those
only the headers that are their faces.

usage: check_layers.py [ROOT]          check the tree at ROOT (default: .)
       check_layers.py --self-test     prove that each kind of breach is found

Prints each breach as file:line and exits with 1 if there is any.
"""
import pathlib
import re
import sys
import tempfile

# Bottom to top. Rooms on one floor do not include each other.
FLOORS = [
    ["src/base"],
    ["src/spec"],
    ["src/medium"],
    ["src/policy/parts", "src/policy/learning"],
    ["src/policy/outside"],
    ["src/policy/admission", "src/policy/eviction", "src/policy/placement"],
    ["src/policy"],
    ["src/block_cache/api", "src/kv_store/api"],
    ["src/block_cache/io", "src/kv_store/medium"],
    ["src/block_cache/index", "src/kv_store/format"],
    ["src/kv_store/index", "src/kv_store/write_cache"],
    ["src/kv_store/log"],
    ["src/kv_store/recovery"],
    ["src/kv_store/store"],
    ["src/block_cache/in_place", "src/block_cache/region"],
    ["src/block_cache/store"],
    ["src/block_cache/face"],
    ["src/block_cache", "src/kv_store"],
    ["src/file_cache", "src/tiered_cache"],
    ["src/adapters/rocksdb", "src/adapters/wiredtiger"],
    ["src/adapters/jvm"],
    ["apps/manual"],
    ["apps/command", "apps/trace"],
    ["apps/report"],
    ["experiments/workload"],
    ["apps/nvcached/protocol", "apps/nvcached/page"],
    ["apps/nvcached/options"],
    ["apps/nvcached/service"],
    ["apps/nvcached/session"],
    ["apps/nvcached/net"],
    ["apps/nvcache", "apps/nvcached"],
    ["experiments/harness"],
    ["experiments/engines"],
    ["experiments/run"],
    ["experiments/writes_hurt", "experiments/hybrid_cache", "experiments/nvmcached",
     "experiments/java"],
    ["experiments/simulate"],
    ["experiments/reproduce"],
    ["experiments"],
    ["bench", "examples"],
    ["tests"],
]
LEVEL = {room: level for level, floor in enumerate(FLOORS) for room in floor}
# A room's face: its headers that other rooms may include, by their paths in the room. A room that
# has rooms within has a face for those outside of all of them. Tests look behind the faces.
FACES = {
    "src/medium": """check.h cost_model.h dram.h emulated.h file.h file_mark.h kept_file.h
        medium.h metered.h page_file.h populate.h profiles.h read_only_medium.h read_queue.h
        table.h""",
    "src/policy": """admission/make_admission.h admission/overhead_ratio.h
        eviction/make_eviction.h placement/placement_policy.h""",
    "src/policy/parts": "frequency_table.h ghost.h policy_table.h",
    "src/policy/learning": "score_table.h shared_learning.h use_clock.h use_score.h",
    "src/policy/outside": "outside.h",
    "src/policy/admission": "make_admission.h overhead_ratio.h table.h",
    "src/policy/eviction": "make_eviction.h table.h",
    "src/policy/placement": "placement_policy.h",
    "src/block_cache": """api/config.h api/stats_text.h face/block_cache_impl.h face/open_config.h
        region/inspect.h store/block_store.h""",
    "src/block_cache/api": "config.h counters.h stats_text.h",
    "src/block_cache/io": """aligned_buffer.h block_reader.h medium_health.h medium_probe.h
        set_aside.h space.h""",
    "src/block_cache/index": """admission_control.h gone_files.h entry.h erased_keys.h file_set.h
        key_generations.h recovered_block.h shard.h shard_set.h volume.h""",
    "src/block_cache/in_place": "in_place_volume.h",
    "src/block_cache/region": "inspect.h region_volume.h",
    "src/block_cache/store": "block_store.h",
    "src/block_cache/face": "block_cache_impl.h open_config.h",
    "src/kv_store": "api/config.h format/layout.h open_config.h store/store.h",
    "src/kv_store/api": "config.h counters.h",
    "src/kv_store/medium": "media.h",
    "src/kv_store/format": """durable_memory.h items.h layout.h superblock.h time_record.h
        zone_headers.h""",
    "src/kv_store/index": "descriptor_table.h use_list.h",
    "src/kv_store/write_cache": "write_cache.h",
    "src/kv_store/log": "cleaner.h parts.h zone_mover.h zone_walk.h",
    "src/kv_store/recovery": "absence.h found_store.h recovery.h",
    "src/kv_store/store": "store.h",
    "src/file_cache": "file_block_cache.h",
    "src/tiered_cache": "stats_sum.h tiered_cache_impl.h tiered_config.h",
    "src/adapters/rocksdb": """program_cache.h program_options.h program_settings.h
        tiered_cache_8.h tiered_codec.h versions.h""",
    "src/adapters/jvm": "",
    "src/adapters/wiredtiger": "cache_settings.h file_system.h",
    "apps/manual": "page.h render.h text.h",
    "apps/trace": "decoder.h formats.h trace_reader.h",
    "apps/report": "figure_parts.h figure_tables.h html.h report_command.h table.h",
    "apps/nvcache": "",  # a program is no part of another
    "apps/nvcached": "",
    "apps/nvcached/protocol": """base64.h binary_protocol.h key_parser.h
        meta_protocol.h text_protocol.h words.h""",
    "apps/nvcached/page": "embedded.h",
    "apps/nvcached/options": """nvcached_options.h nvcached_page.h settings.h
        store_specification.h""",
    "apps/nvcached/service": "items.h service.h stats_report.h status_report.h watch_log.h",
    "apps/nvcached/session": "input.h output.h session.h turn.h",
    "apps/nvcached/net": "metrics_server.h server.h",
    "experiments": "",
    "experiments/workload": """key_chooser.h kv_trace.h profile.h profile_record.h profile_stream.h
        record.h ycsb.h zipfian.h""",
    "experiments/engines": "engine.h",
    "experiments/simulate": "simulate.h simulate_command.h study.h tables.h",
    "experiments/run": """databases.h experiments.h load.h profile_files.h profile_load.h result.h
        ycsb_command.h ycsb_load.h""",
    "experiments/writes_hurt": "scale.h workloads.h writes_hurt_command.h",
    "experiments/hybrid_cache": "hybrid_cache_command.h servers.h",
    "experiments/nvmcached": "nvmcached_command.h nvmcached_options.h nvmcached_run.h",
    "experiments/reproduce": "reproduce_command.h",
    "experiments/java": "java_command.h",
    "bench": "",
    "examples": "",
    "tests": "",
}
# All their headers are for others.
ALL_FACE = {"src/base", "src/spec", "apps/command", "experiments/harness"}
# Public headers that carry only types and interfaces, which every room may use.
TYPE_HEADERS = {
    "nvcache/admission_policy.h", "nvcache/block_key.h", "nvcache/bytes.h",
    "nvcache/eviction_policy.h", "nvcache/function_ref.h", "nvcache/policies.h",
    "nvcache/status.h", "nvcache/status_or.h", "nvcache/verdict.h",
}
# Public headers that the rooms within a hall implement.
OWN_HEADERS = {
    "src/block_cache": {"nvcache/block_cache.h", "nvcache/erase.h", "nvcache/nvcache.h",
                        "nvcache/pin.h", "nvcache/stats.h"},
    "src/kv_store": {"nvcache/kv_store.h", "nvcache/kv_evictions.h"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"')
SUFFIXES = (".h", ".cc", ".c")


def room_of(path):
    """The innermost room that a path relative to the root lies in, or None."""
    for folder in pathlib.PurePosixPath(path).parents:
        if folder.as_posix() in LEVEL:
            return folder.as_posix()
    return None


def target_of(root, including, text):
    """The file below the root that an include names, as a path relative to the root, or None."""
    beside = including.parent / text
    for candidate in (root / text, root / "src" / text, root / "tests" / text, beside):
        if candidate.is_file():
            return candidate.resolve().relative_to(root.resolve()).as_posix()
    return None


def breach_of(own, target):
    """Why a file of the room `own` must not include `target`, or None."""
    other = room_of(target)
    if other is None or other == own:
        return None
    if LEVEL[other] >= LEVEL[own]:
        return f"{other} does not lie below {own}"
    if own == "tests":
        return None
    # The outermost room that holds the target and not its user.
    room = min((each for each in LEVEL if is_in(other, each) and not is_in(own, each)), key=len)
    face = FACES.get(room, "").split()
    if room not in ALL_FACE and target.removeprefix(room + "/") not in face:
        return f"others include of {room} only: {', '.join(face) or 'nothing'}"
    return None


def is_in(room, other):
    """Whether a room is `other` or lies within it."""
    return f"{room}/".startswith(f"{other}/")


def check_faces(root):
    """Rooms without a face, and faces that name what is not there."""
    for room in LEVEL:
        if (room in FACES) == (room in ALL_FACE):
            yield f"{room}: has no face, or two: see FACES"
    for room, face in FACES.items():
        for header in face.split():
            if not (root / room / header).is_file():
                yield f"{room}: its face names {header}, which is not there"


def may_include_public(own, text):
    """Whether a file of the room `own` may include the public header `text`."""
    if text in TYPE_HEADERS or LEVEL[own] >= LEVEL["src/block_cache"]:
        return True
    return any(own.startswith(hall + "/") and text in headers
               for hall, headers in OWN_HEADERS.items())


def check(root):
    breaches = []
    tops = sorted({room.split("/")[0] for room in LEVEL})
    for path in sorted(p for top in tops for p in (root / top).rglob("*") if p.suffix in SUFFIXES):
        relative = path.relative_to(root).as_posix()
        own = room_of(relative)
        if own is None:
            breaches.append(f"{relative}: lies in no room; known: {', '.join(LEVEL)}")
            continue
        for number, line in enumerate(path.read_text().splitlines(), 1):
            found = INCLUDE.match(line)
            if not found:
                continue
            text = found.group(1)
            if text.startswith("nvcache/"):
                if not may_include_public(own, text):
                    breaches.append(f"{relative}:{number}: {own} includes {text}, "
                                    "which promises what lies above it")
                continue
            target = target_of(root, path, text)
            why = breach_of(own, target) if target else None
            if why:
                breaches.append(f"{relative}:{number}: {own} includes {text}, but {why}")
    return breaches


def self_test():
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)

        def write(path, text):
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)

        write("src/base/ok.h", "")
        write("src/block_cache/store/up.h", '#include "base/ok.h"\n')
        write("tests/block_cache/up_test.cc", '#include "block_cache/store/up.h"\n')
        write("tests/kv_store/up_test.cc", '#include "kv_store/log/zone_log.h"\n')
        write("src/kv_store/store/ok.h", '#include "kv_store/log/parts.h"\n')
        write("experiments/run/ok.h", '#include "apps/report/html.h"\n')
        assert check(root) == [], check(root)
        write("src/adapters/wiredtiger/x.h", "")
        write("experiments/run/load.h", "")
        write("apps/nvcache/calibrate.h", "")
        write("apps/report/html.h", "")
        write("src/kv_store/log/parts.h", "")
        write("src/kv_store/log/zone_log.h", "")
        write("src/base/bad.h", '#include "block_cache/store/up.h"\n')
        write("src/adapters/rocksdb/bad.h", '#include "adapters/wiredtiger/x.h"\n')
        write("src/tiered_cache/bad.h", '#include "experiments/run/load.h"\n')
        write("experiments/run/bad.h", '#include "apps/nvcache/calibrate.h"\n')
        write("src/unknown/bad.h", "")
        write("src/kv_store/log/ok.h", '#include "nvcache/kv_store.h"\n')
        write("src/kv_store/log/bad.h", '#include "nvcache/block_cache.h"\n')
        write("src/kv_store/store/bad.h", '#include "kv_store/log/zone_log.h"\n')
        write("src/tiered_cache/worse.h", '#include "kv_store/log/parts.h"\n')
        write("apps/nvcached/bad.h", '#include "experiments/workload/ycsb.h"\n')
        write("experiments/workload/ycsb.h", "")
        found = check(root)
        assert len(found) == 9, "\n".join(found)
        behind = [each for each in found if "others include of" in each]
        assert len(behind) == 4, "\n".join(behind)
        missing = list(check_faces(root))
        assert any("src/medium" in each for each in missing), missing
        assert not any("no face" in each for each in missing), missing
    print("an upward, a sideways, a homeless and a promising file were found, those that look "
          "behind a face or into a program or an experiment, and faces of nothing")


def main():
    if "--self-test" in sys.argv[1:]:
        self_test()
        return 0
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else ".")
    breaches = check(root) + list(check_faces(root))
    print("\n".join(breaches) if breaches else "every include points downwards, to a face")
    return 1 if breaches else 0


if __name__ == "__main__":
    sys.exit(main())

# RUN: %python %s %t %braid_src_root/test/Benchmark/transformer_steps.py
"""Traces are what viewers and trace tools can read.

For training steps of every kind, and for programs with loops and calls: slices of
a track nest, ops have the fields that Kineto writes, in the types that readers
expect, arrows begin and end at slices, counters go forward in time; and Holistic
Trace Analysis, whose overlap, breakdown of time and idle times are worked out here
from the trace alone, finds what the report states.
"""
import json
import os
import random
import re
import subprocess
import sys
from decimal import Decimal

COLLECTIVE = ["Collective name", "dtype", "In msg nelems", "Out msg nelems", "Group size", "Process Group Name",
              "Process Group Ranks", "Seq"]
# What Perfetto and Holistic Trace Analysis read, and the types that they want.
NUMBER = (int, Decimal)
EVENT_TYPES = {"ph": str, "name": str, "cat": str, "pid": int, "tid": int, "ts": NUMBER, "dur": NUMBER, "id": int,
               "bp": str, "args": dict}
ARGUMENT_TYPES = {"name": str, "labels": str, "sort_index": int, "device": int, "stream": int, "correlation": int,
                  "bytes": int, "Collective name": str, "dtype": str, "In msg nelems": int, "Out msg nelems": int,
                  "Group size": int, "Process Group Name": str, "Process Group Ranks": str, "Rank": int, "Seq": int}
# By the phase of an event: the fields that it has to have.
REQUIRED = {"X": {"name", "cat", "pid", "tid", "ts", "dur"}, "M": {"name", "pid", "tid", "args"},
            "C": {"name", "pid", "tid", "ts", "args"}, "s": {"name", "cat", "id", "pid", "tid", "ts"},
            "f": {"name", "cat", "id", "pid", "tid", "ts", "bp"}}
LOOPS = """comm.group @left [[0, 1]]
comm.group @right [[0, 1]]
"""
TENSOR = "tensor<64xf32>"


def generate_body(rng, depth, indent, lines, counter, value):
    """A block of random compute, collectives, loops and calls; its last value."""
    in_flight = []
    for _ in range(rng.randint(1, 6)):
        number = counter[0] = counter[0] + 1
        cost = rng.choice([0, 1, 7, 300, 1000])
        note = f"{{comm.cost_ns = {cost} : i64}}"
        kind = rng.choice(["compute", "start", "start", "wait", "loop", "call", "if"])
        if kind == "start":
            lines.append(f"{indent}%t{number} = comm.all_reduce sum {value} on @{rng.choice(['left', 'right'])} {note} : {TENSOR}")
            in_flight.append(f"%t{number}")
        elif kind == "wait" and in_flight:
            token = in_flight.pop(rng.randrange(len(in_flight)))
            lines.append(f"{indent}%v{number} = comm.wait {token} : !comm.token<{TENSOR}>")
        elif kind == "loop" and depth < 2:
            lines += [f"{indent}%n{number} = arith.constant {rng.choice([1, 2, 5])} : index",
                      f"{indent}%v{number} = scf.for %i{number} = %zero to %n{number} step %one iter_args(%a{number} = {value}) -> {TENSOR} {{"]
            last = generate_body(rng, depth + 1, indent + "  ", lines, counter, f"%a{number}")
            lines += [f"{indent}  scf.yield {last} : {TENSOR}", f"{indent}}}"]
            value = f"%v{number}"
        elif kind == "if" and depth < 2:
            lines.append(f"{indent}%v{number} = scf.if %p -> {TENSOR} {{")
            for arm in range(2):
                last = generate_body(rng, depth + 1, indent + "  ", lines, counter, value)
                lines.append(f"{indent}  scf.yield {last} : {TENSOR}")
                lines.append(f"{indent}}}" if arm else f"{indent}}} else {{")
            value = f"%v{number}"
        elif kind == "call":
            lines.append(f"{indent}%v{number} = func.call @helper({value}) : ({TENSOR}) -> {TENSOR}")
            value = f"%v{number}"
        else:
            lines.append(f'{indent}%v{number} = comm.compute "k"({value}) {note} : ({TENSOR}) -> {TENSOR}')
            value = f"%v{number}"
    for i, token in enumerate(in_flight):
        counter[0] += 1
        lines.append(f"{indent}%w{counter[0]}_{i} = comm.wait {token} : !comm.token<{TENSOR}>")
    return value


def generate(rng):
    lines = [LOOPS, f"func.func private @helper(%x: {TENSOR}) -> {TENSOR} {{",
             f"  %t = comm.all_reduce sum %x on @left {{comm.cost_ns = 40 : i64}} : {TENSOR}",
             f'  %k = comm.compute "k"(%x) {{comm.cost_ns = 25 : i64}} : ({TENSOR}) -> {TENSOR}',
             f"  %r = comm.wait %t : !comm.token<{TENSOR}>", f"  return %r : {TENSOR}", "}",
             f"func.func @main(%x: {TENSOR}, %p: i1) -> {TENSOR} {{",
             "  %zero = arith.constant 0 : index", "  %one = arith.constant 1 : index"]
    lines.append(f"  %first = func.call @helper(%x) : ({TENSOR}) -> {TENSOR}")
    last = generate_body(rng, 0, "  ", lines, [0], "%first")
    return "\n".join([*lines, f"  return {last} : {TENSOR}", "}"])


def merge(intervals):
    merged = []
    for begin, end in sorted(intervals):
        if merged and begin <= merged[-1][1]:
            merged[-1][1] = max(merged[-1][1], end)
        else:
            merged.append([begin, end])
    return merged


def length(intervals):
    return sum(end - begin for begin, end in intervals)


def get_kernels(events):
    """What Holistic Trace Analysis takes for work of a rank."""
    return [e for e in events if e["ph"] == "X" and e.get("args", {}).get("stream", -1) != -1]


def split_kernels(events):
    """When communication runs, and when compute does, told apart by name."""
    kinds = {True: [], False: []}
    for event in get_kernels(events):
        is_communication = re.match(r"nccl|hip|hccl", event["name"]) or "ncclKernel" in event["name"]
        assert is_communication or not re.match("Memcpy|Memset|dma", event["name"]), event
        kinds[bool(is_communication)].append((event["ts"], event["ts"] + event["dur"]))
    return merge(kinds[True]), merge(kinds[False])


def get_overlap(events):
    """The overlap: |communication and compute| / |communication|."""
    communication, compute = split_kernels(events)
    if not length(communication):
        return None
    either = length(merge(communication + compute))
    return (length(communication) + length(compute) - either) / length(communication)


def get_breakdown(events):
    """The temporal breakdown, in us: compute, what else runs, and when nothing
    does, between the first kernel and the last."""
    kernels = get_kernels(events)
    communication, compute = split_kernels(events)
    busy = length(merge(communication + compute))
    span = max(e["ts"] + e["dur"] for e in kernels) - min(e["ts"] for e in kernels)
    return length(compute), busy - length(compute), span - busy


def get_idle_times(events):
    """For each stream: the gaps between its kernels, in us. No host launches these,
    so that none of it counts as waiting for the host."""
    idle, ends = {}, {}
    for event in sorted(get_kernels(events), key=lambda e: (e["ts"], e["dur"])):
        stream = event["args"]["stream"]
        idle[stream] = idle.get(stream, 0) + event["ts"] - ends.get(stream, event["ts"])
        ends[stream] = event["ts"] + event["dur"]
    return idle


def check_types(events):
    for event in events:
        assert REQUIRED[event["ph"]] <= set(event) <= set(EVENT_TYPES), event
        for key, value in event.items():
            assert isinstance(value, EVENT_TYPES[key]) and not isinstance(value, bool), event
        assert event["name"], event
        for key, value in event.get("args", {}).items():
            expected = ARGUMENT_TYPES.get(key)
            assert expected is None or isinstance(value, expected) and not isinstance(value, bool), (key, event)


def check_times(events, entry):
    """The times of the trace are those of the report. Only for programs without
    loops and calls."""
    intervals = {"compute": [], "communication": []}
    for node in entry["nodes"]:
        if node["kind"] != "wait":
            kind = "compute" if node["kind"] in ("compute", "async_compute") else "communication"
            intervals[kind].append((Decimal(node["start_ns"]) / 1000, Decimal(node["end_ns"]) / 1000))
    compute, both = merge(intervals["compute"]), merge(intervals["compute"] + intervals["communication"])
    span = both[-1][1] - both[0][0]
    assert get_breakdown(events) == (length(compute), length(both) - length(compute), span - length(both))
    lanes = {}
    for node in sorted(entry["nodes"], key=lambda node: (node["start_ns"], node["end_ns"])):
        if node["kind"] != "wait":
            idle, end = lanes.get(node["lane"], (0, node["start_ns"]))
            lanes[node["lane"]] = (idle + node["start_ns"] - end, node["end_ns"])
    assert sorted(get_idle_times(events).values()) == sorted(Decimal(idle) / 1000 for idle, _ in lanes.values())


def check_tracks(events):
    """Slices of a track nest, and stand in order."""
    tracks = {}
    for event in events:
        if event["ph"] == "X":
            tracks.setdefault((event["pid"], event["tid"]), []).append(event)
    for track in tracks.values():
        stack, last = [], Decimal(0)
        for event in track:
            begin, end = event["ts"], event["ts"] + event["dur"]
            assert event["dur"] >= 0 and begin >= last, event
            last = begin
            while stack and stack[-1] <= begin:
                stack.pop()
            assert not stack or end <= stack[-1], event
            stack.append(end)
    return tracks


def check(trace, report, tolerance=Decimal("0.000001")):
    for key in ["schemaVersion", "deviceProperties", "displayTimeUnit", "baseTimeNanoseconds"]:
        assert key in trace, key
    assert set(trace["distributedInfo"]) >= {"backend", "rank", "world_size"}
    assert all(isinstance(device["id"], int) for device in trace["deviceProperties"])
    assert trace["distributedInfo"]["rank"] == 0
    events = trace["traceEvents"]
    check_types(events)
    tracks = check_tracks(events)
    names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
    assert set(tracks) <= set(names), set(tracks) - set(names)

    numbers = set()
    for event in events:
        # Tools add these up, too.
        assert event.get("cat") != "gpu_user_annotation" or event["pid"] == 0, event
        if event.get("cat") == "kernel":
            assert {"correlation", "op", "cost_ns", "cost_source"} <= set(event["args"]), event
            assert ("stream" in event["args"]) == (event["pid"] == 0), event
            assert event["args"].get("stream", event["tid"]) == event["tid"], event
            assert event["args"]["correlation"] not in numbers
            numbers.add(event["args"]["correlation"])
        if event["name"].startswith("ncclDevKernel_"):
            assert set(COLLECTIVE) <= set(event["args"]), event
            assert event["args"]["Group size"] >= len(json.loads(event["args"]["Process Group Ranks"])) > 0, event

    starts = {e["id"]: e for e in events if e["ph"] == "s"}
    ends = {e["id"]: e for e in events if e["ph"] == "f"}
    assert set(starts) == set(ends)
    for arrow, start in starts.items():
        assert start["ts"] <= ends[arrow]["ts"], arrow
        for end in (start, ends[arrow]):
            assert any(e["ts"] <= end["ts"] <= e["ts"] + e["dur"] for e in tracks[end["pid"], end["tid"]]), arrow

    counters = {}
    for event in events:
        if event["ph"] == "C":
            assert event["ts"] >= counters.get(event["pid"], 0) and event["args"]["bytes"] >= 0, event
            counters[event["pid"]] = event["ts"]

    # Of one function that nobody calls: the last.
    entry = report["functions"][-1]
    assert max(e["args"]["bytes"] for e in events if e["ph"] == "C" and e["pid"] == 0) == entry["peak_bytes"]
    assert max(sample["bytes"] for sample in entry["memory"]) == entry["peak_bytes"]
    overlap = get_overlap(events)
    if not any("bodies" in node or node["op"] == "func.call" for node in entry["nodes"]):
        check_times(events, entry)
    if overlap is None:
        assert entry["hidden_fraction"] is None
    else:
        assert abs(overlap - entry["hidden_fraction"]) < tolerance, (overlap, entry["hidden_fraction"])
    return overlap


def report(folder, name, text, options):
    path = os.path.join(folder, name)
    with open(f"{path}.mlir", "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run(["braid-opt", f"{path}.mlir", "-o", os.devnull,
                    f"--comm-report=format=trace output={path}.trace {options}",
                    f"--comm-report=format=json output={path}.json {options}"], check=True)
    with open(f"{path}.trace", encoding="utf-8") as trace, open(f"{path}.json", encoding="utf-8") as summary:
        return json.load(trace, parse_float=Decimal), json.load(summary, parse_float=Decimal)


# A loop whose trips leave a collective in flight for the next.
PREFETCH = f"""comm.group @left [[0, 1]]
func.func @main(%x: {TENSOR}) -> {TENSOR} {{
  %zero = arith.constant 0 : index
  %one = arith.constant 1 : index
  %trips = arith.constant 100 : index
  %first = comm.all_reduce sum %x on @left {{comm.cost_ns = 300 : i64}} : {TENSOR}
  %last, %v = scf.for %i = %zero to %trips step %one iter_args(%t = %first, %a = %x) -> (!comm.token<{TENSOR}>, {TENSOR}) {{
    %r = comm.wait %t : !comm.token<{TENSOR}>
    %next = comm.all_reduce sum %r on @left {{comm.cost_ns = 300 : i64}} : {TENSOR}
    %k = comm.compute "k"(%a) {{comm.cost_ns = 200 : i64}} : ({TENSOR}) -> {TENSOR}
    scf.yield %next, %k : !comm.token<{TENSOR}>, {TENSOR}
  }}
  %z = comm.wait %last : !comm.token<{TENSOR}>
  return %z : {TENSOR}
}}"""


NAMES = f"""comm.group @"a\\0Ab" all
func.func @"f\\22\\1B"(%x: {TENSOR}) -> {TENSOR} {{
  %t = comm.all_reduce sum %x on @"a\\0Ab" {{comm.cost_ns = 300 : i64, comm.label = "\\FF\\00"}} : {TENSOR}
  %k = comm.compute "Memcpy\\C3\\A9"(%x) {{comm.cost_ns = 200 : i64}} : ({TENSOR}) -> {TENSOR}
  %r = comm.wait %t : !comm.token<{TENSOR}>
  return %r : {TENSOR}
}}"""


def main(folder, steps):
    os.makedirs(folder, exist_ok=True)
    # Names and labels of any kind are text.
    check(*report(folder, "names", NAMES, "machine=ideal max-memory=1"))

    # 200 of 300 ns hidden in each trip; the first and the last differ.
    overlap = check(*report(folder, "prefetch", PREFETCH, "machine=ideal"), tolerance=Decimal("0.02"))
    assert abs(overlap - Decimal("0.66667")) < Decimal("0.02"), overlap

    for strategy in ["ddp", "fsdp", "hsdp", "tp", "tp-sp", "moe", "pp"]:
        text = subprocess.run([sys.executable, steps, strategy, "--layers=3", "--micro-batches=2"], check=True,
                              text=True, stdout=subprocess.PIPE).stdout
        overlap = check(*report(folder, strategy, text,
                                "machine=h200x8 passes=comm-sink-waits,comm-raise-collectives"))
        assert overlap is not None and 0 <= overlap <= 1, strategy

    rng = random.Random(7)
    overlaps = [check(*report(folder, f"random{i}", generate(rng), "machine=ideal")) for i in range(25)]
    assert sum(overlap is not None and 0 < overlap < 1 for overlap in overlaps) > 10, overlaps


if __name__ == "__main__":
    main(*sys.argv[1:])

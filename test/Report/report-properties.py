# RUN: %python %s %t
"""Simulates random programs in Python and compares with what comm-report says.

Each function has random compute, single and coalesced collectives on two lanes,
and waits in random places. The textbook machine is simulated here a second time,
from the program before passes and from the order that the report shows after
them; every time, every exposed time and every total has to agree.
"""
import json
import os
import random
import subprocess
import sys

TYPE = "tensor<4xf32>"
PASSES = "comm-sink-waits,comm-raise-collectives,comm-reorder-compute-for-overlap"


def generate(rng, name):
    """The text of a function, and its ops: (label, kind, lane, cost, awaited)."""
    values, in_flight, ops, lines = ["%x"], [], [], []
    for number in range(rng.randint(1, 40)):
        label = f"n{number}"
        kind = rng.choice(["compute", "compute", "start", "wait"])
        cost = rng.choice([0, 1, 5, 30, 100])
        note = f'{{comm.cost_ns = {cost} : i64, comm.label = "{label}"}}'
        if kind == "wait" and in_flight:
            token, start = in_flight.pop(rng.randrange(len(in_flight)))
            lines.append(f'  %v{number} = comm.wait {token} {{comm.label = "{label}"}} : !comm.token<{TYPE}>')
            ops.append((label, "wait", None, 0, start))
            values.append(f"%v{number}")
        elif kind == "start":
            lane, count = rng.choice(["left", "right"]), rng.choice([1, 1, 2])
            sources = [rng.choice(values) for _ in range(count)]
            lines.append(f"  %v{number}:{count} = comm.all_reduce sum {', '.join(sources)} on @{lane} {note} : "
                         + ", ".join([TYPE] * count))
            ops.append((label, "start", lane, cost, None))
            in_flight += [(f"%v{number}#{i}", label) for i in range(count)]
        else:
            sources = rng.sample(values, min(len(values), rng.randint(1, 2)))
            lines.append(f'  %v{number} = comm.compute "k"({", ".join(sources)}) {note} : '
                         f"({', '.join([TYPE] * len(sources))}) -> {TYPE}")
            ops.append((label, "compute", None, cost, None))
            values.append(f"%v{number}")
    for i, (token, start) in enumerate(in_flight):
        lines.append(f'  %w{i} = comm.wait {token} {{comm.label = "w{i}"}} : !comm.token<{TYPE}>')
        ops.append((f"w{i}", "wait", None, 0, start))
    results = f"({', '.join([TYPE] * len(values))})"
    return "\n".join([f"func.func @{name}(%x: {TYPE}) -> {results} {{", *lines,
                      f"  return {', '.join(values)} : {results[1:-1]}", "}"]), ops


def simulate(ops):
    """Start and end of each op, exposed time of each start, and the makespan."""
    stream, lanes, ends, times, exposed = 0, {}, {}, {}, {}
    for label, kind, lane, cost, awaited in ops:
        begin = stream
        if kind == "start":
            begin = max(stream, lanes.get(lane, 0))
            lanes[lane] = ends[label] = begin + cost
            times[label], exposed[label] = (begin, begin + cost), 0
            continue
        if kind == "wait":
            exposed[awaited] += max(0, ends[awaited] - stream)
            stream = max(stream, ends[awaited])
        stream += cost
        times[label] = (begin, stream)
    return times, exposed, stream


def check(function, ops, name):
    times, exposed, makespan = simulate(ops)
    nodes = function["nodes"]
    assert [node["label"] for node in nodes] == [op[0] for op in ops], name
    for node in nodes:
        assert (node["start_ns"], node["end_ns"]) == times[node["label"]], (name, node)
        if "exposed_ns" in node:
            assert node["exposed_ns"] == exposed[node["label"]], (name, node)
    compute = sum(op[3] for op in ops if op[1] != "start")
    assert function["makespan_ns"] == makespan, name
    assert function["compute_ns"] == compute, name
    assert function["communication_ns"] == sum(op[3] for op in ops if op[1] == "start"), name
    assert function["exposed_ns"] == sum(exposed.values()) == makespan - compute, name
    assert compute <= function["lower_bound_ns"] <= makespan, name
    return exposed


def main(folder):
    os.makedirs(folder, exist_ok=True)
    rng = random.Random(20)
    programs = {f"f{i}": generate(rng, f"f{i}") for i in range(100)}
    path, report_path = os.path.join(folder, "prog.mlir"), os.path.join(folder, "report.json")
    with open(path, "w", encoding="utf-8") as file:
        file.write("comm.group @left [[0, 1]]\ncomm.group @right [[0, 1]]\n")
        file.write("\n".join(text for text, _ in programs.values()))
    subprocess.run(["braid-opt", path, "-o", os.devnull,
                    f"--comm-report=machine=ideal format=json output={report_path} passes={PASSES}"], check=True)
    with open(report_path, encoding="utf-8") as file:
        report = json.load(file)

    moved = 0
    for before, after in zip(report["before"], report["functions"], strict=True):
        name = before["name"]
        ops = {op[0]: op for op in programs[name][1]}
        exposed_before = check(before, list(ops.values()), name)
        order = [ops[node["label"]] for node in after["nodes"]]
        assert sorted(order) == sorted(ops.values()), name
        exposed = check(after, order, name)
        assert after["lower_bound_ns"] == before["lower_bound_ns"], name
        for collective in after["collectives"]:
            assert collective["exposed_ns"] == exposed[collective["label"]], name
            assert collective["exposed_before_ns"] == exposed_before[collective["label"]], name
        moved += order != list(ops.values())
    assert moved > 50, moved


if __name__ == "__main__":
    main(sys.argv[1])

"""Checks the traces of two ranks of device_program.c: a matmul, a copy of its
result and then an all-reduce, each on its stream, one after the other."""

import json
import sys

problems = []
for rank, name in enumerate(sys.argv[1:]):
    with open(name, encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    found = [e for e in events if e.get("cat") in ("kernel", "gpu_memcpy")]
    found.sort(key=lambda event: event["ts"])
    names = [(e["cat"], e["name"], e["args"]["stream"]) for e in found]
    expected = [
        ("kernel", "matmul 4x4x4 f32", 7),
        ("gpu_memcpy", "Memcpy DtoD", 7),
        ("kernel", "ncclDevKernel_AllReduce_Sum_f32(sum)", 8),
    ]
    if names != expected:
        problems.append(f"{name}: {names}")
    for before, after in zip(found, found[1:]):
        if before["dur"] < 0 or before["ts"] + before["dur"] > after["ts"] + 0.002:
            problems.append(f"{name}: {before} overlaps {after}")
    (whole,) = [e for e in events if e.get("cat") == "user_annotation"]
    if found and not whole["ts"] <= found[0]["ts"] <= whole["ts"] + whole["dur"]:
        problems.append(f"{name}: {found[0]} is not in {whole}")
print("\n".join(problems))
sys.exit(bool(problems))

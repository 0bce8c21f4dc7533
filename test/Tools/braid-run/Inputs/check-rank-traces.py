"""Checks traces of two ranks, one file each: each has the events of its rank
alone, names the rank for trace tools, and has compute and communication on
streams that the tools add up."""

import json
import sys

problems = []
for rank, name in enumerate(sys.argv[1:]):
    with open(name, encoding="utf-8") as file:
        trace = json.load(file)
    events = trace["traceEvents"]
    if trace["distributedInfo"]["rank"] != rank or {e["pid"] for e in events} != {rank}:
        problems.append(f"{name}: not of rank {rank} alone")
    kernels = [e for e in events if e.get("cat") == "kernel"]
    streams = {e["name"].startswith("nccl"): e["args"]["stream"] for e in kernels}
    if streams != {True: 8, False: 7}:
        problems.append(f"{name}: communication and compute on streams {streams}")
    (whole,) = [e for e in events if e.get("cat") == "user_annotation"]
    compute = sum(e["dur"] for e in kernels if not e["name"].startswith("nccl"))
    if not 0 < compute <= whole["dur"]:
        problems.append(f"{name}: {compute} us of compute in {whole['dur']} us")
print("\n".join(problems))
sys.exit(bool(problems))

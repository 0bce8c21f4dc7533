"""Checks what a run of the table has written."""

import json
import os
import sys
import tarfile

out = sys.argv[1]
with open(os.path.join(out, "table.json"), encoding="utf-8") as file:
    table = json.load(file)
problems = []
if sorted(os.listdir(out)) != ["parts.tar.gz", "table.json", "table.md"]:
    problems.append(f"files {os.listdir(out)}")
if list(table["steps"]) != ["seed-32", "fsdp-32", "ddp-32", "tp-32"] or table["failures"]:
    problems.append(f"steps {list(table['steps'])}, failures {table['failures']}")
for name, step in table["steps"].items():
    variants = step["stream"]
    if list(variants) != ["written", "inductor", "schedule", "plan", "chunks"]:
        problems.append(f"{name}: variants {list(variants)}")
    for variant, figures in variants.items():
        if len(figures["steps_ms"]) != 2 or not figures["compute_alone_ms"] > 0:
            problems.append(f"{name}, {variant}: {figures}")
    for variant in ("inductor", "schedule", "plan"):
        verified = variants[variant]["verified"]
        if verified["by"] != "bits" or not verified["same_bits"]:
            problems.append(f"{name}, {variant}: {verified}")
    # Chunks of matmuls are other matmuls for the library.
    numerics = variants["chunks"]["numerics"]
    sums = {found["operation"] for found in numerics["reordered_sums"]}
    if bool(sums) != (numerics["class"] == "other order of sums"):
        problems.append(f"{name}, chunks: {numerics}")
    if not 0 <= step["trace"][0]["hidden_fraction"] <= 1:
        problems.append(f"{name}: {step['trace']}")
for name, check in table["checks"].items():
    if not 0 < check["error"] < check["allowed"] < 1e-5:
        problems.append(f"{name}: {check}")
with tarfile.open(os.path.join(out, "parts.tar.gz")) as archive:
    names = archive.getnames()
for name in ("parts/seed-32-stream.log", "parts/tp-32-trace.1.trace.json"):
    if name not in names:
        problems.append(f"no {name} in {names}")
print("\n".join(problems))
sys.exit(bool(problems))

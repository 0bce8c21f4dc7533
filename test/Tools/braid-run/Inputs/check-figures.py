"""Checks the figures of a program, one to verify it with and two beside it."""

import json
import statistics
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    figures = json.load(file)
programs = figures["programs"]
found = [(program["role"], program["name"]) for program in programs]
expected = [
    ("reference", "as written"),
    ("program", "p"),
    ("beside", "p"),
    ("beside", "biased"),
]
problem = (
    (figures["ranks"], figures["repeat"], figures["warmup"]) != (2, 3, 1)
    or found != expected
    or not 0.08 < figures["largest_error"] < 0.09
)
for program in programs:
    steps = program["steps_ms"]
    problem |= len(steps) != 3 or abs(statistics.median(steps) - program["step_ms"]) > 1e-5
    problem |= not 0 < program["compute_alone_ms"]
    problem |= "communication_alone_ms" in program
    problem |= "device_ms" in program
if problem:
    print(figures)
sys.exit(problem)

"""Checks the roles of programs in the figures of braid-run --plans."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as stream:
    programs = json.load(stream)["programs"]
roles = [(program["name"], program["role"]) for program in programs]
expected = [("as written", "reference"), ("plans", "program"), ("plan 1", "plan"), ("plan 2", "plan")]
if roles != expected:
    sys.exit(f"found {roles}, expected {expected}")

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""usage: sequence_numbers.py TRACE.json RANKS

Checks the trace of @counted in sequence_numbers.mlir: on every rank the world's
collectives have the numbers 1 to 10; on ranks 0 to 2 those of the subgroup, which
stand between them, have the numbers 1 and 2.
"""

import json
import sys


def main():
    with open(sys.argv[1]) as file:
        events = json.load(file)["traceEvents"]
    ranks = int(sys.argv[2])
    lanes = {(e["pid"], e["tid"]): e["args"]["name"]
             for e in events if e["name"] == "thread_name"}
    numbers = {}
    for event in events:
        if "Collective name" in event.get("args", {}):
            lane = event["pid"], lanes[event["pid"], event["tid"]]
            numbers.setdefault(lane, []).append(event["args"]["Seq"])
    expected = {(rank, "lane @world"): list(range(1, 11)) for rank in range(ranks)}
    expected.update({(rank, "lane @subgroup"): [1, 2] for rank in range(3)})
    if numbers != expected:
        sys.exit(f"found {numbers}\nexpected {expected}")


main()

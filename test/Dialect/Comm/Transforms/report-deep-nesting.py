# RUN: %python %s %t
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The time of comm-report grows with the depth of regions and of calls, not with two to the
power of the depth: sixty levels would never end."""
import json
import os
import subprocess
import sys

DEPTH = 60
START = "%t = comm.all_reduce sum %x on @world : tensor<4xf32>\n"
WAIT = "%s = comm.wait %t : !comm.token<tensor<4xf32>>\n"
CONSTANTS = "%c0 = arith.constant 0 : index\n%c1 = arith.constant 1 : index\n%c2 = arith.constant 2 : index\n"


def function(name, body):
    return (f"func.func @{name}(%x: tensor<4xf32>, %c: i1) {{\n{CONSTANTS}{body}return\n}}\n")


def nested(head):
    heads = "".join(head.replace("%i", f"%i{level}") + " {\n" for level in range(DEPTH))
    return heads + START + WAIT + "}\n" * DEPTH


def program():
    text = "comm.group @world all\n"
    text += function("conditions", nested("scf.if %c"))
    text += function("loops", nested("scf.for %i = %c0 to %c2 step %c1"))
    # An operation of the outermost body is in flight meanwhile, and ends within.
    text += function("in_flight", "%u = comm.all_reduce max %x on @world {comm.cost_ns = 12345 : i64} : tensor<4xf32>\n"
                     + nested("scf.for %i = %c0 to %c1 step %c1") + "%v = comm.wait %u : !comm.token<tensor<4xf32>>\n")
    for level in range(DEPTH):
        call = f"func.call @f{level + 1}(%x, %c) : (tensor<4xf32>, i1) -> ()\n"
        text += function(f"f{level}", call + call)
    return text + function(f"f{DEPTH}", START + WAIT)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    for form in ("text", "json", "trace", "html"):
        output = os.path.join(folder, form)
        # Takes a second, or 2^60 of them.
        subprocess.run(["braid-opt", f"--comm-report=format={form} machine=h100x8 output={output}", "-o", os.devnull],
                       input=program(), text=True, check=True, timeout=200)
    with open(os.path.join(folder, "json"), encoding="utf-8") as file:
        functions = {entry["name"]: entry for entry in json.load(file)["functions"]}
    for name in ("conditions", "loops"):
        assert functions[name]["hidden_fraction"] == 0, functions[name]["hidden_fraction"]
    assert 0 <= functions["in_flight"]["hidden_fraction"] <= 1


main()

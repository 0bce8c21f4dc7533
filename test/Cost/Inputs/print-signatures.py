# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Prints the signatures of a report's nodes, function by function."""

import json
import sys

with open(sys.argv[1]) as file:
    report = json.load(file)
for function in report["functions"]:
    print("@" + function["name"])
    for node in function["nodes"]:
        if "signature" in node and not node["op"].startswith("tensor.empty"):
            print(node["signature"])

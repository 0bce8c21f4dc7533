# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tests that read the JSON of `comm-report` share."""


def list_bodies(nodes):
    """(makespan, peak) of all bodies below `nodes`."""
    found = []
    for node in nodes:
        for body in node.get("bodies", []):
            found.append((body["makespan_ns"], body["peak_bytes"]))
            found += list_bodies(body["nodes"])
    return found

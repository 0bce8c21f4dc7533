# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

"""Compares a profile with the fixed times of the fakes: a kernel takes 1 us, a
collective 5 us."""

import json
import sys

profile = json.load(open(sys.argv[1]))
assert profile["machine"] == {"name": "h200x8", "gpu": "Fake GPU", "gpus": 2, "multiprocessors": 132}
assert profile["software"]["nccl"] == "2.28.9", profile["software"]
assert profile["software"]["cuda"] == "13.0", profile["software"]
assert profile["launch_ns"] == 1000, profile["launch_ns"]
# Three operands of 8 KiB in 1 us, 24,576 MB/s.
assert profile["sustained"]["memory_bytes_per_second"] == 24580000000
matmuls = [(p["element"], p.get("multiprocessors", 0)) for p in profile["matmuls"]]
assert matmuls == [("bf16", 0), ("f32", 0), ("bf16", 124)], matmuls
curves = [(c["kind"], c.get("transport", "default"), c.get("ctas", 0)) for c in profile["collectives"]]
assert curves == [("all_reduce", "default", 0), ("all_gather", "default", 0),
                  ("all_reduce", "symmetric", 8), ("all_gather", "symmetric", 8),
                  ("all_gather", "copy", 0),
                  ("all_reduce", "default", 4), ("all_gather", "default", 4)], curves
for curve in profile["collectives"]:
    assert curve["points"] == [[4096, 5000], [8192, 5000]], curve
# No fake waits for multiprocessors.
assert profile["contention"]["model"] == "share"
assert "missing" not in profile

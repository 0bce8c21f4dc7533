# RUN: %python %s %t
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes a profile of a report, as docs/reference/profile-files.md says, and reports with it.

Every cost comes from the profile then and is what it was, on tensors and, after
bufferization, on buffers too; and a pass that schedules by costs makes the same
of the program.
"""
import json
import os
import subprocess
import sys

PROGRAM = """
module attributes {comm.machine = "h200x8"} {
  comm.group @world all
  comm.group @pairs [[0, 1], [2, 3]]
  func.func @step(%x: tensor<1024x1024xbf16>, %y: tensor<512x1024xbf16>) -> (tensor<1024x1024xbf16>, tensor<4096x1024xbf16>) {
    %t = comm.all_reduce sum %x on @pairs : tensor<1024x1024xbf16>
    %r = comm.wait %t : !comm.token<tensor<1024x1024xbf16>>
    %u = comm.all_gather %y on @world dim 0 : tensor<512x1024xbf16> -> tensor<4096x1024xbf16>
    %g = comm.wait %u : !comm.token<tensor<4096x1024xbf16>>
    %e = tensor.empty() : tensor<1024x1024xbf16>
    %m = linalg.matmul ins(%x, %x : tensor<1024x1024xbf16>, tensor<1024x1024xbf16>)
        outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
    %n = linalg.matmul ins(%y, %m : tensor<512x1024xbf16>, tensor<1024x1024xbf16>)
        outs(%y : tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
    %v = comm.reduce_scatter sum %g on @world dim 0 : tensor<4096x1024xbf16> -> tensor<512x1024xbf16>
    %s = comm.wait %v : !comm.token<tensor<512x1024xbf16>>
    %f = tensor.empty() : tensor<512x1024xbf16>
    %a = linalg.add ins(%n, %s : tensor<512x1024xbf16>, tensor<512x1024xbf16>)
        outs(%f : tensor<512x1024xbf16>) -> tensor<512x1024xbf16>
    %k = linalg.exp ins(%r : tensor<1024x1024xbf16>) outs(%e : tensor<1024x1024xbf16>) -> tensor<1024x1024xbf16>
    %w = comm.all_gather %a on @world dim 0 : tensor<512x1024xbf16> -> tensor<4096x1024xbf16>
    %h = comm.wait %w : !comm.token<tensor<4096x1024xbf16>>
    return %k, %h : tensor<1024x1024xbf16>, tensor<4096x1024xbf16>
  }
}
"""


def main():
    directory = sys.argv[1]
    os.makedirs(directory, exist_ok=True)

    def path(name):
        return os.path.join(directory, name)

    def opt(*arguments):
        return subprocess.run(
            ["braid-opt", path("program.mlir"), *arguments], check=True, capture_output=True, text=True
        ).stdout

    def report(options, *before):
        opt(*before, f"--comm-report=format=json output={path('report.json')} {options}", "-o", os.devnull)
        with open(path("report.json")) as file:
            return json.load(file)

    def costs(document):
        nodes = [node for function in document["functions"] for node in function["nodes"]]
        return [(node["op"], node["cost_ns"], node["cost_source"]) for node in nodes if node["cost_ns"] > 0]

    with open(path("program.mlir"), "w") as file:
        file.write(PROGRAM)
    estimated = report("")
    signatures = {}
    for function in estimated["functions"]:
        for node in function["nodes"]:
            if node["cost_ns"] > 0:
                signatures[node["signature"]] = node["cost_ns"]
    assert len(signatures) == 7, signatures
    entries = [{"signature": signature, "ns": ns} for signature, ns in signatures.items()]
    profile = {"version": 1, "machine": estimated["machine"], "entries": entries}
    with open(path("profile.json"), "w") as file:
        json.dump(profile, file)
    option = f"profile={path('profile.json')}"

    measured = costs(report(option))
    assert len(measured) == 8, measured
    for op, ns, source in measured:
        assert source == "profile signature", (op, ns, source)
    assert [cost[:2] for cost in measured] == [cost[:2] for cost in costs(estimated)], measured

    # Bufferization may add copies, which nobody has measured.
    buffers = [cost for cost in costs(report(option, "--comm-bufferize")) if cost[0] != "memref.copy"]
    assert sorted(buffers) == sorted(measured), (buffers, measured)

    reorder = "--comm-reorder-compute-for-overlap"
    assert opt(reorder) == opt(f"{reorder}={option}")
    # With other times it comes to another order: the matmuls now take longer
    # than what hides them.
    for entry in entries:
        if entry["signature"].startswith("linalg"):
            entry["ns"] *= 1000
    with open(path("profile.json"), "w") as file:
        json.dump(profile, file)
    assert opt(reorder) != opt(f"{reorder}={option}")


if __name__ == "__main__":
    main()

# RUN: %python %s %t
#
# Attention and its gradients on the host, without a library, beside NumPy in float64: layouts,
# grouped heads, masks, windows, biases that dimensions share, queries without keys, element types.
"""Attention on the host; see the top of the file."""

import sys

import braid_testing as bt
import numpy as np
from attention_testing import Case

CASES = [
    Case("plain"),
    Case("causal", causal=True, batch=2, layout="bhsd"),
    Case("grouped", heads=6, key_heads=2, causal=True, depth=4, value_depth=12),
    Case("grouped_heads_first", heads=4, key_heads=1, layout="bhsd", queries=5, keys=7),
    Case("more_keys", queries=5, keys=12, causal=True, batch=2),
    Case("more_queries", queries=12, keys=5, causal=True, batch=2),
    Case("window", causal=True, window=3, queries=9, keys=9),
    # Queries 8 to 11 read the keys 6 to 11, of which there are none from 6 on.
    Case("without_keys", causal=True, window=3, queries=12, keys=6, heads=4, key_heads=2),
    Case("no_keys", keys=0, heads=4, key_heads=2),
    Case("no_queries", queries=0, causal=True),
    Case("bias", bias=(2, 4, 8, 8), batch=2, heads=4, bias_gradient=True),
    Case("bias_of_heads", bias=(1, 4, 8, 8), batch=2, heads=4, bias_gradient=True, layout="bhsd",
         causal=True),
    Case("bias_of_keys", bias=(2, 1, 1, 8), batch=2, heads=4, bias_gradient=True),
    Case("bias_of_rows", bias=(1, 1, 8, 8), batch=2, heads=4, key_heads=4, bias_gradient=True),
    Case("one_of_each", heads=1, key_heads=1, queries=1, keys=1, depth=1, value_depth=1,
         bias=(1, 1, 1, 1), bias_gradient=True, causal=True),
    Case("mask", bias=(2, 1, 1, 8), batch=2, heads=4),
    Case("f64", dtype="f64", heads=4, causal=True),
    Case("bf16", dtype="bf16", heads=4, causal=True, queries=16, keys=16),
    Case("f16", dtype="f16", heads=4, layout="bhsd", bias=(1, 4, 8, 8), bias_gradient=True),
]


def get_arguments(case):
    arguments = case.random()
    if case.name == "mask":
        # The keys from 5 on are padding; a batch of nothing but padding has results of 0.
        arguments[4][0, :, :, 5:] = -np.inf
        arguments[4][1] = -np.inf
    return arguments


def main():
    directory = sys.argv[1]
    program = bt.compile_program("".join(case.text() for case in CASES), directory)
    for case in CASES:
        arguments = get_arguments(case)
        found = bt.run_program(program, 1, directory,
                               [(case.element, [array]) for array in arguments],
                               case.result_types, case.name)
        case.check([result[0] for result in found], case.expected(arguments))


if __name__ == "__main__":
    main()

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Real models with small configurations, under the ways in which PyTorch distributes them.

`zoo` makes models, `parallel` distributes them, `settings` are Inductor's, `orders` draws legal orders of a pass's own
graph, `compare` compiles a case in several ways and compares the results of all, `processes` does so on all ranks, or with the collectives of `late`
on one.

::

    from real_models.compare import Case
    from real_models.processes import Plan, run_case

    outcomes = run_case(Case("llama", "fsdp"), Plan(passes=("inductor", "fx drawn"), orders=4, seed=7))
"""

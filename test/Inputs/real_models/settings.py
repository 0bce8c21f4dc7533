# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Settings of Inductor that change graphs or orders beside a pass of Braid.

Each is a function from the passes over scheduler nodes that stand in the middle (none or one) to what
`torch._inductor.config.patch` takes.
"""

import torch


def _reorder(*passes):
    return {"reorder_for_compute_comm_overlap": True, "reorder_for_compute_comm_overlap_passes": list(passes)}


def _buckets(*passes):
    kinds = ("all_gathers", "reduce_scatters", "all_reduces")
    return {**_reorder(*passes), **{f"bucket_{kind}_fx": "all" for kind in kinds}}


def _estimate(*_):
    """Milliseconds of a node: Inductor measures on a GPU what nobody estimates."""
    return 1.0


def describe_gpu():
    """Gives Inductor's overlap scheduling the figures of a GPU, from now on in this process.

    It computes its analytical estimates beside those of `custom_runtime_estimation`, from figures that it has from
    Triton (PyTorch 2.13) and CUDA (2.11). No setting gives them where there is no GPU.
    """
    from torch._inductor.fx_passes import overlap_scheduling
    from torch.utils import _runtime_estimation

    _runtime_estimation.get_gpu_dram_gbps = lambda: 1000
    _runtime_estimation.get_device_tflops = lambda dtype: 100
    if hasattr(overlap_scheduling, "estimate_runtime_analytical"):
        overlap_scheduling.estimate_runtime_analytical = _estimate


def keep_collectives():
    """Has `fallback_by_default` leave collectives to Inductor, from now on in this process."""
    from torch._inductor import graph

    if hasattr(graph, "should_fallback_by_default"):
        decide = graph.should_fallback_by_default
        graph.should_fallback_by_default = lambda node: "c10d_functional" not in str(node.target) and decide(node)


def _overlap(**options):
    options = {"enable_overlap_scheduling": True, "custom_runtime_estimation": _estimate, **options}

    def get(*passes):
        import torch._inductor.config as config

        known = {name: value for name, value in options.items() if hasattr(config.aten_distributed_optimizations, name)}
        found = {f"aten_distributed_optimizations.{name}": value for name, value in known.items()}
        return {**_reorder(*passes), **found}

    return get


SETTINGS = {
    "plain": _reorder,
    # Every op is PyTorch's own, so that nothing has to be compiled: a tenth of the time. Flash attention on CPUs reads other memory where the
    # layouts of convolutions reach it.
    "no kernels": lambda *passes: {**_reorder(*passes), "fallback_by_default": True, "layout_optimization": False},
    "deterministic": lambda *passes: {**_reorder(*passes), "deterministic": True},
    "buckets": _buckets,
    "overlap": _overlap(),
    "overlap+buckets": _overlap(collective_bucketing=True),
    "overlap+buckets+deps": _overlap(collective_bucketing=True, insert_overlap_deps=True),
    "custom buckets": _overlap(collective_bucketing=True, bucket_mode="custom_ops"),
    "behind inductor": lambda *passes: _reorder("raise_comms", "sink_waits", "reorder_compute_for_overlap", *passes),
    "before inductor": lambda *passes: _reorder(*passes, "raise_comms", "sink_waits", "reorder_compute_for_overlap"),
    "behind inductor's newest": lambda *passes: _reorder(
        "reorder_communication_preserving_peak_memory", "sink_waits_iterative", *passes
    ),
    "before inductor's newest": lambda *passes: _reorder(
        *passes, "reorder_communication_preserving_peak_memory", "sink_waits_iterative"
    ),
    "no peak memory": lambda *passes: {**_reorder(*passes), "reorder_for_peak_memory": False},
    "memory planning": lambda *passes: {**_reorder(*passes), "memory_planning": True},
    # On CPUs Inductor skips the CUDA graphs that it asks for.
    "reduce-overhead": lambda *passes: {**_reorder(*passes), **torch._inductor.list_mode_options("reduce-overhead")},
    "combined kernels": lambda *passes: {**_reorder(*passes), "combo_kernels": True},
}

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All of Braid for `torch.compile` by one argument."""

from torch._inductor import config

from . import deterministic
from .gradient_layouts import GradientLayouts
from .overlap import Overlap
from .reassociation import Reassociation


def options(*, cuda_graphs=False, reassociate=False, **pass_options):
    """What to give to ``torch.compile(model, options=...)``.

    ::

        model = torch.compile(model, options=braid.inductor.options())

    Forward and backward graphs are ordered by a pass of their own `Overlap`, and copies of gradients that autograd would make behind the
    backward are part of it. With ``torch.use_deterministic_algorithms(True)`` Inductor does not call that pass: then one over FX graphs
    orders them, unless ``post_grad_custom_post_pass`` is set already. Add settings of Inductor to the result as to any dict.

    Parameters
    ----------
    cuda_graphs : bool
        The graphs run as CUDA graphs, with their collectives, as with ``mode="reduce-overhead"``, which `torch.compile` takes instead
        of options only.
    reassociate : bool
        Sums of all-reduces become all-reduces of sums, fewer of them. Sums round otherwise, where all else keeps every bit. Where there
        are other ranks, all members of a process group do so or none (`agree`), which they ask each other in each process: Inductor's cache
        keeps graphs, AOTAutograd's does not.
    **pass_options
        Those of `Overlap.with_options`.

    Returns
    -------
    dict

    Raises
    ------
    braid.schedule.ScheduleError
        An unknown option, or an invalid value of one.
    """
    overlap = Overlap(**pass_options)
    result = {
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": [overlap],
        "joint_custom_post_pass": GradientLayouts(),
    }
    if config.post_grad_custom_post_pass is None:
        result["post_grad_custom_post_pass"] = deterministic.make_pass(overlap)
    if cuda_graphs:
        result["triton.cudagraphs"] = True
    if reassociate:
        result["joint_custom_pre_pass"] = Reassociation(pass_options.get("agree", True))
    return result

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Plans: who runs on what of a GPU, as far as PyTorch can be told."""

import contextlib
import dataclasses

from ..errors import ScheduleError

#: Limits that are tried: of the thread blocks of collectives, and of the multiprocessors that products leave them.
_CTAS = (0, 4, 8, 16)
_CARVEOUTS = (0, 4, 8, 16, 24)


@dataclasses.dataclass(frozen=True)
class Plan:
    """Limits of collectives and products, which hold for whole process groups and for the whole process.

    PyTorch takes a limit of thread blocks when it makes a process group (`new_group`, `get_group_options`),
    and a number of multiprocessors that products leave free whenever they are launched (`active`).
    """

    #: The most thread blocks of a collective; 0: no limit.
    max_ctas: int = 0
    #: The multiprocessors that products of matrices leave free; 0: none.
    carveout: int = 0
    #: Predicted nanoseconds of the graph with the plan, and of the best order without a plan; None if nobody
    #: has predicted them.
    makespan: "int | None" = dataclasses.field(default=None, compare=False)
    makespan_without: "int | None" = dataclasses.field(default=None, compare=False)

    def __post_init__(self):
        for name in ("max_ctas", "carveout"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 0:
                raise ScheduleError(f"found {name}={value!r}, expected a whole number of at least 0")

    def with_prediction(self, makespan, makespan_without):
        return dataclasses.replace(self, makespan=makespan, makespan_without=makespan_without)

    def get_group_options(self, *, is_high_priority_stream=False):
        """`ProcessGroupNCCL.Options` with the limit of thread blocks.

        For `torch.distributed.init_process_group` and `new_group` (``pg_options``).
        """
        from torch.distributed import ProcessGroupNCCL

        options = ProcessGroupNCCL.Options(is_high_priority_stream=is_high_priority_stream)
        if self.max_ctas:
            options.config.max_ctas = self.max_ctas
            # Products leave pairs of multiprocessors: few blocks stand in pairs, more do on their own.
            options.config.cga_cluster_size = 2 if self.max_ctas in (2, 4) else 0
        return options

    def new_group(self, ranks=None):
        """`torch.distributed.new_group(ranks)` with the limit; every process has to call it."""
        import torch.distributed as dist

        options = self.get_group_options() if dist.get_backend() == "nccl" else None
        return dist.new_group(ranks, pg_options=options)

    @contextlib.contextmanager
    def active(self):
        """Inside of this context products leave multiprocessors free.

        cuBLASLt computes them then: cuBLAS knows no such limit. Both settings belong to the whole process.
        """
        import torch

        if not self.carveout:
            yield
            return
        library = torch.backends.cuda.preferred_blas_library()
        carveout = torch._C._get_sm_carveout_experimental()
        torch.backends.cuda.preferred_blas_library("cublaslt")
        torch._C._set_sm_carveout_experimental(self.carveout)
        try:
            yield
        finally:
            torch._C._set_sm_carveout_experimental(carveout)
            torch.backends.cuda.preferred_blas_library(library)


def candidates(multiprocessors):
    """The plans that are compared on a machine, the one without limits first.

    Collectives with few thread blocks need room that products leave them.
    """
    return [
        Plan(ctas, carveout)
        for ctas in _CTAS
        for carveout in _CARVEOUTS
        if carveout >= ctas and carveout < max(multiprocessors, 1)
    ]

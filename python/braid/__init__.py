# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Braid hides communication behind computation.

``braid.schedule``
    finds the best order of a graph of compute and communication; needs nothing else.
``braid.inductor``, ``braid.fx``
    order what ``torch.compile`` makes; need PyTorch.
``braid.mlir``, ``braid.jax``
    drive Braid's compiler, and bring JAX programs to it; need an installed Braid.

``python -m braid`` prints the versions and what was found.
"""

import importlib
from types import ModuleType

__version__ = "0.1.0"

_SUBMODULES = ("fx", "inductor", "jax", "mlir", "schedule")

__all__ = ["__version__", *_SUBMODULES]


def __getattr__(name: str) -> ModuleType:
    # Only what is used is imported: torch and jax take seconds.
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

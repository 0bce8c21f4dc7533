# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The order of graphs for which Inductor calls no pass over scheduler nodes, because all is to be deterministic."""

from torch._inductor import config

from .. import fx


class DeterministicOverlap(fx.Overlap):
    """A pass for ``torch._inductor.config.post_grad_custom_post_pass`` that orders where `braid.inductor.Overlap` is not called.

    ``torch.use_deterministic_algorithms(True)`` sets Inductor's ``deterministic``, with which it skips that pass.
    """

    def __call__(self, graph):
        """Reorders `graph`, a ``torch.fx.Graph``, in place."""
        if config.deterministic:
            super().__call__(graph)


def make_pass(overlap):
    """The `DeterministicOverlap` with the options of `overlap`, a `braid.inductor.Overlap`, that hold for both."""
    options = {name: value for name, value in overlap.options.items() if name in fx.Overlap.DEFAULTS}
    if callable(options["estimates"]):
        # It knows scheduler nodes alone.
        options["estimates"] = fx.Overlap.DEFAULTS["estimates"]
    return DeterministicOverlap(**options)

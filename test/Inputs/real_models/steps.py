# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Two steps of training, or two calls without gradients, as a user's program has them: `torch.compile(model, options=...)`."""

import contextlib

import torch

from .compare import Compiled, Distributed, _copy, _local, compare


class Steps:
    """The steps of a case on this rank; for `compare.check` what a `record.Recording` is."""

    #: Nothing is recorded.
    graphs = ()

    def __init__(self, case, rank, setting):
        """`setting`: the one whose steps are compared with eager ones."""
        self.case = case
        self.distributed = Distributed(case, rank)
        #: Whether the second step has a larger batch.
        self._grows = case.dynamic or case.uneven and rank == 0
        self.eager = self._run(self.distributed.module)
        self.setting = setting
        #: By setting, the steps without passes.
        self._plain = {}

    def check_against_eager(self):
        """What differs between the eager and the compiled steps by more than rounding."""
        return compare(self.replay(Compiled(self.setting)), self.eager, exact=False)

    def replay(self, way):
        """By name all that the steps compute, compiled in this way."""
        if way != Compiled(way.setting):
            return self._compile(way)
        if way.setting not in self._plain:
            self._plain[way.setting] = self._compile(way)
        return self._plain[way.setting]

    def _compile(self, way):
        torch._dynamo.reset()
        options = dict(options=way.get_patches(), dynamic=self.case.dynamic)
        with contextlib.ExitStack() as stack:
            if self.case.compiled_autograd:
                stack.enter_context(torch._dynamo.compiled_autograd._enable(lambda graph: torch.compile(graph, **options)))
            return self._run(torch.compile(self.distributed.module, fullgraph=self.case.is_whole, **options))

    def _run(self, module):
        distributed, result = self.distributed, {}
        own = distributed.module
        own.load_state_dict({name: _copy(value) for name, value in distributed.state.items()})
        optimizer = torch.optim.SGD(own.parameters(), lr=0.01, momentum=0.9)
        torch.manual_seed(5)
        for step in range(2):
            inputs = [torch.cat([value, value[:1]]) if step and self._grows else value.clone() for value in distributed.inputs]
            with torch.set_grad_enabled(self.case.train):
                loss = distributed.model.loss(module, *inputs)
            result[f"loss {step}"] = _local(loss)
            if self.case.train:
                optimizer.zero_grad()
                loss.backward()
                gradients = {name: _local(value.grad) for name, value in own.named_parameters() if value.grad is not None}
                result.update({f"gradient of {name}, {step}": value for name, value in gradients.items()})
                optimizer.step()
        result.update({name: _local(value) for name, value in own.state_dict().items()})
        return result

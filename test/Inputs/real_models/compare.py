# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a model in several ways, and compares what comes out bit by bit."""

import contextlib
import dataclasses
import functools
import types

import torch

from .parallel import PARALLELISMS
from .settings import SETTINGS
from .zoo import MODELS

#: The settings in which all compiles agree: no cache hands out a graph of another pass, and no kernel is measured.
#: Scalar code compiles faster.
_COMMON = {"compile_threads": 1, "fx_graph_cache": False, "cpp.simdlen": 1}


@dataclasses.dataclass(frozen=True)
class Case:
    """A model on ranks.

    `recompute` gathers parameters again in backward; `checkpoint` computes each layer again there; `train` is false for
    a forward without gradients; `dynamic` makes sizes symbolic; `compiled_autograd` compiles all that the backward does as one graph;
    `uneven` gives rank 0 alone a larger batch in the second step, for which it compiles again.
    """

    model: str
    parallelism: str
    recompute: bool = True
    checkpoint: bool = False
    train: bool = True
    layers: int = 2
    dynamic: "bool | None" = None
    compiled_autograd: bool = False
    uneven: bool = False

    @property
    def ranks(self):
        return PARALLELISMS[self.parallelism].ranks

    @property
    def is_whole(self):
        """Whether a step is one graph forward and one backward, collectives included."""
        return MODELS[self.model].is_whole and PARALLELISMS[self.parallelism].is_whole

    def fits(self):
        parallelism = PARALLELISMS[self.parallelism]
        return parallelism.fits(MODELS[self.model]) and (parallelism.own_inputs or not self.uneven)

    def __str__(self):
        parallelism = PARALLELISMS[self.parallelism]
        words = [self.model, self.parallelism]
        words += ["keep"] if parallelism.can_recompute and not self.recompute else []
        words += ["checkpoint"] if self.checkpoint else []
        words += [] if self.train else ["inference"]
        words += ["dynamic"] if self.dynamic else []
        words += ["autograd"] if self.compiled_autograd else []
        words += ["uneven"] if self.uneven else []
        return " ".join(words)


@dataclasses.dataclass(frozen=True)
class Compiled:
    """One way to compile: the name of settings, and passes over scheduler nodes and over the FX graph, if any."""

    setting: str = "plain"
    scheduler: object = None
    graph: object = None
    name: str = ""

    @classmethod
    def inductor(cls, overlap, setting="plain", name="braid.inductor"):
        return cls(setting, overlap, None, name)

    @classmethod
    def fx(cls, overlap, setting="plain", name="braid.fx"):
        return cls(setting, None, overlap, name)

    def get_patches(self):
        patches = SETTINGS[self.setting](*[self.scheduler] * (self.scheduler is not None))
        return {**_COMMON, **patches, **({} if self.graph is None else {"post_grad_custom_post_pass": self.graph})}


class Distributed:
    """The module of a case on this rank, with its inputs."""

    def __init__(self, case, rank):
        self.case = case
        self.model = MODELS[case.model]
        parallelism = PARALLELISMS[case.parallelism]
        torch.manual_seed(0)
        module = self.model.make(case.layers)
        module.train(case.train)
        if case.checkpoint:
            module.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
        self.module = parallelism.distribute(self.model, module, case.ranks, case.recompute)
        seed = 1 + rank if parallelism.own_inputs else 1
        self.inputs = self.model.make_inputs(rank, torch.Generator().manual_seed(seed))
        self.state = {name: _copy(value) for name, value in self.module.state_dict().items()}

    def run(self, compile=lambda function: function):
        """By name all that a step computes: the loss, gradients, buffers. `compile` gets the function of the loss."""
        torch._dynamo.reset()
        # `torch.compile` keeps what it has compiled with the code object.
        loss = self.model.loss
        return self.take_step(
            compile(types.FunctionType(loss.__code__.replace(co_name="loss_of_step"), loss.__globals__))
        )

    def take_step(self, function):
        """What a step computes with `function`, that of the loss, from the state and the inputs that the case has."""
        self.module.load_state_dict({name: _copy(value) for name, value in self.state.items()})
        self.module.zero_grad(set_to_none=True)
        inputs = [value.clone() for value in self.inputs]
        torch.manual_seed(5)
        if not self.case.train:
            with torch.no_grad():
                return {"loss": _local(function(self.module, *inputs))}
        value = function(self.module, *inputs)
        value.backward()
        result = {"loss": _local(value)}
        for name, parameter in self.module.named_parameters():
            if parameter.grad is not None:
                result[f"gradient of {name}"] = _local(parameter.grad)
        for name, buffer in self.module.named_buffers():
            result[f"buffer {name}"] = _local(buffer)
        return result

    def run_compiled(self, way, backend="inductor"):
        compile = functools.partial(torch.compile, fullgraph=True, dynamic=self.case.dynamic, backend=backend)
        with contextlib.ExitStack() as stack:
            stack.enter_context(torch._inductor.config.patch(way.get_patches()))
            if self.case.compiled_autograd:
                stack.enter_context(torch._dynamo.compiled_autograd._enable(compile))
            return self.run(compile)


def _copy(value):
    return value.detach().clone() if isinstance(value, torch.Tensor) else value


def _local(value):
    value = value.detach()
    if hasattr(value, "to_local"):
        value = value.to_local()
    # A copy: what a collective fills later must not change it.
    return (value.wait() if hasattr(value, "wait") else value).clone()


def compare(found, expected, exact=True):
    """What differs between two results of `Distributed.run`, as texts. Without `exact`, by more than rounding."""
    differences = [f"{name}: missing" for name in expected.keys() ^ found.keys()]
    for name in expected.keys() & found.keys():
        one, other = found[name], expected[name]
        same = one.shape == other.shape and one.dtype == other.dtype
        if same and exact:
            same = torch.equal(_bits(one), _bits(other))
        elif same:
            same = torch.allclose(one, other, rtol=1e-3, atol=1e-5, equal_nan=True)
        if not same:
            largest = float((one.double() - other.double()).abs().max()) if one.shape == other.shape and one.numel() else None
            differences.append(f"{name}: differs by {largest}")
    return sorted(differences)


def _bits(value):
    # Dimensions of size 1 may have any stride, unless the copy is a new one.
    return value.clone(memory_format=torch.contiguous_format).reshape(-1).view(torch.uint8)


def check(recording, ways):
    """Compiles each way, and the settings of each without passes; yields (way, what differs from these, failure).

    What a compile raises is a difference, too. Where the settings fail without passes, the way is compared with no settings at all; if it
    fails as well, `failure` says why there is nothing to compare, and is None elsewhere. `recording`: a `record.Recording`. A
    pass over the FX graph changes which kernels are fused, so that sums may round otherwise; a pass over scheduler nodes keeps
    every bit.
    """
    plain, failures = {}, {}

    def get_plain(setting):
        """What the graphs compute with a setting, or None."""
        if setting not in plain and setting not in failures:
            try:
                plain[setting] = recording.replay(Compiled(setting))
            except Exception as error:  # The other settings may do.
                failures[setting] = f"PyTorch fails without passes: {describe(error)}"
        return plain.get(setting)

    for way in ways:
        expected, exact = get_plain(way.setting), way.graph is None
        failure = failures.get(way.setting)
        if expected is None:
            expected, exact = get_plain("plain"), False
        if expected is None:
            yield way, [], failure
            continue
        try:
            found = recording.replay(way)
        except Exception as error:  # What one way cannot do says nothing about the others.
            yield way, [] if failure else [describe(error)], failure
            continue
        yield way, compare(found, expected, exact), None


def describe(error):
    """The kind of an error, and the end of its text."""
    return f"{type(error).__name__}: {str(error)[-600:]}"

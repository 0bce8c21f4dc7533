# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The ways in which PyTorch distributes a model, with collectives inside of what `torch.compile` sees.

All ranks make the same model, so that nobody sends parameters.
"""

import torch
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor
from torch.utils.checkpoint import CheckpointPolicy, checkpoint, create_selective_checkpoint_contexts

from .experts import ParallelExperts, spread_experts


def _recompute_gathers():
    """Saves everything for backward but gathered parameters."""
    gathers = {
        torch.ops._c10d_functional.all_gather_into_tensor.default,
        torch.ops._c10d_functional.wait_tensor.default,
        torch.ops.aten._to_copy.default,
    }

    def decide(context, function, *args, **kwargs):
        return CheckpointPolicy.MUST_RECOMPUTE if function in gathers else CheckpointPolicy.MUST_SAVE

    return create_selective_checkpoint_contexts(decide)


class _Read(nn.Module):
    """What a module sees of a parameter that is a DTensor: all of it. The gradient is the mean over ranks."""

    def __init__(self, mesh, recompute):
        super().__init__()
        self.placements = [Replicate()] * mesh.ndim
        self.gradients = [Partial("avg")] * mesh.ndim
        self.recompute = recompute

    def read(self, parameter):
        return parameter.redistribute(placements=self.placements).to_local(grad_placements=self.gradients)

    def forward(self, parameter):
        if not self.recompute:
            return self.read(parameter)
        return checkpoint(self.read, parameter, use_reentrant=False, context_fn=_recompute_gathers)


def _distribute_parameters(module, mesh, placements, recompute):
    """Parameters become DTensors, which are whole where they are read (SimpleFSDP of torchtitan)."""
    read = _Read(mesh, recompute)
    for part in list(module.modules()):
        parameters = dict(part.named_parameters(recurse=False))
        if not parameters or isinstance(part, ParallelExperts):
            continue
        for name, parameter in parameters.items():
            # A number has no part.
            own = placements if parameter.dim() else [Replicate()] * mesh.ndim
            value = distribute_tensor(parameter.detach(), mesh, own, src_data_rank=None)
            part.register_parameter(name, nn.Parameter(value))
        views = {name: property(lambda self, name=name: read(self._parameters[name])) for name in parameters}
        part.__class__ = type("Sharded" + part.__class__.__name__, (part.__class__,), views)
    return module


def _get_mesh(module, *sizes):
    device = next(module.parameters()).device.type
    return init_device_mesh(device, sizes, mesh_dim_names=("outer", "inner")[-len(sizes) :])


def _data_parallel(model, module, ranks, recompute):
    return _distribute_parameters(module, _get_mesh(module, ranks), [Replicate()], False)


def _fully_sharded(model, module, ranks, recompute):
    return _distribute_parameters(module, _get_mesh(module, ranks), [Shard(0)], recompute)


def _hybrid_sharded(model, module, ranks, recompute):
    return _distribute_parameters(module, _get_mesh(module, 2, ranks // 2), [Replicate(), Shard(0)], recompute)


def _expert_parallel(model, module, ranks, recompute):
    """Each rank has some of the experts, and a part of each other parameter."""
    mesh = _get_mesh(module, ranks)
    return _distribute_parameters(spread_experts(module, mesh), mesh, [Shard(0)], recompute)


def _plan_linears(model, module, **rows):
    """Which linear layers are split how; `rows` are options of those that sum over ranks."""
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel

    plan = {}
    for name, part in module.named_modules():
        if isinstance(part, nn.Linear):
            if any(name.endswith(suffix) for suffix in model.columns):
                plan[name] = ColwiseParallel()
            elif any(name.endswith(suffix) for suffix in model.rows):
                plan[name] = RowwiseParallel(**rows)
    return plan


def _parallelize(module, mesh, plan):
    from torch.distributed.tensor.parallel import parallelize_module

    return parallelize_module(module, mesh, plan, src_data_rank=None)


def _tensor_parallel(model, module, ranks, recompute):
    return _parallelize(module, _get_mesh(module, ranks), _plan_linears(model, module))


def _planned(model, module, ranks, recompute):
    """Tensor parallelism by the plan of transformers, as `from_pretrained` applies it."""
    from transformers.distributed import DistributedConfig

    options, _, meshes = module.prepare_distribute_model(DistributedConfig(tp_size=ranks))
    return module.maybe_distribute_model(module, options, meshes)


def _sequence_parallel(model, module, ranks, recompute):
    """Tensor parallelism whose values between blocks are split along the sequence."""
    from torch.distributed.tensor.parallel import (
        ColwiseParallel,
        PrepareModuleInput,
        PrepareModuleInputOutput,
        RowwiseParallel,
        SequenceParallel,
    )

    split, whole, names = Shard(1), Replicate(), model.decoder
    plan = {
        **_plan_linears(model, module, output_layouts=split),
        names.embedding: RowwiseParallel(input_layouts=whole, output_layouts=split),
        names.norm: SequenceParallel(),
        names.head: ColwiseParallel(input_layouts=split, output_layouts=whole),
    }
    positional = dict(input_layouts=(split,), desired_input_layouts=(whole,))
    keyword = dict(
        input_kwarg_layouts={"hidden_states": split}, desired_input_kwarg_layouts={"hidden_states": whole}
    )
    for index in range(len(module.get_submodule(names.layers))):
        layer = f"{names.layers}.{index}."
        plan[layer + "input_layernorm"] = plan[layer + "post_attention_layernorm"] = SequenceParallel()
        plan[layer + names.attention] = PrepareModuleInput(**(keyword if names.has_keyword else positional))
        # Each rank computes all of the experts, and goes on with its part of the sequence.
        parts = dict(use_local_input=True, output_layouts=(whole,), desired_output_layouts=(split,))
        plan[layer + names.mlp] = (
            PrepareModuleInputOutput(**positional, **parts) if names.has_experts else PrepareModuleInput(**positional)
        )
    return _parallelize(module, _get_mesh(module, ranks), plan)


def _by_hooks(model, module, ranks, recompute):
    """FSDP2 of each layer and of the rest: its collectives are those of hooks."""
    from torch.distributed.fsdp import fully_shard

    options = dict(mesh=_get_mesh(module, ranks), reshard_after_forward=recompute)
    for layers in [part for part in module.modules() if isinstance(part, nn.ModuleList)]:
        for layer in layers:
            # Lists of lists, and of what is no layer.
            if type(layer).forward is not nn.Module.forward and next(layer.parameters(), None) is not None:
                fully_shard(layer, **options)
    return fully_shard(module, **options)


def _wrapped(model, module, ranks, recompute):
    return nn.parallel.DistributedDataParallel(module)


def _reduced(model, module, ranks, recompute):
    """DDP whose collectives compiled autograd sees."""
    torch._dynamo.config.optimize_ddp = "python_reducer"
    wrapped = nn.parallel.DistributedDataParallel(module)
    # In MiB, so that small models have several buckets.
    torch._inductor.config._fuse_ddp_bucket_size = 0.05
    return wrapped


class Parallelism:
    """How to distribute a module over a number of ranks, and whether ranks have inputs of their own.

    `is_whole`: collectives are ops of the graphs that are compiled.
    """

    def __init__(self, distribute, ranks=2, own_inputs=True, can_recompute=False, fits=lambda model: True, is_whole=True):
        self.distribute = distribute
        self.ranks = ranks
        self.own_inputs = own_inputs
        self.can_recompute = can_recompute
        self.is_whole = is_whole
        #: Whether a `zoo.Model` can be distributed so.
        self.fits = fits


PARALLELISMS = {
    "ddp": Parallelism(_data_parallel),
    "fsdp": Parallelism(_fully_sharded, can_recompute=True),
    "hsdp": Parallelism(_hybrid_sharded, ranks=4, can_recompute=True),
    "tp": Parallelism(_tensor_parallel, own_inputs=False, fits=lambda model: bool(model.columns)),
    "plan": Parallelism(_planned, own_inputs=False, fits=lambda model: model.has_plan),
    "sp": Parallelism(_sequence_parallel, own_inputs=False, fits=lambda model: model.decoder is not None),
    "ep": Parallelism(_expert_parallel, can_recompute=True, fits=lambda model: bool(model.decoder and model.decoder.has_experts)),
    "fully_shard": Parallelism(_by_hooks, can_recompute=True, is_whole=False),
    "wrapper": Parallelism(_wrapped, is_whole=False),
    "reducer": Parallelism(_reduced, is_whole=False),
}

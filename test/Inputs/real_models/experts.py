# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Experts of a Mixtral that are spread over ranks: tokens go to the rank of their expert, and come back."""

import math

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch_steps import Exchange

#: How many more tokens than the mean an expert takes of a rank. Sizes then do not depend on data, as CUDA graphs need it.
CAPACITY = 1.25


class ParallelExperts(nn.Module):
    """In place of `MixtralExperts`. The gradients of its parameters are sums over the tokens of all ranks."""

    def __init__(self, experts, mesh):
        super().__init__()
        ranks, rank = mesh.size(), mesh.get_local_rank()
        self.group, self.ranks, self.count = mesh.get_group().group_name, ranks, experts.num_experts
        self.gate_up_proj, self.down_proj = (
            nn.Parameter(weight.detach().chunk(ranks)[rank].clone()) for weight in (experts.gate_up_proj, experts.down_proj)
        )

    def forward(self, tokens, experts, weights):
        number, choices = experts.shape
        capacity = math.ceil(CAPACITY * number * choices / self.count)
        chosen = F.one_hot(experts.flatten(), self.count)
        place = (chosen.cumsum(0) * chosen).sum(1) - 1
        # The place of each choice in what is sent; those that an expert has no room for get the one behind all.
        nowhere = self.count * capacity
        slot = torch.where(place < capacity, experts.flatten() * capacity + place, nowhere)
        source = torch.full((nowhere + 1,), number, device=slot.device)
        source = source.scatter(0, slot, torch.arange(slot.numel(), device=slot.device) // choices)
        found = self._run(_pad(tokens)[source[:-1]], capacity)
        return (_pad(found)[slot].view(number, choices, -1) * weights[..., None].to(found.dtype)).sum(1)

    def _run(self, sent, capacity):
        """What the experts make of `sent`, in which each expert has `capacity` rows."""
        shape = self.ranks, self.count // self.ranks, capacity, sent.shape[1]
        rows = Exchange.apply(sent, self.group).view(shape).transpose(0, 1).flatten(1, 2)
        gate, up = (rows @ self.gate_up_proj.transpose(1, 2)).chunk(2, -1)
        rows = (F.silu(gate) * up) @ self.down_proj.transpose(1, 2)
        rows = rows.unflatten(1, (self.ranks, capacity)).transpose(0, 1).reshape(sent.shape)
        return Exchange.apply(rows, self.group)


def _pad(rows):
    return torch.cat([rows, rows.new_zeros(1, rows.shape[1])])


def spread_experts(module, mesh):
    """Has each rank of `mesh` a part of all experts in `module`."""
    for part in list(module.modules()):
        for name, child in list(part.named_children()):
            if hasattr(child, "gate_up_proj") and hasattr(child, "num_experts"):
                setattr(part, name, ParallelExperts(child, mesh))
    return module

"""Training steps of a small network under tensor parallelism, eager and compiled with Braid: the example of
docs/start/tensor-parallel.md."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

import braid.inductor

WIDTH, STEPS = 256, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


class Model(nn.Module):
    """Two blocks; the halves of a batch go through them one after the other, so that one may compute while the other communicates."""

    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(), Block())

    def forward(self, x):
        return torch.cat([self.blocks(half) for half in x.chunk(2)])


def train(rank, ranks, compiled):
    """The losses of some steps."""
    torch.manual_seed(1)
    plan = {"blocks.*.up": ColwiseParallel(), "blocks.*.down": RowwiseParallel()}
    model = parallelize_module(Model(), init_device_mesh("cpu", (ranks,)), plan)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if compiled:
        # On GPUs without `machine`: Braid knows it.
        model = torch.compile(model, fullgraph=True, options=braid.inductor.options(machine="cpu"))
    # All ranks have the same batch.
    torch.manual_seed(2)
    batch, losses = torch.randn(128, WIDTH), []
    for _ in range(STEPS):
        loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        losses.append(f"{loss.item():.4f}")
    return losses


def main():
    dist.init_process_group("gloo")
    eager, compiled = (train(dist.get_rank(), dist.get_world_size(), compiled) for compiled in (False, True))
    if dist.get_rank() == 0:
        print("eager:   ", *eager)
        print("compiled:", *compiled)
        print(braid.inductor.explain())
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

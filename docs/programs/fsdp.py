"""Training steps of a small network under FSDP, eager and compiled with Braid: the example of docs/start/fsdp.md."""
import torch
import torch.distributed as dist
import torch.nn as nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor import Partial, Replicate, Shard, distribute_tensor

import braid.inductor

WIDTH, LAYERS, STEPS = 256, 2, 3


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.up = nn.Linear(WIDTH, 4 * WIDTH, bias=False)
        self.down = nn.Linear(4 * WIDTH, WIDTH, bias=False)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(x)))


def read(parameter):
    """The whole parameter, gathered where the model reads it; the gradient is scattered to the shards as a mean."""
    return parameter.redistribute(placements=[Replicate()]).to_local(grad_placements=[Partial("avg")])


def shard(model, mesh):
    """Fully sharded data parallelism inside of the graph: each rank keeps a part of each parameter."""
    for module in list(model.modules()):
        parameters = dict(module.named_parameters(recurse=False))
        for name, parameter in parameters.items():
            module.register_parameter(name, nn.Parameter(distribute_tensor(parameter.detach(), mesh, [Shard(0)])))
        views = {name: property(lambda self, name=name: read(self._parameters[name])) for name in parameters}
        module.__class__ = type("Sharded" + module.__class__.__name__, (module.__class__,), views)
    return model


def train(rank, ranks, compiled):
    """The losses of some steps."""
    torch.manual_seed(1)
    model = shard(nn.Sequential(*(Block() for _ in range(LAYERS))), init_device_mesh("cpu", (ranks,)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    if compiled:
        # On GPUs without `machine`: Braid knows it.
        model = torch.compile(model, fullgraph=True, options=braid.inductor.options(machine="cpu"))
    torch.manual_seed(2 + rank)
    batch, losses = torch.randn(64, WIDTH), []
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

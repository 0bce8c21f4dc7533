"""Two micro-batches through a tensor-parallel block, by Inductor and by Braid: the example of docs/start/pytorch.md."""
import matplotlib
import torch
import torch._inductor.config as config
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch.nn.functional as F
from matplotlib import pyplot
from torch.testing._internal.distributed.fake_pg import FakeStore

import braid.inductor

matplotlib.use("svg")
# Fake process group: rank 0 of 4; sufficient to compile.
dist.init_process_group("fake", rank=0, world_size=4, store=FakeStore())


class Block(torch.nn.Module):
    """A rank's quarter of a transformer block: 4 of 16 heads, a quarter of the MLP."""

    def __init__(self, width=512):
        super().__init__()
        self.qkv = torch.nn.Linear(width, 3 * width // 4, bias=False)
        self.out = torch.nn.Linear(width // 4, width, bias=False)
        self.up = torch.nn.Linear(width, width, bias=False)
        self.down = torch.nn.Linear(width, width, bias=False)

    def forward(self, x):
        q, k, v = self.qkv(F.rms_norm(x, x.shape[-1:])).unflatten(-1, (3, 4, -1)).unbind(1)
        heads = F.softmax(q.transpose(0, 1) @ k.permute(1, 2, 0), -1) @ v.transpose(0, 1)
        x = x + funcol.all_reduce(self.out(heads.transpose(0, 1).flatten(1)), "sum", "0")
        y = F.gelu(self.up(F.rms_norm(x, x.shape[-1:])))
        return x + funcol.all_reduce(self.down(y), "sum", "0")


block = Block()


@torch.no_grad()
def step(first, second):
    """Two micro-batches, one after the other."""
    return block(first), block(second)


overlap = braid.inductor.overlap.with_options(machine="cpu", report="step")
config.reorder_for_compute_comm_overlap = True
config.reorder_for_compute_comm_overlap_passes = ["reorder_compute_for_overlap", overlap]
config.fx_graph_cache = False
torch.compile(step)(torch.randn(256, 512), torch.randn(256, 512))
figure, axes = pyplot.subplots(2, 1, sharex=True, figsize=(10, 3), layout="constrained")
for name, schedule, part in (("Inductor", overlap.before, axes[0]), ("Braid", overlap.last, axes[1])):
    print(f"{name}: {schedule.makespan / 1e6:.2f} ms, {schedule.exposed / 1e6:.2f} ms of it exposed")
    schedule.plot(part).set_title(f"{name}: {schedule.makespan / 1e6:.2f} ms")
print(f"no order takes less than {overlap.last.bound / 1e6:.2f} ms")
axes[0].set_xlabel("")
figure.savefig("block.svg", metadata={"Date": None})

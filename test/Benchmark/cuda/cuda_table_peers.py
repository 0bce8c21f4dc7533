"""What PyTorch takes for the parts that cuda_table.py measures; run by torchrun.

    cuda_table_peers.py PARTS-AS-JSON OUTPUT REPEAT

Each part runs `count` operations between two events, each collective awaited
before the next one starts; the median of REPEAT, the maximum over ranks.
"""

import json
import os
import statistics
import sys

import torch
import torch.distributed as dist


def make(kind, size, count, world):
    """The function that runs the part, once everything is allocated."""
    device = torch.device("cuda", torch.cuda.current_device())
    if kind == "matmul":
        x, w = (torch.randn(size, size, device=device, dtype=torch.bfloat16) * 0.017 for _ in "xw")
        out = [torch.empty_like(x) for _ in range(2)]

        def products():
            y = x
            for i in range(count):
                y = torch.matmul(y, w, out=out[i % 2])

        return products
    if kind == "ops":
        x, w = (torch.randn(size, size, device=device, dtype=torch.bfloat16) * 0.017 for _ in "xw")

        def operations():
            y = x
            for _ in range(count // 2):
                y = torch.relu(y @ w)

        return operations
    dtype, width = (torch.float32, 4) if size <= 4 else (torch.bfloat16, 2)
    whole = torch.randn(size // width, device=device, dtype=dtype) * 0.017
    piece = torch.empty(max(1, size // width // world), device=device, dtype=dtype)
    other = torch.empty_like(whole)
    start = {
        "all_reduce": lambda: dist.all_reduce(whole, async_op=True),
        "all_gather": lambda: dist.all_gather_into_tensor(other, piece, async_op=True),
        "reduce_scatter": lambda: dist.reduce_scatter_tensor(piece, whole, async_op=True),
        "all_to_all": lambda: dist.all_to_all_single(other, whole, async_op=True),
    }[kind]

    def collectives():
        for _ in range(count):
            start().wait()

    return collectives


def measure(function, repeat):
    """The median in ms, of the slowest rank."""
    for _ in range(5):
        function()
    times = []
    for _ in range(repeat):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        dist.barrier()
        torch.cuda.synchronize()
        begin.record()
        function()
        end.record()
        torch.cuda.synchronize()
        times.append(begin.elapsed_time(end))
    slowest = torch.tensor([statistics.median(times)], device="cuda")
    dist.all_reduce(slowest, op=dist.ReduceOp.MAX)
    return slowest.item()


def main():
    parts, output, repeat = json.loads(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    rank, local = int(os.environ["RANK"]), int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(local)
    dist.init_process_group("nccl", device_id=torch.device("cuda", local))
    found = {}
    for name, part in parts.items():
        function = make(part["kind"], part["size"], part["count"], dist.get_world_size())
        step = measure(function, repeat)
        found[name] = {"step_ms": step, "each_ms": step / part["count"]}
        torch.cuda.empty_cache()
    if rank == 0:
        with open(output, "w", encoding="utf-8") as stream:
            json.dump(found, stream)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()

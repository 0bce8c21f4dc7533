"""Four ranks on meshes: rows and columns have other names on other ranks, and shards are uneven. What they run in another order has
the results of the program."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import datetime
import json
import os
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 4
TIMEOUT = 250


def compile_step(which, step, inputs, runs=True):
    """Compiles and runs it; the order of the starts by their places in the program, and why it was left alone.

    Without `runs`, the compile ends behind the pass, before a C++ compiler has to compile kernels.
    """
    import braid.fx
    import braid.inductor
    import torch
    import torch._inductor.config as config

    class Stop(Exception):
        pass

    def stop(nodes):
        overlap(nodes)
        raise Stop

    overlap = {"fx": braid.fx, "inductor": braid.inductor}[which].Overlap(machine="cpu", min_gain=0)
    called = overlap if runs else stop
    # The order of the program, not the one with the least memory.
    settings = {"compile_threads": 1, "fx_graph_cache": False, "reorder_for_peak_memory": False}
    if which == "fx":
        settings["post_grad_custom_post_pass"] = called
    else:
        settings.update(reorder_for_compute_comm_overlap=True, reorder_for_compute_comm_overlap_passes=[called])
    with config.patch(**settings):
        try:
            found = torch.compile(step)(*inputs)
            for one, other in zip(found, step(*inputs)):
                torch.testing.assert_close(one, other)
        except Exception as error:
            if runs or "Stop" not in f"{type(error).__name__} {error}":
                raise
    before, last = ([p.name for p in s.timeline if p.kind == "start"] for s in (overlap.before, overlap.last))
    return [before.index(name) for name in last], overlap.reason


def hybrid_sharded(mesh, rank, which):
    """HSDP: weights are gathered in a row, gradients are scattered there and gathered over a column."""
    import torch
    import torch.distributed._functional_collectives as funcol

    replicas, shards = mesh.get_group(0).group_name, mesh.get_group(1).group_name

    def step(x, first, second, gradient):
        grown = funcol.all_gather_tensor(first @ first, 0, shards)
        scattered = funcol.reduce_scatter_tensor(gradient, "sum", 0, shards)
        summed = funcol.all_gather_tensor(scattered @ first, 0, replicas)
        other = funcol.all_gather_tensor(second, 0, shards)
        return x @ grown, x @ other, summed @ first

    first, second = torch.randn(8, 8), torch.randn(8, 8)
    return compile_step(which, step, [torch.randn(4, 16), first, second, torch.randn(16, 8)])


def tensor_parallel_and_sharded(mesh, rank, which):
    """Rows have batches of different length: only sizes in their own groups are the same."""
    import torch
    import torch.distributed._functional_collectives as funcol

    data, tensor = mesh.get_group(0).group_name, mesh.get_group(1).group_name
    length = 8 if rank < 2 else 6

    def step(x, weight, other):
        activations = funcol.all_gather_tensor(x @ weight, 0, tensor)
        gathered = funcol.all_gather_tensor(other, 0, data)
        return activations @ weight, gathered @ weight

    return compile_step(which, step, [torch.randn(length, 8), torch.randn(8, 8), torch.randn(8, 8)])


def stages(mesh, rank, which):
    """A stage of two data-parallel ranks compiles when it has the results of the stage before."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    stage, peer = mesh.get_group(1).group_name, (rank + 2) % RANKS

    def step(x, first, second):
        one = funcol.all_gather_tensor(first @ first, 0, stage)
        other = funcol.all_gather_tensor(second, 0, stage)
        return x @ one, x @ other

    x = torch.randn(4, 16)
    if rank >= 2:
        dist.recv(x, peer)
    result = compile_step(which, step, [x, torch.randn(8, 8), torch.randn(8, 8)])
    if rank < 2:
        dist.send(x, peer)
    return result


def uneven_shards(mesh, rank, which):
    """A class token of dimension 1 and a vocabulary of 129, which DTensor pads before it gathers them."""
    import torch
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    def step(token, vocabulary, w):
        one = (vocabulary @ w).redistribute(placements=[Replicate()]).to_local()
        other = token.redistribute(placements=[Replicate()]).to_local()
        return one @ w.to_local(), other @ w.to_local()

    torch.manual_seed(3)
    row = mesh["shards"]
    token = distribute_tensor(torch.randn(1, 8), row, [Shard(0)])
    vocabulary = distribute_tensor(torch.randn(129, 8), row, [Shard(0)])
    weight = distribute_tensor(torch.randn(8, 8), row, [Replicate()])
    return compile_step(which, step, [token, vocabulary, weight], runs=False)


CASES = (
    (hybrid_sharded, "inductor"),
    (hybrid_sharded, "fx"),
    (tensor_parallel_and_sharded, "inductor"),
    (stages, "inductor"),
    (uneven_shards, "inductor"),
    (uneven_shards, "fx"),
)


def run_rank(rank, store, output):
    import torch
    import torch.distributed as dist

    torch_ranks.say_where()
    timeout = datetime.timedelta(seconds=TIMEOUT)
    torch_ranks.init_group(store, rank, RANKS, timeout=timeout)
    mesh = dist.init_device_mesh("cpu", (2, 2), mesh_dim_names=("replicas", "shards"))
    results = {}
    for case, which in CASES:
        torch._dynamo.reset()
        torch.manual_seed(7)
        results[f"{which} {case.__name__}"] = case(mesh, rank, which)
    with open(f"{output}.{rank}", "w") as file:
        json.dump(results, file)
    dist.barrier()
    dist.destroy_process_group()


class Meshes(unittest.TestCase):
    def test_orders(self):
        with tempfile.TemporaryDirectory() as folder:
            output, store = os.path.join(folder, "output"), os.path.join(folder, "store")
            arguments = [[__file__, str(rank), store, output] for rank in range(RANKS)]
            caches = [{"TORCHINDUCTOR_CACHE_DIR": os.path.join(folder, f"cache{rank}")} for rank in range(RANKS)]
            torch_ranks.run_ranks(folder, arguments, caches)
            results = []
            for rank in range(RANKS):
                with open(f"{output}.{rank}") as file:
                    results.append(json.load(file))
        for name in results[0]:
            with self.subTest(name):
                orders = [result[name] for result in results]
                self.assertEqual(orders, [orders[0]] * RANKS)
                order, reason = orders[0]
                self.assertIsNone(reason)
                # Ranks with shards of different sizes find different orders, some of them the program's: that of the
                # rank which comes first holds.
                if "uneven_shards" not in name:
                    self.assertNotEqual(order, sorted(order))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    else:
        unittest.main()

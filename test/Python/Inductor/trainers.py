"""What trainers put around compiled models has the same bits as without Braid: autocast, GradScaler with a step that overflows,
accumulation, clipping, deterministic algorithms, fully_shard, DistributedDataParallel, and, of one graph, a checkpoint from which
another model goes on."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import contextlib
import hashlib
import io
import itertools
import json
import logging
import os
import tempfile
import unittest

import torch_ranks

RANKS = 2
WIDTH = 16
STEPS, OVERFLOWS = 4, 1
#: By case, the fewest graphs whose order changes on a rank.
CASES = {"one_graph": 2, "deterministic_graph": 1, "layers_of_fully_shard": 0, "data_parallel": 0}


def make_model():
    import torch.nn as nn

    class Layer(nn.Module):
        def __init__(self, *sizes):
            super().__init__()
            self.norm = nn.LayerNorm(sizes[0])
            self.linears = nn.ModuleList(map(nn.Linear, sizes, sizes[1:]))

        def forward(self, x):
            x = self.norm(x)
            for linear in self.linears:
                x = nn.functional.gelu(linear(x))
            return x

    return nn.Sequential(Layer(WIDTH, 4 * WIDTH, WIDTH), Layer(WIDTH, 4 * WIDTH, 5))


def one_graph(module, options):
    """Parameters in parts, which are gathered in the graph, and gathered again in the backward."""
    import torch
    from real_models import parallel

    module = parallel._fully_sharded(None, module, RANKS, True)
    return module, torch.compile(module, fullgraph=True, options=options)


def deterministic_graph(module, options):
    """The same where Inductor calls no pass over scheduler nodes."""
    import torch

    torch.use_deterministic_algorithms(True)
    return one_graph(module, options)


def layers_of_fully_shard(module, options):
    import torch
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

    how = dict(
        mesh=init_device_mesh("cpu", (RANKS,)), mp_policy=MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=torch.float32)
    )
    for layer in module:
        layer.compile(fullgraph=True, options=options)
        fully_shard(layer, **how)
    return fully_shard(module, **how), module


def data_parallel(module, options):
    """Buckets of DistributedDataParallel, at whose ends Dynamo splits the graph."""
    import torch
    from torch.nn.parallel import DistributedDataParallel

    # The first one is no larger than the others.
    torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = 1 << 10
    module = DistributedDataParallel(module, bucket_cap_mb=0.003)
    return module, torch.compile(module, options=options)


class Trainer:
    def __init__(self, case, options):
        import torch

        torch._dynamo.reset()
        torch.use_deterministic_algorithms(False)
        torch.manual_seed(0)
        self.module, self.run = globals()[case](make_model(), options)
        self.optimizer = torch.optim.AdamW(self.module.parameters(), lr=1e-2, foreach=False)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=256, growth_interval=2)

    def _parts(self):
        return self.module, self.optimizer, self.scaler

    def save(self):
        import torch

        file = io.BytesIO()
        torch.save([part.state_dict() for part in self._parts()], file)
        return file

    def load(self, file):
        import torch

        file.seek(0)
        for part, state in zip(self._parts(), torch.load(file, weights_only=False)):
            part.load_state_dict(state)

    def _accumulate(self, is_last):
        """Gradients of all batches but the last one stay on their ranks."""
        if hasattr(self.module, "set_requires_gradient_sync"):
            self.module.set_requires_gradient_sync(is_last)
        return self.module.no_sync() if hasattr(self.module, "no_sync") and not is_last else contextlib.nullcontext()

    def step(self, number, rank):
        """What a step computes, as texts of all its bits."""
        import torch

        draw, found = torch.Generator().manual_seed(RANKS * number + rank), []
        for is_last in (False, True):
            x, y = torch.randn(3, WIDTH, generator=draw), torch.randint(0, 5, (3,), generator=draw)
            with self._accumulate(is_last):
                with torch.autocast("cpu", dtype=torch.bfloat16):
                    loss = torch.nn.functional.cross_entropy(self.run(x), y) / 2
                self.scaler.scale(loss).backward()
            found.append(loss.item().hex())
        if number == OVERFLOWS:
            next(self.module.parameters()).grad.mul_(float("inf"))
        self.scaler.unscale_(self.optimizer)
        norm = torch.nn.utils.clip_grad_norm_(self.module.parameters(), 0.5)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        digest = hashlib.sha256()
        for parameter in self.module.parameters():
            digest.update(getattr(parameter, "_local_tensor", parameter).detach().numpy().tobytes())
        return [*found, getattr(norm, "full_tensor", lambda: norm)().item().hex(), self.scaler.get_scale(), digest.hexdigest()]


def train(case, rank, options, ends):
    """All steps, by another trainer behind each of `ends`."""
    trainer, found = Trainer(case, options()), []
    for number in range(STEPS):
        found.append(trainer.step(number, rank))
        if number in ends:
            file = trainer.save()
            trainer = Trainer(case, options())
            trainer.load(file)
    return found


def run_rank(store, rank):
    import braid.inductor
    from real_models.settings import SETTINGS, keep_collectives

    keep_collectives()
    logging.disable(logging.WARNING)
    plain = SETTINGS["no kernels"]

    def with_braid():
        numbers = itertools.cycle((1_000, 1_000_000))
        overlap = dict(machine="h100x8", min_gain=0, memory_budget=None, estimates=lambda snode: next(numbers))
        return {**plain(), **braid.inductor.options(**overlap)}

    with torch_ranks.gloo(store, rank, RANKS):
        for case in CASES:
            without = train(case, rank, plain, ())
            known = len(braid.inductor.explain())
            found = train(case, rank, with_braid, (OVERFLOWS,) if case == "one_graph" else ())
            changed = sum(graph.changed for graph in braid.inductor.explain()[known:])
            print(json.dumps({"case": case, "without": without, "with": found, "changed": changed}))


class Trainers(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            arguments = [[os.path.abspath(__file__), f"{folder}/store", str(rank)] for rank in range(RANKS)]
            cls.outputs = torch_ranks.run_ranks(folder, arguments, [{"TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache"}] * RANKS)

    def check(self, case):
        for output in self.outputs:
            found = next(each for each in map(json.loads, filter(lambda line: line[0] == "{", output.splitlines())) if each["case"] == case)
            self.assertEqual(found["with"], found["without"])
            self.assertGreaterEqual(found["changed"], CASES[case])
            scales = [step[3] for step in found["with"]]
            self.assertEqual(scales, [256, 128, 128, 256])
            weights = [step[4] for step in found["with"]]
            self.assertEqual([before == after for before, after in zip(weights, weights[1:])], [True, False, False])

    def test_one_graph(self):
        self.check("one_graph")

    def test_deterministic_graph(self):
        self.check("deterministic_graph")

    def test_layers_of_fully_shard(self):
        self.check("layers_of_fully_shard")

    def test_data_parallel(self):
        self.check("data_parallel")


if __name__ == "__main__":
    import sys

    if len(sys.argv) == 3:
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()

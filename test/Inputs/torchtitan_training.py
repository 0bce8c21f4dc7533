# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torchtitan's trainers on CPUs: no GPU, no tokenizer and no data set that has to be there.

torchtitan asks PyTorch's module of the device for its memory and its number, which `torch.cpu` has no answer for.
"""

import importlib
import os
import types
from dataclasses import dataclass

#: What debug models take to run in seconds: few short sequences, as the smallest meshes can split them.
SMALL = (
    "--training.local_batch_size=2", "--training.seq_len=32", "--training.steps=2", "--training.disable_cuda_graphs",
    "--compile.disable_passes=cudagraph_pass",
)  # fmt: skip


def _make_cpu_module():
    import torch

    def ignore(*_, **__):
        return None

    properties = types.SimpleNamespace(total_memory=1 << 30, name="cpu")
    return types.SimpleNamespace(
        set_device=ignore, reset_peak_memory_stats=ignore, empty_cache=ignore, synchronize=ignore,
        device_count=lambda: 1, current_device=lambda: 0, get_device_name=lambda *_: "cpu",
        get_device_properties=lambda *_: properties, memory_stats=lambda *_: {}, Stream=torch.cpu.Stream,
    )  # fmt: skip


def _replace_devices():
    import torchtitan.tools.utils as utils
    import triton.testing

    utils.device_type, utils.device_module = "cpu", _make_cpu_module()
    # torchtitan's own passes ask for the rates of a GPU.
    triton.testing.get_dram_gbps = lambda *_: 1000.0
    triton.testing.get_max_tensorcore_tflops = triton.testing.get_max_simd_tflops = lambda *_: 100.0


# Before any other import of torchtitan. Ranks are forks of a process that has imported it, which may have no threads.
os.environ.setdefault("JE_ARROW_MALLOC_CONF", "background_thread:false")
_replace_devices()


def prepare(rank, ranks):
    """What torchtitan does where it makes the process group, which this process has already."""
    import torch
    from torch.nn.attention import SDPBackend
    from torchtitan.models.common.attention import ScaledDotProductAttention

    os.environ.update(LOCAL_RANK=str(rank), RANK=str(rank), WORLD_SIZE=str(ranks))
    torch.autograd.set_multithreading_enabled(False)
    # Without fused attention, which CPUs have as an op that may draw random numbers: torchtitan recomputes no such op.
    ScaledDotProductAttention.sdpa_backends = [SDPBackend.MATH]


def make_config(words, layers):
    """The configuration of torchtitan for a command line, with data and a tokenizer of this file."""
    import torch
    from torchtitan.components.dataloader import BaseDataLoader
    from torchtitan.components.tokenizer import BaseTokenizer
    from torchtitan.config import ConfigManager

    class NoTokenizer(BaseTokenizer):
        @dataclass(kw_only=True, slots=True)
        class Config(BaseTokenizer.Config):
            pass

        def __init__(self, config, **_):
            super().__init__()

        def encode(self, *_, **__):
            raise NotImplementedError

        decode = get_vocab_size = encode

    class RandomTokens(BaseDataLoader):
        @dataclass(kw_only=True, slots=True)
        class Config(BaseDataLoader.Config):
            pass

        def __init__(self, config, *, dp_rank, seq_len, local_batch_size, **_):
            self.seed, self.shape = dp_rank, (local_batch_size, seq_len + 1)

        def __iter__(self):
            generator = torch.Generator().manual_seed(self.seed)
            while True:
                tokens = torch.randint(0, 2048, self.shape, generator=generator)
                positions = torch.arange(self.shape[1] - 1).repeat(self.shape[0], 1)
                yield {"input": tokens[:, :-1].contiguous(), "positions": positions}, tokens[:, 1:].contiguous()

        def state_dict(self):
            return {}

        def load_state_dict(self, state):
            pass

    config = ConfigManager().parse_args([*words[:2], *SMALL, *words[2:]])
    name = config.model_spec.name.removeprefix("graph_trainer/")
    registry = importlib.import_module(f"torchtitan.experiments.graph_trainer.{name}").model_registry
    config.model_spec = registry(config.model_spec.flavor, attn_backend="sdpa")
    config.model_spec.model.layers = config.model_spec.model.layers[:layers]
    config.dataloader, config.tokenizer = RandomTokens.Config(), NoTokenizer.Config()
    return config


def _join_microbatches(trainer):
    """torchtitan 0.3 gives micro-batches to the schedules of pipelines, those of PyTorch 2.13 take whole batches."""
    import inspect

    import torch

    schedule = getattr(trainer.pp_schedule, "schedule", trainer.pp_schedule)
    step = schedule.step
    if "arg_mbs" in inspect.signature(step).parameters:
        return

    def join(arg_mbs=None, kwarg_mbs=(), target_mbs=None, **more):
        whole = [torch.cat(values) for values in zip(*arg_mbs or ())]
        named = {name: torch.cat([one[name] for one in kwarg_mbs]) for name in (kwarg_mbs[0] if kwarg_mbs else ())}
        return step(*whole, target=None if target_mbs is None else torch.cat(target_mbs), **named, **more)

    schedule.step = join


def train(words, layers=2):
    """Trains as torchtitan's command line `words` says. Returns (loss, norm of gradients) of each step as exact texts."""
    import torch

    config = make_config(words, layers)
    torch.manual_seed(1)
    trainer = config.build()
    if trainer.parallel_dims.pp_enabled:
        _join_microbatches(trainer)
    found = []
    trainer.metrics_processor.log = lambda step, loss, most, norm, **_: found.append([float(loss).hex(), float(norm).hex()])
    trainer.metrics_processor.should_log = lambda step: True
    batches = trainer.batch_generator(trainer.dataloader)
    for _ in range(config.training.steps):
        trainer.step += 1
        trainer.train_step(batches)
    weights = [parameter for part in trainer.model_parts for parameter in part.parameters()]
    found.append([float(sum(getattr(weight, "_local_tensor", weight).double().sum() for weight in weights)).hex()])
    trainer.close()
    return found

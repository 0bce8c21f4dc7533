#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of plain JAX on CPUs, through Braid and through XLA, with the same arguments in one process.

    jax_models_cpu.py [--build BUILD] [--models=llama,linen_cnn] [--ranks=1] [--threads=2] [--output=figures.json]

A step is AdamW of a model of test/Inputs/jax_models in f32, in sizes that fill a few cores. On several ranks it is FSDP under
jax.shard_map, on as many devices of JAX. Braid and XLA take turns, in a new order each round; a time is the shortest of a
round, as a user sees it from Python, and the table shows the median of all rounds. `cpu` is processor
time, as are times of compilation. With --threads both have that many cores.
"""

import argparse
import os
import random
import statistics
import sys
import time

from figures import record, write_json

HERE = os.path.dirname(os.path.abspath(__file__))
# The sizes of the models of sized.py. Those of other modules follow from SIZES.
SIZED = {
    "llama": {"width": 256, "heads": 8, "groups": 4, "inner": 768, "layers": 2, "tokens": 256},
    "scan": {"width": 128, "heads": 4, "groups": 2, "inner": 384, "layers": 8, "tokens": 128},
    "gpt2": {"width": 128, "heads": 4, "layers": 2, "samples": 4, "tokens": 64, "vocabulary": 1024},
    "vit": {"width": 128, "heads": 4, "layers": 2, "samples": 8, "size": 64, "patch": 8, "classes": 64},
    "experts": {"width": 128, "inner": 256, "count": 4, "layers": 2, "tokens": 256},
    "state_space": {"width": 128, "layers": 2, "samples": 2, "tokens": 128},
    "resnet": {"width": 64, "layers": 2, "samples": 4, "size": 16},
}
OTHERS = ("linen_transformer", "linen_cnn", "linen_lstm", "linen_unet", "linen_mixer", "equinox_vit", "linen_moe", "nnx_llama")
SIZES = {"BATCH": 16, "LENGTH": 32, "VOCABULARY": 512, "WIDTH": 64}
WARM_UP, RUNS, SHORTEST_S = 2, 3, 0.02


def load_models():
    """A function for each model that makes its Task, by name."""
    sys.path.insert(0, os.path.join(HERE, os.pardir, "Inputs"))
    import jax
    import jax_models
    import numpy as np
    from jax_models import sized

    vars(jax_models).update(SIZES)
    # Functions that are there already have the small sizes as defaults of their arguments.
    for function in (jax_models.vectors, jax_models.sequences):
        function.__defaults__ = (SIZES["WIDTH"],)
    sized.TYPE = np.dtype(np.float32)

    def make(name):
        model = sized.MODELS[name](**SIZED[name])
        draw = np.random.default_rng(0)

        def array(shape, dtype):
            if np.dtype(dtype).kind in "iu":
                return draw.integers(0, 64, shape).astype(dtype)
            return (draw.standard_normal(shape) * 0.02).astype(dtype)
        parameters = [{name: array(shape, sized.TYPE) for name, shape in layer.items()} for layer in model.layers]
        batch = {name: array(*one) for name, one in model.batch.items()}
        return jax_models.Task(*jax.tree.map(jax.numpy.asarray, (parameters, batch)),
                               lambda parameters, batch: model.loss(lambda p: p, parameters, batch))

    models = {name: lambda name=name: make(name) for name in SIZED}
    return models | {name: one.make for name, one in jax_models.load().items()}


def processor_s():
    """The processor time of this process and of those that it has started and that have ended, in seconds."""
    return sum(os.times()[:4])


class XLA:
    """The step by XLA."""

    def __init__(self, function, arguments):
        self.arguments = arguments
        begin = time.perf_counter()
        lowered = function.lower(*arguments)
        self.lower_s = time.perf_counter() - begin
        begin = processor_s()
        self.function = lowered.compile()
        self.compile_s = processor_s() - begin

    def run_once(self):
        import jax
        return jax.block_until_ready(self.function(*self.arguments))


class Braid:
    """The step by a program of Braid."""

    def __init__(self, function, arguments):
        import braid.jax
        import jax
        import numpy as np

        begin = time.perf_counter()
        program = braid.jax.export(function, *arguments)
        self.lower_s = time.perf_counter() - begin
        begin = processor_s()
        self.function = program.compile()
        self.compile_s = processor_s() - begin
        self.arguments = jax.tree.map(np.asarray, arguments)

    def run_once(self):
        return self.function(*self.arguments)


def measure_round(step):
    """The shortest time and the least processor time of some runs, in ms."""
    for _ in range(WARM_UP):
        step.run_once()
    times, begin = [], time.perf_counter()
    while len(times) < RUNS or time.perf_counter() - begin < SHORTEST_S:
        before, before_cpu = time.perf_counter(), time.process_time()
        step.run_once()
        times.append(((time.perf_counter() - before) * 1e3, (time.process_time() - before_cpu) * 1e3))
    return tuple(map(min, zip(*times)))


def measure(name, make, ranks, rounds):
    import jax
    from jax_models import compare, steps

    task = make()
    arguments = steps.arguments(task)
    function = jax.jit(steps.plain_step(task)) if ranks == 1 else steps.shard_map_step(task, "FSDP", ranks)
    variants = {"xla": XLA(function, arguments), "braid": Braid(function, arguments)}
    difference = max(map(max, compare.differences(variants["braid"].run_once(), variants["xla"].run_once())))
    draw, times, inside = random.Random(0), {}, []
    for _ in range(rounds):
        for variant in draw.sample(sorted(variants), len(variants)):
            times.setdefault(variant, []).append(measure_round(variants[variant]))
        inside.append(variants["braid"].function.executable.elapsed_ns / 1e6)
    row = {"model": name, "ranks": ranks, "difference": difference}
    for variant, found in times.items():
        row[f"{variant}_ms"] = statistics.median(wall for wall, _ in found)
        row[f"{variant}_cpu_ms"] = statistics.median(cpu for _, cpu in found)
        row[f"{variant}_lower_s"] = variants[variant].lower_s
        row[f"{variant}_compile_s"] = variants[variant].compile_s
    row["braid_program_ms"] = statistics.median(inside)
    pairs = list(zip(times["braid"], times["xla"]))
    for number, key in enumerate(("ratio", "cpu_ratio")):
        row[key] = statistics.median(b[number] / x[number] for b, x in pairs)
    row["threads"], row["load"] = len(os.sched_getaffinity(0)), os.getloadavg()[0]
    row["compile_ratio"] = row["braid_compile_s"] / row["xla_compile_s"]
    return {key: round(value, 6) if isinstance(value, float) else value for key, value in row.items()}


COLUMNS = ("braid_ms", "braid_program_ms", "xla_ms", "ratio", "braid_cpu_ms", "xla_cpu_ms", "cpu_ratio", "braid_compile_s",
           "xla_compile_s", "compile_ratio", "difference")


def print_row(cells):
    print(f"{cells[0]:20s}" + "".join(f"{cell:>16s}" for cell in cells[1:]), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build")
    parser.add_argument("--models", default=",".join((*SIZED, *OTHERS)))
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--threads", type=int, help="by default one for each core")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output", help="a file for all figures, as JSON")
    options = parser.parse_args()
    # Before JAX makes its threads.
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
    os.environ.setdefault("JAX_PLATFORMS", "cpu")
    # OpenBLAS takes the kernels of this CPU, as XLA does.
    os.environ.pop("OPENBLAS_CORETYPE", None)
    os.environ.setdefault("XLA_FLAGS", f"--xla_force_host_platform_device_count={options.ranks}")
    os.environ["BRAID_ROOT"] = os.path.abspath(options.build)
    sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "python"))
    import jax

    models, rows = load_models(), []
    print_row(("model", *COLUMNS))
    for name in options.models.split(","):
        if name not in models:
            parser.error(f"found the model {name!r}, expected some of: {', '.join(models)}")
        rows.append(measure(name, models[name], options.ranks, options.rounds))
        print_row((name, *(f"{rows[-1][column]:.3g}" for column in COLUMNS)))
        for column, what in (("cpu_ratio", "processor time of a step"), ("compile_ratio", "time to compile")):
            record(f"{name}, {what} over XLA's", rows[-1][column], "")
        if options.output:
            write_json(options.output, {"software": {"jax": jax.__version__}, "cores": os.cpu_count(), "rows": rows})
    for key in ("ratio", "cpu_ratio", "compile_ratio"):
        found = [row[key] for row in rows]
        print(f"{key}: median {statistics.median(found):.3f}, {min(found):.3f} to {max(found):.3f}")


if __name__ == "__main__":
    main()

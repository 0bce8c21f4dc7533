#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Training steps of plain JAX on GPUs, through Braid and through XLA, with the same arguments in one process.

    jax_models_gpu.py prepare FOLDER --build BUILD [--models=llama,llama:layers=8,gpt2] [--ways=fsdp,tp] [--ranks=4]
    jax_models_gpu.py run FOLDER [--only=llama] [--settings=no-combining,profile-guided] [--output=figures.json]

`prepare` needs no GPU: it imports the models of test/Inputs/jax_models/sized.py, compiles a program for each variant, and
takes the time that comm-report predicts. FOLDER gets the programs and all scripts. `run` needs GPUs, JAX, and the package
braid with the runtime of a bundle (BRAID_ROOT). XLA runs with the XLA_FLAGS of the caller, and first, in a process for each,
with the settings that `--settings` names. `--side=braid` compares nothing: it is for compute-sanitizer.

All variants of a model run in turn, in a new order each round. A time of Braid is that of the GPUs' clock, of one step; a time
of XLA is that of four steps in a row. `--without-graphs` runs the programs as single launches, too. Results are compared with XLA's. The kernels of one step come from JAX's profiler.
"""

import argparse
import glob
import gzip
import json
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import traceback

from figures import record, write_json

HERE = os.path.dirname(os.path.abspath(__file__))
STEPS_IN_A_ROW = 4
SINGLE = " without graphs"
COLLECTIVES = ("all_gather", "all_reduce", "reduce_scatter")
# Variables of the environment for each setting of XLA.
SETTINGS = {
    "default": {},
    "no-combining": {"XLA_FLAGS": " ".join(f"--xla_gpu_{name}_combine_threshold_bytes=0" for name in COLLECTIVES)},
    "combining-256-MiB": {"XLA_FLAGS": " ".join(f"--xla_gpu_{name}_combine_threshold_bytes={1 << 28}" for name in COLLECTIVES)},
    "four-in-flight": {"XLA_FLAGS": "--xla_gpu_experimental_parallel_collective_overlap_limit=4"},
    "estimator": {"XLA_FLAGS": "--xla_gpu_enable_analytical_sol_latency_estimator=true"},
    "profile-guided": {"JAX_ENABLE_PGLE": "true", "JAX_PGLE_PROFILING_RUNS": "3"},
}


def load_models():
    """The module of the models: from FOLDER, where this file is a copy, or else from the sources."""
    if os.path.exists(os.path.join(HERE, "sized.py")):
        sys.path.insert(0, HERE)
        import sized
    else:
        sys.path.insert(0, os.path.join(HERE, os.pardir, "Inputs"))
        from jax_models import sized
    return sized


def make(sized, spec):
    """The model of a text such as "llama:layers=8,attention=cudnn"."""
    name, _, changes = spec.partition(":")
    if name not in sized.MODELS:
        sys.exit(f"error: found the model {name!r}, expected one of: {', '.join(sized.MODELS)}")
    pairs = dict(text.split("=") for text in changes.split(",") if text)
    return sized.MODELS[name](**{key: int(value) if value.isdigit() else value for key, value in pairs.items()})


def prepare(options):
    sys.path.insert(0, os.path.join(HERE, "cuda"))
    os.environ["BRAID_ROOT"] = os.path.abspath(options.build)
    sys.path.insert(0, os.path.join(HERE, os.pardir, os.pardir, "python"))
    import braid.jax
    import cuda_table_prepare

    sized = load_models()
    passes = cuda_table_prepare.variants(options)
    passes = {name: passes[name] for name in options.variants.split(",")}
    compiler = cuda_table_prepare.Compiler(options)
    table = []
    for spec in re.split(r",(?=\w+(?::|,|$))", options.models):
        model = make(sized, spec)
        for way in options.ways.split(","):
            if way != "fsdp" and not (model.columns or model.rows):
                continue
            function, arguments = sized.make_step(model, way, options.ranks)
            try:
                program = braid.jax.export(function, *arguments)
            except braid.mlir.BraidError as error:
                print(f"{spec} {way} was not imported: {error}", flush=True)
                continue
            label = re.sub(r"[^\w]+", "-", f"{spec}-{way}")
            found = {name: compiler.compile(f"{label}-{name}", program.text, text) for name, text in passes.items()}
            table.append({
                "model": spec, "way": way, "kept": program._kept, "programs": {name: file for name, file in found.items() if file},
                "predicted_ms": {name: compiler.predict(program.text, text) for name, text in passes.items() if found[name]},
            })  # fmt: skip
    write_json(os.path.join(options.folder, "models.json"), {"ranks": options.ranks, "machine": options.machine, "steps": table})
    scripts = [os.path.join(HERE, name) for name in ("figures.py", "cuda/cuda_libraries.py")]
    for file in (os.path.abspath(__file__), sized.__file__, *scripts):
        shutil.copy(file, options.folder)


class XLA:
    """The step by XLA."""

    def __init__(self, function, arguments):
        import jax

        self.run_once = lambda: jax.block_until_ready(function(*arguments))
        self.function, self.arguments = function, arguments
        # Behind the runs of a profile JAX compiles again.
        for _ in range(6):
            self.results = self.run_once()

    def time(self):
        import jax

        begin = time.perf_counter()
        for _ in range(STEPS_IN_A_ROW):
            results = self.function(*self.arguments)
        jax.block_until_ready(results)
        return (time.perf_counter() - begin) / STEPS_IN_A_ROW * 1e3


class Braid:
    """The step by a program of Braid, whose arguments are the parts that XLA's arrays have on each GPU. `graphs` is the value
    of BRAID_CUDA_GRAPH."""

    def __init__(self, path, arguments, kept, graphs):
        import jax
        import numpy as np
        from braid.mlir import Executable

        self.executable = Executable(path)
        leaves = [jax.tree.leaves(arguments)[number] for number in kept]
        ranks = len(leaves[0].addressable_shards)
        self.parts = [[leaf.addressable_shards[rank].data for leaf in leaves] for rank in range(ranks)]
        os.environ["BRAID_CUDA_GRAPH"] = graphs
        # The third run replays what the second one has recorded.
        for _ in range(3):
            results = None  # the next ones take their memory
            results = self.run_once()
        self.results = [[np.array(array) for array in rank] for rank in results]

    def run_once(self):
        return self.executable.run(self.parts, timeout=60)

    def time(self):
        self.run_once()
        return self.executable.device_ns / 1e6


def compare(results, expected):
    """The largest difference of a result from XLA's, as a part of the largest element."""
    import jax
    import numpy as np

    worst = 0.0
    for number, leaf in enumerate(jax.tree.leaves(expected)):
        for rank, found in enumerate(results):
            wanted = np.asarray(leaf.addressable_shards[rank].data, np.float32)
            one = np.asarray(found[number]).astype(np.float32).reshape(wanted.shape)
            worst = max(worst, float(np.abs(one - wanted).max(initial=0) / (np.abs(wanted).max(initial=0) or 1)))
    return worst


def have_same_bits(some, others):
    """Whether two lists of results of each rank are the same, bit for bit."""
    return all(a.tobytes() == b.tobytes() for one, other in zip(some, others) for a, b in zip(one, other))


KINDS = (
    ("communication", r"nccl"),
    ("attention", r"fmha|flash|cudnn.*(sdpa|attention|matmul_dq|dot_do_o)|attention"),
    ("matmul", r"gemm|cutlass|nvjet|xmma|cublas|splitK|dot"),
    ("convolution", r"conv|cudnn|dgrad|wgrad|fprop"),
    ("copy", r"memcpy|memset|copy"),
    ("elementwise", r"^elementwise|^parts|^loop_|_elementwise"),
    ("rows and columns", r"^rows|^columns|reduce|^input_|softmax|norm"),
    ("transpose", r"transpose"),
)


def get_kernels(step):
    """By kind, the number of kernels of one step on the first GPU and their ms; and ms by name of the longest."""
    import jax

    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder, create_perfetto_trace=True):
            step.run_once()
        (path,) = glob.glob(folder + "/**/perfetto_trace.json.gz", recursive=True)
        with gzip.open(path) as stream:
            events = json.load(stream)["traceEvents"]
    processes = {e["pid"]: e["args"]["name"] for e in events if e.get("name") == "process_name"}
    threads = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e.get("name") == "thread_name"}
    first = min((pid for pid, name in processes.items() if "GPU:0" in name), default=None)
    kinds, names, compute = {}, {}, []
    for event in events:
        thread = threads.get((event.get("pid"), event.get("tid")), "")
        if event.get("ph") != "X" or event.get("pid") != first or "Stream" not in thread:
            continue
        name, duration = event["name"], event["dur"] / 1e3
        kind = next((kind for kind, pattern in KINDS if re.search(pattern, name, re.IGNORECASE)), "other")
        for totals, key in ((kinds, kind), (names, re.sub(r"[\d_.]+$", "", name)[:80])):
            count, total = totals.get(key, (0, 0.0))
            totals[key] = (count + 1, round(total + duration, 4))
        if kind != "communication":
            compute.append(duration)
    longest = dict(sorted(names.items(), key=lambda item: -item[1][1])[:25])
    return {"compute_ms": round(sum(compute), 3), "compute_kernels": len(compute), "kinds": kinds, "longest": longest}


def make_arguments(jax, shapes, seed):
    """Random arrays of these shapes and shardings."""
    leaves, tree = jax.tree.flatten(shapes)
    made = []
    for number, leaf in enumerate(leaves):
        key = jax.random.key(seed + number)
        if leaf.dtype.kind in "iu":
            value = jax.random.randint(key, leaf.shape, 0, 1000).astype(leaf.dtype)
        else:
            value = jax.random.normal(key, leaf.shape, leaf.dtype) * 0.02
        made.append(jax.device_put(value, leaf.sharding))
    return jax.tree.unflatten(tree, made)


def measure(sized, table, step, options):
    import jax

    function, shapes = sized.make_step(make(sized, step["model"]), step["way"], table["ranks"], jax.devices())
    arguments = make_arguments(jax, shapes, 0)
    figures = {"model": step["model"], "way": step["way"], "predicted_ms": step["predicted_ms"], "failed": {}}
    makers = {"xla": lambda: XLA(function, arguments)} if options.side != "braid" else {}
    for name, file in step["programs"].items() if options.side != "xla" else ():
        for suffix, graphs in (("", "auto"), (SINGLE, "0")) if options.without_graphs else (("", "auto"),):
            makers[name + suffix] = lambda file=file, graphs=graphs: Braid(
                os.path.join(options.folder, file), arguments, step["kept"], graphs)  # fmt: skip
    variants = measure_in_turns(makers, options.rounds, figures)
    figures["same_bits"] = {name: have_same_bits(one.results, variants[name + SINGLE].results)
                            for name, one in variants.items() if name + SINGLE in variants}  # fmt: skip
    figures["kernels"] = {name: get_kernels(one) for name, one in variants.items()
                          if options.side == "both" and name in ("xla", list(variants)[-1])}  # fmt: skip
    return figures


def measure_in_turns(makers, rounds, figures):
    """Makes each variant of a step and runs them in turns. `figures` gets the seconds of making them, the median of their ms,
    their differences from XLA's results, and why one failed. Gives the variants."""
    variants = {}
    for name, maker in makers.items():
        try:
            begin = time.time()
            variants[name] = maker()
            figures.setdefault("prepare_s", {})[name] = round(time.time() - begin, 2)
        except Exception as error:  # The others may do.
            figures["failed"][name] = repr(error)[-500:]
            traceback.print_exc(limit=-2)
    draw, times = random.Random(0), {}
    for _ in range(rounds):
        for name in draw.sample(list(variants), len(variants)):
            times.setdefault(name, []).append(variants[name].time())
    figures["ms"] = {name: round(statistics.median(found), 3) for name, found in times.items()}
    if "xla" in variants:
        figures["difference"] = {name: compare(one.results, variants["xla"].results) for name, one in variants.items() if name != "xla"}
    return variants


def run_settings(options):
    """For each model and way, the ms of XLA with each setting; or why there are none."""
    found = {}
    for name in options.settings.split(",") if options.settings else ():
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            command = [sys.executable, __file__, "run", options.folder, "--side=xla", f"--output={file.name}",
                       f"--rounds={options.rounds}", f"--limit={options.limit}", *([f"--only={options.only}"] if options.only else ())]
            result = subprocess.run(command, env=os.environ | SETTINGS[name], capture_output=True, text=True, check=False)
            steps = json.loads(file.read() or "{}").get("steps", [])
        for step in steps:
            found.setdefault((step["model"], step["way"]), {})[name] = step["ms"].get("xla")
        if result.returncode != 0:
            found.setdefault(("", ""), {})[name] = (result.stdout + result.stderr)[-500:]
        print(f"XLA, {name}: {[(step['model'], step['way'], step['ms']) for step in steps]} {result.stderr[-300:] if result.returncode else ''}",
              flush=True)  # fmt: skip
    return found


def run(options):
    settings = run_settings(options)
    from cuda_libraries import find_libraries

    os.environ.update(find_libraries())
    os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
    sized = load_models()
    with open(os.path.join(options.folder, "models.json"), encoding="utf-8") as stream:
        table = json.load(stream)
    import jax

    found = {"gpu": jax.devices()[0].device_kind, "ranks": table["ranks"], "jax": jax.__version__,
             "flags": os.environ.get("XLA_FLAGS", ""), "failed_settings": settings.get(("", ""), {}), "steps": []}  # fmt: skip
    begin = time.time()
    for step in table["steps"]:
        if options.only and not re.search(options.only, f"{step['model']} {step['way']}"):
            continue
        if time.time() - begin > options.limit:
            print(f"{step['model']} {step['way']}: no time left", flush=True)
            continue
        figures = measure(sized, table, step, options)
        figures["xla_settings_ms"] = settings.get((step["model"], step["way"]), {})
        found["steps"].append(figures)
        print(json.dumps({key: value for key, value in figures.items() if key != "kernels"}), flush=True)
        for name, ms in figures["ms"].items():
            record(f"{step['model']} {step['way']}, {name}", ms, "ms")
        for name, kernels in figures["kernels"].items():
            print(f"  {name}: {kernels['compute_kernels']} kernels, {kernels['compute_ms']} ms, {kernels['kinds']}", flush=True)
        if options.output:
            write_json(options.output, found)


def parse_options(description, ranks, add_own):
    """The options of a script that prepares steps and runs them, by default for `ranks` GPUs; `add_own` adds its own ones."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("prepare", "run"))
    parser.add_argument("folder")
    parser.add_argument("--build", default="build")
    parser.add_argument("--ranks", type=int, default=ranks)
    parser.add_argument("--machine", default="h200x8")
    parser.add_argument("--target", choices=("cuda", "host"), default="cuda")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME=PASSES")
    parser.add_argument("--only", help="a pattern for what to run, by its printed name")
    parser.add_argument("--side", choices=("both", "braid", "xla"), default="both")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--limit", type=float, default=500, help="seconds after which no further step begins")
    parser.add_argument("--output", help="a file for all figures, as JSON")
    add_own(parser.add_argument)
    options = parser.parse_args()
    if options.what == "prepare":
        os.makedirs(options.folder, exist_ok=True)
    return options


def add_own_options(add):
    add("--models", default="llama,llama:attention=xla,scan,gpt2,vit,experts,state_space,resnet")
    add("--ways", default="fsdp,tp")
    add("--variants", default="written,schedule,plan", help="names of cuda_table_prepare.py")
    add("--without-graphs", action="store_true", help="runs each program as single launches, too")
    add("--settings", help=f"settings of XLA: {', '.join(SETTINGS)}")


if __name__ == "__main__":
    chosen = parse_options(__doc__, 4, add_own_options)
    {"prepare": prepare, "run": run}[chosen.what](chosen)

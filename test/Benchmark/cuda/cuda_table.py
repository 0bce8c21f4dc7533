#!/usr/bin/env python3
"""Prints the table of docs/performance/steps.md on a machine with GPUs, in one call.

    cuda_table.py [--out=DIR] [--torch=TORCH.py] [--jax=JAX.py]
        [--sizes=4096] [--only=check,steps,peers,parts,traces] [--limit=540]

Stands in the folder that test/Benchmark/cuda/cuda_table.sh has made. Of each step, all
variants run in turn in one process, on streams and as a graph. The peers' scripts,
which are not in the repository, run beside: they get the size N and the folder OUT as
variables, and write torch_overlap_*_nN.json (from torchrun) and jax_lhs_*_nN.json there,
whose field "fsdp" is what the row of that step has of its peer. A part that fails or takes too long is named and left
out. DIR gets table.md, table.json, and parts.tar.gz with what every part has
printed and the traces.

Needs Python with NumPy; torch and jax for the peers. NCCL, cuBLASLt and CUPTI are
those of its nvidia packages unless BRAID_NCCL_LIBRARY and the like name others.
"""

import argparse
import glob
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import time

import overlap_programs
from cuda_libraries import find_libraries
from cuda_table_numerics import compare_variants
from cuda_table_rounds import measured_runs, rounds_of_variants
from figures import write_json

HERE = os.path.dirname(os.path.abspath(__file__))
# Random data of the deviation that the peers' scripts have.
DATA = "random:1*0.017"


class Machine:
    """Runs commands until the time is over, and keeps what they found."""

    def __init__(self, options, table):
        self.options, self.table = options, table
        self.folder = tempfile.mkdtemp(prefix="cuda-table-")
        self.text = ""
        self.end = time.monotonic() + options.limit
        self.environment = {**os.environ, **find_libraries()}
        self.results = {
            "ranks": table["ranks"],
            "hardware": table["hardware"],
            "passes": table["passes"],
            "libraries": find_libraries(),
            "steps": {},
            "parts": {},
            "checks": {},
            "failures": {},
            "seconds": {},
        }

    def run(self, name, command, limit, extra=None):
        """Runs a command with a time limit; returns whether it has succeeded.
        What it prints goes to NAME.log."""
        left = self.end - time.monotonic()
        if left < 5:
            return self.fail(name, "not run: the time is over")
        begin = time.monotonic()
        log = self.file(f"{name}.log")
        with open(log, "w", encoding="utf-8") as stream:
            try:
                status = subprocess.run(
                    command,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    env={**self.environment, **(extra or {})},
                    timeout=min(limit, left),
                    check=False,
                ).returncode
            except subprocess.TimeoutExpired:
                status = "timeout"
            except OSError as error:
                status = str(error)
        seconds = self.results["seconds"][name] = round(time.monotonic() - begin, 1)
        print(f"{name}: {seconds} s{'' if status == 0 else f', status {status}'}", flush=True)
        if status == 0:
            return True
        with open(log, encoding="utf-8", errors="replace") as stream:
            said = stream.read()[-600:].strip()
        return self.fail(name, f"status {status}" + (f": {said}" if said else ""))

    def fail(self, name, why):
        self.results["failures"][name] = why
        print(f"{name} FAILED: {why}", flush=True)
        return False

    def save(self):
        write_json(os.path.join(self.options.out, "table.json"), self.results)

    def file(self, name):
        """A file of a part."""
        return os.path.join(self.folder, name)

    def print(self, text):
        print(text, flush=True)
        self.text += text + "\n"

    def finish(self):
        """Writes what was printed and packs the files of all parts."""
        self.save()
        with open(os.path.join(self.options.out, "table.md"), "w", encoding="utf-8") as stream:
            stream.write(self.text)
        with tarfile.open(os.path.join(self.options.out, "parts.tar.gz"), "w:gz") as archive:
            archive.add(self.folder, "parts")
        shutil.rmtree(self.folder)

    def braid_run(self, name, programs, words, limit=None):
        """Runs programs in turn; returns their figures by file, or nothing."""
        figures = self.file(f"{name}.json")
        command = [
            self.options.braid_run,
            os.path.join(HERE, programs[0]),
            *(f"--interleave-with={os.path.join(HERE, other)}" for other in programs[1:]),
            f"--ranks={self.table['ranks']}",
            f"--measurements={figures}",
            *words,
            *self.options.braid_option,
        ]
        if not self.run(name, command, limit or self.options.part_limit):
            return None
        with open(figures, encoding="utf-8") as stream:
            return json.load(stream)


# ===-----------------------------------------------------------------------===#
# The steps
# ===-----------------------------------------------------------------------===#


def by_variant(step, names, figures):
    """The figures of variants by name, the first variant of the step among them."""
    files = step["variants"]
    programs = {program["name"]: program for program in figures["programs"]}
    found = {}
    for index, name in enumerate(names):
        stem = os.path.splitext(os.path.basename(files[name]))[0]
        found[name] = programs["as written" if index == 0 and "as written" in programs else stem]
    return found


def measure_step(machine, step, configuration, words):
    """All variants of a step, by rounds that fit in a measurement."""
    if len(step["variants"]) < 2:
        return
    found = {}
    for number, names in enumerate(rounds_of_variants(machine, step)):
        title = f"{configuration}-{number + 1}" if number else configuration
        figures = measure_round(machine, step, names, title, words)
        if figures:
            found = {**by_variant(step, names, figures), **found}
    if found:
        key = f"{step['name']}-{step['size']}"
        machine.results["steps"].setdefault(key, {})[configuration] = {
            name: found[name] for name in step["variants"] if name in found
        }


def measure_round(machine, step, names, title, words):
    """One process: variants in turn, compared with the first one."""
    files = [step["variants"][name] for name in names]
    checked = [f"--compare-results={os.path.join(HERE, files[0])}"]
    if machine.options.unchecked:
        files, checked = [*files, files[0]], []
    return machine.braid_run(
        f"{step['name']}-{step['size']}-{title}",
        files[1:],
        [
            *checked,
            *measured_runs(machine, step, names),
            f"--arg={DATA}",
            *words,
        ],
    )


def measure_bound(machine, step):
    """Compute and communication alone, of the first variant and of the plan: the
    rests of a settled measurement take too long for all variants."""
    names = [name for name in ("plan", next(iter(step["variants"]))) if name in step["variants"]]
    figures = machine.braid_run(
        f"{step['name']}-{step['size']}-bound",
        [step["variants"][name] for name in names],
        [*measured_runs(machine, step, names), f"--arg={DATA}", "--measure-bounds"],
    )
    if figures:
        key = f"{step['name']}-{step['size']}"
        found = dict(zip(names, figures["programs"]))
        machine.results["steps"].setdefault(key, {})["alone"] = found


def configurations(machine):
    """What each step runs with: a name and options of braid-run."""
    found = [("stream", [] if machine.options.settled else ["--measure-bounds"])]
    if machine.table["target"] == "cuda":
        found[0][1].append("--engine-option=cuda-graph=0")
        found.append(("graph", ["--cuda-graph"]))
    for text in machine.options.configuration:
        name, _, words = text.partition("=")
        found.append((name, words.split()))
    wanted = machine.options.configurations
    return [one for one in found if not wanted or one[0] in wanted.split(",")]


def measure_traces(machine, step):
    """What hides what: a traced run of the last variant."""
    files = list(step["variants"].values())
    name = f"{step['name']}-{step['size']}-trace"
    figures = machine.braid_run(
        name,
        files[-1:] + files[:1],
        [
            f"--arg={DATA}",
            "--repeat=2",
            "--warmup=3",
            "--show-overlap",
            f"--trace={machine.file(name)}.{{rank}}.trace.json",
        ],
    )
    if figures:
        key = f"{step['name']}-{step['size']}"
        machine.results["steps"].setdefault(key, {})["trace"] = figures["programs"]


# ===-----------------------------------------------------------------------===#
# The check against float64
# ===-----------------------------------------------------------------------===#


def to_bfloat16(numpy, values):
    """The nearest bf16 of float32 values as 16-bit words, ties to even."""
    bits = values.astype("float32").view("uint32")
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("uint16")


def from_bfloat16(numpy, words):
    return (words.astype("uint32") << 16).view("float32")


def check_step(machine, step):
    """Runs small variants on the same random data as NumPy's float64, and compares
    all variants with the first one, as --compare-results does, and the last one with float64."""
    table, name = machine.table, f"check-{step['name']}"
    files = list(step["variants"].values())
    if len(files) < 2:
        return
    import numpy  # pylint: disable=import-outside-toplevel

    is_bf16 = table["dtype"] == "bf16"
    generator = numpy.random.default_rng(7)
    sizes = overlap_programs.argument_sizes(
        step["name"], table["ranks"], step["size"], table["dtype"], table["layers"]
    )
    inputs = []
    for rank in range(table["ranks"]):
        inputs.append([])
        for number, shape in enumerate(sizes):
            values = (generator.standard_normal(shape) * shape[1] ** -0.5).astype("float32")
            stored = to_bfloat16(numpy, values) if is_bf16 else values
            numpy.save(machine.file(f"{name}.in{number}.{rank}.npy"), stored)
            inputs[-1].append(from_bfloat16(numpy, stored) if is_bf16 else stored)
    expected = overlap_programs.compute(
        numpy, step["name"], inputs, step["size"], table["layers"]
    )
    figures = machine.braid_run(
        name,
        [files[-1], *files[1:-1]],
        [
            f"--compare-results={os.path.join(HERE, files[0])}",
            *(f"--arg={machine.file(name)}.in{n}.{{rank}}.npy" for n in range(len(sizes))),
            f"--out={machine.file(name)}.out{{result}}.{{rank}}.npy",
        ],
    )
    if not figures:
        return
    largest = 0.0
    for rank, results in enumerate(expected):
        for number, result in enumerate(results):
            found = numpy.load(machine.file(f"{name}.out{number}.{rank}.npy"))
            found = from_bfloat16(numpy, found.view("uint16")) if is_bf16 else found
            error = numpy.abs(found.astype("float64") - result).max() / numpy.abs(result).max()
            largest = max(largest, float(error) if error == error else float("inf"))
    for file in glob.glob(machine.file(f"{name}.*.npy")):
        os.remove(file)
    allowed = 16 * (2.0**-8 if is_bf16 else 2.0**-24) + 4 * step["size"] ** 0.5 * 2.0**-24
    machine.results["checks"][step["name"]] = {"error": largest, "allowed": allowed}
    if not largest <= allowed:
        machine.fail(name, f"{largest:.3g} of the largest element from float64, {allowed:.3g} allowed")


# ===-----------------------------------------------------------------------===#
# The peers and the parts of the machine
# ===-----------------------------------------------------------------------===#


def torchrun(machine, script, *words):
    return [
        *(sys.executable, "-m", "torch.distributed.run", "--standalone"),
        f"--nproc-per-node={machine.table['ranks']}",
        script,
        *words,
    ]


def read_peer(machine, pattern, size, peer):
    """Takes over what a peer's script has written for each step."""
    files = glob.glob(machine.file(pattern))
    if not files:
        return
    with open(files[0], encoding="utf-8") as stream:
        found = json.load(stream)
    for step in {step["name"] for step in machine.table["steps"]}:
        if step in found:
            key = f"{step}-{size}"
            machine.results["steps"].setdefault(key, {})[peer] = found[step]


def measure_torch(machine, size):
    extra = {"N": str(size), "OUT": machine.folder, "ONLY": "seed,fsdp,ddp,tp"}
    command = torchrun(machine, machine.options.torch)
    machine.run(f"torch-{size}", command, machine.options.peer_limit, extra)
    read_peer(machine, f"torch_overlap_*_n{size}.json", size, "torch")


def measure_jax(machine, size):
    flags = "--xla_gpu_enable_latency_hiding_scheduler=true"
    extra = {"N": str(size), "OUT": machine.folder, "XLA_FLAGS": flags}
    command = [sys.executable, machine.options.jax, "lhs"]
    machine.run(f"jax-{size}", command, machine.options.peer_limit, extra)
    read_peer(machine, f"jax_lhs_*_n{size}.json", size, "jax")


def measure_parts(machine, with_torch):
    """Collectives, matmuls and the host's time, and torch's beside them."""
    parts = machine.table["parts"]
    names = list(parts)
    words = [f"--repeat={machine.options.repeat}", f"--warmup={machine.options.warmup}"]
    kinds = [("stream", [])]
    if machine.table["target"] == "cuda":
        kinds = [("stream", ["--engine-option=cuda-graph=0"])]
        kinds.append(("graph", ["--cuda-graph"]))
    for kind, more in kinds:
        files = [parts[name]["file"] for name in names]
        figures = machine.braid_run(
            f"parts-{kind}", files, [f"--arg={DATA}", *words, *more]
        )
        if figures:
            for name, program in zip(names, figures["programs"]):
                part = machine.results["parts"].setdefault(name, dict(parts[name]))
                count = part["count"]
                part[kind] = {
                    "each_ms": program["step_ms"] / count,
                    "step_ms": program["step_ms"],
                    "host_ms": program["host_ms"],
                }
    if not with_torch:
        return
    file = machine.file("parts-torch.json")
    script = os.path.join(HERE, "cuda_table_peers.py")
    request = json.dumps(parts)
    command = torchrun(machine, script, request, file, str(machine.options.repeat))
    if machine.run("parts-torch", command, machine.options.part_limit):
        with open(file, encoding="utf-8") as stream:
            for name, value in json.load(stream).items():
                machine.results["parts"].setdefault(name, dict(parts[name]))["torch"] = value


# ===-----------------------------------------------------------------------===#
# The table
# ===-----------------------------------------------------------------------===#


def best_peer(step):
    """The fastest variant of a peer and its name."""
    found = []
    for peer in ("torch", "jax"):
        for name, value in step.get(peer, {}).items():
            is_step = name.startswith(("ind", "sync", "step")) and isinstance(value, float)
            if is_step:
                found.append((value, f"{peer} {name}"))
    return min(found, default=(None, ""))


def best_braid(step):
    """The fastest variant of Braid, its name, and the bound of the same run."""
    found, compute, communication = [], [], []
    for configuration, variants in step.items():
        if configuration in ("torch", "jax", "trace"):
            continue
        for variant, figures in variants.items():
            if configuration != "alone":
                found.append((figures["step_ms"], f"{variant}, {configuration}"))
            compute.append(figures.get("compute_alone_ms"))
            communication.append(figures.get("communication_alone_ms"))
    alone = [min((v for v in values if v), default=None) for values in (compute, communication)]
    bound = max((value for value in alone if value), default=None)
    return min(found, default=(None, "")), alone, bound


def number(value, digits=3):
    return "-" if value is None else f"{value:.{digits}f}"


def ratio(a, b):
    return number(a / b if a and b else None)


def print_table(machine):
    results = machine.results
    names = list(machine.table["passes"])
    kinds = [name for name, _ in configurations(machine)]
    head = ["step, N", *(f"{v}, {k}" for k in kinds for v in names)]
    head += ["compute alone", "comm. alone", "best peer", "", "best / peer", "best / bound"]
    rows = [head]
    for key, step in results["steps"].items():
        cells = [
            number(step.get(kind, {}).get(name, {}).get("step_ms")) for kind in kinds for name in names
        ]
        (best, _), alone, bound = best_braid(step)
        peer, peer_name = best_peer(step)
        cells += [number(alone[0]), number(alone[1]), number(peer), peer_name]
        rows.append([key.replace("-", ", "), *cells, ratio(best, peer), ratio(best, bound)])
    print_rows(machine, rows)
    print_predictions(machine)
    rows, causes = compare_variants(machine, [name for name, _ in configurations(machine)])
    print_rows(machine, rows)
    for cause in causes:
        machine.print(cause)

    head = ["part", "one, stream (ms)", "one, graph", "torch", "GB/s bus", "torch"]
    rows = [[*head, "host of a step", "with graph"]]
    for name, part in results["parts"].items():
        times = [part.get(kind, {}).get("each_ms") for kind in ("stream", "graph", "torch")]
        factor = overlap_programs.bus_factor(part["kind"], results["ranks"]) * part["size"]
        speeds = [factor / t / 1e6 if t and factor else None for t in (times[0], times[2])]
        hosts = [part.get(kind, {}).get("host_ms") for kind in ("stream", "graph")]
        rows.append(
            [name, *(number(t, 4) for t in times), *(number(s, 1) for s in speeds), *map(number, hosts)]
        )
    print_rows(machine, rows)
    for name, check in results["checks"].items():
        machine.print(
            f"{name}: {check['error']:.3g} of the largest element from float64 "
            f"({check['allowed']:.3g} allowed)"
        )
    for name, why in results["failures"].items():
        machine.print(f"FAILED {name}: {why.splitlines()[-1] if why else ''}")


def print_predictions(machine):
    """What comm-report has predicted, and how far the runs on streams are off."""
    names = list(machine.table["passes"])
    rows = [["predicted", *names, *(f"measured / {name}" for name in names)]]
    for step in machine.table["steps"]:
        key = f"{step['name']}-{step['size']}"
        predicted = [step["predicted_ms"].get(name) for name in names]
        runs = machine.results["steps"].get(key, {}).get("stream", {})
        measured = [runs.get(name, {}).get("step_ms") for name in names]
        ratios = [ratio(a, b) for a, b in zip(measured, predicted)]
        rows.append([key.replace("-", ", "), *map(number, predicted), *ratios])
    print_rows(machine, rows)


def print_rows(machine, rows):
    if len(rows) < 2:
        return
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "| " + " | ".join(cell.rjust(width) for cell, width in zip(row, widths)) + " |"
        for row in rows
    ]
    lines.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    machine.print("\n" + "\n".join(lines) + "\n")


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--out", default="table-out")
    parser.add_argument("--torch", help="the script of PyTorch's steps, for torchrun")
    parser.add_argument("--jax", help="the script of JAX' steps")
    parser.add_argument("--sizes", help="those of the steps to run, 4096,8192")
    parser.add_argument("--steps", help="the steps to run, seed,tp")
    parser.add_argument("--configurations", help="those of the steps to run, stream,graph")
    parser.add_argument("--only", default="check,steps,parts,peers,traces")
    parser.add_argument("--limit", type=float, default=540, help="seconds of all parts")
    parser.add_argument("--part-limit", type=float, default=90)
    parser.add_argument("--peer-limit", type=float, default=240)
    parser.add_argument("--repeat", type=int, default=20)
    parser.add_argument("--warmup", type=int, default=5)
    parser.add_argument(
        "--settled", action="store_true", help="run the steps after a rest, at settled clocks"
    )
    parser.add_argument(
        "--unchecked", action="store_true", help="compare no results: fake kernels compute none"
    )
    parser.add_argument("--braid-run", default=os.path.join(HERE, "bin", "braid-run"))
    parser.add_argument("--braid-option", action="append", default=[])
    parser.add_argument(
        "--configuration", action="append", default=[], metavar="NAME=OPTIONS",
        help="run the steps with these options of braid-run, too",
    )
    options = parser.parse_args()
    options.out = os.path.abspath(options.out)
    os.makedirs(options.out, exist_ok=True)
    with open(os.path.join(HERE, "table.json"), encoding="utf-8") as stream:
        table = json.load(stream)
    only = set(options.only.split(","))
    sizes = options.sizes and [int(size) for size in options.sizes.split(",")]
    wanted = options.steps and options.steps.split(",")
    steps = [
        step
        for step in table["steps"]
        if (not sizes or step["size"] in sizes) and (not wanted or step["name"] in wanted)
    ]
    machine = Machine(options, table)

    def part(function, *arguments):
        try:
            function(*arguments)
        except Exception as error:  # pylint: disable=broad-except
            machine.fail(f"{function.__name__} {arguments[1:]}", repr(error))
        machine.save()

    if "check" in only and not options.unchecked:
        for step in table["checks"]:
            if not wanted or step["name"] in wanted:
                part(check_step, machine, step)
    if "parts" in only and table["parts"]:
        part(measure_parts, machine, bool(options.torch) and "peers" in only)
    for size in dict.fromkeys(step["size"] for step in steps):
        of_size = [step for step in steps if step["size"] == size]
        # The peers stand between Braid's runs: machines drift.
        for index, (configuration, words) in enumerate(configurations(machine)):
            for step in of_size if "steps" in only else []:
                part(measure_step, machine, step, configuration, words)
                if machine.options.settled and index == 0:
                    part(measure_bound, machine, step)
            if index == 0 and "peers" in only and options.torch:
                part(measure_torch, machine, size)
        if "peers" in only and options.jax:
            part(measure_jax, machine, size)
    if "traces" in only:
        for step in steps:
            part(measure_traces, machine, step)
    print_table(machine)
    machine.finish()
    return 1 if machine.results["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())

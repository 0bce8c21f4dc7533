#!/usr/bin/env python3
# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How true the cost models are on steps that nobody has tuned them for.

    random_steps_gpu.py prepare FOLDER --build BUILD [--ranks=2] [--steps=40] [--seed=1] [--machine=h200x8]
    random_steps_gpu.py run FOLDER --limit=240 --output=FILE.json [--profile=written,plan]
    random_steps_gpu.py summary FILE.json [--results=FILE.json]
    random_steps_gpu.py predict FILE.json --build BUILD [--results=FILE.json]
    random_steps_gpu.py explain FILE.json FOLDER --build BUILD [--worst=10]

`prepare` needs no GPU: it draws steps (test/Benchmark/cuda/random_steps.py), keeps those whose predicted time and share of
communication are as asked for, and compiles each as written, by the rules of Inductor, by comm-schedule, and by the default
plan. FOLDER gets a bundle, the programs, what comm-report predicts, and this script. A second call adds what FOLDER lacks.

`run` needs GPUs and Python alone. All variants of a step run in turn in one process, after a rest, and their results are
compared with those of the program as written. FILE.json is written after each step; a second call goes on with the steps
that it does not have. With --profile the time that is left goes into traces of single runs, of the steps with the largest
errors first, in FILE.traces.zip.

`summary` prints errors and choices, and writes the file for docs/performance/results. `predict` predicts measured steps again,
with the models of BUILD, from either file: it says how true these are without a GPU, but for variants whose order they change.
Steps without `graph` ran on streams.
`explain` compares the traces with the predictions op by op.
"""

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from figures import record, write_json

HERE = os.path.dirname(os.path.abspath(__file__))
VARIANTS = ("written", "inductor", "schedule", "plan")
SCRIPTS = ("figures.py", "cuda/cuda_libraries.py")
# Random data as in the table of steps.
DATA = "random:1*0.017"
WITHIN, CLOSE, LOSS = 0.07, 0.02, 0.01


def read_json(path):
    with open(path, encoding="utf-8") as stream:
        return json.load(stream)


# ===-----------------------------------------------------------------------===#
# Preparation
# ===-----------------------------------------------------------------------===#


def read_range(text):
    least, most = (float(number) for number in text.split(","))
    return least, most


def make_bundle(options):
    script = os.path.join(HERE, os.pardir, os.pardir, "tools", "dev", "bundle.sh")
    environment = {**os.environ, "BRAID_NO_BUILD": "1", "BRAID_BUILD_DIR": os.path.abspath(options.build)}
    subprocess.run(["bash", script, os.path.abspath(options.folder)], env=environment, check=True)


def prepare_step(options, compiler, passes, seed):
    """A step that is as asked for, without its variants, or nothing."""
    from random_steps import Step

    step = Step(seed, options.ranks, options.shrink)
    text = step.write()
    report = compiler.report(text, passes["written"])
    if not report:
        sys.exit(f"error: no prediction of step {seed}")
    compute, communication = report["compute_ns"], report["communication_ns"]
    share, milliseconds = communication / max(compute, 1), report["makespan_ns"] / 1e6
    (least, most), (low, high) = options.ms, options.share
    if not (least <= milliseconds <= most and low <= share <= high):
        return None
    with open(os.path.join(options.folder, f"step-{seed}.mlir"), "w", encoding="utf-8") as stream:
        stream.write(text)
    return {
        "seed": seed, "way": step.way, "about": step.describe(), "ops": len(report["nodes"]),
        "compute_ms": compute / 1e6, "communication_ms": communication / 1e6, "programs": {}, "predicted_ms": {},
    }  # fmt: skip


def add_variants(options, compiler, passes, step):
    """Compiles and predicts the variants of a step that are not there yet."""
    with open(os.path.join(options.folder, f"step-{step['seed']}.mlir"), encoding="utf-8") as stream:
        text = stream.read()
    for name, text_of_passes in passes.items():
        if name in step["programs"]:
            continue
        report = compiler.report(text, text_of_passes)
        step["programs"][name] = compiler.compile(f"step-{step['seed']}-{name}", text, text_of_passes)
        if compiler.failures or not report:
            sys.exit(f"error: step {step['seed']} was not compiled: {name}")
        step["predicted_ms"][name] = report["makespan_ns"] / 1e6
        if name == "plan":
            step["bound_ms"] = report["lower_bound_ns"] / 1e6


def prepare(options):
    sys.path.insert(0, os.path.join(HERE, "cuda"))
    import cuda_table_prepare

    path = os.path.join(options.folder, "steps.json")
    known = read_json(path) if os.path.exists(path) else {}
    if options.target == "cuda" and not known:
        make_bundle(options)
    compiler = cuda_table_prepare.Compiler(options)
    passes = cuda_table_prepare.variants(options)
    passes = {name: passes[name] for name in (*VARIANTS, *(text.partition("=")[0] for text in options.variant))}
    shutil.copy(os.path.abspath(__file__), options.folder)
    for script in SCRIPTS:
        shutil.copy(os.path.join(HERE, script), options.folder)
    table = {"ranks": options.ranks, "machine": options.machine, "target": options.target, "passes": passes, "steps": known.get("steps", [])}
    steps, seed = table["steps"], options.seed
    for step in steps:
        add_variants(options, compiler, passes, step)
        seed = step["seed"] + 1
    while len(steps) < options.steps:
        step = prepare_step(options, compiler, passes, seed)
        if step:
            add_variants(options, compiler, passes, step)
            steps.append(step)
            write_json(path, table)
            print(f"{len(steps)}: step {seed}: {step['about']}: {step['predicted_ms']}", flush=True)
        seed += 1
    write_json(path, table)
    size = sum(os.path.getsize(os.path.join(folder, file)) for folder, _, files in os.walk(options.folder) for file in files)
    print(f"{options.folder}: {len(steps)} steps, {size / (1 << 20):.1f} MiB")


# ===-----------------------------------------------------------------------===#
# Measurement
# ===-----------------------------------------------------------------------===#


class Machine:
    """The machine that runs the programs of a folder."""

    def __init__(self, options):
        from cuda_libraries import find_libraries

        self.options, self.folder = options, options.folder
        self.end = time.monotonic() + options.limit
        # The profiles were measured without NVLink multicast.
        self.environment = {"NCCL_NVLS_ENABLE": "0", **os.environ, **find_libraries()}
        self.braid_run = options.braid_run or os.path.join(options.folder, "bin", "braid-run")

    def left(self):
        return self.end - time.monotonic()

    def run(self, ranks, programs, words):
        """Runs programs in turn. Gives the measurements by program and what was wrong."""
        with tempfile.TemporaryDirectory() as folder:
            figures = os.path.join(folder, "figures.json")
            command = [self.braid_run, os.path.join(self.folder, programs[0]), f"--ranks={ranks}", f"--arg={DATA}",
                       *(f"--interleave-with={os.path.join(self.folder, file)}" for file in programs[1:]),
                       f"--measurements={figures}", *words, *self.options.braid_option]  # fmt: skip
            try:
                done = subprocess.run(command, capture_output=True, text=True, errors="replace", env=self.environment,
                                      timeout=max(5, min(self.options.step_limit, self.left())), check=False)  # fmt: skip
            except subprocess.TimeoutExpired:
                return None, "took too long"
            if done.returncode:
                return None, (done.stderr or done.stdout).strip()[-800:]
            return {program["name"]: program for program in read_json(figures)["programs"]}, ""


def get_rounds(step, options, names):
    """How braid-run measures variants: after a rest, at the clocks that follow it, in 10 rounds at least."""
    round_ms = sum(step["predicted_ms"][name] for name in names)
    repeat = min(40, max(10, 2 * round(options.measured / round_ms / 2)))
    return [f"--idle={options.rest}ms", f"--warmup={min(60, max(1, round(options.warm / round_ms)))}", f"--repeat={repeat}"]


def measure_step(machine, table, step):
    """The times of all variants in turn, and whether their results agree."""
    begin, rounds = time.monotonic(), get_rounds(step, machine.options, step["programs"])
    found = {key: step[key] for key in ("seed", "way", "about", "ops", "compute_ms", "communication_ms", "bound_ms", "predicted_ms")}
    files = list(step["programs"].values())
    programs, wrong = None, ""
    if not machine.options.unchecked:
        reference = os.path.join(machine.folder, files[0])
        programs, wrong = machine.run(table["ranks"], files[1:], [*rounds, f"--compare-results={reference}"])
        found["agrees"] = programs is not None
        if programs:
            programs[os.path.splitext(os.path.basename(files[0]))[0]] = programs["as written"]
    if programs is None and (machine.options.unchecked or "differs" in wrong):
        programs, more = machine.run(table["ranks"], files, rounds)
        wrong = wrong or more
    found["graph"] = "--engine-option=cuda-graph=0" not in machine.options.braid_option
    if wrong:
        found["failed"] = wrong
    if programs:
        of = {name: programs[os.path.splitext(os.path.basename(file))[0]] for name, file in step["programs"].items()}
        found["ms"] = {name: program["step_ms"] for name, program in of.items()}
        found["runs_ms"] = {name: [round(ms, 4) for ms in program["steps_ms"]] for name, program in of.items()}
        found["host_ms"] = {name: round(program["host_ms"], 4) for name, program in of.items()}
        found["numerics"] = {name: program["numerics"]["class"] for name, program in of.items() if program.get("numerics")}
    found["seconds"] = round(time.monotonic() - begin, 1)
    return found


def trace_step(machine, table, step, name, archive):
    """Traces one run of a variant at the clocks of the measurements."""
    with tempfile.TemporaryDirectory() as folder:
        pattern = os.path.join(folder, "{rank}.json")
        rounds = get_rounds(step, machine.options, [name])[:2]
        _, wrong = machine.run(table["ranks"], [step["programs"][name]], [*rounds, "--repeat=1", f"--trace={pattern}"])
        if wrong:
            print(f"step {step['seed']} {name}: no trace: {wrong}", flush=True)
            return
        with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED) as stream:
            stream.write(pattern.format(rank=0), f"step-{step['seed']}-{name}.json")


def trace_steps(machine, table, found):
    """Traces of the variants in --profile, the worst predictions first, until the time is over."""
    archive = os.path.splitext(machine.options.output)[0] + ".traces.zip"
    known = zipfile.ZipFile(archive).namelist() if os.path.exists(archive) else []
    steps = {step["seed"]: step for step in table["steps"]}
    wanted = [one for one in found["steps"] if "ms" in one and is_wanted(one, machine.options)]
    for one in sorted(wanted, key=lambda one: -max(map(abs, get_errors(one).values()))):
        for name in machine.options.profile.split(","):
            if machine.left() < machine.options.reserve:
                print("no time left for further traces", flush=True)
                return
            if f"step-{one['seed']}-{name}.json" not in known:
                trace_step(machine, table, steps[one["seed"]], name, archive)


def is_wanted(step, options):
    return not options.only or str(step["seed"]) in options.only.split(",")


def find_gpu():
    try:
        words = ["nvidia-smi", "--query-gpu=name", "--format=csv,noheader"]
        return subprocess.run(words, capture_output=True, text=True, check=True).stdout.split("\n")[0]
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def run(options):
    sys.path.insert(0, options.folder)
    table = read_json(os.path.join(options.folder, "steps.json"))
    machine = Machine(options)
    found = {"gpu": find_gpu(), **{key: table[key] for key in ("ranks", "machine", "passes")}, "steps": []}
    if os.path.exists(options.output):
        found = read_json(options.output)
    known = {one["seed"] for one in found["steps"]}
    for step in table["steps"]:
        if step["seed"] in known or not is_wanted(step, options):
            continue
        if machine.left() < options.reserve:
            print(f"step {step['seed']}: no time left", flush=True)
            continue
        one = measure_step(machine, table, step)
        found["steps"].append(one)
        write_json(options.output, found)
        print(f"step {one['seed']}: {one['about']}: {one.get('ms')} predicted {one['predicted_ms']}, {one['seconds']} s"
              + (f", FAILED: {one['failed'][:300]}" if "failed" in one else ""), flush=True)  # fmt: skip
    if options.profile:
        trace_steps(machine, table, found)
    if any("ms" in one for one in found["steps"]):
        print_summary(found)
        for one in found["steps"]:
            for name, ms in one.get("ms", {}).items():
                record(f"random step {one['seed']}, {name}", ms, "ms")


# ===-----------------------------------------------------------------------===#
# Summary
# ===-----------------------------------------------------------------------===#


def get_errors(one):
    """How much longer the prediction of each variant is than the measured time, as a part of the measured time."""
    return {name: one["predicted_ms"][name] / ms - 1 for name, ms in one["ms"].items()}


def get_choice(one):
    """The variant with the shortest prediction, the simplest of equal ones, and its time beside the fastest variant."""
    name = min(VARIANTS, key=lambda name: one["predicted_ms"][name])
    return name, one["ms"][name] / min(one["ms"][name] for name in VARIANTS) - 1


def get_loss(one):
    """The default plan beside the best of the simpler variants."""
    return one["ms"]["plan"] / min(one["ms"][name] for name in VARIANTS[:-1]) - 1


def summarize(steps):
    signed = [get_errors(one)[name] for one in steps for name in VARIANTS]
    errors = [abs(error) for error in signed]
    choices, losses = [get_choice(one)[1] for one in steps], [get_loss(one) for one in steps]
    gaps = [one["predicted_ms"]["plan"] / one["bound_ms"] - 1 for one in steps if one.get("bound_ms")]
    bounds = {"mean_gap": 100 * statistics.mean(gaps), "worst_gap": 100 * max(gaps)} if len(gaps) == len(steps) else {}
    return bounds | {
        "steps": len(steps),
        "median_error": 100 * statistics.median(errors),
        "median_signed_error": 100 * statistics.median(signed),
        "within": 100 * sum(error <= WITHIN for error in errors) / len(errors),
        "worst_error": 100 * max(signed, key=abs),
        "chosen_close": 100 * sum(choice <= CLOSE for choice in choices) / len(choices),
        "worst_choice": 100 * max(choices),
        "lost": sum(loss > LOSS for loss in losses),
        "worst_loss": 100 * max(losses),
        "gain": 100 * (1 - statistics.geometric_mean(one["ms"]["plan"] / one["ms"]["written"] for one in steps)),
    }


def get_summaries(found):
    """A summary of all steps, of those of each way, and by variant the errors alone."""
    steps = [one for one in found["steps"] if "ms" in one]
    rows = [{"steps of": "all", **summarize(steps)}]
    for way in sorted({one["way"] for one in steps}):
        rows.append({"steps of": way, **summarize([one for one in steps if one["way"] == way])})
    return rows


def print_summary(found, worst=10):
    for row in get_summaries(found):
        print("{steps of}: {steps} steps, error {median_error:.1f} % (signed {median_signed_error:+.1f} %), {within:.0f} % within 7 %, "
              "worst {worst_error:+.1f} %; choice within 2 %: {chosen_close:.0f} %, worst {worst_choice:.1f} %; "
              "default more than 1 % slower than another: {lost}, worst {worst_loss:+.1f} %; gain {gain:.1f} %".format_map(row)
              + ("; the default above its lower bound: mean {mean_gap:.2f} %, worst {worst_gap:.1f} %".format_map(row) if "mean_gap" in row else ""))  # fmt: skip
    steps = [one for one in found["steps"] if "ms" in one]
    for name in found["passes"]:
        errors = [get_errors(one)[name] for one in steps if name in one["ms"]]
        beside = [one["ms"][name] / min(one["ms"][other] for other in VARIANTS[:-1]) - 1 for one in steps if name in one["ms"]]
        print(f"{name}: error {100 * statistics.median(map(abs, errors)):.1f} %, signed {100 * statistics.median(errors):+.1f} %; beside the "
              f"best of {', '.join(VARIANTS[:-1])}: median {100 * statistics.median(beside):+.1f} %, worst {100 * max(beside):+.1f} %")
    for title, key in (("error", lambda one: max(map(abs, get_errors(one).values()))), ("choice", lambda one: get_choice(one)[1]),
                       ("loss of the default", get_loss)):  # fmt: skip
        print(f"largest {title}:")
        for one in sorted(steps, key=key, reverse=True)[:worst]:
            cells = ", ".join(f"{name} {ms:.3f} ({100 * get_errors(one)[name]:+.1f} %)" for name, ms in one["ms"].items())
            print(f"  {100 * key(one):.1f} %: step {one['seed']}: {one['about']}: {cells}")
    for one in found["steps"]:
        if "failed" in one:
            print(f"step {one['seed']} FAILED: {one['failed'].splitlines()[-1]}")


COLUMNS = [["random steps", "{steps}"], ["median error", "{median_error:.1f} %"], ["within 7 %", "{within:.0f} %"],
           ["largest error", "{worst_error:+.1f} %"], ["choice within 2 % of the fastest", "{chosen_close:.0f} %"],
           ["default slower by over 1 %", "{lost}"], ["at most", "{worst_loss:+.1f} %"],
           ["gain of the default", "{gain:.1f} %"], ["above its lower bound", "{mean_gap:.1f} %"],
           ["at most", "{worst_gap:.1f} %"]]  # fmt: skip


def write_results(found, path, options):
    """The file for docs/performance/results."""

    def describe(one):
        times = {key: {name: round(ms, 4) for name, ms in one[key].items()} for key in ("predicted_ms", "ms")}
        return {key: one[key] for key in ("seed", "about", "agrees", "graph") if key in one} | times | ({"bound_ms": round(one["bound_ms"], 4)} if "bound_ms" in one else {})

    rows = [{key: round(value, 2) if isinstance(value, float) else value for key, value in row.items()} for row in get_summaries(found)]
    write_json(path, {
        "about": f"random steps on {found['ranks']} {found['gpu']}, predicted for {found['machine']}",
        "command": f"random_steps_gpu.py prepare FOLDER --ranks={found['ranks']} --machine={found['machine']}; random_steps_gpu.py run FOLDER",
        "date": options.date or time.strftime("%Y-%m-%d"), "passes": found["passes"], "rows": rows,
        "tables": {options.table: {"where": {"steps of": "all"}, "columns": COLUMNS}},
        "steps": [describe(one) for one in found["steps"] if "ms" in one],
    })  # fmt: skip


def show_summary(options):
    found = read_json(options.file)
    print_summary(found)
    if options.results:
        write_results(found, options.results, options)


# ===-----------------------------------------------------------------------===#
# Predictions of what was measured
# ===-----------------------------------------------------------------------===#


def predict(options):
    sys.path.insert(0, os.path.join(HERE, "cuda"))
    import cuda_table_prepare
    from random_steps import Step

    found = read_json(options.file)
    about = re.match(r"random steps on (\d+) (.*), predicted for (\w+)", found.get("about", ""))
    if about:
        found |= {"ranks": int(about[1]), "gpu": about[2], "machine": about[3]}
    options.ranks, options.target = found["ranks"], "cuda"
    options.machine = options.machine or found["machine"]
    steps = [one for one in found["steps"] if "ms" in one]
    for one in steps:
        one.setdefault("way", one["about"].partition(",")[0])
    print("as predicted before:")
    print_summary(found, worst=0)
    with tempfile.TemporaryDirectory() as options.folder:
        compiler = cuda_table_prepare.Compiler(options)
        for one in steps:
            text = Step(one["seed"], options.ranks).write()
            for name in one["ms"]:
                report = compiler.report(text, found["passes"][name], f"cuda-graph={int(one.get('graph', False))}")
                if not report:
                    sys.exit(f"error: no prediction of step {one['seed']}: {name}")
                one["predicted_ms"][name] = report["makespan_ns"] / 1e6
                if name == "plan":
                    one["bound_ms"] = report["lower_bound_ns"] / 1e6
    print("as predicted now:")
    print_summary(found)
    if options.results:
        write_results(found, options.results, options)


# ===-----------------------------------------------------------------------===#
# Explanation
# ===-----------------------------------------------------------------------===#


class Op:
    """An op of a prediction or a kernel of a trace: its kind, its name and its nanoseconds."""

    def __init__(self, kind, name, begin, end):
        self.kind, self.name, self.ns = kind, name, end - begin


def read_prediction(nodes):
    """The compute ops of a report in their order, and the collectives by label."""
    compute, collectives = [], {}
    for node in nodes:
        begin, end = node["start_ns"], node["end_ns"]
        if node["kind"] == "compute" and node["cost_ns"]:
            kind = "matmul" if "matmul" in node["cost_source"] else node["op"]
            compute.append(Op(kind, f"{node['op']} {node['type']}", begin, end))
        elif node["kind"] not in ("compute", "wait") and node["label"]:
            collectives[node["label"]] = Op(node["kind"], f"{node['label']} {node['type']}", begin, end)
    return compute, collectives


def read_trace(trace):
    """The kernels of the compute stream in their order, and those of collectives by label."""
    streams = {event["tid"]: event["args"]["name"] for event in trace["traceEvents"] if event["name"] == "thread_name"}
    compute, collectives = [], {}
    for event in sorted((event for event in trace["traceEvents"] if event.get("cat") == "kernel"), key=lambda event: event["ts"]):
        begin, end, name = event["ts"] * 1e3, (event["ts"] + event["dur"]) * 1e3, event["name"]
        if streams.get(event["tid"]) == "compute stream":
            compute.append(Op(re.sub(r"[ _\d].*", "", name), name, begin, end))
        elif "label" in event["args"]:
            # A launch may have several kernels: copies by an engine, or messages of one batch.
            op = collectives.setdefault(event["args"]["label"], Op(name, name, begin, begin))
            op.ns += end - begin
    return compute, collectives


def cut(ops):
    """Runs of ops between matmuls, and each matmul as a run of its own."""
    parts = [[]]
    for op in ops:
        parts += [[op], []] if op.kind == "matmul" else []
        if op.kind != "matmul":
            parts[-1].append(op)
    return parts


def pair(predicted, measured):
    """Ops with the kernels that run them: [kind, name, predicted ns, measured ns]. Ops and kernels between two matmuls
    are compared one by one where they are as many, and together elsewhere."""
    pairs, parts = [], (cut(predicted[0]), cut(measured[0]))
    if len(parts[0]) != len(parts[1]):
        parts = ([predicted[0]], [measured[0]])
    for ops, kernels in zip(*parts):
        if len(ops) == len(kernels):
            pairs += [[kernel.kind, f"{op.name} ({kernel.name})", op.ns, kernel.ns] for op, kernel in zip(ops, kernels)]
        else:
            names = " ".join(kernel.name for kernel in kernels)
            pairs.append(["several", f"{len(ops)} ops, {len(kernels)} kernels: {names}"[:90], *(sum(op.ns for op in of) for of in (ops, kernels))])
    for label, op in predicted[1].items():
        if label in measured[1]:
            pairs.append([op.kind, op.name, op.ns, measured[1][label].ns])
    return pairs


def compare_trace(options, table, seed, name, archive):
    """The ops of a variant with the kernels of its trace, if there is one."""
    member = f"step-{seed}-{name}.json"
    if member not in archive.namelist():
        return None
    with open(os.path.join(options.folder, f"step-{seed}.mlir"), encoding="utf-8") as stream:
        report = options.compiler.report(stream.read(), table["passes"][name])
    return report and pair(read_prediction(report["nodes"]), read_trace(json.loads(archive.read(member))))


def explain(options):
    sys.path.insert(0, os.path.join(HERE, "cuda"))
    import cuda_table_prepare

    found, table = read_json(options.file), read_json(os.path.join(options.folder, "steps.json"))
    options.machine, options.ranks, options.target = (table[key] for key in ("machine", "ranks", "target"))
    options.compiler = cuda_table_prepare.Compiler(options)
    steps = sorted((one for one in found["steps"] if "ms" in one), key=lambda one: -max(map(abs, get_errors(one).values())))
    totals = {}
    with zipfile.ZipFile(os.path.splitext(options.file)[0] + ".traces.zip") as archive:
        for one in steps[: options.worst]:
            for name in table["passes"]:
                pairs = compare_trace(options, table, one["seed"], name, archive)
                if not pairs:
                    continue
                print(f"step {one['seed']} {name}: {one['about']}: {one['ms'][name]:.3f} ms, predicted {one['predicted_ms'][name]:.3f}")
                for _, what, predicted, measured in sorted(pairs, key=lambda pair: -abs(pair[2] - pair[3]))[: options.ops]:
                    print(f"    {predicted / 1e3:9.1f} us predicted {measured / 1e3:9.1f} measured: {what}")
                for kind, _, predicted, measured in pairs:
                    total = totals.setdefault((name, kind), [])
                    total.append((predicted, measured))
    for (name, kind), values in sorted(totals.items()):
        predicted, measured = (sum(value[place] for value in values) for place in range(2))
        print(f"{name:10} {kind:20} {len(values):4} times, {predicted / 1e6:8.3f} ms predicted, {measured / 1e6:8.3f} measured: "
              f"{100 * (predicted / max(measured, 1) - 1):+.1f} %")  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("prepare")
    one.set_defaults(function=prepare)
    one.add_argument("folder")
    one.add_argument("--build", required=True)
    one.add_argument("--ranks", type=int, default=2)
    one.add_argument("--steps", type=int, default=40)
    one.add_argument("--seed", type=int, default=1, help="of the first step; the others follow")
    one.add_argument("--machine", default="h200x8")
    one.add_argument("--target", choices=("cuda", "host"), default="cuda")
    one.add_argument("--chip", default="sm_90")
    one.add_argument("--ms", type=read_range, default=(0.3, 8), help="the predicted time as written, LEAST,MOST")
    one.add_argument("--share", type=read_range, default=(0.1, 0.7), help="communication beside compute, LEAST,MOST")
    one.add_argument("--variant", action="append", default=[], metavar="NAME=PASSES", help="a further one; those that FOLDER has stay")
    one.add_argument("--shrink", type=float, default=1, help="divide all sizes")
    one = commands.add_parser("run")
    one.set_defaults(function=run)
    one.add_argument("folder")
    one.add_argument("--limit", type=float, default=240, help="seconds of the call")
    one.add_argument("--output", required=True)
    one.add_argument("--profile", help="the variants to trace, such as written,plan")
    one.add_argument("--only", help="seeds of steps, 3,14")
    # GPUs at their power limit keep their clocks between 0.3 and 0.8 s after a rest (docs/design/simulator.md).
    one.add_argument("--rest", type=int, default=400, help="milliseconds without work before each measurement")
    one.add_argument("--warm", type=int, default=300, help="milliseconds of runs that do not count")
    one.add_argument("--measured", type=int, default=400, help="milliseconds of runs that count, if 10 rounds are shorter")
    one.add_argument("--reserve", type=float, default=10, help="seconds without which nothing begins")
    one.add_argument("--step-limit", type=float, default=40, help="seconds of one step at most")
    one.add_argument("--unchecked", action="store_true", help="compare no results: fake kernels compute none")
    one.add_argument("--braid-run", help="instead of the folder's own")
    one.add_argument("--braid-option", action="append", default=[])
    one = commands.add_parser("summary")
    one.set_defaults(function=show_summary)
    one.add_argument("file")
    one.add_argument("--results", help="the file to write for docs/performance/results")
    one.add_argument("--table", default="random-steps", help="the name of its table")
    one.add_argument("--date", help="of the measurement; today")
    one = commands.add_parser("predict")
    one.set_defaults(function=predict)
    one.add_argument("file")
    one.add_argument("--build", required=True)
    one.add_argument("--machine", help="instead of the one of the file")
    one.add_argument("--results", help="the file to write for docs/performance/results")
    one.add_argument("--table", default="random-steps", help="the name of its table")
    one.add_argument("--date", help="of the measurement; today")
    one = commands.add_parser("explain")
    one.set_defaults(function=explain)
    one.add_argument("file")
    one.add_argument("folder")
    one.add_argument("--build", required=True)
    one.add_argument("--worst", type=int, default=10, help="how many steps")
    one.add_argument("--ops", type=int, default=6, help="how many ops of each")
    options = parser.parse_args()
    options.function(options)


if __name__ == "__main__":
    main()

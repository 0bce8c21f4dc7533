#!/usr/bin/env python3
"""Attention and its gradients by cuDNN, on a GPU, beside NumPy; and their times.

    attention.py FOLDER --prepare [--build=build] [--chip=sm_90]
    attention.py FOLDER [--device=0] [--only=NAME,...]

The first line, where Braid is built, fills FOLDER with the programs and what runs them.
The second one, in a copy of the folder on a machine with a GPU, a driver, cuDNN 9 and
NumPy, compares each program with NumPy in float64: a first run, which builds plans, then
five runs, which become graphs of neighbouring calls, and five with --cuda-graph; all
three have to have the same bits. The large cases are timed: cuDNN, cuDNN with
attention-gradients=fast (`fast`), and the program that is compiled with
--attention=decompose (`separate ops`). The exit status is 1 if a
program fails or differs.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
INPUTS = os.path.join(ROOT, "test", "Inputs")
sys.path[:0] = [HERE, INPUTS]

# pylint: disable=wrong-import-position
import numpy as np  # noqa: E402
from attention_testing import Case  # noqa: E402
from cuda_libraries import find_libraries  # noqa: E402


def cases():
    """What is compared: each kind in both layouts."""
    shapes = {
        "plain": {},
        "causal": {"causal": True},
        "grouped": {"heads": 8, "key_heads": 2, "causal": True, "batch": 2},
        "one_key_head": {"heads": 4, "key_heads": 1, "queries": 128, "keys": 384},
        "causal_more_queries": {"causal": True, "queries": 512, "keys": 256},
        "window": {"causal": True, "window": 100},
        "depths": {"depth": 128, "value_depth": 64, "causal": True},
        "wide": {"depth": 256, "value_depth": 256, "causal": True},
        "bias": {"bias": (2, 4, 256, 256), "batch": 2, "bias_gradient": False},
        "bias_gradient": {"bias": (1, 4, 256, 256), "batch": 2, "bias_gradient": True},
        "odd_lengths": {"queries": 200, "keys": 264, "causal": True},
    }
    for name, words in shapes.items():
        for layout in ("bshd", "bhsd"):
            yield Case(f"{name}_{layout}", layout=layout, **{
                "dtype": "bf16", "heads": 4, "key_heads": 4, "queries": 256, "keys": 256,
                "depth": 64, "value_depth": 64, "scale": 0.125} | words)
    yield Case("f16_causal", dtype="f16", heads=4, key_heads=2, queries=256, keys=256, depth=64,
               value_depth=64, scale=0.125, causal=True)


def timed_cases():
    """A layer of a Llama-like model."""
    for queries in (2048, 4096):
        for causal in (True, False):
            yield Case(f"llama_{queries}" + ("_causal" if causal else ""), dtype="bf16", heads=32,
                       key_heads=8, queries=queries, keys=queries, depth=128, value_depth=128,
                       scale=0.08838834764, causal=causal)


def prepare(options):
    """Fills the folder."""
    build = os.path.abspath(options.build)
    folder = os.path.abspath(options.folder)
    os.makedirs(folder)
    subprocess.run([os.path.join(ROOT, "tools", "dev", "bundle.sh"), os.path.join(folder, "braid")],
                   check=True, env=os.environ | {"BRAID_NO_BUILD": "1"})

    def compile_program(name, text, *words):
        source = os.path.join(folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        subprocess.run([os.path.join(build, "bin", "braid-compile"), source, "--target=cuda",
                        "--passes=none", f"--chip={options.chip}", *words,
                        "-o", os.path.join(folder, name + ".so")], check=True)

    for case in cases():
        compile_program(case.name, case.text())
    for case in timed_cases():
        text = case.text() + case.text("forward") + case.text("backward")
        compile_program(case.name, text)
        compile_program(case.name + "_separate", text, "--attention=decompose")
    for path in (os.path.join(HERE, "attention.py"), os.path.join(HERE, "cuda_libraries.py"),
                 *(os.path.join(INPUTS, name + ".py")
                   for name in ("attention_testing", "braid_testing", "mpi_testing"))):
        shutil.copy(path, folder)


class Runner:
    """Runs programs in the folder."""

    def __init__(self, options):
        self.folder = os.path.abspath(options.folder)
        self.device = options.device
        self.environment = os.environ | find_libraries()
        # cuDNN loads others of NVIDIA's libraries.
        places = [os.path.dirname(path) for name, path in self.environment.items()
                  if name.startswith("BRAID_CU")]
        places += [os.path.join(os.path.dirname(os.path.dirname(place)), "cu13", "lib")
                   for place in places]
        places.append(self.environment.get("LD_LIBRARY_PATH", ""))
        self.environment["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(filter(None, places)))

    def run(self, program, entry, files, types, *words):
        """The results of an entry, and its time in ms."""
        out = os.path.join(self.folder, "out.{result}.npy")
        measured = os.path.join(self.folder, "measured.json")
        done = subprocess.run(
            [os.path.join(self.folder, "braid", "bin", "braid-run"),
             os.path.join(self.folder, program + ".so"), f"--entry={entry}", "--ranks=1",
             f"--device={self.device}", f"--out={out}", f"--measurements={measured}",
             *(f"--arg={file}" for file in files), *words],
            env=self.environment, capture_output=True, text=True, timeout=300, check=False)
        if done.returncode:
            raise AssertionError(f"{entry}: {done.stderr.strip()}")
        with open(measured, encoding="utf-8") as file:
            time = json.load(file)["programs"][0]["step_ms"]
        return [type.load(out.replace("{result}", str(number)))
                for number, type in enumerate(types)], time

    def save(self, case, arguments, types):
        files = [os.path.join(self.folder, f"argument{number}.npy")
                 for number in range(len(arguments))]
        for file, array, type in zip(files, arguments, types):
            type.save(file, array)
        return files

    def compare(self, case):
        """The greatest error of each result, relative to its greatest element."""
        arguments = case.random()
        files = self.save(case, arguments, [case.element] * len(arguments))
        first, _ = self.run(case.name, case.name, files, case.result_types, "--warmup=0")
        for words in (["--engine-option=cuda-graph=0"], ["--cuda-graph"]):
            again, _ = self.run(case.name, case.name, files, case.result_types, "--repeat=5",
                                *words)
            for number, (left, right) in enumerate(zip(first, again)):
                if left.tobytes() != right.tobytes():
                    raise AssertionError(f"{case.name}: result {number} has other bits in a later "
                                         f"run {' '.join(words)}")
        expected = case.expected(arguments)
        case.check(first, expected)
        return [float(np.abs(type.widen(left).astype(np.float64) - right).max()
                      / np.abs(right).max())
                for left, right, type in zip(first, expected, case.result_types)]

    def time(self, case, program, expected=None, *words):
        """The times of both ops, in ms."""
        arguments = case.random()
        element = [case.element] * 4
        files = self.save(case, arguments, element)
        (out, lse), forward = self.run(program, case.name + "_forward", files,
                                       [case.element, case.exact], "--repeat=50")
        files = self.save(case, [*arguments, out, lse], element + [case.element, case.exact])
        found, backward = self.run(program, case.name + "_backward", files, element[:3],
                                   "--repeat=50", *words)
        if expected is not None:
            case.check([out, lse, *found], expected)
        return forward, backward


def expected_by_heads(case):
    """What `Case.expected` gives, in less memory."""
    group = case.heads // case.key_heads
    arguments = [case.arrange(array) for array in case.random()]
    part = Case(case.name, **{field: getattr(case, field) for field in (
        "dtype", "queries", "keys", "depth", "value_depth", "causal", "window", "scale")},
        heads=group, key_heads=1, layout="bhsd")
    parts = [part.expected([array[:, head * size:(head + 1) * size] for array, size in
                            zip(arguments, (group, 1, 1, group))])
             for head in range(case.key_heads)]
    results = [np.concatenate(arrays, 1) for arrays in zip(*parts)]
    return [array if array.ndim == 3 else case.arrange(array) for array in results]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--only", default="", help="parts of the names of those that are wanted")
    options = parser.parse_args()
    if options.prepare:
        prepare(options)
        return 0
    runner = Runner(options)
    wanted = [part for part in options.only.split(",") if part]
    failures = 0

    def attempt(case, action):
        nonlocal failures
        if wanted and not any(part in case.name for part in wanted):
            return
        try:
            print(f"{case.name:28} {action(case)}", flush=True)
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            failures += 1
            print(f"{case.name:28} FAILED: {error}", flush=True)

    def describe_errors(case):
        names = ["out", "lse", "dq", "dk", "dv", "dbias"]
        return "agrees, errors " + ", ".join(
            f"{name} {error:.1e}" for name, error in zip(names, runner.compare(case)))

    def describe_times(case):
        expected = expected_by_heads(case)
        library = runner.time(case, case.name, expected)
        fast = runner.time(case, case.name, expected, "--engine-option=attention-gradients=fast")
        separate = runner.time(case, case.name + "_separate", expected)
        return (f"agrees; cuDNN: forward {library[0]:.3f} ms, backward {library[1]:.3f} ms, "
                f"fast {fast[1]:.3f} ms; "
                f"separate ops: {separate[0]:.3f} ms, {separate[1]:.3f} ms")

    for case in cases():
        attempt(case, describe_errors)
    for case in timed_cases():
        attempt(case, describe_times)
    print(f"{failures} failed" if failures else "all agree")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

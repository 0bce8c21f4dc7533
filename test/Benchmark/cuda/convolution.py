#!/usr/bin/env python3
"""Convolutions and their gradients by cuDNN, on a GPU, beside JAX on a host; and their times.

    convolution.py FOLDER --prepare [--build=build] [--chip=sm_90]
    convolution.py FOLDER [--device=0] [--only=NAME,...] [--xla]

The first line, where Braid is built and JAX is installed, fills FOLDER with the programs, with
what JAX gives in float64, and with what runs them. The second one, in a copy of the folder on a
machine with a GPU, a driver, cuDNN 9 and NumPy, compares each program: a first run, which builds
plans, then three with --cuda-graph, which have to have the same bits. The large cases are timed:
cuDNN, matmuls of copies (--convolution=decompose), and with --xla JAX on the same GPU. The exit
status is 1 if a program fails or differs.
"""

import argparse
import concurrent.futures
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))
INPUTS = os.path.join(ROOT, "test", "Inputs")
sys.path[:0] = [HERE, INPUTS]

# pylint: disable=wrong-import-position
import braid_testing as bt  # noqa: E402
import numpy as np  # noqa: E402
from cuda_libraries import find_libraries  # noqa: E402

NUMBERS = {1: ("NWC", "WIO", "NWC"), 2: ("NHWC", "HWIO", "NHWC"), 3: ("NDHWC", "DHWIO", "NDHWC")}
KINDS = ("forward", "data", "filter")
# Errors as parts of the largest element: half of them are those of the rounding of a result.
LIMITS = {"f32": 1e-5, "tf32": 2e-3, "f16": 2e-3, "bf16": 1.6e-2}


@dataclasses.dataclass
class Case:
    """Shapes in the order of `numbers`; `options` are those of jax.lax.conv_general_dilated."""
    name: str
    data: tuple
    filter: tuple
    dtype: str = "bf16"
    numbers: tuple = None
    options: dict = dataclasses.field(default_factory=dict)

    @property
    def element(self):
        return bt.ELEMENT_TYPES["f32" if self.dtype == "tf32" else self.dtype]

    def convolve(self, x, w):
        from jax import lax
        options = {"window_strides": (1,) * (len(self.data) - 2), "padding": "SAME", **self.options}
        precision = "highest" if self.dtype == "f32" else None
        return lax.conv_general_dilated(x, w, dimension_numbers=self.numbers or NUMBERS[len(self.data) - 2],
                                        precision=precision, **options)

    def functions(self):
        """The convolution and both gradients as functions of x, w and a gradient of the result."""
        import jax
        return {
            "forward": lambda x, w, given: self.convolve(x, w),
            "data": lambda x, w, given: jax.vjp(lambda x: self.convolve(x, w), x)[1](given)[0],
            "filter": lambda x, w, given: jax.vjp(lambda w: self.convolve(x, w), w)[1](given)[0],
        }

    def random(self):
        """x, w and the gradient of the result, rounded to the type of the elements, in float64."""
        import jax
        generator = np.random.default_rng(0)
        shapes = [self.data, self.filter]
        shapes.append(jax.eval_shape(self.convolve, *(jax.ShapeDtypeStruct(shape, "float32") for shape in shapes)).shape)
        round_to = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}[self.dtype]
        return [np.asarray(jax.numpy.asarray(generator.standard_normal(shape), round_to)).astype(np.float64) for shape in shapes]


def cases():
    """What is compared, in small."""
    x, w = (4, 14, 14, 32), (3, 3, 32, 64)
    for dtype in LIMITS:
        yield Case(f"same_{dtype}", x, w, dtype)
        yield Case(f"strides_{dtype}", x, w, dtype, options={"window_strides": (2, 2)})
    yield Case("dilated", x, w, options={"rhs_dilation": (2, 2)})
    yield Case("dilated_strides", x, w, "tf32", options={"rhs_dilation": (2, 1), "window_strides": (1, 3)})
    yield Case("padding", x, w, options={"padding": [(0, 2), (3, 1)], "window_strides": (2, 3)})
    yield Case("less_padding", x, w, options={"padding": [(-1, 0), (2, -3)]})
    yield Case("points_strides", (4, 14, 14, 64), (1, 1, 64, 128), options={"window_strides": (2, 2)})
    yield Case("first_layer", (4, 64, 64, 3), (7, 7, 3, 64), options={"window_strides": (2, 2)})
    yield Case("odd_features", (4, 14, 14, 13), (3, 3, 13, 7), "f16")
    yield Case("groups", x, (3, 3, 8, 64), options={"feature_group_count": 4})
    yield Case("groups_f32", x, (3, 3, 8, 64), "f32", options={"feature_group_count": 4, "window_strides": (2, 1)})
    yield Case("depthwise", (4, 14, 14, 64), (3, 3, 1, 64), options={"feature_group_count": 64})
    yield Case("one_dimension", (4, 100, 32), (5, 32, 64), options={"padding": [(4, 0)]})
    yield Case("three_dimensions", (2, 6, 8, 8, 16), (3, 3, 3, 16, 32), options={"window_strides": (1, 2, 2)})
    yield Case("features_first", (4, 32, 14, 14), (64, 32, 3, 3), numbers=("NCHW", "OIHW", "NCHW"))
    yield Case("features_first_tf32", (4, 32, 14, 14), (64, 32, 3, 3), "tf32", ("NCHW", "OIHW", "NCHW"),
               {"window_strides": (2, 2)})


def timed_cases():
    """Layers of a ResNet: 32 pictures."""
    for size, features in ((56, 64), (28, 128), (14, 256), (7, 512)):
        yield Case(f"resnet_{size}", (32, size, size, features), (3, 3, features, features))
    yield Case("resnet_points", (32, 56, 56, 256), (1, 1, 256, 64))
    yield Case("resnet_56_tf32", (32, 56, 56, 64), (3, 3, 64, 64), "tf32")


def prepare(options):
    """Fills the folder."""
    os.environ["BRAID_ROOT"] = build = os.path.abspath(options.build)
    sys.path.insert(0, os.path.join(ROOT, "python"))
    import jax
    import braid.jax
    jax.config.update("jax_platforms", "cpu")
    folder = os.path.abspath(options.folder)
    os.makedirs(folder)
    subprocess.run([os.path.join(ROOT, "tools", "dev", "bundle.sh"), os.path.join(folder, "braid")],
                   check=True, env=os.environ | {"BRAID_NO_BUILD": "1"})

    def compile_program(name, function, arguments, *words):
        source = os.path.join(folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(braid.jax.export(jax.jit(function, keep_unused=True), *arguments).text)
        subprocess.run([os.path.join(build, "bin", "braid-compile"), source, "--target=cuda",
                        "--passes=none", f"--chip={options.chip}", *words,
                        "-o", os.path.join(folder, name + ".so")], check=True)

    types = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}
    for case in [*cases(), *timed_cases()]:
        is_timed = case.name.startswith("resnet")
        values = case.random()
        arguments = [jax.ShapeDtypeStruct(value.shape, types[case.dtype]) for value in values]
        functions = case.functions()
        if is_timed:
            for kind, function in functions.items():
                compile_program(f"{case.name}_{kind}", function, arguments)
                compile_program(f"{case.name}_{kind}_matmul", function, arguments, "--convolution=decompose")
            continue
        compile_program(case.name, lambda *values, all=functions.values(): [each(*values) for each in all], arguments)
        with jax.enable_x64(True):
            expected = [np.asarray(function(*map(jax.numpy.asarray, values))) for function in functions.values()]
        np.savez_compressed(os.path.join(folder, case.name + ".npz"), *values, *expected)
    for path in (os.path.abspath(__file__), os.path.join(HERE, "cuda_libraries.py"),
                 *(os.path.join(INPUTS, name + ".py") for name in ("braid_testing", "mpi_testing"))):
        shutil.copy(path, folder)


class Runner:
    """Runs programs in the folder."""

    def __init__(self, options):
        self.folder = os.path.abspath(options.folder)
        self.device = options.device
        self.environment = os.environ | find_libraries()
        # cuDNN loads others of NVIDIA's libraries.
        places = [os.path.dirname(path) for name, path in self.environment.items() if name.startswith("BRAID_CU")]
        places += [os.path.join(os.path.dirname(os.path.dirname(place)), "cu13", "lib") for place in places]
        places.append(self.environment.get("LD_LIBRARY_PATH", ""))
        self.environment["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(filter(None, places)))

    def run(self, program, arguments, element, results, *words):
        """The results, and the time in ms."""
        with tempfile.TemporaryDirectory() as work:
            files = [os.path.join(work, f"argument{number}.npy") for number in range(len(arguments))]
            for file, array in zip(files, arguments):
                element.save(file, array)
            out, measured = os.path.join(work, "out.{result}.npy"), os.path.join(work, "measured.json")
            done = subprocess.run(
                [os.path.join(self.folder, "braid", "bin", "braid-run"), os.path.join(self.folder, program + ".so"),
                 "--ranks=1", f"--device={self.device}", f"--out={out}", f"--measurements={measured}",
                 *(f"--arg={file}" for file in files), *words],
                env=self.environment, capture_output=True, text=True, timeout=300, check=False)
            if done.returncode:
                raise AssertionError(f"{program}: {done.stderr.strip()}")
            with open(measured, encoding="utf-8") as file:
                step = json.load(file)["programs"][0]["step_ms"]
            return [element.load(out.replace("{result}", str(number))) for number in range(results)], step

    def compare(self, case):
        with np.load(os.path.join(self.folder, case.name + ".npz")) as file:
            arrays = [file[f"arr_{number}"] for number in range(6)]
        given = [case.element.narrow(array) for array in arrays[:3]]
        first, _ = self.run(case.name, given, case.element, 3, "--warmup=0")
        again, _ = self.run(case.name, given, case.element, 3, "--repeat=3", "--cuda-graph")
        errors = []
        for kind, found, later, expected in zip(KINDS, first, again, arrays[3:]):
            if found.tobytes() != later.tobytes():
                raise AssertionError(f"{kind}: other bits in a later run")
            error = np.abs(case.element.widen(found).astype(np.float64) - expected).max() / np.abs(expected).max()
            errors.append(f"{kind} {error:.1e}")
            if not error <= LIMITS[case.dtype]:
                raise AssertionError(f"errors {', '.join(errors)}, expected at most {LIMITS[case.dtype]:.1e}")
        return "agrees, errors " + ", ".join(errors)

    def time(self, case, with_xla):
        given = [case.element.narrow(array) for array in self.random(case)]
        texts = []
        for kind in KINDS:
            ((found,), library), ((other,), matmul) = (
                self.run(f"{case.name}_{kind}{end}", given, case.element, 1, "--repeat=30") for end in ("", "_matmul"))
            wide = [case.element.widen(array).astype(np.float64) for array in (found, other)]
            error = np.abs(wide[0] - wide[1]).max() / np.abs(wide[1]).max()
            if not error <= LIMITS[case.dtype]:
                raise AssertionError(f"{kind} differs by {error:.1e} from a matmul")
            texts.append(f"{kind} {library * 1e3:.0f} us, matmul {matmul * 1e3:.0f} us")
            if with_xla:
                texts[-1] += f", XLA {self.time_xla(case, kind) * 1e3:.0f} us"
        return "agrees; " + "; ".join(texts)

    @staticmethod
    def random(case):
        generator = np.random.default_rng(0)
        return [generator.standard_normal(shape) for shape in (case.data, case.filter, (*case.data[:-1], case.filter[-1]))]

    def time_xla(self, case, kind):
        import jax
        dtype = {"f32": "float32", "tf32": "float32", "f16": "float16", "bf16": "bfloat16"}[case.dtype]
        arguments = [jax.numpy.asarray(array, dtype) for array in self.random(case)]
        function = jax.jit(case.functions()[kind])
        jax.block_until_ready(function(*arguments))
        begin = time.perf_counter()
        for _ in range(100):
            result = function(*arguments)
        jax.block_until_ready(result)
        return (time.perf_counter() - begin) * 10


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true")
    parser.add_argument("--build", default=os.path.join(ROOT, "build"))
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--device", type=int, default=0)
    parser.add_argument("--only", default="", help="parts of the names of those that are wanted")
    parser.add_argument("--xla", action="store_true", help="time JAX, too")
    options = parser.parse_args()
    if options.prepare:
        prepare(options)
        return 0
    runner = Runner(options)
    wanted = [part for part in options.only.split(",") if part]

    def attempt(case, action):
        """Whether that works."""
        if wanted and not any(part in case.name for part in wanted):
            return True
        try:
            print(f"{case.name:20} {action(case)}", flush=True)
            return True
        except (AssertionError, OSError, subprocess.TimeoutExpired) as error:
            print(f"{case.name:20} FAILED: {error}", flush=True)
            return False

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        succeeded = list(pool.map(lambda case: attempt(case, runner.compare), cases()))
    succeeded += [attempt(case, lambda case: runner.time(case, options.xla)) for case in timed_cases()]
    failures = succeeded.count(False)
    print(f"{failures} failed" if failures else "all agree")
    return int(failures > 0)


if __name__ == "__main__":
    sys.exit(main())

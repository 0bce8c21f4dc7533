# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What execution tests share.

Three parts: element types (with those that NumPy lacks, as raw bits), a model of
the collectives on lists of arrays, one for each member of a group, and the
commands: `compile_program`, `run_program`, `check_failure`.

BRAID_TEST_LAUNCHER says how programs get their ranks: unset, as threads of
`braid-run --ranks=N`; `mpirun`, as processes of `mpirun -n N braid-run`, and with
`mpirun:K` every K-th program of a script alone; the others do not run then, and nothing
is compared with their results.

BRAID_TEST_RECORD=DIR[:RANKS] compiles each program that runs on at most RANKS ranks
(2) for the target cuda, too, and keeps it in DIR with its arguments and results for
test/Benchmark/cuda/cuda_agreement.py.

The model says what results are, bit for bit: members are combined in the order
of the group; f16, bf16 and 8-bit floats are combined in f32 and rounded once.
"""

import hashlib
import itertools
import json
import os
import shutil
import subprocess
import sys

import mpi_testing as mt
import numpy as np

# ===-----------------------------------------------------------------------===#
# Element types
# ===-----------------------------------------------------------------------===#


def bf16_to_f32(bits):
    wide = np.asarray(np.asarray(bits, np.uint32) << 16, np.uint32)
    return wide.view(np.float32)


def f32_to_bf16(values):
    """To nearest, ties to even; NaN stays NaN."""
    values = np.asarray(values, np.float32)
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    rounded = np.where(np.isnan(values), (bits >> 16) | 0x40, rounded)
    return np.asarray(rounded, np.uint16)


def _f8_table(exponent_bits, mantissa_bits, has_infinity):
    """The values of the 256 codes of an 8-bit float, as f32."""
    bias = 2 ** (exponent_bits - 1) - 1
    table = np.empty(256, np.float32)
    for code in range(256):
        exponent = (code >> mantissa_bits) & (2**exponent_bits - 1)
        mantissa = code & (2**mantissa_bits - 1)
        top = exponent == 2**exponent_bits - 1
        if top and has_infinity:
            value = np.nan if mantissa else np.inf
        elif top and mantissa == 2**mantissa_bits - 1:
            value = np.nan
        elif exponent == 0:
            value = mantissa * 2.0 ** (1 - bias - mantissa_bits)
        else:
            value = (1 + mantissa / 2**mantissa_bits) * 2.0 ** (exponent - bias)
        table[code] = -value if code & 0x80 else value
    return table


class _F8:
    """Conversions of an 8-bit float, by its table. Values that are too large
    become infinite, or NaN where the format has no infinity."""

    def __init__(self, exponent_bits, mantissa_bits, has_infinity):
        self.table = _f8_table(exponent_bits, mantissa_bits, has_infinity)
        self.finite = [c for c in range(128) if np.isfinite(self.table[c])]
        self.overflow = len(self.finite)  # the code of infinity, or of NaN
        self.nan = 0x7F

    def widen(self, bits):
        return self.table[bits]

    def narrow(self, values):
        values = np.asarray(values, np.float32)
        # float64 holds the midpoints of neighbours exactly.
        magnitudes = self.table[self.finite].astype(np.float64)
        midpoints = (magnitudes[1:] + magnitudes[:-1]) / 2
        limit = magnitudes[-1] + (magnitudes[-1] - magnitudes[-2]) / 2
        size = np.abs(values).astype(np.float64)
        below = np.searchsorted(midpoints, size, side="left")
        above = np.searchsorted(midpoints, size, side="right")
        code = np.where(below % 2 == 0, below, above)
        last = len(self.finite) - 1
        # The limit itself is a tie, too.
        too_large = size > limit if last % 2 == 0 else size >= limit
        code = np.where(too_large, self.overflow, code)
        code = np.where(np.isnan(values), self.nan, code)
        return np.asarray(code | np.where(np.signbit(values), 0x80, 0), np.uint8)


class ElementType:
    """An element type: its arrays have the NumPy type `storage`; `widen` gives
    the values in which members are combined, `narrow` rounds them back."""

    def __init__(self, name, storage, kind, widen=None, narrow=None, npy=None):
        self.name = name
        self.storage = np.dtype(storage)
        self.kind = kind  # "bool", "int", "float" or "complex"
        self.widen = widen or (lambda values: values)
        self.narrow = narrow or (lambda values: values.astype(self.storage))
        self.npy = npy  # how .npy files spell it, where NumPy lacks it

    def reductions(self):
        """The reductions that are defined for it."""
        return {
            "bool": ["min", "max", "band", "bor", "bxor"],
            "int": ["sum", "product", "min", "max", "avg", "band", "bor", "bxor",
                    "premul_sum"],
            "float": ["sum", "product", "min", "max", "avg", "premul_sum"],
            "complex": ["sum", "avg", "premul_sum"],
        }[self.kind]

    def random(self, random, shape):
        """Values of this type; `random` is a np.random.RandomState."""
        if self.kind == "bool":
            return random.randint(0, 2, shape).astype(bool)
        if self.kind == "int":
            info = np.iinfo(self.storage)
            return random.randint(info.min, info.max, shape, np.int64,
                                  ).astype(self.storage)
        if self.kind == "complex":
            values = random.standard_normal(shape) + 1j * random.standard_normal(shape)
            return np.asarray(values).astype(self.storage)
        return self.narrow(np.asarray(random.standard_normal(shape), np.float32)
                           if self.name != "f64"
                           else np.asarray(random.standard_normal(shape)))

    def save(self, file, array):
        array = np.ascontiguousarray(array, self.storage).reshape(np.shape(array))
        np.save(file, array.view(self.npy) if self.npy else array)

    def load(self, file):
        array = np.load(file)
        if array.dtype.kind == "V":
            array = array.view(self.storage)
        if array.dtype != self.storage:
            raise AssertionError(
                f"{file} holds {array.dtype}, expected {self.storage}")
        return array


def _f16_widen(values):
    return values.astype(np.float32)


_F8E4M3FN = _F8(4, 3, False)
_F8E5M2 = _F8(5, 2, True)

ELEMENT_TYPES = {
    element.name: element
    for element in [
        ElementType("i1", np.bool_, "bool"),
        ElementType("i8", np.int8, "int"),
        ElementType("i16", np.int16, "int"),
        ElementType("i32", np.int32, "int"),
        ElementType("i64", np.int64, "int"),
        ElementType("f16", np.float16, "float", _f16_widen),
        ElementType("bf16", np.uint16, "float", bf16_to_f32, f32_to_bf16, "V2"),
        ElementType("f32", np.float32, "float"),
        ElementType("f64", np.float64, "float"),
        ElementType("complex<f32>", np.complex64, "complex"),
        ElementType("complex<f64>", np.complex128, "complex"),
        ElementType("f8E4M3FN", np.uint8, "float", _F8E4M3FN.widen,
                    _F8E4M3FN.narrow, "V1"),
        ElementType("f8E5M2", np.uint8, "float", _F8E5M2.widen, _F8E5M2.narrow,
                    "V1"),
    ]
}

F32 = ELEMENT_TYPES["f32"]
I64 = ELEMENT_TYPES["i64"]

# ===-----------------------------------------------------------------------===#
# The model of the collectives: lists hold one entry for each member
# ===-----------------------------------------------------------------------===#


def _multiply(x, y):
    if not np.iscomplexobj(x):
        with np.errstate(all="ignore"):
            return x * y
    # In NumPy a product may be contracted; the parts are not.
    result = np.empty(np.broadcast(x, y).shape, x.dtype)
    result.real = x.real * y.real - x.imag * y.imag
    result.imag = x.real * y.imag + x.imag * y.real
    return result


def combine(element, reduction, inputs, scales=None):
    """The reduction of `inputs`, in their order."""
    values = [element.widen(np.asarray(x)) for x in inputs]
    if reduction == "premul_sum":
        values = [_multiply(x, element.widen(np.asarray(s)))
                  for x, s in zip(values, scales)]
    if reduction == "avg" and element.kind == "int":
        # Does not wrap before it is divided; truncates.
        total = sum(x.astype(np.int64) for x in values)
        quotient = np.abs(total) // len(values) * np.sign(total)
        return quotient.astype(element.storage)
    def smaller(x, y):
        # -0 is less than 0; a NaN stays.
        return np.where((x < y) | (x != x) | ((x == y) & (np.copysign(1, x) < 0)), x, y)

    def larger(x, y):
        return np.where((x > y) | (x != x) | ((x == y) & (np.copysign(1, y) < 0)), x, y)

    operator = {
        "sum": np.add, "avg": np.add, "premul_sum": np.add, "product": _multiply,
        "min": smaller, "max": larger, "band": np.bitwise_and,
        "bor": np.bitwise_or, "bxor": np.bitwise_xor,
    }[reduction]
    with np.errstate(all="ignore"):
        result = values[0]
        for x in values[1:]:
            result = operator(result, x)
    if reduction == "avg":
        count = result.real.dtype.type(len(values))
        if np.iscomplexobj(result):
            parts = np.empty_like(result)
            parts.real, parts.imag = result.real / count, result.imag / count
            result = parts
        else:
            result = result / count
    return element.narrow(np.asarray(result))


def all_reduce(element, reduction, inputs, scales=None):
    return [combine(element, reduction, inputs, scales)] * len(inputs)


def reduce(element, reduction, inputs, root, scales=None):
    result = combine(element, reduction, inputs, scales)
    return [result if i == root else x for i, x in enumerate(inputs)]


def reduce_scatter(element, reduction, inputs, dim, scales=None):
    result = combine(element, reduction, inputs, scales)
    return np.split(result, len(inputs), axis=dim)


def broadcast(inputs, root):
    return [inputs[root]] * len(inputs)


def _join(inputs, dim=0):
    return np.concatenate([np.atleast_1d(x) for x in inputs], axis=dim)


def all_gather(inputs, dim=0):
    return [_join(inputs, dim)] * len(inputs)


def gather(inputs, root):
    joined = _join(inputs)
    return [joined if i == root else np.zeros_like(joined)
            for i in range(len(inputs))]


def scatter(inputs, root):
    return np.split(inputs[root], len(inputs))


def all_to_all(inputs, splits=None):
    """`splits[i][j]` is what member i sends to member j; equal parts without."""
    size = len(inputs)
    if splits is None:
        parts = [np.split(x, size) for x in inputs]
    else:
        parts = [np.split(x, np.cumsum(row)[:-1]) for x, row in zip(inputs, splits)]
    return [np.concatenate([parts[i][j] for i in range(size)]) for j in range(size)]


def permute(inputs, pairs):
    results = [np.zeros_like(x) for x in inputs]
    for source, target in pairs:
        results[target] = inputs[source]
    return results


# ===-----------------------------------------------------------------------===#
# Commands
# ===-----------------------------------------------------------------------===#


def command(words, status=0):
    """Runs a command; an unexpected exit status ends the test with its output."""
    done = subprocess.run([str(w) for w in words], capture_output=True, text=True,
                          env={**os.environ, **mt.ENVIRONMENT})
    if done.returncode != status:
        sys.exit(f"{' '.join(map(str, words))}\n{done.stdout}{done.stderr}"
                 f"exit status {done.returncode}, expected {status}")
    return done


def command_with_input(words, text):
    """What a command makes of `text`."""
    done = subprocess.run(words, input=text, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stderr}")
    return done.stdout


def compile_program(text, directory, name="program", passes=None, options=()):
    """Writes `text` to a file in `directory`, compiles it, gives the program."""
    os.makedirs(directory, exist_ok=True)
    source = os.path.join(directory, name + ".mlir")
    with open(source, "w") as file:
        file.write(text)
    program = os.path.join(directory, name + ".so")
    passes = [f"--passes={passes}"] if passes is not None else []
    _compiles[program] = ["braid-compile", source, *passes, *options, "-o", program]
    # A share of the programs is compiled where one of them runs.
    if ":" not in os.environ.get("BRAID_TEST_LAUNCHER", ""):
        command(_compiles.pop(program))
    return program


#: By program, what has to compile it before it runs.
_compiles = {}
_launches = itertools.count()


class NotRun:
    """The results of a program that does not run; check_equal takes each for right."""

    def __getitem__(self, index):
        return self


def braid_run(program, ranks):
    """The first words of the command that runs a program on `ranks` ranks; None where it
    does not run."""
    launcher, _, share = os.environ.get("BRAID_TEST_LAUNCHER", "").partition(":")
    if launcher not in ("", "mpirun"):
        sys.exit(f"BRAID_TEST_LAUNCHER is '{launcher}', expected mpirun")
    if launcher and next(_launches) % int(share or 1) != 0:
        return None
    if program in _compiles:
        command(_compiles.pop(program))
    if launcher:
        return mt.mpirun_words(ranks, ["braid-run", program, "--engine=mpi"])
    return ["braid-run", program, f"--ranks={ranks}"]


def record_run(program, ranks, entry, arguments, pattern, results, words=()):
    """Keeps a run for a machine with GPUs: the program compiled for them, the files
    of its arguments and results. A program that cannot be compiled for them is kept
    with the reason. `words` are arguments of braid-run that no file gives."""
    folder, _, most = os.environ["BRAID_TEST_RECORD"].partition(":")
    if ranks > int(most or 2):
        return
    os.makedirs(folder, exist_ok=True)
    manifest = os.path.join(folder, "runs.jsonl")
    runs = []
    if os.path.exists(manifest):
        with open(manifest) as file:
            runs = [json.loads(line) for line in file]
    number = len(runs)
    source = os.path.splitext(program)[0] + ".mlir"
    with open(source) as file:
        text = hashlib.sha256(file.read().encode()).hexdigest()
    # The same program after other passes is the same here.
    key = [text, ranks, entry]
    if any(run["key"] == key for run in runs):
        return
    run = {"key": key, "source": source, "ranks": ranks, "entry": entry,
           "program": f"{number}.so", "arguments": len(arguments), "results": results,
           "words": list(words)}
    done = subprocess.run(["braid-compile", source, "--target=cuda", "--chip=sm_90", "-o",
                           os.path.join(folder, run["program"])],
                          capture_output=True, text=True)
    if done.returncode:
        run["refused"] = done.stderr.strip()
    else:
        for rank in range(ranks):
            for index, argument in enumerate(arguments):
                shutil.copy(argument.replace("{rank}", str(rank)),
                            os.path.join(folder, f"{number}.a{index}.{rank}.npy"))
            for index in range(results):
                file = pattern.replace("{result}", str(index)).replace("{rank}", str(rank))
                shutil.copy(file, os.path.join(folder, f"{number}.r{index}.{rank}.npy"))
    with open(manifest, "a") as file:
        file.write(json.dumps(run) + "\n")


def run_program(program, ranks, directory, arguments, results, entry=None,
                options=()):
    """Runs a program and gives its results, by rank and by number.

    `arguments` is a list of (element type, list of arrays by rank); `results` a
    list of element types.
    """
    os.makedirs(directory, exist_ok=True)
    start = braid_run(program, ranks)
    if start is None:
        return NotRun()
    words = [*start, *options]
    if entry:
        words.append(f"--entry={entry}")
    for number, (element, arrays) in enumerate(arguments):
        pattern = os.path.join(directory, f"argument{number}.{{rank}}.npy")
        for rank, array in enumerate(arrays):
            element.save(pattern.replace("{rank}", str(rank)), array)
        words.append(f"--arg={pattern}")
    pattern = os.path.join(directory, "result{result}.{rank}.npy")
    if results:
        words.append(f"--out={pattern}")
    command(words)
    if os.environ.get("BRAID_TEST_RECORD") and results:
        files = [os.path.join(directory, f"argument{number}.{{rank}}.npy")
                 for number in range(len(arguments))]
        record_run(program, ranks, entry, files, pattern, len(results))
    return [[element.load(pattern.replace("{result}", str(number))
                          .replace("{rank}", str(rank)))
             for number, element in enumerate(results)]
            for rank in range(ranks)]


def check_equal(found, expected, what, element=None):
    """Compares bit for bit, but for which NaN a NaN is. `element` is the element
    type, where the arrays hold raw bits."""
    if isinstance(found, NotRun):
        return
    found, expected = np.asarray(found), np.asarray(expected)
    if found.shape != expected.shape or found.dtype != expected.dtype:
        sys.exit(f"{what}: found {found.dtype}{list(found.shape)}, expected "
                 f"{expected.dtype}{list(expected.shape)}")
    if found.tobytes() == expected.tobytes():
        return
    widen = element.widen if element else lambda values: values
    bits = [np.ascontiguousarray(x).reshape(-1).view(np.uint8)
            .reshape(x.size, x.dtype.itemsize) for x in (found, expected)]
    differ = (bits[0] != bits[1]).any(axis=1).reshape(found.shape)
    if found.dtype.kind in "fc" or (element and element.kind == "float"):
        differ &= ~(np.isnan(widen(found)) & np.isnan(widen(expected)))
    if differ.any():
        at = tuple(int(i) for i in np.argwhere(differ)[0])
        sys.exit(f"{what}: found {widen(found)[at]} at {list(at)}, expected "
                 f"{widen(expected)[at]}; {differ.sum()} of {differ.size} differ")


def check_failure(words, status, *texts):
    """The command ends with `status` and its error says all `texts`."""
    done = command(words, status)
    for text in texts:
        if text not in done.stderr:
            sys.exit(f"{' '.join(map(str, words))}: the error lacks '{text}':\n"
                     f"{done.stderr}")
    return done.stderr

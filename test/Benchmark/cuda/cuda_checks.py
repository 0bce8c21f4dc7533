#!/usr/bin/env python3
"""Runs on a machine with GPUs what can be checked there alone, and prints a summary.

    cuda_checks.py checks --prepare [--build=build] [--chip=sm_90]
    cuda_checks.py checks [--only=conformance,faults,agreement,memcheck,dlpack] [--logs=logs] [--ranks=3,4]

The first line, where Braid is built, fills the folder `checks` with all that the second
one needs there. The GPUs' machine needs a driver, NCCL, cuBLASLt, Python, and for the
sanitizer compute-sanitizer. The checks, each with a limit of time:

  conformance  the conformance suite of the runtime on all GPUs, on one, and in processes;
               with --ranks=3,4 its tests of 3 and of 4 ranks alone, in one process and in many
  faults       cuda_faults.py
  agreement    cuda_agreement.py with the programs of the integration tests
  memcheck     compute-sanitizer's memcheck and racecheck on generated kernels
  dlpack       cuda_dlpack.py, where this Python has PyTorch
  buffers      the times of collectives without and with register-buffers=1, and the end

The exit status is 1 if a check fails.
"""

import argparse
import concurrent.futures
import glob
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tarfile
import tempfile
import time

from cuda_libraries import find_libraries

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(HERE)))

#: The folder of the tests whose programs are kept.
PROGRAMS = os.path.join(ROOT, "test", "Integration", "Host")

#: The tests whose programs are kept, with their arguments after the folder.
RECORDED = [
    ("collectives_types.py", "i1 i8 i16 i32 i64"),
    ("collectives_types.py", "f16 bf16 f32 f64"),
    ("collectives_types.py", "complex<f32> complex<f64> f8E4M3FN f8E5M2"),
    ("collectives_buffers.py", ""),
    ("collectives_groups.py", ""),
    ("collectives_shapes.py", ""),
    ("element_types.py", ""),
    ("float8.py", ""),
    ("tokens_control_flow.py", ""),
    ("shard_collectives.py", ""),
    ("shard_devices.py", ""),
    ("shard_mlp.py", ""),
    ("random_programs.py", ""),
]

#: Programs of tests that are MLIR files, with the arguments of their runs.
FILES = [
    ("kernels_on_slices.mlir", ["iota", "iota"]),
    ("loops_of_blocks.mlir", ["ones+rank", "3"]),
    ("Rewrites/chunked_matmuls.mlir", ["random:1", "random:2", "random:3"]),
    ("Rewrites/combined_collectives.mlir", ["random:1", "random:2"]),
]

#: Rows and columns of the sanitizer's matrices: vectors of 16 bytes, and none.
SHAPES = [(64, 256), (37, 53)]

#: Conversions to float8 and back, and the replacements of collectives.
OTHER_KERNELS = """\
comm.group @world all

func.func @main(%a: tensor<40x64xf32>, %b: tensor<37xbf16>, %c: tensor<64xi16>, %d: tensor<13xi32>)
    -> (tensor<40x64xf32>, tensor<40x64xf32>, tensor<37xbf16>, tensor<64xi16>, tensor<13xi32>) {
  %e8 = tensor.empty() : tensor<40x64xf8E4M3FN>
  %n = linalg.map { arith.truncf } ins(%a : tensor<40x64xf32>) outs(%e8 : tensor<40x64xf8E4M3FN>)
  %t0 = comm.all_reduce sum %n on @world : tensor<40x64xf8E4M3FN>
  %t1 = comm.all_reduce max %a on @world : tensor<40x64xf32>
  %t2 = comm.all_reduce min %b on @world : tensor<37xbf16>
  %t3 = comm.all_reduce sum %c on @world : tensor<64xi16>
  %t4 = comm.all_reduce bxor %d on @world : tensor<13xi32>
  %s = comm.wait %t0 : !comm.token<tensor<40x64xf8E4M3FN>>
  %e = tensor.empty() : tensor<40x64xf32>
  %w = linalg.map { arith.extf } ins(%s : tensor<40x64xf8E4M3FN>) outs(%e : tensor<40x64xf32>)
  %r1 = comm.wait %t1 : !comm.token<tensor<40x64xf32>>
  %r2 = comm.wait %t2 : !comm.token<tensor<37xbf16>>
  %r3 = comm.wait %t3 : !comm.token<tensor<64xi16>>
  %r4 = comm.wait %t4 : !comm.token<tensor<13xi32>>
  return %w, %r1, %r2, %r3, %r4
      : tensor<40x64xf32>, tensor<40x64xf32>, tensor<37xbf16>, tensor<64xi16>, tensor<13xi32>
}
"""

#: Slices at places that tensors have, and matmuls of few rows.
REWRITTEN_KERNELS = """\
func.func @main(%cache: tensor<2x65x8xf32>, %rows: tensor<2x5x8xf32>, %position: tensor<i32>,
                %x: tensor<1100x3x50xf32>, %y: tensor<1100x5x50xf32>, %single: tensor<1100x1x50xf32>)
    -> (tensor<2x65x8xf32>, tensor<7x8xf32>, tensor<1100x3x5xf32>, tensor<1100x1x5xf32>) {
  %zero = arith.constant 0 : i32
  %last = arith.constant 60 : i32
  %element = tensor.extract %position[] : tensor<i32>
  %low = arith.maxsi %element, %zero : i32
  %number = arith.minsi %low, %last : i32
  %place = arith.index_cast %number : i32 to index
  %moved = tensor.insert_slice %rows into %cache[0, %place, 0] [2, 5, 8] [1, 1, 1]
      : tensor<2x5x8xf32> into tensor<2x65x8xf32>
  %fewer = arith.minsi %number, %last : i32
  %two = arith.constant 2 : i32
  %earlier = arith.subi %fewer, %two : i32
  %from = arith.maxsi %earlier, %zero : i32
  %begin = arith.index_cast %from : i32 to index
  %read = tensor.extract_slice %moved[1, %begin, 0] [1, 7, 8] [1, 1, 1] : tensor<2x65x8xf32> to tensor<7x8xf32>
  %e0 = tensor.empty() : tensor<1100x3x5xf32>
  %narrow = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>] {braid.overwrites}
      ins(%x, %y : tensor<1100x3x50xf32>, tensor<1100x5x50xf32>) outs(%e0 : tensor<1100x3x5xf32>)
      -> tensor<1100x3x5xf32>
  %e1 = tensor.empty() : tensor<1100x1x5xf32>
  %row = linalg.batch_matmul
      indexing_maps = [affine_map<(b, m, n, k) -> (b, m, k)>, affine_map<(b, m, n, k) -> (b, n, k)>,
                       affine_map<(b, m, n, k) -> (b, m, n)>] {braid.overwrites}
      ins(%single, %y : tensor<1100x1x50xf32>, tensor<1100x5x50xf32>) outs(%e1 : tensor<1100x1x5xf32>)
      -> tensor<1100x1x5xf32>
  return %moved, %read, %narrow, %row
      : tensor<2x65x8xf32>, tensor<7x8xf32>, tensor<1100x3x5xf32>, tensor<1100x1x5xf32>
}
"""


#: Collectives of 64 MiB a rank (a gather's result, an operand else), ten in a row.
BUFFERS = {
    "all_gather": ("comm.all_gather %x on @world dim 0", 1 << 23, 1 << 24),
    "all_to_all": ("comm.all_to_all %x on @world", 1 << 24, 1 << 24),
    "reduce_scatter": ("comm.reduce_scatter sum %x on @world dim 0", 1 << 24, 1 << 23),
    "all_reduce": ("comm.all_reduce sum %x on @world", 1 << 24, 1 << 24),
}


#===-----------------------------------------------------------------------===#
# Where Braid is built
#===-----------------------------------------------------------------------===#


def call(words, **more):
    """Runs a command; ends the script with its output if it fails."""
    done = subprocess.run(words, capture_output=True, text=True, check=False, **more)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout[-2000:]}{done.stderr[-4000:]}")
    return done.stdout


def kernel_program():
    """The kernels of the benchmark on small matrices as one program, and the number of
    its arguments."""
    import programs  # pylint: disable=import-error,import-outside-toplevel

    functions, parameters, lines, results = [], [], [], []
    for shape in SHAPES:
        for program in programs.all_programs(sizes=(64,)):
            program.m, program.n = shape
            name = f"{program.name}_{shape[0]}"
            text = program.mlir().removeprefix(programs.HEAD)
            signature = re.match(r"func\.func @main\((.*?)\) -> (\S+) \{", text)
            types = re.findall(r"%\w+: (tensor<\S+>)", signature[1])
            functions.append(text.replace("func.func @main", f"func.func private @{name}", 1))
            values = []
            for type_ in types:
                values.append(f"%x{len(parameters)}")
                parameters.append(f"{values[-1]}: {type_}")
            lines.append(f"  %{name} = call @{name}({', '.join(values)}) : "
                         f"({', '.join(types)}) -> {signature[2]}\n")
            results.append((f"%{name}", signature[2]))
    values, types = (", ".join(column) for column in zip(*results))
    main = (f"func.func @main({', '.join(parameters)}) -> ({types}) {{\n{''.join(lines)}"
            f"  return {values} : {types}\n}}\n")
    return programs.HEAD + "".join(functions) + main, len(parameters)


def prepare_kernels(options, build):
    """The sanitizer's programs with their results on the host."""
    folder = os.path.join(options.folder, "kernels")
    os.makedirs(folder, exist_ok=True)
    runs = {}
    for name, (text, count) in {
        "kernels": kernel_program(),
        "other": (OTHER_KERNELS, OTHER_KERNELS.partition("->")[0].count(": tensor")),
        "rewritten": (REWRITTEN_KERNELS, REWRITTEN_KERNELS.partition("->")[0].count(": tensor")),
    }.items():
        source = os.path.join(folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text)
        runs[name] = [f"--arg=random:{number}" for number in range(1, count + 1)]
        call([f"{build}/bin/braid-compile", source, "--target=cuda", f"--chip={options.chip}",
              "-o", os.path.join(folder, name + ".so")])
        call([f"{build}/bin/braid-run", source, "--ranks=1", *runs[name],
              f"--out={folder}/{name}.{{result}}.{{rank}}.npy"])
    with open(os.path.join(folder, "runs.json"), "w", encoding="utf-8") as file:
        json.dump(runs, file)


def prepare_buffers(options, build):
    """The collectives of BUFFERS for two ranks."""
    folder = os.path.join(options.folder, "buffers")
    os.makedirs(folder, exist_ok=True)
    for name, (op, given, got) in BUFFERS.items():
        operand, result = f"tensor<{given}xf32>", f"tensor<{got}xf32>"
        types = operand if given == got else f"{operand} -> {result}"
        lines = "".join(f"  %t{i} = {op} : {types}\n"
                        f"  %r{i} = comm.wait %t{i} : !comm.token<{result}>\n"
                        for i in range(10))
        source = os.path.join(folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(f"comm.group @world all\nfunc.func @main(%x: {operand}) -> {result} {{\n"
                       f"{lines}  return %r9 : {result}\n}}\n")
        call([f"{build}/bin/braid-compile", source, "--target=cuda", f"--chip={options.chip}",
              "--passes=none", "-o", os.path.join(folder, name + ".so")])


def find_missing_programs():
    """The names of RECORDED and FILES that no program of the tests has."""
    return [name for name, _ in [*RECORDED, *FILES] if not os.path.exists(os.path.join(PROGRAMS, name))]


def record_files(build, work):
    """Keeps the programs of the tests that are MLIR files."""
    sys.path.insert(0, os.path.join(ROOT, "test", "Inputs"))
    import braid_testing as bt  # pylint: disable=import-error,import-outside-toplevel

    for name, arguments in FILES:
        place = os.path.join(work, name)
        os.makedirs(place, exist_ok=True)
        source = os.path.join(place, "program.mlir")
        shutil.copy(os.path.join(PROGRAMS, name), source)
        pattern = os.path.join(place, "result{result}.{rank}.npy")
        call([f"{build}/bin/braid-run", source, "--ranks=2", f"--out={pattern}",
              *(f"--arg={argument}" for argument in arguments)])
        count = len(glob.glob(pattern.replace("{result}", "*").replace("{rank}", "0")))
        bt.record_run(source, 2, None, [], pattern, count, arguments)


def prepare_agreement(options, build):
    """The programs of the integration tests with their results on the host."""
    work = os.path.join(options.folder, "work")
    environment = {
        **os.environ,
        "BRAID_TEST_RECORD": os.path.join(options.folder, "runs"),
        "PATH": f"{build}/bin:{os.environ['PATH']}",
        "PYTHONPATH": os.path.join(ROOT, "test", "Inputs"),
    }
    os.environ.update(environment)
    record_files(build, work)
    for name, arguments in RECORDED:
        begin = time.monotonic()
        call([sys.executable, os.path.join(PROGRAMS, name),
              os.path.join(work, name), *arguments.split()], env=environment)
        print(f"{name} {arguments}: {time.monotonic() - begin:.0f} s", flush=True)
    shutil.rmtree(work)
    # The values of large tensors repeat from rank to rank.
    folder = os.path.join(options.folder, "runs")
    with tarfile.open(folder + ".tar.xz", "w:xz", preset=9) as archive:
        archive.add(folder, "runs")
    shutil.rmtree(folder)


def prepare(options):
    """Fills the folder."""
    build = os.path.abspath(options.build)
    os.makedirs(options.folder, exist_ok=True)
    parts = options.only.split(",") if options.only else list(CHECKS)
    bundle = os.path.join(options.folder, "braid")
    if not os.path.exists(bundle):
        call([os.path.join(ROOT, "tools", "dev", "bundle.sh"), bundle],
             env={**os.environ, "BRAID_NO_BUILD": "1", "BRAID_BUILD_DIR": build})
    for script in ("cuda_checks.py", "cuda_faults.py", "cuda_agreement.py", "cuda_libraries.py"):
        shutil.copy(os.path.join(HERE, script), options.folder)
    if "conformance" in parts:
        shutil.copy(f"{build}/test/Unit/Runtime/BraidRuntimeConformanceTests", f"{bundle}/bin")
    if "faults" in parts:
        call([sys.executable, os.path.join(HERE, "cuda_faults.py"), f"{options.folder}/faults",
              "--prepare", f"--chip={options.chip}", f"--braid-compile={build}/bin/braid-compile"])
    if "dlpack" in parts:
        call([sys.executable, os.path.join(HERE, "cuda_dlpack.py"), f"{options.folder}/dlpack",
              "--prepare", f"--chip={options.chip}", f"--build={build}"])
    if "memcheck" in parts:
        prepare_kernels(options, build)
    if "buffers" in parts:
        prepare_buffers(options, build)
    if "agreement" in parts:
        prepare_agreement(options, build)


#===-----------------------------------------------------------------------===#
# Where the GPUs are
#===-----------------------------------------------------------------------===#


class Log:
    """Runs commands and keeps what they print."""

    def __init__(self, folder, end):
        self.folder = folder
        self.end = end
        os.makedirs(folder, exist_ok=True)

    def run(self, name, words, seconds, variables=None):
        """(exit status, output); the status is None after the limit."""
        path = os.path.join(self.folder, name + ".log")
        with open(path, "w", encoding="utf-8") as file:
            # Its own group: the limit ends what the command has started, too.
            with subprocess.Popen(words, stdout=file, stderr=subprocess.STDOUT,
                                  env={**os.environ, **(variables or {})},
                                  start_new_session=True) as process:
                try:
                    status = process.wait(max(1.0, min(seconds, self.end - time.monotonic())))
                except subprocess.TimeoutExpired:
                    status = None
                    os.killpg(process.pid, 9)
        with open(path, encoding="utf-8", errors="replace") as file:
            return status, file.read()


def last(text, count=3):
    """The last lines of an output."""
    return " | ".join(text.strip().splitlines()[-count:])


def run_conformance(options, log):
    """The conformance suite on all GPUs, on one, and in two processes."""
    program = os.path.join(options.folder, "braid", "bin", "BraidRuntimeConformanceTests")
    good = True

    def judge(name, results, least=100):
        """Whether no test failed and at least so many tests had GPUs enough."""
        failed, lacking = [], 0
        for _, text in results:
            parts = re.split(r"^\[  FAILED  \] (\S+).*$", text, flags=re.M)
            for said, test in zip(parts[0::2], parts[1::2]):
                # A test of more ranks than there are GPUs.
                lacks = re.search(r"\d+ ranks need \d+ devices, found", said)
                lacking += bool(lacks)
                failed += [] if lacks or test in failed else [test]
        line = re.search(r"engine cuda, (\d+) tests run, (\d+) skipped", results[0][1])
        ended = line and all(status in (0, 1) for status, _ in results)
        passed = bool(ended and not failed and int(line[1]) - lacking >= least)
        counts = (f"{int(line[1]) - lacking - len(failed)} tests passed, {len(failed)} failed, "
                  f"{line[2]} skipped, {lacking} need more GPUs") if line else last(results[0][1])
        print(f"conformance, {name}: {'passed' if passed else 'FAILED'}: {counts}"
              f"{'' if ended else ', statuses ' + str([status for status, _ in results])}",
              flush=True)
        for test in failed[:15]:
            print(f"  failed: {test}")
        return passed

    engine = {"BRAID_TEST_ENGINE": "cuda",
              "LD_LIBRARY_PATH": os.path.join(options.folder, "braid", "lib")}

    def run_processes(count, least):
        words = ["env", *(f"{key}={value}" for key, value in engine.items()), program]
        return judge(f"{count} processes", run_together(
            log, f"conformance-{count}", [*words, "--gtest_brief=1"], 60, count), least)

    if options.ranks:
        engine["BRAID_TEST_RANKS"] = options.ranks
        done = log.run("conformance-threads", [program, "--gtest_brief=1"], 150, engine)
        good = judge(f"{options.ranks} ranks in one process", [done])
        for count in options.ranks.split(","):
            good &= run_processes(int(count), 60)
        return good
    for name, more in [("all GPUs", {}), ("one GPU", {"CUDA_VISIBLE_DEVICES": "0"})]:
        done = log.run("conformance-" + name.replace(" ", "-"), [program, "--gtest_brief=1"], 150,
                       {**engine, **more})
        # Most tests have two ranks or more.
        good &= judge(name, [done], 50 if name == "one GPU" else 100)
        if name == "all GPUs" and re.search(r"2 ranks need 2 devices, found 1\b", done[1]):
            print("conformance, two processes: not run: there is one GPU", flush=True)
            return good
    good &= run_processes(2, 100)
    return good


def run_faults(options, log):
    """All kinds of faults."""
    status, text = log.run("faults", [
        sys.executable, "-u", os.path.join(options.folder, "cuda_faults.py"),
        os.path.join(options.folder, "faults"), "--limit=145",
        f"--braid-run={options.folder}/braid/bin/braid-run"], 150)
    print(text.strip(), flush=True)
    return status == 0


def run_agreement(options, log):
    """The programs of the integration tests."""
    with tempfile.TemporaryDirectory(prefix="braid-agreement-") as folder:
        with tarfile.open(os.path.join(options.folder, "runs.tar.xz")) as archive:
            archive.extractall(folder, filter="data")
        status, text = log.run("agreement", [
            sys.executable, "-u", os.path.join(options.folder, "cuda_agreement.py"),
            os.path.join(folder, "runs"), "--limit=340", f"--jobs={options.jobs}",
            f"--braid-run={options.folder}/braid/bin/braid-run"], 350)
    print("agreement: " + "\n  ".join(text.strip().splitlines()[-40:]), flush=True)
    return status == 0


def find_sanitizer():
    """The path of compute-sanitizer, or nothing."""
    found = shutil.which("compute-sanitizer") or ""
    places = ["/usr/local/cuda*/bin", "/usr/local/cuda*/compute-sanitizer",
              "/opt/nvidia/compute-sanitizer*", "/opt/nvidia/*/compute-sanitizer"]
    for place in places:
        found = found or next(iter(glob.glob(place + "/compute-sanitizer")), "")
    return found


def run_memcheck(options, log):
    """compute-sanitizer on the generated kernels, one by one and as graphs."""
    sanitizer = options.sanitizer or find_sanitizer()
    if not os.access(sanitizer, os.X_OK):
        print("memcheck: not run: no compute-sanitizer is found", flush=True)
        return False
    folder = os.path.join(options.folder, "kernels")
    with open(os.path.join(folder, "runs.json"), encoding="utf-8") as file:
        arguments = json.load(file)
    good = True
    for tool, program, more in [
        ("memcheck", "kernels", ["--warmup=0"]),
        ("racecheck", "kernels", ["--warmup=0"]),
        # The third invocation launches the graphs of neighbouring calls.
        ("memcheck", "kernels", ["--engine-option=cuda-graph=0", "--warmup=0", "--repeat=3"]),
        ("memcheck", "kernels", ["--cuda-graph", "--warmup=0", "--repeat=3"]),
        ("memcheck", "other", ["--warmup=0"]),
        ("memcheck", "rewritten", ["--warmup=0"]),
        ("racecheck", "rewritten", ["--warmup=0"]),
        ("racecheck", "other", ["--warmup=0"]),
    ]:
        name = "-".join([tool, program, *more]).replace("=", "").replace("--", "")
        begin = time.monotonic()
        status, text = log.run(name, [
            # The runtime asks for a kernel's parameters until the driver refuses.
            sanitizer, f"--tool={tool}", "--report-api-errors=no", "--error-exitcode=9", "--print-limit=30",
            f"{options.folder}/braid/bin/braid-run", os.path.join(folder, program + ".so"),
            "--ranks=1", *arguments[program],
            f"--expect={folder}/{program}.{{result}}.{{rank}}.npy", *more], 60)
        summary = re.findall(r"(?:ERROR|RACECHECK) SUMMARY: .*", text)
        clean = status == 0 and bool(summary)
        summary += re.findall(r"braid-run: error: .*", text)[:1]
        good &= clean
        print(f"{tool} {program} {' '.join(more)}: {'clean' if clean else 'FAILED'} "
              f"({time.monotonic() - begin:.0f} s): {'; '.join(summary) or last(text)}",
              flush=True)
    return good


def run_dlpack(options, log):
    """Tensors of PyTorch in and out of programs."""
    folder = os.path.join(options.folder, "dlpack")
    status, text = log.run("dlpack", [
        sys.executable, "-u", os.path.join(folder, "cuda_dlpack.py"), folder], 120,
        {"BRAID_ROOT": os.path.join(options.folder, "braid")})
    lines = [line for line in text.splitlines() if re.match(r"\d+ GPU|no GPU|all passed", line)]
    print("dlpack: " + ("\n  ".join(lines) or last(text))
          + ("" if status is not None else "\n  FAILED: not ended in time"), flush=True)
    return status == 0


def run_together(log, name, words, seconds, count=2):
    """(exit status, output) of each of `count` processes with a launcher's variables."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port = listener.getsockname()[1]
    with concurrent.futures.ThreadPoolExecutor(count) as pool:
        runs = [pool.submit(log.run, f"{name}-process{rank}", words, seconds,
                            {"RANK": str(rank), "LOCAL_RANK": str(rank),
                             "WORLD_SIZE": str(count), "LOCAL_WORLD_SIZE": str(count),
                             "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)})
                for rank in range(count)]
        return [run.result() for run in runs]


def run_buffers(options, log):
    """Collectives without and with registered buffers, as threads and as processes."""
    good = True
    for name in BUFFERS:
        figures = []
        for threads in (True, False):
            for registers in (0, 1):
                words = [f"{options.folder}/braid/bin/braid-run",
                         f"{options.folder}/buffers/{name}.so", "--arg=random:1", "--repeat=20",
                         f"--engine-option=register-buffers={registers}"]
                label = f"buffers-{name}-{'threads' if threads else 'processes'}-{registers}"
                results = ([log.run(label, [*words, "--ranks=2"], 40)] if threads
                           else run_together(log, label, words, 40))
                time_of = re.search(r"time: ([\d.]+) ms", results[0][1])
                ended = time_of and all(status == 0 for status, _ in results)
                good &= bool(ended)
                figures.append(f"{time_of[1] if time_of else '-'}"
                               f"{'' if ended else ' FAILED ' + last(results[0][1], 1)}")
        print(f"buffers, {name}: ms for 10 without / with register-buffers: threads "
              f"{figures[0]} / {figures[1]}, processes {figures[2]} / {figures[3]}", flush=True)
    return good


CHECKS = {"conformance": run_conformance, "faults": run_faults, "agreement": run_agreement,
          "memcheck": run_memcheck, "dlpack": run_dlpack, "buffers": run_buffers}


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true", help="fill the folder")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--chip", default="sm_90")
    parser.add_argument("--only", default="", help="names of checks, with commas between")
    parser.add_argument("--logs", default="logs", help="the folder for all that is printed")
    parser.add_argument("--sanitizer", default="", help="the path of compute-sanitizer")
    parser.add_argument("--jobs", type=int, default=6, help="programs of agreement at a time")
    parser.add_argument("--ranks", default="", help="run tests of conformance of so many ranks alone, 3,4")
    parser.add_argument("--limit", type=float, default=560, help="seconds of all checks")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    names = options.only.split(",") if options.only else list(CHECKS)
    unknown = set(names) - set(CHECKS)
    if unknown:
        parser.error(f"--only: no check is named {', '.join(sorted(unknown))}; expected one of "
                     f"{', '.join(CHECKS)}")
    if options.prepare:
        prepare(options)
        return
    os.environ.update(find_libraries())
    log = Log(options.logs, time.monotonic() + options.limit)
    outcomes = {}
    for name in names:
        begin = time.monotonic()
        outcomes[name] = CHECKS[name](options, log)
        print(f"== {name}: {'passed' if outcomes[name] else 'FAILED'} in "
              f"{time.monotonic() - begin:.0f} s", flush=True)
    sys.exit(not all(outcomes.values()))


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""What reordering gains on 2 processes, beside what the cost model says.

    mpi_overlap.py --build BUILD [--bandwidth=100MB/s] [--latency=50us] [--repeat=15]

Runs test/Examples/reorder.mlir as written and reordered, in turns, with and without
the progress thread of the engine mpi. As root, with `ip` and `tc`, rank 1 lives in a
network namespace behind a link of that bandwidth; else the ranks talk over the
loopback device, whose speed nobody sets. The latency is the cost model's alone. Needs NumPy and mpirun of Open MPI. No figure is a test.
"""
import argparse
import contextlib
import ctypes
import json
import os
import re
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "test", "Inputs"))
import mpi_testing as mt  # noqa: E402

NAMESPACE = "braid-rank-1"
NETWORK = "10.213.77"

# ===-----------------------------------------------------------------------===#
# The link
# ===-----------------------------------------------------------------------===#


def call(*words):
    subprocess.run(words, check=True, capture_output=True, text=True)


def parse(text, units):
    """`100MB/s` in the unit whose factor is 1."""
    match = re.fullmatch(r"([0-9.]+)(.*)", text)
    if not match or match[2] not in units:
        sys.exit(f"'{text}' has none of the units {', '.join(units)}")
    return float(match[1]) * units[match[2]]


@contextlib.contextmanager
def limited_link(bytes_per_second, directory):
    """Options of mpirun that put rank 1 behind a link, or None where the machine does not
    permit it."""
    inside = ["ip", "netns", "exec", NAMESPACE]
    rate = f"{int(bytes_per_second * 8)}bit"

    def limit(prefix, device):
        # 20 ms of data may wait; more would be dropped.
        call(*prefix, "tc", "qdisc", "add", "dev", device, "root", "tbf", "rate", rate,
             "burst", "256kb", "latency", "20ms")

    try:
        call("ip", "netns", "add", NAMESPACE)
    except (FileNotFoundError, subprocess.CalledProcessError):
        yield None
        return
    try:
        call("ip", "link", "add", "braid0", "type", "veth", "peer", "name", "braid1")
        call("ip", "link", "set", "braid1", "netns", NAMESPACE)
        call("ip", "addr", "add", f"{NETWORK}.1/24", "dev", "braid0")
        call("ip", "link", "set", "braid0", "up")
        call(*inside, "ip", "addr", "add", f"{NETWORK}.2/24", "dev", "braid1")
        call(*inside, "ip", "link", "set", "braid1", "up")
        call(*inside, "ip", "link", "set", "lo", "up")
        limit([], "braid0")
        limit(inside, "braid1")
        # mpirun starts its daemon for the second "host" in the namespace.
        agent = os.path.join(directory, "agent.sh")
        with open(agent, "w") as file:
            file.write("#!/bin/sh\n"
                       "# The options of ssh and the host, then the command.\n"
                       "while [ \"${1#-}\" != \"$1\" ]; do shift; done\nshift\n"
                       f"exec ip netns exec {NAMESPACE} unshare --uts "
                       f"sh -c \"hostname {NAMESPACE} && $*\"\n")
        os.chmod(agent, 0o755)
        network = f"{NETWORK}.0/24"
        yield ["--mca", "plm", "rsh", "--mca", "plm_rsh_agent", agent,
               "--mca", "oob_tcp_if_include", network, "--mca", "btl_tcp_if_include", network,
               "-H", f"{NETWORK}.1:1,{NETWORK}.2:1"]
    except subprocess.CalledProcessError as error:
        print(f"{' '.join(error.cmd)}: {error.stderr.strip()}", file=sys.stderr)
        yield None
    finally:
        subprocess.run(["ip", "link", "del", "braid0"], capture_output=True, check=False)
        subprocess.run(["ip", "netns", "del", NAMESPACE], capture_output=True, check=False)


# ===-----------------------------------------------------------------------===#
# One rank, through the runtime's C ABI
# ===-----------------------------------------------------------------------===#


class Option(ctypes.Structure):
    _fields_ = [("key", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class Config(ctypes.Structure):
    _fields_ = [("engine", ctypes.c_char_p), ("ranks", ctypes.c_int32),
                ("debug", ctypes.c_int32), ("blasThreads", ctypes.c_int32),
                ("trace", ctypes.c_int32), ("timeoutNs", ctypes.c_int64),
                ("optionCount", ctypes.c_int64), ("options", ctypes.POINTER(Option)),
                ("log", ctypes.c_void_p), ("logData", ctypes.c_void_p)]


class Statistics(ctypes.Structure):
    """What is read of braid_rt_statistics, and room for more members."""
    _fields_ = [(name, ctypes.c_int64) for name in
                ("currentBytes", "peakBytes", "allocations", "leakedBytes", "starts", "waits",
                 "waitNs")] + [("more", ctypes.c_int64 * 16)]


class Memref(ctypes.Structure):
    """The descriptor of a matrix."""
    _fields_ = [("allocated", ctypes.c_void_p), ("aligned", ctypes.c_void_p),
                ("offset", ctypes.c_int64), ("sizes", ctypes.c_int64 * 2),
                ("strides", ctypes.c_int64 * 2)]


def matrix(size):
    """A matrix at an address that compiled code may rely on, and its descriptor."""
    import numpy as np
    memory = np.zeros(size * size * 4 + 64, np.uint8)
    begin = -memory.ctypes.data % 64
    array = memory[begin:begin + size * size * 4].view(np.float32).reshape(size, size)
    data = array.ctypes.data
    return array, Memref(data, data, 0, (size, size), (size, 1))


def load(runtime, world, file):
    """The entry of a program, prepared."""
    error = ctypes.create_string_buffer(1024)
    library = runtime.braid_rt_load(file.encode(), error, len(error))
    if not library:
        sys.exit(error.value.decode())
    program = runtime.braid_rt_library_program(library)
    entry = runtime.braid_rt_find_entry(program, None, error, len(error))
    if not entry or runtime.braid_rt_world_prepare(world, program, error, len(error)):
        sys.exit(error.value.decode())
    return entry


def worker(library, progress, repeat, files):
    """Runs the programs in turns and prints the times of rank 0, in ms."""
    import numpy as np
    runtime = ctypes.CDLL(library, mode=ctypes.RTLD_GLOBAL)
    pointer = ctypes.c_void_p
    for name in ("braid_rt_world_create", "braid_rt_load", "braid_rt_library_program",
                 "braid_rt_find_entry", "braid_rt_world_context", "braid_rt_error"):
        getattr(runtime, name).restype = pointer
    runtime.braid_rt_error.restype = ctypes.c_char_p
    runtime.braid_rt_world_elapsed_ns.restype = ctypes.c_int64
    runtime.braid_rt_world_prepare.argtypes = [pointer, pointer, ctypes.c_char_p,
                                               ctypes.c_size_t]
    runtime.braid_rt_library_program.argtypes = [pointer]
    runtime.braid_rt_find_entry.argtypes = [pointer, pointer, ctypes.c_char_p, ctypes.c_size_t]
    runtime.braid_rt_world_run.argtypes = [pointer, pointer, pointer]
    runtime.braid_rt_world_context.argtypes = [pointer, ctypes.c_int32]
    receive_type = ctypes.CFUNCTYPE(None, pointer, ctypes.c_int32, pointer, ctypes.c_int64)
    runtime.braid_rt_world_exchange.argtypes = [pointer, ctypes.c_char_p, ctypes.c_int64,
                                                receive_type, pointer, ctypes.c_char_p,
                                                ctypes.c_size_t]
    for name in ("braid_rt_world_elapsed_ns", "braid_rt_world_destroy", "braid_rt_error"):
        getattr(runtime, name).argtypes = [pointer]
    runtime.braid_rt_get_statistics.argtypes = [pointer, pointer]
    runtime.braid_rt_reset_statistics.argtypes = [pointer]
    runtime.braid_rt_world_local_ranks.argtypes = [pointer, pointer]

    error = ctypes.create_string_buffer(1024)
    config = Config()
    runtime.braid_rt_config_init(ctypes.byref(config), error, len(error))
    options = (Option * 1)(Option(b"progress", progress.encode()))
    config.engine, config.ranks, config.options, config.optionCount = b"mpi", 0, options, 1
    world = runtime.braid_rt_world_create(ctypes.byref(config), error, len(error))
    if not world:
        sys.exit(error.value.decode())
    ranks = ctypes.POINTER(ctypes.c_int32)()
    runtime.braid_rt_world_local_ranks(world, ctypes.byref(ranks))
    rank = ranks[0]
    context = runtime.braid_rt_world_context(world, rank)
    entries = [load(runtime, world, file) for file in files]
    operand, operand_memref = matrix(1024)
    operand[:] = np.random.RandomState(rank).standard_normal(operand.shape) / 32
    results = [matrix(1024) for _ in files]
    ignore = receive_type(lambda *_: None)
    times, waits = [[] for _ in files], [[] for _ in files]
    for _ in range(repeat + 1):
        for number, entry in enumerate(entries):
            arguments = (pointer * 2)(ctypes.addressof(operand_memref),
                                      ctypes.addressof(results[number][1]))
            of_rank = (pointer * 1)(ctypes.addressof(arguments))
            # The ranks begin together.
            runtime.braid_rt_world_exchange(world, b"", 0, ignore, None, error, len(error))
            runtime.braid_rt_reset_statistics(context)
            if runtime.braid_rt_world_run(world, entry, of_rank):
                sys.exit(runtime.braid_rt_error(context).decode())
            statistics_now = Statistics()
            runtime.braid_rt_get_statistics(context, ctypes.byref(statistics_now))
            times[number].append(runtime.braid_rt_world_elapsed_ns(world) / 1e6)
            waits[number].append(statistics_now.waitNs / 1e6)
    same = results[0][0].tobytes() == results[-1][0].tobytes()
    runtime.braid_rt_world_destroy(world)
    if not same:
        sys.exit(f"rank {rank}: the results differ")
    if rank == 0:
        # The first round makes connections.
        print("RESULT " + json.dumps([
            {"ms": statistics.median(t[1:]), "wait": statistics.median(w[1:])}
            for t, w in zip(times, waits)]))


# ===-----------------------------------------------------------------------===#
# The comparison
# ===-----------------------------------------------------------------------===#


def output(words):
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def show(name, before, after, rest=""):
    print(f"{name:30} {before:8.1f} ms {after:8.1f} ms {1 - after / before:6.0%}{rest}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--bandwidth", default="100MB/s")
    parser.add_argument("--latency", default="50us")
    parser.add_argument("--repeat", type=int, default=15)
    parser.add_argument("--worker", nargs=argparse.REMAINDER, help=argparse.SUPPRESS)
    options = parser.parse_args()
    build = os.path.abspath(options.build)
    library = os.path.join(build, "lib", "libbraid_rt.so")
    if options.worker:
        worker(library, options.worker[0], options.repeat, options.worker[1:])
        return
    os.environ["PATH"] = os.path.join(build, "bin") + os.pathsep + os.environ["PATH"]
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    bandwidth = parse(options.bandwidth, {"MB/s": 1e6, "GB/s": 1e9})
    program = os.path.join(ROOT, "test", "Examples", "reorder.mlir")
    costs = (f"machine=cpu ranks=2 link-latency={options.latency} "
             f"link-bandwidth={options.bandwidth}")
    passes = f"braid-overlap{{{costs}}}"
    with tempfile.TemporaryDirectory() as scratch:
        files = [os.path.join(scratch, name) for name in ("written.so", "reordered.so")]
        for file, chosen in zip(files, ("none", passes)):
            output(["braid-compile", program, f"--passes={chosen}", "-o", file])
        report = os.path.join(scratch, "report.json")
        output(["braid-opt", program, "-o", os.devnull,
                f"--comm-report=format=json output={report} {costs} passes={passes}"])
        with open(report) as stream:
            estimate = json.load(stream)
        with limited_link(bandwidth, scratch) as link:
            where = (f"rank 1 behind a link of {options.bandwidth}"
                     if link else "TCP over the loopback device")
            print(f"{where}; medians of {options.repeat}\n"
                  f"{'':30} {'as written':>11} {'reordered':>11} {'gain':>6}")
            show("estimate", *(estimate[key][0]["makespan_ns"] / 1e6
                               for key in ("before", "functions")))
            for progress in ("thread", "none"):
                words = [sys.executable, os.path.abspath(__file__), "--build", build,
                         "--repeat", str(options.repeat), "--worker", progress, *files]
                # Each "node" would bind its rank to the same first core.
                command = ["mpirun", "-n", "2", "--bind-to", "none", *mt.TRANSPORTS["tcp"], *(link or []),
                           "-x", "OPENBLAS_NUM_THREADS", "-x", "PATH", *words]
                status, out, error = mt.finish(mt.start(command), 600)
                found = re.search(r"^RESULT (.*)$", out, re.M)
                if status != 0 or not found:
                    sys.exit(f"{' '.join(command)}\n{out}{error}exit status {status}")
                before, after = json.loads(found[1])
                show(f"measured, progress={progress}", before["ms"], after["ms"],
                     f"   waits {before['wait']:.1f} and {after['wait']:.1f} ms")


main()

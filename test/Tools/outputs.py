# RUN: rm -rf %t && mkdir %t && %python %s %t
"""Outputs are whole or not there, and nothing stays behind: on full disks, with odd
names, and when signals end the tools."""

import ctypes
import errno
import os
import shutil
import signal
import struct
import subprocess
import sys

from signal_testing import check, has_failed, is_gone, wait_until

folder = sys.argv[1]
os.chdir(folder)
# Shells have background processes ignore two of these, nohup the other one.
for ignored in (signal.SIGINT, signal.SIGQUIT, signal.SIGHUP):
    signal.signal(ignored, signal.SIG_DFL)
temporary = os.path.join(folder, "tmp")
os.mkdir(temporary)
os.environ["TMPDIR"] = temporary
PROGRAM = """
comm.group @world all
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<4xf32>
  %y = comm.wait %t : !comm.token<tensor<4xf32>>
  return %y : tensor<4xf32>
}
"""
ENDLESS = """
func.func @main(%x: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 9000000000000000000 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (index) {
    %b = arith.addi %a, %c1 : index
    scf.yield %b : index
  }
  return %r : index
}
"""
for name, text in [("p.mlir", PROGRAM), ("-p.mlir", PROGRAM), ("@p.mlir", PROGRAM), ("endless.mlir", ENDLESS)]:
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)


def run(*words, limit=None):
    """The status, the output and the errors; no file may be larger than `limit` KiB."""
    command = ["sh", "-c", f"ulimit -f {limit}; exec \"$@\"", "sh", *words] if limit is not None else words
    done = subprocess.run(command, capture_output=True, check=False)
    return done.returncode, done.stdout, done.stderr.decode()


def runs(*words):
    done = run(*words)
    check(done[0] == 0, words, done)
    return done[1]


# Names that a linker or a parser of options would take for something else.
for name in ("-lead.so", "@list.so", "a b'\"{}.so"):
    runs("braid-compile", "p.mlir", "-o", name)
    found = runs("braid-run", os.path.join(folder, name), "--arg=ones", "--print")
    check(found == b"rank 0: result0: tensor<4xf32> = [1, 1, 1, 1]\n", name, found)
for name in ("./-p.mlir", "@p.mlir"):
    found = runs("braid-run", name, "--arg=ones", "--print")
    check(found == b"rank 0: result0: tensor<4xf32> = [1, 1, 1, 1]\n", name, found)
check(runs("braid-compile", "p.mlir", "-o", "-")[:4] == b"\x7fELF", "no shared object")
check(runs("braid-opt", "p.mlir", "-o", "/dev/stdout") == runs("braid-opt", "p.mlir"), "other outputs")
check(os.stat("@list.so").st_mode & 0o111, "a shared object is executable")

# A file that there is keeps what it has when its successor does not fit.
shutil.copy("@list.so", "p.so")
before = sorted(os.listdir("."))
OUTPUTS = [
    ("cannot write NAME", ["braid-compile", "p.mlir", "--emit=llvm", "-o"]),
    ("cannot write NAME", ["braid-opt", "p.mlir", "-o"]),
    ("option 'output': cannot write NAME", ["braid-opt", "p.mlir", "-o", "/dev/null", "--comm-report=output="]),
    ("option 'statistics': cannot write NAME",
     ["braid-opt", "p.mlir", "-o", "/dev/null", "--comm-sink-waits-iterative=statistics="]),
    ("cannot write NAME", ["braid-run", "./p.so", "--arg=ones", "--out="]),
    ("cannot write NAME", ["braid-run", "./p.so", "--arg=ones", "--trace="]),
    ("cannot write NAME", ["braid-run", "./p.so", "--arg=ones", "--measurements="]),
]
for message, words in OUTPUTS:
    def to(name):
        return [*words, name] if words[-1] == "-o" else [*words[:-1], words[-1] + name]
    for name, limit, reason in [("/dev/full", None, "No space left on device"), ("new.out", 0, "File too large"),
                                ("p.so", 0, "File too large"), ("none/new", None, "No such file or directory")]:
        status, _, error = run(*to(name), limit=limit)
        wanted = message.replace("NAME", name) + ": " + reason
        check(status == 1 and wanted in error and "LLVM ERROR" not in error, to(name), status, error)
for words in (["braid-compile", "p.mlir", "-o", "new.so"], ["braid-run", "p.mlir", "--arg=ones"]):
    status, _, error = run(*words, limit=0)
    check(status == 1 and "File too large" in error and "LLVM ERROR" not in error, words, status, error)
for words in (["braid-opt", "p.mlir"], ["braid-compile", "p.mlir", "--emit=llvm"]):
    with open("/dev/full", "wb") as full:
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 1 and "cannot write to the standard output: No space left on device" in done.stderr, done)
check(sorted(os.listdir(".")) == before, sorted(os.listdir(".")))
with open("p.so", "rb") as file, open("@list.so", "rb") as other:
    check(file.read() == other.read(), "an older file has changed")
check(os.listdir(temporary) == [], os.listdir(temporary))


def find_child(parent, name):
    """The number of the child of `parent` that runs the program `name`, if there is one."""
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/stat", encoding="utf-8") as file:
                own, rest = file.read().rsplit(")", 1)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if int(rest.split()[1]) == parent and own.split("(", 1)[1] == name:
            return int(number)
    return None


# The interpreter's folder goes, and so does the process that interprets.
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL):
    process = subprocess.Popen(["braid-run", "endless.mlir", "--target=interpreter", "--arg=1"],
                               stderr=subprocess.DEVNULL)
    tool = []
    # The first call of braid-opt lists the entries, the second one runs.
    check(wait_until(lambda: any(os.path.exists(os.path.join(temporary, name, "0.0.in"))
                                 for name in os.listdir(temporary))), "no argument")
    check(wait_until(lambda: tool.append(find_child(process.pid, "braid-opt")) or tool[-1]), "no interpreter")
    process.send_signal(number)
    process.wait(timeout=60)
    check(wait_until(lambda: is_gone(tool[-1])), number, "braid-opt still runs")
    check(wait_until(lambda: os.listdir(temporary) == []), number, os.listdir(temporary))

# What braid-compile has started ends with it, at whatever moment, and so do the programs
# that these have started, in process groups of their own, too.
os.mkdir("linker")
with open("linker/cc", "w", encoding="utf-8") as file:
    file.write(f"""#!/bin/bash
echo half an output > $TMPDIR/ccAAAAAA.o
set -m
sleep 1000 &
set +m
test -z $STUBBORN || (trap '' TERM; sleep 1000; sleep 1000) &
echo $! $$ $(jobs -p) > {folder}/started.new
mv {folder}/started.new {folder}/started
wait
""")
os.chmod("linker/cc", 0o755)


def programs_of(folder):
    """The numbers of the processes whose temporary files belong into `folder`."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{number}/environ", "rb") as file:
                if b"TMPDIR=" + os.fsencode(folder) in file.read():
                    found.append(int(number))
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            continue
    return found


MOMENTS = [
    ("a folder", lambda: os.listdir(temporary)),
    ("a program", lambda: any("program.o" in os.listdir(os.path.join(temporary, name))
                              for name in os.listdir(temporary))),
    ("a linker", lambda: os.path.exists("started")),
]
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL, signal.SIGQUIT):
    for what, has_come in MOMENTS if number == signal.SIGKILL else MOMENTS[-1:]:
        # One linker takes no notice of SIGTERM, which takes three seconds.
        stubborn = "1" if number == signal.SIGQUIT else ""
        process = subprocess.Popen(["braid-compile", "p.mlir", "-o", "new.so"], stderr=subprocess.DEVNULL, env=dict(
            os.environ, PATH=f"{folder}/linker:{os.environ['PATH']}", STUBBORN=stubborn))
        check(wait_until(has_come), number, "no sign of", what)
        process.send_signal(number)
        check(process.wait(timeout=60) == -number, number, process.returncode)
        # After SIGKILL somebody else cleans up.
        if number in (signal.SIGKILL, signal.SIGQUIT):
            check(wait_until(lambda: not os.listdir(temporary)), number, what, os.listdir(temporary))
        check(os.listdir(temporary) == [] and not os.path.exists("new.so"), number, what, os.listdir(temporary))
        check(programs_of(temporary + "/") == [], number, what, programs_of(temporary + "/"))
        if os.path.exists("started"):
            with open("started", encoding="utf-8") as file:
                started = list(map(int, file.read().split()))
            # A process that a signal ends loses its environment a moment before it is gone.
            check(wait_until(lambda: all(map(is_gone, started))), number, what, "the linker still runs")
            os.remove("started")

# braid-run takes its compiler, and its compiler's linker, along.
for number in (signal.SIGTERM, signal.SIGKILL):
    process = subprocess.Popen(["braid-run", "p.mlir", "--arg=ones"], stderr=subprocess.DEVNULL,
                               env=dict(os.environ, PATH=f"{folder}/linker:{os.environ['PATH']}"))
    check(wait_until(lambda: os.path.exists("started")), "no linker")
    with open("started", encoding="utf-8") as file:
        started = list(map(int, file.read().split()))
    os.remove("started")
    process.send_signal(number)
    check(process.wait(timeout=60) == (-number if number == signal.SIGKILL else 1), number, process.returncode)
    check(wait_until(lambda: not os.listdir(temporary)), number, os.listdir(temporary))
    check(wait_until(lambda: all(map(is_gone, started))), number, "the linker still runs")

# A program that has become a daemon is not meant.
with open("linker/cc", "w", encoding="utf-8") as file:
    file.write(f"#!/bin/sh\nsetsid sh -c 'echo $$ > {folder}/started.new; mv {folder}/started.new {folder}/started; "
               "exec sleep 1000' &\nwait\n")
process = subprocess.Popen(["braid-compile", "p.mlir", "-o", "new.so"], stderr=subprocess.DEVNULL,
                           env=dict(os.environ, PATH=f"{folder}/linker:{os.environ['PATH']}"))
check(wait_until(lambda: os.path.exists("started")), "no daemon")
process.kill()
process.wait(timeout=60)
check(wait_until(lambda: not os.listdir(temporary)), os.listdir(temporary))
with open("started", encoding="utf-8") as file:
    daemon = int(file.read())
check(not is_gone(daemon), "the daemon has ended")
os.kill(daemon, signal.SIGKILL)


# Where all temporary files have names, those go as well.
def refuse_files_without_name():
    """Has openat fail with EOPNOTSUPP for files without a name, as on NFS."""
    number = {"x86_64": 257, "aarch64": 56}[os.uname().machine]
    load, equal, has, end = 0x20, 0x15, 0x45, 0x06
    filters = [(load, 0, 0, 0), (equal, 0, 3, number), (load, 0, 0, 32), (has, 0, 1, 0x400000),
               (end, 0, 0, 0x50000 | errno.EOPNOTSUPP), (end, 0, 0, 0x7FFF0000)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *one) for one in filters))
    program = ctypes.create_string_buffer(struct.pack("HP", len(filters), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(38, 1, 0, 0, 0) or libc.prctl(22, 2, program, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")


os.mkdir("named")
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    process = subprocess.Popen(
        ["braid-opt", "endless.mlir", "--comm-interpret=ranks=1 entry=main", "-o", "named/out.mlir"],
        preexec_fn=refuse_files_without_name, stderr=subprocess.DEVNULL)
    check(wait_until(lambda: os.listdir("named")), number, "no output")
    process.send_signal(number)
    check(process.wait(timeout=60) == -number, number, process.returncode)
    check(os.listdir("named") == [], number, os.listdir("named"))
sys.exit(has_failed())

"""Runs braid-run as two ranks of the engine cuda, over fakes, beside strangers at the
port of rank 0: the job has its result, or says clearly what is wrong.

    check-strangers.py FOLDER-OF-FAKES PROGRAM OTHER-PROGRAM"""

import contextlib
import os
import resource
import socket
import struct
import subprocess
import sys
import tempfile
import time

import cuda_testing
import ports
from signal_testing import check, has_failed

fakes, program, other = sys.argv[1:]
folder = tempfile.TemporaryDirectory(prefix="braid-strangers-")
nccl, session = (os.path.join(folder.name, name) for name in ("nccl", "session"))
for path in (nccl, session):
    os.mkdir(path, 0o700)
KEY = {"BRAID_JOB_KEY": "a key of tests, 32 characters ..."}


def start(rank, port, words=(), descriptors=None, name=program, **variables):
    """A rank of two."""
    environment = {
        **{name: value for name, value in os.environ.items() if name not in KEY},
        **cuda_testing.fakes(fakes),
        "RANK": str(rank),
        "LOCAL_RANK": str(rank),
        "WORLD_SIZE": "2",
        "LOCAL_WORLD_SIZE": "2",
        "MASTER_ADDR": "127.0.0.1",
        "MASTER_PORT": str(port),
        "XDG_RUNTIME_DIR": session,
        "FAKE_NCCL_DIRECTORY": nccl,
        **variables,
    }

    def limit():
        if descriptors:
            resource.setrlimit(resource.RLIMIT_NOFILE, (descriptors, descriptors))

    command = ["braid-run", name, "--arg=ones+rank", "--print", *words]
    return subprocess.Popen(
        command,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        preexec_fn=limit,
    )


def finish(*processes):
    """(status, output) of each process."""
    results = []
    for process in processes:
        try:
            out, _ = process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            process.kill()
            out = process.communicate()[0] + "<hangs>"
        results.append((process.returncode, out))
    return results


def connect(port, host="127.0.0.1"):
    """Connects as soon as rank 0 listens."""
    for _ in range(2000):
        try:
            return socket.create_connection((host, port), 20)
        except OSError:
            time.sleep(0.01)
    raise SystemExit("rank 0 does not listen")


def listeners(port):
    """The local addresses that listen at a port, as Linux prints them."""
    found = set()
    for file in ("/proc/net/tcp", "/proc/net/tcp6"):
        with open(file, encoding="ascii") as lines:
            for line in list(lines)[1:]:
                _, local, _, state = line.split()[:4]
                address, number = local.split(":")
                if state == "0A" and int(number, 16) == port:
                    found.add(address)
    return found


def expect_result(name, results):
    """Both ranks end well, and rank 0 prints what both have."""
    good = all(status == 0 for status, _ in results)
    good = good and all(f"rank {rank}: result0" in results[0][1] for rank in (0, 1))
    check(good, name, results)


def expect_error(name, results, *texts):
    """Both ranks fail, and say so."""
    everything = "".join(out for _, out in results)
    check(all(status == 1 for status, _ in results), name, results)
    for text in texts:
        check(text in everything, name, "does not say", text, results)


def attack(name, stranger, **arguments):
    """Rank 0, then the stranger, then rank 1."""
    port = ports.find_free_port()
    zero = start(0, port, **arguments)
    kept = stranger(port)
    expect_result(name, finish(zero, start(1, port)))
    del kept


def send(data):
    """Connects and sends what is no introduction."""

    def stranger(port):
        peer = connect(port)
        # Rank 0 may close the connection before it has all of the data.
        with contextlib.suppress(ConnectionError):
            peer.sendall(data)
        return peer

    return stranger


def frame(kind, size, magic=b"BRAIDST2"):
    """The header of a message."""
    return magic + struct.pack("<IiqQ", kind, 1, 1, size)


def at_one_address(port):
    """Rank 0 listens nowhere else."""
    peer = connect(port)
    check(listeners(port) == {"0100007F"}, "address", listeners(port))
    return peer


attack("nothing", lambda port: None)
attack("one address", at_one_address)
attack("HTTP", send(b"GET / HTTP/1.1\r\n\r\n"))
attack("another version", send(frame(0, 0, b"BRAIDST1")))
attack("a long message", send(frame(1, 1 << 32) + b"y" * (1 << 20)))
for kind in range(2, 14):
    attack(f"kind {kind}", send(frame(kind, 0)))
attack("silence", lambda port: [connect(port) for _ in range(20)])
attack("no descriptors", lambda port: [connect(port) for _ in range(120)], descriptors=64)

# All ranks are in: nobody listens, while the program goes on.
port = ports.find_free_port()
pair = [start(0, port, ["--repeat=1000000"])]
peer = connect(port)
pair.append(start(1, port, ["--repeat=1000000"]))
with contextlib.suppress(ConnectionError):
    while peer.recv(4096):
        pass
# The door closes with its last visitor.
deadline = time.monotonic() + 20
while listeners(port) and time.monotonic() < deadline:
    time.sleep(0.01)
check(not listeners(port), "rank 0 still listens")
check([process.poll() for process in pair] == [None, None], "the program has ended")
for process in pair:
    process.kill()
finish(*pair)

# Keys.
port = ports.find_free_port()
expect_result("a key", finish(*(start(rank, port, **KEY) for rank in (0, 1))))
port = ports.find_free_port()
# Rank 0 waits for its rank, which may start late, and ends without it.
results = finish(
    start(0, port, ["--timeout=10s"], **KEY),
    start(1, port, BRAID_JOB_KEY="another key, 32 characters ....."),
)
expect_error("another key", results, "has another key than this rank", "does not know the job's key")
results = finish(*(start(rank, port, LOCAL_WORLD_SIZE="1", LOCAL_RANK="0") for rank in (0, 1)))
expect_error("several hosts", results, "the ranks are on several hosts", "BRAID_JOB_KEY_FILE")

# Programs.
port = ports.find_free_port()
results = finish(start(0, port), start(1, port, name=other))
expect_error("another program", results, "the ranks have different programs", program, other)
port = ports.find_free_port()
send_words = ["--send-program"]
results = finish(start(0, port, send_words), start(1, port, send_words, name=other))
expect_result("a program that is sent", results)

# IPv6, where the host has it.
if socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"):
    with open("/proc/net/if_inet6", encoding="ascii") as lines:
        has_loopback = any(line.startswith("0" * 31 + "1 ") for line in lines)
    if has_loopback:
        port = ports.find_free_port()
        expect_result("IPv6", finish(*(start(rank, port, MASTER_ADDR="::1") for rank in (0, 1))))

sys.exit(has_failed())

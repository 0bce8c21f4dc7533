# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Ranks for the calls of a program: threads of this process, or the processes of `jax.distributed`, which agree on them by
JAX's coordinator."""

import errno
import itertools
import json
import secrets
import socket

import jax

from braid.mlir import BraidError
from braid.mlir.devices import DeviceWorld

from .private_names import coordinator

# All processes make their worlds in one order.
_numbers = itertools.count()


def find_devices(ranks, platform):
    """The devices of JAX that are those of the ranks, in their order."""
    try:
        devices = jax.devices(platform)
    except RuntimeError:
        devices = []
    if len(devices) < ranks:
        raise BraidError(f"the program has {ranks} rank{'s' * (ranks > 1)}, each with a GPU, and JAX has {len(devices)} GPUs")
    processes = jax.process_count()
    if processes > 1 and not processes == ranks == len(devices):
        raise BraidError(f"the program has {ranks} rank{'s' * (ranks > 1)}, and JAX has {processes} processes with {len(devices)} GPUs: expected "
                         "as many processes as ranks, each with one GPU (local_device_ids of jax.distributed.initialize)")
    return devices[:ranks]


def make_world(devices, timeout):
    """A DeviceWorld, and a key that the processes of this world alone have."""
    if jax.process_count() == 1:
        return DeviceWorld(len(devices), timeout), _make_key()
    (own,) = jax.local_devices(backend=devices[0].platform)
    rank = devices.index(own)
    host, client = coordinator()
    name = f"braid/world/{next(_numbers)}"
    if rank == 0:
        address, port = _find_port(host)
        client.key_value_set(name, json.dumps([port, secrets.token_hex(32), _make_key()]))
    else:
        address = host
    port, job_key, key = json.loads(client.blocking_key_value_get(name, int(timeout * 1e3)))
    options = {"launcher": "jax.distributed", "rank": rank, "device": own.local_hardware_id or 0, "address": address, "port": port,
               "job-key": job_key}
    return DeviceWorld(len(devices), timeout, {option: str(value) for option, value in options.items()}), key


def _make_key():
    return secrets.randbelow(2**62) + 1


def _find_port(host):
    """Where rank 0 can listen: an address and a free port. Others reach the host by a name that may be that of a service."""
    for family, _, _, _, address in socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM):
        with socket.socket(family, socket.SOCK_STREAM) as listener:
            try:
                listener.bind(address)
            except OSError as error:
                if error.errno != errno.EADDRNOTAVAIL:
                    raise
            else:
                return host, listener.getsockname()[1]
    with socket.socket() as listener:
        listener.bind(("0.0.0.0", 0))
        return "0.0.0.0", listener.getsockname()[1]

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A port for the rendezvous of a test's ranks, while other tests run beside."""

import random
import socket

#: Below the ports that systems give to sockets without one (32768 and more). A
#: port of those may belong to a process of MPI before the first rank listens at
#: it: the other ranks would speak to that process, and both jobs would hang.
FIRST, LAST = 20000, 32000


def find_free_port():
    """A port of 127.0.0.1 at which nobody listens."""
    generator = random.SystemRandom()
    while True:
        port = generator.randint(FIRST, LAST)
        with socket.socket() as server:
            try:
                server.bind(("127.0.0.1", port))
            except OSError:
                continue
            return port

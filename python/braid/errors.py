# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What goes wrong. All messages say what was found and what was expected."""


class BraidError(Exception):
    """The base of everything that Braid raises on purpose.

    Attributes
    ----------
    details : str
        What is known beyond the message, such as the output of a tool; empty where that is all.
    """

    details = ""


class ScheduleError(BraidError, ValueError):
    """An invalid graph, machine or option; the message names the rule that it breaks."""


class CycleError(ScheduleError):
    """A cycle of nodes, each of which has to stay after another one."""


class UnknownNameError(ScheduleError, KeyError):
    """No machine, algorithm, model or collective of this name."""

    # KeyError would print the message in quotes.
    __str__ = ValueError.__str__


class OrderMismatchError(BraidError):
    """Ranks that would run their collectives in different orders, and wait for each other forever."""


class MemoryLimitError(ScheduleError):
    """No order was found that keeps ``max_memory``.

    Attributes
    ----------
    excess : int
        Bytes above the limit of the best order found.
    least_peak : int
        Bytes that no order stays below.
    proven : bool
        True if no order keeps the limit; otherwise the search may have missed one.
    node : str
        The node of that order at which most bytes live.
    """

    def __init__(self, message: str, excess: int, least_peak: int, proven: bool, node: str):
        super().__init__(message)
        self.excess = excess
        self.least_peak = least_peak
        self.proven = proven
        self.node = node

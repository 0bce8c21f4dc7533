# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""How often the members of a process group have run its collectives in a changed order: all of them equally often.

A rank that runs the same code without its graph, as Python has it, issues these collectives in the order of the program. They would be
paired with other ones of its peers. Two things find such a rank:

* `change`: whoever knows that code with graphs is about to run without one says so, and waits until all members say the same behind the
  same number of runs. So does the next graph that runs again. A rank that is alone gets an error before its collectives.
* `Runs.find_lag`: each rank tells now and then how many of its runs have ended. A run that has ended needed the collectives of all
  members. A member that has begun fewer runs has issued them without a graph: its thread of `_standing` raises an error.
"""

import time
from dataclasses import dataclass

from . import _groups
from .errors import OrderMismatchError

#: Members that are asked in a look.
_PEERS_PER_LOOK = 4

_ADVICE = (
    "All ranks have to run code by its graphs, or none of them: give them the same torch.compiler.set_stance and torch.compiler.disable, "
    "or keep the order of the program (keep_order=True)."
)


@dataclass(eq=False)
class Group:
    """A process group that has collectives in a changed order."""

    name: str
    members: frozenset
    #: Runs that this rank has begun, and how many of them have ended for certain.
    begun: int = 0
    ended: int = 0
    #: Whether this rank runs what has graphs without them, and how often that has changed.
    is_without: bool = False
    changes: int = 0


class Runs:
    """Those of this rank, and what the others say in `store`, a `Store`."""

    def __init__(self, store, rank):
        self._store = store
        self._rank = rank
        self._groups = {}
        #: Whether the next run shall say which ones have ended.
        self.is_asked = False
        #: What the device has to come to, and the runs that have ended then.
        self._mark = None
        self._told = {}
        #: By rank, the last that it has told.
        self._heard = {}
        self._turn = 0
        #: What was found in the last look: the name of a group and its collectives until then.
        self._suspicion = None

    def get(self, name):
        if name not in self._groups:
            self._groups[name] = Group(name, _groups.get_members(name))
        return self._groups[name]

    def mark(self):
        """In a run, before its first collective: finds out which runs have ended."""
        import torch

        self.is_asked = False
        has_cuda = torch.cuda.is_available()
        if has_cuda and torch.cuda.is_initialized():
            self._mark_on_gpu()
        # Nobody asks other accelerators what they have come to.
        elif has_cuda or not torch.accelerator.is_available():
            self._end(self._get_ended())

    def _mark_on_gpu(self):
        import torch

        if torch.cuda.is_current_stream_capturing():
            return
        if self._mark is None:
            event = torch.cuda.Event()
            event.record()
            self._mark = event, self._get_ended()
        elif self._mark[0].query():
            self._end(self._mark[1])
            self._mark = None

    def _get_ended(self):
        """The runs before the last one, which goes on."""
        return {group.name: group.begun - 1 for group in list(self._groups.values())}

    def _end(self, runs):
        for name, number in runs.items():
            self._groups[name].ended = number

    def tell(self):
        """Tells the peers, if there is news."""
        self.is_asked = bool(self._groups)
        news = {group.name: [group.begun, group.ended] for group in list(self._groups.values())}
        if news != self._told:
            self._store.set(f"runs/{self._rank}", news)
            self._told = news

    def hear(self, ranks):
        """What `ranks` have told of a group, by rank and name of the group: runs that they have begun, and that have ended."""
        known = [rank for rank in ranks if rank in self._heard or self._store.has([f"runs/{rank}"])]
        if known:
            self._heard.update(zip(known, self._store.get([f"runs/{rank}" for rank in known])))
        return {rank: self._heard[rank] for rank in known}

    def find_lag(self):
        """The text of an error if this rank runs without graphs what a peer runs by graphs, and the members of the group; None if not."""
        peers = sorted(set().union(*(group.members for group in list(self._groups.values()))) - {self._rank})
        if not peers:
            return None
        self._turn += _PEERS_PER_LOOK
        begin = self._turn % len(peers)
        told = self.hear((peers + peers)[begin : begin + min(_PEERS_PER_LOOK, len(peers))])
        before, self._suspicion = self._suspicion, None
        for peer, runs in told.items():
            for name, (_, ended) in runs.items():
                group = self._groups.get(name)
                if group is not None and peer in group.members and group.begun < ended:
                    return self._confirm(before, peer, group, ended)
        return None

    def _confirm(self, before, peer, group, ended):
        """A graph may return before its collectives are done: a rank that lags behind in two looks has issued others in between."""
        count = _groups.count_collectives(group.name)
        if before is None or before[0] != group.name:
            self._suspicion = group.name, count
            return None
        if count is not None and count <= before[1]:
            self._suspicion = before
            return None
        text = self._say_lag(peer, group, ended)
        # Who goes on in spite of the error hears of what comes next.
        group.begun = ended
        return text, group.members

    def _say_lag(self, peer, group, ended):
        return (
            f"rank {self._rank} has run {group.begun} times what has a graph with the collectives of {_describe(group)} in a changed order, and "
            f"rank {peer} {ended} times: rank {self._rank} has issued these collectives without the graph, in the order of the program, and "
            f"results since then are wrong. {_ADVICE}"
        )

    def change(self, names, is_without, what, look_for_errors):
        """The groups `names` go over to code without graphs, or come back from it: this rank does `what`.

        Returns when all members have come to the same. Raises `OrderMismatchError`, as `look_for_errors` does for errors of ranks.
        """
        groups = [group for group in map(self.get, names) if group.is_without != is_without and len(group.members) > 1]
        if not groups:
            return
        try:
            for group in groups:
                group.is_without = is_without
                group.changes += 1
            self._post_changes()
            self._wait(groups, what, look_for_errors)
        except BaseException:
            for group in groups:
                group.is_without = not is_without
                group.changes -= 1
            self._post_changes()
            raise

    def _post_changes(self):
        changes = {group.name: [group.changes, group.begun] for group in self._groups.values()}
        self._store.set(f"change/{self._rank}", changes)

    def _wait(self, groups, what, look_for_errors):
        pending = sorted(set().union(*(group.members for group in groups)) - {self._rank})
        end = time.monotonic() + max(_groups.get_timeout(group.name) for group in groups)
        pause = 0.001
        while True:
            known = [rank for rank in pending if self._store.has([f"change/{rank}"])]
            texts = self._store.get([f"change/{rank}" for rank in known]) if known else []
            found = dict(zip(known, texts))
            pending = [rank for rank in pending if not self._has_changed(rank, found.get(rank, {}), groups, what)]
            if not pending:
                return
            for rank, runs in self.hear(pending).items():
                for group in groups:
                    if rank in group.members and runs.get(group.name, [0])[0] > group.begun:
                        raise OrderMismatchError(self._say_alone(rank, group, what, "has gone on by its graph"))
            look_for_errors(pending)
            if time.monotonic() > end:
                raise OrderMismatchError(self._say_alone(pending[0], groups[0], what, "did not before the timeout of the process group"))
            time.sleep(pause)
            pause = min(2 * pause, 0.2)

    def _has_changed(self, rank, changes, groups, what):
        """Whether `rank` has come to the changes of `groups`. Raises `OrderMismatchError` if it has in another place."""
        for group in groups:
            if rank in group.members:
                number, begun = changes.get(group.name, (0, 0))
                if number < group.changes:
                    return False
                if number == group.changes and begun != group.begun:
                    raise OrderMismatchError(self._say_alone(rank, group, what, f"did so behind {begun} runs of graphs, not {group.begun}"))
        return True

    def _say_alone(self, rank, group, what, other):
        return f"rank {self._rank} {what}, where collectives of {_describe(group)} have a changed order, and rank {rank} {other}. {_ADVICE}"


def _describe(group):
    return f"process group {group.name!r} (ranks {' '.join(map(str, sorted(group.members)))})"

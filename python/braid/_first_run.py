# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What generated code does before its first collective: it compares the order of its collectives with the other ranks.

Graphs carry a `Record` of their collectives, also in Inductor's caches. The first run of a graph posts the record in the
store of torch.distributed. A graph whose order was changed then waits until the other members of its process groups have
posted a record that fits; they come there, because the collectives of this graph need them as well. A graph whose order is that of the
program posts, and waits for nobody: peers may issue the same collectives outside of a compiled graph. It looks at what is posted
already, and raises what a peer that came before has raised or will raise (`_Comparison.look`, `_peer_errors`).

Two records fit if the ranks issue the collectives of the groups that both belong to in the same order:

* Records of the same program, which is the rule, have to have the same order. Groups count by their first use, because the rows
  and columns of a mesh have different names on different ranks. A chain of ranks with equal orders cannot wait in a circle.
* Of different programs the parts that both ranks take part in have to be equal, as the program has them and as they run; and
  both orders have to keep what the program says about collectives of different groups. Otherwise ranks that share no group could
  wait for each other in a circle.
"""

import contextlib
import hashlib
import json
import logging
import threading
import time
import weakref
from dataclasses import dataclass

from . import _frames, _groups, _standing
from ._agreement import Store, number_groups, publish
from ._peer_errors import WENT_ON, PeerErrors
from ._runs import Runs
from .errors import OrderMismatchError

_LONGEST_PAUSE = 0.2
#: Ranks that are asked one by one in a round, where not all have posted.
_PEERS_PER_ROUND = 16

_ADVICE = (
    "Give all ranks the same options and the same graphs, clear Inductor's caches where a graph comes from there, or keep the "
    "order of the program (keep_order=True)."
)


_log = logging.getLogger("braid")


def _digest(value):
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Record:
    """The collectives of a graph with other ranks."""

    #: Names of process groups, in sequence of their first use.
    groups: list
    #: (number of the group, what it is) of each collective, as the program has them.
    program: list
    #: The order in which they run: places in `program`.
    order: list
    #: What the ranks have agreed on the order by; None if they have not.
    key: "str | None"
    #: The options of the pass that differ from the defaults, for messages.
    options: str

    @classmethod
    def make(cls, collectives, order, key, options):
        groups, numbers = number_groups(collective.group for collective in collectives)
        program = [[number, collective.what] for number, collective in zip(numbers, collectives)]
        return cls(groups, program, list(order), key, options)

    @classmethod
    def from_text(cls, text):
        fields = json.loads(text)
        kinds = fields.pop("kinds")
        return cls(**{**fields, "program": [[group, kinds[kind]] for group, kind in fields["program"]]})

    def to_text(self):
        kinds, numbers = number_groups(what for _, what in self.program)
        program = [[group, kind] for (group, _), kind in zip(self.program, numbers)]
        return json.dumps({**self.__dict__, "program": program, "kinds": kinds})

    @property
    def is_changed(self):
        return self.order != list(range(len(self.order)))

    def then(self, later):
        """This order and then that of `later`, which another pass has made of it; None if that one saw other collectives."""
        seen = [(self.groups[group], what) for group, what in (self.program[place] for place in self.order)]
        if seen != [(later.groups[group], what) for group, what in later.program]:
            return None
        order = [self.order[place] for place in later.order]
        return Record(self.groups, self.program, order, self.key, f"{self.options}, then {later.options}")

    def project(self, groups):
        """(program, order) of the collectives of `groups`, names; their order counts those collectives alone."""
        places = [place for place, (group, _) in enumerate(self.program) if self.groups[group] in groups]
        number = {place: index for index, place in enumerate(places)}
        program = [[self.groups[group], what] for group, what in (self.program[place] for place in places)]
        return program, [number[place] for place in self.order if place in number]

    def get_keys(self):
        """A key for each group: the group, and what its collectives are."""
        whats = {name: [] for name in self.groups}
        for group, what in self.program:
            whats[self.groups[group]].append(what)
        return [_digest(pair) for pair in whats.items()]

    def find_changed_groups(self):
        """Names of the groups whose own collectives run in another order than the program has them."""
        orders = ((name, self.project([name])[1]) for name in self.groups)
        return [name for name, order in orders if order != list(range(len(order)))]

    def keeps_groups_apart(self):
        """Whether collectives of different groups run in the program's order."""
        last = {}
        for place in self.order:
            group = self.program[place][0]
            if any(other != group and place < latest for other, latest in last.items()):
                return False
            last[group] = max(place, last.get(group, 0))
        return True


@dataclass(frozen=True)
class Post:
    """A record in the store, without what equal records have in common."""

    groups: list
    program: str
    order: str
    is_changed: bool
    #: How many collectives each group has seen when the graph ran first, if known.
    counts: list
    options: str

    @classmethod
    def make(cls, record):
        program = [record.program, len(record.groups)]
        counts = [_groups.count_collectives(name) for name in record.groups]
        return cls(
            record.groups, _digest(program), _digest(record.order), record.is_changed, counts, record.options
        )

    @property
    def content(self):
        """What equal records of the ranks of a mesh have in common."""
        return f"{self.program}/{self.order}"

    def get_identity(self):
        return tuple(self.groups), self.program, self.order


class _Board:
    """What this rank and the others have posted since the default process group was made."""

    #: By default process group. Nothing here keeps a group or its store alive, whose end ends threads and closes ports.
    _of_group = weakref.WeakKeyDictionary()
    _lock = threading.RLock()

    def __init__(self, rank):
        self.rank = rank
        self.store = Store()
        self.errors = PeerErrors(self.store, rank)
        self.runs = Runs(self.store, rank)
        self.watch = _standing.Watch(self.errors, rank, self.runs)
        #: By rank, its posts, as far as this rank has read them.
        self.posts = {rank: []}
        #: Records that fit, and posts of others that were the reason of an error.
        self.fitting, self.reported = set(), set()
        self._contents = {}
        self._members = {}

    @classmethod
    def get(cls):
        import torch.distributed as dist

        with cls._lock:
            if dist.group.WORLD not in cls._of_group:
                cls._of_group[dist.group.WORLD] = cls(dist.get_rank())
            return cls._of_group[dist.group.WORLD]

    def post(self, record):
        """Posts `record`, unless this rank has posted an equal one; returns the post."""
        post = Post.make(record)
        with self._lock:
            own = self.posts[self.rank]
            for other in own:
                if other.get_identity() == post.get_identity():
                    return other
            self._contents[post.content] = record
            key = f"content/{post.content}"
            if not self.store.has([key]):
                self.store.set(key, [record.program, record.order])
            self.store.set(f"post/{self.rank}/{len(own)}", post.__dict__)
            own.append(post)
            if post.is_changed:
                for key in record.get_keys():
                    self.store.decide(f"changed/{key}", self.rank)
        return post

    def find_changed(self, record):
        """Ranks that run what `record` has of some group in a graph with a changed order, one for each group at most."""
        keys = [f"changed/{key}" for key in record.get_keys()]
        return set(self.store.get([key for key in keys if self.store.has([key])]))

    def read_all(self, rank):
        """Reads what `rank` has posted by now."""
        while rank != self.rank and self.read([rank], 0)[0]:
            pass

    def get_record(self, post):
        """The record of a post."""
        if post.content not in self._contents:
            self._contents[post.content] = self.store.get([f"content/{post.content}"])[0]
        found = self._contents[post.content]
        program, order = (found.program, found.order) if isinstance(found, Record) else found
        return Record(post.groups, program, order, None, post.options)

    def read(self, ranks, turn):
        """Reads the next posts of `ranks`. Returns those that had one, and those that certainly had none."""
        with self._lock:
            keys = {rank: f"post/{rank}/{len(self.posts.setdefault(rank, []))}" for rank in ranks}
            without = []
            if not self.store.has(list(keys.values())):
                begin = turn * _PEERS_PER_ROUND % len(ranks)
                asked = (ranks + ranks)[begin : begin + min(_PEERS_PER_ROUND, len(ranks))]
                without = [rank for rank in asked if not self.store.has([keys[rank]])]
                keys = {rank: keys[rank] for rank in asked if rank not in without}
            for rank, fields in zip(keys, self.store.get(list(keys.values()))):
                self.posts[rank].append(Post(**fields))
            return list(keys), without

    def get_members(self, name):
        """The ranks of a process group that this rank belongs to; none if it does not."""
        if name not in self._members:
            self._members[name] = _groups.get_members(name)
        return self._members[name]


class _Comparison:
    """One record of this rank beside those of its peers."""

    def __init__(self, board, record):
        self.board = board
        self.record = record
        self.own = board.post(record)
        members = [board.get_members(name) for name in record.groups]
        self.peers = sorted(set().union(*members) - {board.rank})

    def get_timeout(self):
        """Seconds after which the last of the groups would give up."""
        return max(map(_groups.get_timeout, self.record.groups))

    def wait(self):
        """Returns when all peers have posted a record that fits. Raises `OrderMismatchError`."""
        pending = [rank for rank in self.peers if not self._fits(rank)]
        end = time.monotonic() + self.get_timeout()
        pause, turn = 0.001, 0
        while pending:
            found, without = self.board.read(pending, turn)
            if found:
                pending = [rank for rank in pending if rank not in found or not self._fits(rank)]
                continue
            for rank in without:
                self._check_that_it_comes(rank)
            if time.monotonic() > end:
                raise OrderMismatchError(self._say_who_is_missing(pending))
            time.sleep(pause)
            pause, turn = min(2 * pause, _LONGEST_PAUSE), turn + 1

    def look(self):
        """Raises `OrderMismatchError` for what is posted already, and waits for nobody.

        With a peer that runs this program in another order alone: that one finds the same, and does not come to its collectives.
        And with a peer that has raised an error in this program.
        """
        if not self.record.is_changed:
            for rank in self.board.find_changed(self.record) & set(self.peers):
                self.board.read_all(rank)
                mine, theirs, place = self._get_orders_with(rank)
                if place < len(theirs) and mine[place][1] not in [order for _, order in theirs]:
                    raise OrderMismatchError(self._say_difference(rank, theirs[place][0]))
        for error in self.board.errors.read():
            if error.rank in self.peers and error.number is not None and self._is_concerned(error.rank, error.number):
                raise OrderMismatchError(_standing.describe(error.rank, self.board.rank, error.text))

    def _is_concerned(self, rank, number):
        """Whether an error of `rank` about its post of this number is one about this program, and none that fits came behind."""
        self.board.read_all(rank)
        orders = [self._get_order(post, rank) for post in self.board.posts[rank][number:]]
        return bool(orders) and orders[0] is not None and self._get_order(self.own, rank) not in orders[1:]

    def _get_orders_with(self, rank):
        """`_get_orders` of this rank and of `rank`, and the place of this record in the first one."""
        mine = self._get_orders(self.board.posts[self.board.rank], rank)
        theirs = self._get_orders(self.board.posts.get(rank, []), rank)
        return mine, theirs, [order for _, order in mine].index(self._get_order(self.own, rank))

    def _fits(self, rank):
        """Whether a post of `rank` fits; False if it has not come yet. Raises `OrderMismatchError` if none will."""
        # A rank may run one program in several orders, for instance compiled with several options: the ranks change from one
        # to the next together.
        mine, theirs, place = self._get_orders_with(rank)
        if place < len(theirs):
            post, order = theirs[place]
            if order == mine[place][1]:
                return True
            raise OrderMismatchError(self._say_difference(rank, post))
        return False

    def _check_that_it_comes(self, rank):
        """Raises `OrderMismatchError` if `rank` cannot come, because it waits for this one in another graph."""
        posts = self.board.posts[rank]
        # Who goes on in spite of the error has to find out about the next graph.
        reported = rank, len(posts)
        if reported in self.board.reported or not posts or self._is_known(posts[-1], rank):
            return
        if self._waits_for_this_rank(posts[-1]):
            self.board.reported.add(reported)
            raise OrderMismatchError(self._say_other_graph(rank, posts[-1]))

    def _get_common(self, post, rank):
        """The groups of both that both belong to."""
        names = dict.fromkeys([*self.record.groups, *post.groups])
        return [name for name in names if rank in self.board.get_members(name)]

    def _project(self, post, rank):
        """The program of `post` as far as `rank` and this one take part."""
        return self.board.get_record(post).project(self._get_common(post, rank))[0]

    def _is_same_program(self, post, common):
        """Whether `post` has the program of this record, and numbers the groups that both ranks have in the same way."""
        mine, theirs = self.record.groups, post.groups
        return post.program == self.own.program and all(
            name in mine and name in theirs and mine.index(name) == theirs.index(name) for name in common
        )

    def _get_order(self, post, rank):
        """What has to be equal of `post`, if its program is that of this record as far as `rank` takes part; else None."""
        common = self._get_common(post, rank)
        if self._is_same_program(post, common):
            return post.order
        record = self.board.get_record(post)
        program, order = record.project(common)
        if program != self.record.project(common)[0]:
            return None
        if not (record.keeps_groups_apart() and self.record.keeps_groups_apart()):
            return f"moves groups: {post.order}"
        # Equal where the order of this record, as far as both take part, is the same.
        return self.own.order if order == self.record.project(common)[1] else f"other: {post.order}"

    def _get_orders(self, posts, rank):
        """(post, order) of the orders in which the program of this record runs, in sequence of their first run."""
        found = {}
        for post in posts:
            order = self._get_order(post, rank)
            if order is not None:
                found.setdefault(order, post)
        return [(post, order) for order, post in found.items()]

    def _is_known(self, post, rank):
        """Whether this rank has posted the program of `post`, as far as both take part."""
        common, theirs = self._get_common(post, rank), self._project(post, rank)
        return not theirs or any(
            self.board.get_record(own).project(common)[0] == theirs for own in self.board.posts[self.board.rank]
        )

    def _waits_for_this_rank(self, post):
        """Whether the rank of `post`, a graph that this rank does not run, stands in front of its collectives."""
        if post.is_changed:
            return True
        counts = dict(zip(self.own.groups, self.own.counts))
        return any(count is not None and counts.get(name) == count for name, count in zip(post.groups, post.counts))

    def _describe(self, name):
        return f"process group {name!r} (ranks {' '.join(map(str, sorted(self.board.get_members(name))))})"

    def _say_difference(self, rank, post):
        common = self._get_common(post, rank)
        (program, mine), (_, theirs) = self.record.project(common), self.board.get_record(post).project(common)
        text = f"ranks {self.board.rank} and {rank} run the collectives of a graph in different orders"
        different = [place for place, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]]
        if different:
            place = different[0]
            (group, what), (other_group, other) = program[mine[place]], program[theirs[place]]
            text += (
                f": of {len(program)}, number {place + 1} is {what} of {self._describe(group)}, number {mine[place] + 1} of the "
                f"program, on rank {self.board.rank}, and {other} of {self._describe(other_group)}, number {theirs[place] + 1} of "
                f"the program, on rank {rank}"
            )
        else:
            text += (
                f" of {', '.join(map(self._describe, common))} and of groups that only one of them belongs to, where ranks "
                "could wait in a circle"
            )
        return f"{text}. {self._say_options(rank, post)}{_ADVICE}"

    def _say_options(self, rank, post):
        if post.options == self.own.options:
            return ""
        return f"Rank {self.board.rank} has {self.own.options}, rank {rank} has {post.options}. "

    def _say_other_graph(self, rank, post):
        return (
            f"ranks {self.board.rank} and {rank} are about to run different graphs: {self._say_first_difference(rank, post)}. "
            f"{self._say_options(rank, post)}{_ADVICE}"
        )

    def _say_first_difference(self, rank, post):
        mine, theirs = self.record.project(self._get_common(post, rank))[0], self._project(post, rank)
        place = next((i for i, pair in enumerate(zip(mine, theirs)) if pair[0] != pair[1]), min(len(mine), len(theirs)))

        def say(program):
            if place == len(program):
                return f"ends after {place} collectives"
            return f"has {program[place][1]} of {self._describe(program[place][0])} as collective {place + 1}"

        return f"that of rank {self.board.rank} {say(mine)}, that of rank {rank} {say(theirs)}"

    def _say_who_is_missing(self, pending):
        shown = ", ".join(map(str, pending[:20])) + (", ..." if len(pending) > 20 else "")
        groups = [name for name in self.record.groups if self.board.get_members(name).intersection(pending)]
        text = (
            f"rank {self.board.rank} runs a graph whose {len(self.record.program)} collectives were put in another order, and "
            f"{'rank' if len(pending) == 1 else 'ranks'} {shown} of {', '.join(map(self._describe, groups))} did not run it "
            "before the timeout of the process group"
        )
        rank = pending[0]
        posts = [post for post in self.board.posts.get(rank, []) if self._project(post, rank)]
        if posts:
            text += f". The last graph that rank {rank} ran first is another one: {self._say_first_difference(rank, posts[-1])}"
            return f"{text}. {self._say_options(rank, posts[-1])}{_ADVICE}"
        return f"{text}: not compiled, or without Braid there. {_ADVICE}"


class Check:
    """The check of one graph, which its generated code calls before anything else."""

    def __init__(self, text, is_backward=False, is_counted=True):
        """`is_counted`: whether each run of the graph comes here."""
        self._record = Record.from_text(text)
        self._is_counted = is_counted
        if self._record.is_changed:
            _frames.remember(self._record.find_changed_groups(), is_backward)
        #: Gives the default process group with which the record was compared. Another one is another program with other ranks.
        self._checked, self._enter = _no_group, _enter_nothing
        try:
            self._publish()
        except Exception:  # The first run compares, and says so.
            pass

    @classmethod
    def make_named(cls, name, *arguments, **options):
        """A check that `get_check` finds by `name`, for C++."""
        _checks[name] = cls(*arguments, **options)
        return _checks[name]

    def run_for_cpp(self):
        """Calls it; what went wrong, or an empty text."""
        try:
            self()
        except Exception as error:
            return str(error)
        return ""

    def _publish(self):
        """Has graphs that are compiled from now on take the order of this one, which may come from a cache."""
        if self._record.key is not None and _groups.has_other_ranks():
            publish(self._record.key, self._record.order)

    def __call__(self):
        import torch.distributed as dist

        world = dist.group.WORLD if dist.is_available() else None
        if world is None:
            return
        if self._checked() is not world:
            self._enter = _enter_nothing
            if _groups.has_other_ranks():
                self._publish()
                self._enter = compare(self._record, self._is_counted)
            self._checked = weakref.ref(world)
        self._enter()


def _no_group():
    return None


def _enter_nothing():
    """What a graph does before its collectives that nobody shares."""


def compare(record, is_counted=True):
    """Posts `record`, and waits for the peers if its order is not that of the program. Raises `OrderMismatchError`.

    Returns what each run has to call before its first collective. `is_counted`: whether it does.
    """
    board = _Board.get()
    comparison = _Comparison(board, record)
    identity = comparison.own.get_identity()
    if not comparison.peers:
        return _enter_nothing
    board.watch.begin(comparison.get_timeout())
    number = board.posts[board.rank].index(comparison.own)
    if identity not in board.fitting:
        with _telling_peers(comparison, number):
            if record.is_changed:
                comparison.wait()
            comparison.look()
        board.errors.withdraw(number)
        if record.is_changed:
            board.fitting.add(identity)
    # No board here: the graph outlives the process group.
    watch, groups = weakref.ref(board.watch), {name: board.get_members(name) for name in record.groups}
    changed = [board.runs.get(name) for name in record.find_changed_groups()] if is_counted else []

    def enter():
        for group in changed:
            if group.is_without:
                change([group.name for group in changed], False, "comes back to a graph")
            group.begun += 1
        if (found := watch()) is not None:
            found.enter(groups, number)

    return enter


@contextlib.contextmanager
def _telling_peers(comparison, number):
    """Has the peers hear of an `OrderMismatchError` about the post `number`."""
    try:
        yield
    except OrderMismatchError as error:
        _tell_peers(comparison.board, comparison.peers, error, number)
        raise


def _tell_peers(board, peers, error, number=None):
    _log.error("Rank %d raises an error before its collectives: %s", board.rank, error)
    board.errors.post(peers, str(error), number)
    board.watch.leave()


def change(names, is_without, what):
    """What has graphs runs without them from now on, or by them again: returns when all members of the groups `names` have come to the
    same. Raises `OrderMismatchError`."""
    board = _Board.get()
    board.watch.begin(max(map(_groups.get_timeout, names)))
    board.errors.withdraw(None)

    def look_for_errors(peers):
        for error in board.errors.read():
            if error.rank in peers and error.state != WENT_ON:
                raise OrderMismatchError(_standing.describe(error.rank, board.rank, error.text))

    try:
        board.runs.change(names, is_without, what, look_for_errors)
    except OrderMismatchError as error:
        _tell_peers(board, set().union(*map(board.get_members, names)) - {board.rank}, error)
        raise


_checks = {}


def check(text):
    """The check of the graph with the record `text`, for code that keeps no `Check`."""
    if text not in _checks:
        _checks[text] = Check(text)
    _checks[text]()


def get_check(name):
    """What `Check.make_named` has made."""
    return _checks[name]

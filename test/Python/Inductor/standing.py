"""A rank that stands in a collective to which a peer does not come, because of an error of orders: who is woken, when, and how."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import atexit
import contextlib
import itertools
import json
import os
import sys
import tempfile
import threading
import time
import traceback
import unittest
from unittest import mock

import torch_ranks

RANKS = 2
#: Seconds after which a rank is woken, where this takes time.
SECONDS = 1
#: How long a test waits for what comes at once.
PATIENCE = 100


class NoMoreThanOneRequest:
    """A store whose rank ends behind its first request."""

    def __init__(self, store):
        self.store = store
        self.is_left = True

    def __getattr__(self, name):
        def request(*arguments):
            if not self.is_left:
                raise SystemExit
            self.is_left = False
            return getattr(self.store, name)(*arguments)

        return request


class Times(unittest.TestCase):
    """Two ranks in one process, whose clock the test sets."""

    def setUp(self):
        import torch.distributed as dist
        from braid import _groups, _standing
        from braid._agreement import Store
        from braid._peer_errors import PeerErrors
        from braid._runs import Runs

        store = Store.__new__(Store)
        store._store = dist.HashStore()
        self.counts = [{"0": 5}, {"0": 5}]
        self.errors = [PeerErrors(store, rank) for rank in range(RANKS)]
        self.runs = [Runs(store, rank) for rank in range(RANKS)]
        self.watches = [_standing.Watch(*words) for words in zip(self.errors, range(RANKS), self.runs)]
        self.watches[0].enter({"0": frozenset((0, 1))}, 0)
        self.rank = 0
        self.where = "in the collective"
        self.enterContext(mock.patch.object(_groups, "count_all", lambda: dict(self.counts[self.rank])))
        get_where = lambda watch: (self.where, dict(self.counts[self.rank]))  # noqa: E731
        self.enterContext(mock.patch.object(_standing.Watch, "_get_where", get_where))
        self.enterContext(self.assertLogs("braid", "ERROR"))

    def on(self, rank, function, *arguments):
        """Calls it as this rank does."""
        self.rank = rank
        return function(*arguments)

    def raise_error(self):
        self.on(1, self.errors[1].post, [0], "other orders", 7)

    def look(self, *times):
        """Whether rank 0 is woken at each of these times."""
        return [self.on(0, self.watches[0].look, now) is not None for now in times]

    def test_a_rank_that_stands_is_woken(self):
        self.raise_error()
        self.assertEqual(self.look(0, 10, 29, 30), [False, False, False, True])
        error = self.on(0, self.watches[0].look, 31)
        self.assertEqual((error.rank, error.number, error.text), (1, 7, "other orders"))

    def test_a_rank_that_goes_on_is_not(self):
        self.raise_error()
        self.assertEqual(self.look(0, 29), [False, False])
        self.where = "behind it"
        self.assertEqual(self.look(40, 60, 71), [False, False, True])

    def test_collectives_are_progress(self):
        self.raise_error()
        self.look(0, 29)
        self.counts[0]["0"] += 1
        self.assertEqual(self.look(40, 69, 70), [False, False, True])

    def test_a_peer_that_goes_on_wakes_nobody(self):
        self.raise_error()
        self.on(1, self.errors[1].tell_if_going_on)
        self.assertEqual(self.look(0, 30), [False, True])
        self.counts[1]["1"] = 1
        self.on(1, self.errors[1].tell_if_going_on)
        self.assertEqual(self.look(40, 1000), [False, False])

    def test_a_peer_without_its_groups_does_not_go_on(self):
        self.raise_error()
        self.counts[1].clear()
        self.on(1, self.errors[1].tell_if_going_on)
        self.assertEqual(self.look(0, 30), [False, True])

    def test_an_error_that_is_withdrawn_wakes_nobody(self):
        self.raise_error()
        self.look(0, 29)
        self.on(1, self.errors[1].withdraw, 7)
        self.assertEqual(self.look(30, 1000), [False, False])

    def test_ranks_without_a_common_graph(self):
        self.raise_error()
        self.watches[0].leave()
        self.assertEqual(self.look(0, 1000), [False, False])
        self.watches[0].enter({"1": frozenset((0, 2))}, 1)
        self.assertEqual(self.look(2000), [False])

    def test_the_end_of_a_peer(self):
        """The peer waits until this rank has been looked at."""
        self.raise_error()
        self.look(0)
        thread = threading.Thread(target=self.errors[1].end, args=(PATIENCE,))
        thread.start()
        self.addCleanup(thread.join)
        end = time.monotonic() + PATIENCE
        while self.errors[0].read()[0].state != "ended":
            self.assertLess(time.monotonic(), end)
        self.assertEqual(self.look(0.5), [False])
        self.assertTrue(thread.is_alive())
        self.assertEqual(self.look(1), [True])
        self.errors[0].answer()
        thread.join(PATIENCE)
        self.assertFalse(thread.is_alive())

    def test_a_rank_that_ends_in_the_middle_hides_no_error(self):
        """Errors of others are read behind whatever it has written."""
        from braid._peer_errors import PeerErrors

        store = self.errors[0]._store
        with mock.patch.object(store, "_store", NoMoreThanOneRequest(store._store)), contextlib.suppress(SystemExit):
            self.raise_error()
        self.on(1, PeerErrors(store, 2).post, [0], "another error")
        self.assertIn("another error", [error.text for error in self.errors[0].read()])

    def test_errors_of_many_ranks(self):
        from braid._peer_errors import PeerErrors

        store, numbers = self.errors[0]._store, range(20)
        threads = [
            threading.Thread(target=lambda peer=PeerErrors(store, rank): [peer.post([0], "error", number) for number in numbers])
            for rank in range(1, 5)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = sorted((error.rank, error.number) for error in self.errors[0].read())
        self.assertEqual(found, [(rank, number) for rank in range(1, 5) for number in numbers])

    def test_the_variable(self):
        from braid import _standing

        for text, seconds in (("", 30), ("2.5", 2.5), ("0", None), ("-1", 30), ("inf", 30), ("soon", 30)):
            with mock.patch.dict(os.environ, {"BRAID_PEER_ERROR_SECONDS": text}):
                self.assertEqual(_standing.get_seconds(), seconds, text)
        self.raise_error()
        self.watches[0]._seconds = None
        self.assertEqual(self.look(0, 1000), [False, False])


class Lag(unittest.TestCase):
    """Rank 0 of two in one process that run graphs with a changed order."""

    def setUp(self):
        import torch.distributed as dist
        from braid import _groups
        from braid._agreement import Store
        from braid._runs import Runs

        store = Store.__new__(Store)
        store._store = dist.HashStore()
        self.count = 5
        self.enterContext(mock.patch.object(_groups, "get_members", lambda name: frozenset(range(RANKS))))
        self.enterContext(mock.patch.object(_groups, "count_collectives", lambda name: self.count))
        self.runs = [Runs(store, rank) for rank in range(RANKS)]

    def run_graphs(self, *numbers):
        """Each rank begins so many runs, of which the last one goes on."""
        for runs, number in zip(self.runs, numbers):
            runs.get("0").begun += number
            runs.mark()
            runs.tell()

    def look(self, count):
        """What is wrong when the group has seen so many collectives."""
        self.count = count
        found = self.runs[0].find_lag()
        return found and found[0]

    def test_ranks_that_run_the_same(self):
        self.run_graphs(3, 3)
        self.assertEqual([self.look(5), self.look(9)], [None, None])

    def test_a_rank_in_a_run_that_its_peer_has_not_begun(self):
        self.run_graphs(3, 4)
        self.assertEqual([self.look(5), self.look(9)], [None, None])

    def test_a_rank_without_graphs(self):
        self.run_graphs(3, 6)
        self.assertEqual([self.look(5), self.look(5)], [None, None])
        self.assertRegex(
            self.look(6),
            r"^rank 0 has run 3 times what has a graph with the collectives of process group '0' \(ranks 0 1\) in a changed order, "
            "and rank 1 5 times: rank 0 has issued these collectives without the graph",
        )
        # Once for each time.
        self.assertEqual([self.look(7), self.look(8)], [None, None])
        self.run_graphs(0, 1)
        self.assertIsNone(self.look(9))
        self.assertIn("rank 1 6 times", self.look(10))

    def test_a_rank_that_is_late(self):
        self.run_graphs(3, 6)
        self.assertIsNone(self.look(5))
        self.run_graphs(3, 0)
        self.assertEqual([self.look(9), self.look(10)], [None, None])

    def test_runs_of_a_gpu_have_ended_when_it_says_so(self):
        import torch

        is_there = mock.Mock(return_value=True)
        event = mock.Mock(**{"query.return_value": False})
        capturing = mock.Mock(return_value=True)
        fakes = dict(
            is_available=is_there, is_initialized=is_there, is_current_stream_capturing=capturing, Event=mock.Mock(return_value=event)
        )
        group = self.runs[0].get("0")
        with mock.patch.multiple(torch.cuda, **fakes):
            self.run_graphs(3)
            event.record.assert_not_called()
            capturing.return_value = False
            for begun, is_done in ((1, False), (1, False), (1, True)):
                event.query.return_value = is_done
                self.assertEqual(group.ended, 0)
                self.run_graphs(begun)
        event.record.assert_called_once()
        # Those before the last one when the GPU was asked.
        self.assertEqual((group.begun, group.ended), (6, 3))

    def test_news_alone_are_told(self):
        self.run_graphs(3, 3)
        with mock.patch.object(self.runs[0]._store, "set", side_effect=AssertionError):
            self.runs[0].tell()

    def change(self, is_without, begun=0):
        """Both ranks go over to code without graphs, or come back, after so many more runs of rank 1; the errors of the ranks."""
        from braid.errors import OrderMismatchError

        self.runs[1].get("0").begun += begun
        errors = [None] * RANKS

        def look_for_errors(peers):
            for peer in peers:
                if errors[peer]:
                    raise OrderMismatchError(f"rank {peer} has raised an error")

        def change(rank):
            try:
                self.runs[rank].change(["0"], is_without, "leaves its graphs", look_for_errors)
            except OrderMismatchError as error:
                errors[rank] = str(error)

        with mock.patch("braid._groups.get_timeout", lambda name: PATIENCE):
            threads = [threading.Thread(target=change, args=(rank,)) for rank in range(RANKS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        return errors

    def test_changes_of_all_ranks(self):
        self.assertEqual([self.change(value) for value in (True, True, False, True)], [[None, None]] * 4)
        self.assertEqual([runs.get("0").changes for runs in self.runs], [3, 3])

    def test_changes_behind_different_runs(self):
        first, second = sorted(self.change(True, begun=2), key=lambda text: "has raised" in text)
        pattern = "rank . leaves its graphs, .* did so behind . runs of graphs, not ."
        self.assertRegex(first, pattern)
        self.assertRegex(second, f"{pattern}|rank . has raised an error")
        self.assertEqual([runs.get("0").changes for runs in self.runs], [0, 0])


class Restarts(unittest.TestCase):
    """torchrun restarts ranks with the store that those before had."""

    def setUp(self):
        import torch.distributed as dist

        dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
        self.addCleanup(dist.destroy_process_group)

    def is_shared_by_attempts(self, agents):
        from braid._agreement import Store

        stores = []
        for attempt in "01":
            variables = {"GROUP_WORLD_SIZE": agents, "WORLD_SIZE": "1", "TORCHELASTIC_RESTART_COUNT": attempt}
            with mock.patch.dict(os.environ, variables):
                stores.append(Store())
        stores[0].set("error", "other orders")
        return stores[1].has(["error"])

    def test_errors_end_with_their_attempt(self):
        self.assertFalse(self.is_shared_by_attempts("1"))

    def test_agents_of_several_nodes_count_differently(self):
        self.assertTrue(self.is_shared_by_attempts("2"))


def make_record(order):
    """That of a graph of two collectives in this order."""
    import torch.distributed as dist
    from braid._agreement import Collective
    from braid._first_run import Record

    world = dist.group.WORLD.group_name
    collectives = [Collective(number, world, f"all_reduce sum float{32 << number}", None) for number in range(2)]
    return Record.make(collectives, order, None, "default options")


def check(order):
    """Runs the check of such a graph."""
    from braid._first_run import Check

    Check(make_record(order).to_text())()


def enter():
    """For rank 0: runs the check of the program's order, which fits."""
    from braid._first_run import _Board

    check([0, 1])
    _Board.get().store.set("entered", True)


def raise_error():
    """For rank 1: raises the error of a changed order when rank 0 has entered its graph."""
    from braid._first_run import _Board

    end = time.monotonic() + PATIENCE
    while not _Board.get().store.has(["entered"]):
        assert time.monotonic() < end, "rank 0 does not come"
        time.sleep(0.01)
    check([1, 0])


def stand():
    """For rank 0: a collective to which rank 1 does not come. What ends it passes Python on its way."""
    import torch
    import torch.distributed as dist

    try:
        dist.all_reduce(torch.ones(1))
        if torch_ranks.ON_GPUS:
            torch.cuda.synchronize()
    finally:
        print("left the collective", flush=True)


def meet():
    import torch
    import torch.distributed as dist

    dist.all_reduce(torch.ones(1))
    torch.cuda.synchronize()


def peer_that_lives(rank, meeting):
    if rank == 0:
        enter()
        stand()
    with contextlib.suppress(Exception):
        raise_error()
    end = time.monotonic() + PATIENCE
    while not os.path.exists(f"{meeting}.0") and time.monotonic() < end:
        time.sleep(0.01)


def peer_that_ends(rank, meeting):
    if rank == 0:
        enter()
        stand()
    raise_error()


def backend_that_aborts(rank, meeting):
    """Rank 0 stands until its process groups are aborted."""
    from braid import _groups

    if rank == 1:
        return peer_that_lives(rank, meeting)
    enter()
    lock = threading.Lock()
    lock.acquire()

    def abort(names):
        print("aborts", *names, flush=True)
        lock.release()

    with mock.patch.object(_groups, "abort", abort):
        lock.acquire()
        print("went on with wrong results", flush=True)


def peer_that_comes(rank, meeting):
    """In another way than by the graph."""
    import torch
    import torch.distributed as dist

    if rank == 0:
        enter()
    else:
        with contextlib.suppress(Exception):
            raise_error()
    value = torch.ones(1)
    dist.all_reduce(value)
    print("sum", value.item(), flush=True)


def graph_on_one_rank(rank, meeting):
    """Rank 1 goes on with the collectives of the graph, without the graph."""
    import torch
    import torch.distributed as dist
    from braid._first_run import Check

    graph = Check(make_record([1, 0]).to_text())
    end = time.monotonic() + PATIENCE
    for number in itertools.count():
        assert time.monotonic() < end, "nobody finds it"
        if rank == 0 or number < 3:
            graph()
        dist.all_reduce(torch.ones(1))
        time.sleep(0.01)


CASES = (peer_that_lives, peer_that_ends, backend_that_aborts, peer_that_comes, graph_on_one_rank)


def run_process(case, rank, path):
    """Ends as a program would: with the traceback of an error, and what is registered for the end."""
    from braid import _standing

    file = os.open(f"{path}.output.{rank}", os.O_CREAT | os.O_WRONLY)
    os.dup2(file, 1)
    os.dup2(file, 2)
    os.environ["BRAID_PEER_ERROR_SECONDS"] = "30" if case is peer_that_comes else str(SECONDS)
    _standing._SECONDS_TO_WAKE = SECONDS
    status = 0
    try:
        torch_ranks.init_group(f"{path}.store", rank, RANKS)
        if torch_ranks.ON_GPUS:
            # The first collective makes the communicator. Nothing ends a rank that waits for its peers to make it.
            meet()
        case(rank, path)
    except BaseException:
        traceback.print_exc()
        status = 3
    sys.stdout.flush()
    atexit._run_exitfuncs()
    os._exit(status)


def run_rank(rank, folder):
    torch_ranks.say_where()
    results = {}
    for case in CASES:
        path = os.path.join(folder, case.__name__)
        process = os.fork()
        if process == 0:
            run_process(case, rank, path)
        status = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
        with open(f"{path}.{rank}", "w"):
            pass
        with open(f"{path}.output.{rank}") as file:
            results[case.__name__] = status, file.read()
    with open(os.path.join(folder, f"results.{rank}"), "w") as file:
        json.dump(results, file)


class Ranks(unittest.TestCase):
    """Over Gloo, which ends no collective by itself, or over NCCL, which does when its communicator is aborted."""

    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            arguments = [[__file__, str(rank), folder] for rank in range(RANKS)]
            torch_ranks.run_ranks(folder, arguments, [{}] * RANKS, imports=("torch.distributed",))
            cls.results = []
            for rank in range(RANKS):
                with open(os.path.join(folder, f"results.{rank}")) as file:
                    cls.results.append(json.load(file))

    def check_error(self, text):
        self.assertIn(
            "rank 1 has raised an error in this graph, and does not come to its collectives with rank 0: ranks 1 and 0 run the "
            "collectives of a graph in different orders: of 2, number 1 is all_reduce sum float64",
            text,
        )

    @unittest.skipUnless(torch_ranks.ON_GPUS, "needs NCCL")
    def test_nccl_ends_the_collective(self):
        status, text = self.results[0]["peer_that_lives"]
        self.assertEqual(status, 3, text)
        self.assertIn("braid.errors.OrderMismatchError: rank 1 has raised an error in this graph", text)
        self.check_error(text)

    @unittest.skipIf(torch_ranks.ON_GPUS, "NCCL can end a collective")
    def test_a_process_that_nothing_wakes_ends(self):
        status, text = self.results[0]["peer_that_lives"]
        self.assertEqual(status, 1, text)
        self.assertIn("Rank 0 ends, because its process groups have no way to end the collective in which it stands", text)
        self.check_error(text)
        # Where the thread stands.
        self.assertIn("in stand", text)

    def test_the_end_of_a_peer(self):
        status, text = self.results[0]["peer_that_ends"]
        self.assertEqual(status, 3, text)
        self.assertIn("braid.errors.OrderMismatchError: rank 1 has raised an error in this graph", text)
        self.check_error(text)
        status, text = self.results[1]["peer_that_ends"]
        self.assertEqual(status, 3, text)
        self.assertIn("braid.errors.OrderMismatchError: ranks 1 and 0 run the collectives of a graph", text)

    def test_an_aborted_collective(self):
        status, text = self.results[0]["backend_that_aborts"]
        self.assertEqual(status, 3, text)
        self.assertIn("aborts 0", text)
        self.assertNotIn("went on", text)
        self.assertIn("braid.errors.OrderMismatchError: rank 1 has raised an error in this graph", text)
        self.check_error(text)

    def test_a_graph_on_one_rank(self):
        for rank, results in enumerate(self.results):
            status, text = results["graph_on_one_rank"]
            self.assertEqual(status, 3, text)
            self.assertRegex(text, r"OrderMismatchError: .*rank 1 has run 3 times what has a graph .* and rank 0 \d+ times: rank 1 has issued")

    def test_a_peer_that_comes(self):
        for results in self.results:
            status, text = results["peer_that_comes"]
            self.assertEqual(status, 0, text)
            self.assertIn("sum 2.0", text)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_rank(int(sys.argv[1]), sys.argv[2])
    else:
        unittest.main()

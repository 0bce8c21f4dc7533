"""What graphs of four ranks compare when they run first, by their records alone: which orders fit, what the others' error is, and
that nobody waits who need not."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import datetime
import json
import logging
import os
import sys
import tempfile
import time
import unittest

import torch_ranks

RANKS = 4
#: Seconds after which process groups give up: long for what needs no wait, short where nobody comes.
TIMEOUT, SHORT_TIMEOUT = 100, 5
GATHER, REDUCE = "all_gather_into_tensor float32", "all_reduce sum float32"


def make_record(case, order, groups, whats=None, options="default options"):
    """A record of collectives, one of each group in the list, which no other case has."""
    from braid._agreement import Collective
    from braid._first_run import Record

    whats = whats or [f"{REDUCE} of {case}"] * len(groups)
    collectives = [Collective(i, group, what, None) for i, (group, what) in enumerate(zip(groups, whats))]
    return Record.make(collectives, order, None, options)


def run(record, case=None):
    """How the check ends, and whether before the timeout. `case`: for those who wait until it has ended."""
    import torch.distributed as dist
    from braid._first_run import Check
    from braid.errors import OrderMismatchError

    begin = time.monotonic()
    try:
        Check(record.to_text())()
        text = "fits"
    except OrderMismatchError as error:
        text = str(error)
    if case:
        _get_store().set(f"done/{case}/{dist.get_rank()}", True)
    return text, time.monotonic() - begin < TIMEOUT


def wait_until_done(case, *ranks):
    """Until the checks of these ranks in this case have ended."""
    _wait(lambda: _get_store().has([f"done/{case}/{rank}" for rank in ranks]))


def wait_until_known(record, rank):
    """Until `rank` has posted this record, with a changed order, and all that belongs to the post."""
    from braid._first_run import _Board

    _wait(lambda: rank in _Board.get().find_changed(record))


def wait_for_error(rank, text):
    """Until an error of `rank` with this text is there."""
    from braid._first_run import _Board

    _wait(lambda: any(error.rank == rank and text in error.text for error in _Board.get().errors.read()))


def _get_store():
    from braid._first_run import _Board

    return _Board.get().store


def _wait(is_there):
    end = time.monotonic() + TIMEOUT
    while not is_there():
        assert time.monotonic() < end, "nobody has posted what this rank waits for"
        time.sleep(0.01)


def equal_orders(rank, row, column, diagonal):
    """Rows and columns have other names on other ranks."""
    return run(make_record("equal_orders", [1, 0, 2], [row, column, row]))


def different_orders(rank, row, column, diagonal):
    """Those in the program's order come first: they go on."""
    if rank % 2:
        wait_until_done("different_orders", rank - 1)
    record = make_record("different_orders", [1, 0] if rank % 2 else [0, 1], [row, row], options=f"min_gain={rank}")
    return run(record, "different_orders")


def different_orders_first(rank, row, column, diagonal):
    """Those in the program's order come last: both raise."""
    record = make_record("different_orders_first", [1, 0] if rank % 2 else [0, 1], [row, row])
    if rank % 2 == 0:
        wait_until_known(record, rank + 1)
    return run(record)


def circle(rank, row, column, diagonal):
    """Each rank shares each group with one other, which has the same order there: together they would wait in a circle."""
    if rank in (1, 2):
        wait_until_done("circle", 0, 3)
    return run(make_record("circle", [0, 1] if rank in (0, 3) else [1, 0], [row, column]), "circle")


def circle_of_programs(rank, row, column, diagonal):
    """The same by programs that differ."""
    if rank in (0, 3):
        wait_until_done("circle_of_programs", 1, 2)
        return run(make_record("circle_of_programs", [1, 0], [row, column]))
    return run(make_record("circle_of_programs", [0, 1, 2], [row, column, diagonal]), "circle_of_programs")


def other_programs(rank, row, column, diagonal):
    """What two ranks do in a group of both is the same; in others they do something else."""
    own = [row, row] if rank % 2 else [row, row, column]
    return run(make_record("other_programs", [1, 0] if rank % 2 else [1, 0, 2], own))


def missing(rank, row, column, diagonal):
    return run(make_record("missing", [1, 0], [diagonal, diagonal])) if rank == 1 else ("fits", True)


def part_of_a_graph(rank, row, column, diagonal):
    """Rank 1 has a break between both collectives, changes nothing, and waits for rank 0 in the first of them."""
    if rank > 1:
        return "fits", True
    whats = [f"{kind} of part_of_a_graph" for kind in (GATHER, REDUCE)]
    groups, order = ([row], [0]) if rank else ([row, row], [1, 0])
    return run(make_record("", order, groups, whats[: len(groups)]))


def two_that_wait(rank, row, column, diagonal):
    """Both have changed a graph that the other one does not have."""
    return run(make_record(f"two_that_wait {rank % 2}", [1, 0], [row, row]))


def one_rank_has_one_more(rank, row, column, diagonal):
    """An unchanged graph of rank 0 whose collective the others issue themselves, and one that all have."""
    import torch
    import torch.distributed as dist

    if rank == 0:
        run(make_record("one_rank_has_one_more", [0], [row]))
    dist.all_reduce(torch.ones(1), group=dist.distributed_c10d._resolve_process_group(row))
    return run(make_record("one_rank_has_one_more, both", [1, 0], [row, row]))


def two_orders_of_one_program(rank, row, column, diagonal):
    """A program that was compiled with several options: ranks come to the second order at different times."""
    results = []
    for order in ([0, 1, 2], [1, 0, 2], [2, 0, 1]):
        if rank % 2:
            time.sleep(0.05)
        results.append(run(make_record("two_orders_of_one_program", order, [row, row, row])))
    return results[-1] if all(text == "fits" for text, _ in results) else ("failed", results)


def error_of_a_peer(rank, row, column, diagonal):
    """Those in the program's order go on, and hear of the error of rank 3 if they have collectives with it."""
    if rank == 3:
        wait_until_done("error_of_a_peer", 0, 1, 2)
    return run(make_record("error_of_a_peer", [1, 0] if rank == 3 else [0, 1], [row, column]), "error_of_a_peer")


def error_before(rank, row, column, diagonal):
    """Rank 3 raises an error because of rank 2 before rank 1 comes, whose order fits. Rank 1 raises it, too, and then rank 0."""
    groups, order = [row], [0]
    if rank == 3:
        wait_until_done("error_before", 2)
        groups, order = [row, row, column, column], [1, 0, 2, 3]
    elif rank == 2:
        groups, order = [row, row], [0, 1]
    elif rank == 1:
        groups, order = [row, column, column], [0, 1, 2]
        wait_for_error(3, "error_before")
    else:
        wait_for_error(1, "error_before")
    return run(make_record("error_before", order, groups), "error_before")


def error_that_is_over(rank, row, column, diagonal):
    """Rank 1 has raised an error, and then runs the order of rank 0: rank 0 may run that, too."""
    changed, kept = (make_record("error_that_is_over", order, [row, row]) for order in ([1, 0], [0, 1]))
    if rank % 2 == 0:
        first = run(kept, "error_that_is_over")
        wait_until_done("error_that_is_over", rank + 1)
        return first if first[0] != "fits" else run(kept)
    wait_until_done("error_that_is_over", rank - 1)
    first = run(changed)
    return run(kept, "error_that_is_over") if "in different orders" in first[0] else first


CASES = (
    missing,
    equal_orders,
    different_orders,
    different_orders_first,
    circle,
    circle_of_programs,
    other_programs,
    part_of_a_graph,
    two_that_wait,
    one_rank_has_one_more,
    two_orders_of_one_program,
    error_before,
    error_that_is_over,
    error_of_a_peer,
)


class Log(logging.Handler):
    """Keeps what the logger "braid" says."""

    def __init__(self):
        super().__init__()
        self.texts = []
        logging.getLogger("braid").addHandler(self)

    def emit(self, record):
        self.texts.append(record.getMessage())

    def wait_for(self, text):
        end = time.monotonic() + TIMEOUT
        while not any(text in one for one in self.texts) and time.monotonic() < end:
            time.sleep(0.01)


def run_rank(rank, store, output):
    import torch
    import torch.distributed as dist
    from braid._first_run import _Board

    torch_ranks.say_where()
    log = Log()
    torch_ranks.init_group(store, rank, RANKS)
    timeout = datetime.timedelta(seconds=TIMEOUT)
    rows, columns = [
        [dist.new_group(ranks, timeout=timeout) for ranks in lists] for lists in (((0, 1), (2, 3)), ((0, 2), (1, 3)))
    ]
    row, column = rows[rank // 2], columns[rank % 2]
    # Groups with a short timeout have to be made by all ranks at once.
    dist.barrier()
    diagonal = dist.new_group((1, 2), timeout=datetime.timedelta(seconds=SHORT_TIMEOUT))
    results = {}
    for case in CASES:
        # The ranks' groups have seen as many collectives, as in a program that goes on together.
        for group in (row, column):
            dist.all_reduce(torch.ones(1), group=group)
        name = diagonal.group_name if rank in (1, 2) else None
        results[case.__name__] = case(rank, row.group_name, column.group_name, name)
        dist.barrier()
    # Errors come in one sequence: those before the last are there as well.
    if rank == 3:
        _Board.get().errors.post(range(RANKS), "the last one")
    log.wait_for("the last one")
    results["log"] = log.texts
    with open(f"{output}.{rank}", "w") as file:
        json.dump(results, file)
    dist.barrier()
    dist.destroy_process_group()


class FirstRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        with tempfile.TemporaryDirectory() as folder:
            output, store = os.path.join(folder, "output"), os.path.join(folder, "store")
            arguments = [[__file__, str(rank), store, output] for rank in range(RANKS)]
            # Cases end with errors on some ranks, and the others go on.
            environments = [{"BRAID_PEER_ERROR_SECONDS": "0"}] * RANKS
            torch_ranks.run_ranks(folder, arguments, environments, imports=("torch.distributed",))
            cls.results = []
            for rank in range(RANKS):
                with open(f"{output}.{rank}") as file:
                    cls.results.append(json.load(file))

    def get(self, case):
        """What each rank's check said. None waits for the long timeout."""
        results = [results[case] for results in self.results]
        self.assertTrue(all(is_quick is True for _, is_quick in results), results)
        return [text for text, _ in results]

    def test_what_fits(self):
        for case in ("equal_orders", "other_programs", "one_rank_has_one_more", "two_orders_of_one_program"):
            self.assertEqual(self.get(case), ["fits"] * RANKS, case)

    def test_different_orders(self):
        texts = self.get("different_orders")
        # Rank 0 keeps the program's order, and waits for nobody.
        self.assertEqual(texts[0], "fits")
        self.assertIn(
            "ranks 1 and 0 run the collectives of a graph in different orders: of 2, number 1 is all_reduce sum float32 of "
            "different_orders of process group '1' (ranks 0 1), number 2 of the program, on rank 1, and all_reduce sum float32 of "
            "different_orders of process group '1' (ranks 0 1), number 1 of the program, on rank 0. Rank 1 has min_gain=1, "
            "rank 0 has min_gain=0. Give all ranks the same options",
            texts[1],
        )

    def test_who_comes_last_raises_as_well(self):
        texts = self.get("different_orders_first")
        for rank, text in enumerate(texts):
            self.assertIn(f"ranks {rank} and {rank ^ 1} run the collectives of a graph in different orders", text)

    def test_an_error_before(self):
        texts = self.get("error_before")
        self.assertEqual(texts[2], "fits")
        self.assertIn("ranks 3 and 2 run the collectives of a graph in different orders", texts[3])
        self.assertTrue(texts[1].startswith("rank 3 has raised an error in this graph, and does not come to its collectives with rank 1"))
        self.assertTrue(texts[0].startswith("rank 1 has raised an error in this graph, and does not come to its collectives with rank 0"))
        self.assertIn("ranks 3 and 2 run", texts[0])
        self.assertEqual(self.get("error_that_is_over"), ["fits"] * RANKS)

    def test_circles(self):
        texts = self.get("circle")
        for rank in (1, 2):
            self.assertIn("in different orders", texts[rank])
        texts = self.get("circle_of_programs")
        self.assertEqual(texts[1:3], ["fits", "fits"])
        for rank in (0, 3):
            self.assertIn("of groups that only one of them belongs to, where ranks could wait in a circle", texts[rank])

    def test_missing(self):
        text = self.get("missing")[1]
        self.assertIn("rank 2 of process group '5' (ranks 1 2) did not run it before the timeout", text)
        self.assertIn("not compiled, or without Braid there", text)

    def test_errors_of_peers(self):
        self.assertEqual(self.get("error_of_a_peer")[:3], ["fits"] * 3)
        logs = [results["log"] for results in self.results]
        for rank in (1, 2):
            self.assertIn(f"Rank 3 has raised an error before its collectives with rank {rank}", logs[rank][-2])
            self.assertIn("run the collectives of a graph in different orders", logs[rank][-2])
        # Rank 0 has no collectives with rank 3 there.
        self.assertFalse([text for text in logs[0] if "error_of_a_peer" in text])
        self.assertTrue([text for text in logs[0] if "Rank 1 has raised" in text and "different_orders" in text])

    def test_another_graph(self):
        texts = self.get("part_of_a_graph")
        self.assertEqual(texts[1:], ["fits"] * 3)
        self.assertIn(
            "ranks 0 and 1 are about to run different graphs: that of rank 0 has all_reduce sum float32 of part_of_a_graph of "
            "process group '1' (ranks 0 1) as collective 2, that of rank 1 ends after 1 collectives. ",
            texts[0],
        )
        for text in self.get("two_that_wait"):
            self.assertIn("are about to run different graphs", text)


class Records(unittest.TestCase):
    def test_text(self):
        from braid._first_run import Record

        record = make_record("text", [2, 0, 1], ["a", "b", "a"], [GATHER, REDUCE, GATHER], "keep_order=True")
        self.assertEqual(Record.from_text(record.to_text()), record)

    def test_projections(self):
        record = make_record("projections", [3, 0, 2, 1], ["a", "b", "a", "b"])
        program, order = record.project(["b"])
        self.assertEqual([group for group, _ in program], ["b", "b"])
        self.assertEqual(order, [1, 0])
        self.assertFalse(record.keeps_groups_apart())
        self.assertTrue(make_record("projections", [1, 0, 2], ["a", "a", "b"]).keeps_groups_apart())
        self.assertFalse(make_record("projections", [0, 2, 1], ["a", "a", "b"]).keeps_groups_apart())

    def test_one_pass_behind_another(self):
        first = make_record("then", [1, 2, 0], ["a", "b", "c"])
        second = make_record("then", [2, 1, 0], ["b", "c", "a"])
        self.assertEqual(first.then(second).order, [0, 2, 1])
        self.assertIsNone(first.then(make_record("then", [0], ["b"])))


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_rank(int(sys.argv[1]), sys.argv[2], sys.argv[3])
    else:
        unittest.main()

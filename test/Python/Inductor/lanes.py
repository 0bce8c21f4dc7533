"""Collectives of braid.inductor in lanes of their own, over gloo: process groups that the first run makes, and results of gathers in
memory that they share. Results are those of the program."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import json
import sys
import unittest
from unittest import mock

import torch_ranks
import torch_steps
from braid._registered_memory import ALIGNMENT, place
from braid.errors import ScheduleError

RANKS = 2


def make_step(layers=4, size=256):
    """Layers whose weights are gathered where they are read, and the gradient of each scattered: as FSDP. No op of it needs a C++
    compiler."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, *shards):
        scattered = []
        for shard in shards:
            weight = funcol.all_gather_tensor(shard, 0, world)
            x = x @ weight
            scattered.append(funcol.reduce_scatter_tensor(x.t() @ x, "sum", 0, world))
        return x, *scattered

    def make_inputs(seed):
        generator = torch.Generator().manual_seed(seed)
        shards = [torch.randn(size // RANKS, size, generator=generator) / size**0.5 for _ in range(layers)]
        return [torch.randn(64, size, generator=generator), *shards]

    return step, make_inputs


def compile_step(step, *more, **options):
    """`more`: passes behind Braid's."""
    import torch
    from braid.inductor import Overlap

    overlap = Overlap(**{"machine": "cpu", "min_gain": 0, "lanes": True, **options})
    config = {
        "compile_threads": 1,
        "fx_graph_cache": False,
        "reorder_for_compute_comm_overlap": True,
        "reorder_for_compute_comm_overlap_passes": [overlap, *more],
    }
    return overlap, torch.compile(step, options=config)


def get_code(function, inputs):
    from torch._inductor.utils import run_and_get_code

    result, code = run_and_get_code(function, *inputs)
    return result, "".join(code)


def check(rank, compiled, step, make_inputs, seeds):
    import torch

    for seed in seeds:
        inputs = make_inputs(seed + rank)
        expected = step(*inputs)
        for one, other in zip(compiled(*inputs), expected):
            torch.testing.assert_close(one, other)


def equal_to_the_program(rank):
    from braid import _lanes
    from braid.inductor import explain

    step, make_inputs = make_step()
    overlap, compiled = compile_step(step)
    _, code = get_code(compiled, make_inputs(0))
    check(rank, compiled, step, make_inputs, (1, 2, 3))
    (room,) = next(iter(_lanes._Room._of_world.values())).values()
    memory = room.lanes["copy", 0].memory
    return {
        "in lanes": code.count(" = braid_lanes_"),
        "begin": code.count(".begin()"),
        "bytes": sum(memory.sizes),
        "reason": overlap.reason,
        "notes": overlap.notes,
        "explained": str(explain()[-1]),
    }


def a_result_that_escapes(rank):
    """The caller keeps a gathered weight, which the next run must not write to."""
    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    world = dist.group.WORLD.group_name

    def step(x, first, second):
        weight, kept = funcol.all_gather_tensor(first, 0, world), funcol.all_gather_tensor(second, 0, world)
        return x @ weight @ kept, kept.view(-1)

    _, compiled = compile_step(step)
    inputs = [torch.randn(8, 256), torch.randn(128, 256), torch.randn(128, 256)]
    (_, kept), code = get_code(compiled, inputs)
    before = kept.clone()
    inputs[2] = inputs[2] + 1
    compiled(*inputs)
    torch.testing.assert_close(kept, before, rtol=0, atol=0)
    return {"in lanes": code.count(" = braid_lanes_")}


def graphs_share_memory(rank):
    """A larger graph takes what a smaller one has, and adds what is missing."""
    from braid import _lanes

    sizes = []
    for layers in (2, 2, 5):
        step, make_inputs = make_step(layers)
        _, compiled = compile_step(step)
        check(rank, compiled, step, make_inputs, (1, 2))
        (room,) = next(iter(_lanes._Room._of_world.values())).values()
        sizes.append(room.lanes["copy", 0].memory.sizes)
    return {"sizes": sizes}


def a_pass_behind(rank):
    """The memory of results is that of the order in which they run: here all gathers begin at once."""
    from braid import _lanes

    def start_all(snodes):
        is_gather = lambda snode: "all_gather" in str(getattr(snode.node, "op_overload", None))  # noqa: E731
        return sorted(snodes, key=lambda snode: not is_gather(snode))

    step, make_inputs = make_step()
    _, compiled = compile_step(step, start_all)
    check(rank, compiled, step, make_inputs, (1, 2, 3))
    (room,) = next(iter(_lanes._Room._of_world.values())).values()
    return {"bytes": sum(room.lanes["copy", 0].memory.sizes)}


def one_rank_cannot(rank):
    """All ranks run what the program has, and say why. The error, whose frames have the tensors of the step, does not live on."""
    import gc
    import weakref

    from braid import _lanes

    step, make_inputs = make_step()
    _, compiled = compile_step(step)
    real, refused = _lanes._Lane.place, []

    class NoMemory(RuntimeError):
        def __init__(self):
            super().__init__("no more memory")
            refused.append(weakref.ref(self))

    def refuse(lane, planned):
        if rank == 1:
            raise NoMemory
        return real(lane, planned)

    with mock.patch.object(_lanes._Lane, "place", refuse), unittest.TestCase().assertLogs("braid.inductor") as logs:
        gc.disable()
        compiled(*make_inputs(rank))
        alive = sum(error() is not None for error in refused)
        gc.enable()
        logged = "\n".join(logs.output)
    check(rank, compiled, step, make_inputs, (1, 2))
    return {"logged": [line for line in logged.splitlines() if "run without lanes" in line], "errors": [len(refused), alive]}


def groups_that_end(rank):
    """Nothing keeps the groups of a job that has ended; the next one in the same process makes lanes of its own."""
    import gc
    import weakref

    import torch.distributed as dist

    step, make_inputs = make_step()
    _, compiled = compile_step(step)
    check(rank, compiled, step, make_inputs, (1,))
    world = weakref.ref(dist.group.WORLD)
    dist.barrier()
    dist.destroy_process_group()
    gc.collect()
    is_gone = world() is None
    torch_ranks.init_group(f"{sys.argv[1]}-again", rank, RANKS)
    check(rank, compiled, step, make_inputs, (2, 3))
    return {"is gone": is_gone}


def two_threads(rank):
    """Each runs the graph on a stream of its own, and ops of the graph let them take turns, so that each gather of one thread stands
    between a gather and its reader of the other."""
    import threading

    import torch
    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol
    from braid import _lanes

    world, batons, streams = dist.group.WORLD.group_name, {}, threading.local()

    @torch.library.custom_op("braid_test::take_turns", mutates_args=())
    def take_turns(x: torch.Tensor) -> torch.Tensor:
        mine, other = batons.get(threading.get_ident(), (None, None))
        if mine is not None:
            other.release()
            if not mine.acquire(timeout=60):
                raise RuntimeError("the other thread has ended")
        return x.clone()

    take_turns.register_fake(torch.empty_like)

    def step(x, *shards):
        for shard in shards:
            weight = funcol.all_gather_tensor(take_turns(shard), 0, world)
            x = x @ take_turns(weight)
        return x

    _, make_inputs = make_step()
    _, compiled = compile_step(step)
    inputs, found = [make_inputs(seed + rank) for seed in (1, 2)], [None, None]
    turns = [threading.Semaphore(0), threading.Semaphore(0)]

    def run(number):
        streams.own, batons[threading.get_ident()] = number, (turns[number], turns[1 - number])
        if turns[number].acquire(timeout=60):
            found[number] = compiled(*inputs[number])
            turns[1 - number].release()

    with mock.patch.object(_lanes.Lanes, "_get_stream", lambda self: streams.own):
        expected = []
        for streams.own in range(2):
            expected.append(compiled(*inputs[streams.own]))
        threads = [threading.Thread(target=run, args=(number,)) for number in range(2)]
        for thread in threads:
            thread.start()
        turns[0].release()
        for thread in threads:
            thread.join()
    (rooms,) = _lanes._Room._of_world.values()
    return {"rooms": len(rooms), "equal": [one is not None and one.equal(other) for one, other in zip(found, expected)]}


SCENARIOS = {
    f.__name__: f
    for f in (equal_to_the_program, a_result_that_escapes, graphs_share_memory, a_pass_behind, two_threads, one_rank_cannot, groups_that_end)
}


class Places(unittest.TestCase):
    """Where results stand in the memory of a lane."""

    def test_results_that_live_at_once_share_no_byte(self):
        intervals = [(0, 4, 1000), (2, 6, 3000), (5, 9, 1000), (7, 9, 2000)]
        places, more = place(intervals, [])
        self.assertEqual({chunk for chunk, _ in places}, {0})
        spans = [(first, last, at, at + size) for (first, last, size), (_, at) in zip(intervals, places)]
        for index, (first, last, begin, end) in enumerate(spans):
            self.assertEqual(begin % ALIGNMENT, 0)
            for other_first, other_last, other_begin, other_end in spans[:index]:
                apart_in_time = last < other_first or other_last < first
                self.assertTrue(apart_in_time or end <= other_begin or other_end <= begin)
        # No less is possible: 3000 and 2000 or 1000 bytes live at once.
        self.assertEqual(more, 3072 + 1024)

    def test_chunks_that_exist_come_first(self):
        places, more = place([(0, 1, 512), (0, 1, 1024), (1, 2, 512)], [1024])
        self.assertEqual(places, [(1, 0), (0, 0), (1, 512)])
        self.assertEqual(more, 1024)

    def test_no_more_where_all_fit(self):
        self.assertEqual(place([(0, 1, 512), (2, 3, 700)], [1024]), ([(0, 0), (0, 0)], 0))


def run_rank(store, rank):
    """Each scenario has groups of its own."""
    import gc

    import torch

    for name, scenario in SCENARIOS.items():
        torch._dynamo.reset()
        with torch_ranks.gloo(f"{store}-{name}", rank, RANKS):
            print("told", json.dumps({name: scenario(rank)}))
        gc.collect()


class Choice(unittest.TestCase):
    """Lanes are taken where the profile of the machine has measured them, and the whole graph gains."""

    @classmethod
    def setUpClass(cls):
        torch_steps.start_fake_group(4)

    def choose(self, width=4096, before=(), **options):
        import torch
        from braid.inductor import Overlap, lanes
        from torch._subclasses import FakeTensorMode

        step, _ = make_step()
        with FakeTensorMode():
            shards = [torch.empty(width // 4, width, dtype=torch.bfloat16) for _ in range(6)]
            inputs = torch.empty(4096, width, dtype=torch.bfloat16), *shards
        overlap = Overlap(**{"machine": "h200x8", "agree": False, "keep_order": False, **options})
        with mock.patch.object(lanes, "_DEVICES", {"cpu"}):
            torch_steps.compile_until_scheduled(step, inputs, [*before, overlap])
        self.assertIsNone(overlap.reason)
        return overlap

    def test_gathers_by_copy_engines(self):
        overlap, without = self.choose(), self.choose(lanes=False)
        self.assertIn("all_gather runs by copy engines", overlap.notes)
        self.assertLess(overlap.last.makespan, without.last.makespan)
        # What the graph takes as it comes has nothing of lanes.
        self.assertEqual(overlap.before.makespan, without.before.makespan)

    def test_lanes_that_a_user_sets(self):
        notes = self.choose(lanes={"all_gather": 0, "reduce_scatter": 4}).notes
        self.assertEqual(notes[:2], ["all_gather runs in a lane of its own", "reduce_scatter runs in a lane of its own with at most 4 thread blocks"])
        for wrong in ({"reduce_scatter": "copy"}, {"all_to_all": 4}, {"all_gather": -1}):
            with self.assertRaisesRegex(ScheduleError, "expected by kind"):
                self.choose(lanes=wrong)

    def test_nobody_has_measured_four_ranks(self):
        self.assertEqual(self.choose(machine="h100x8").notes, [])

    def test_no_profile(self):
        self.assertEqual(self.choose(profile=None).notes, [])

    def test_behind_another_pass(self):
        first = self.choose()
        self.assertIn("all_gather runs by copy engines", self.choose(before=[first]).notes)

    def test_a_name_that_is_missing(self):
        from braid.inductor import lanes

        with mock.patch.object(lanes, "find_missing", lambda: "cta_policy"):
            notes = self.choose().notes
        self.assertRegex(notes[-1], r"^all_gather has no copy engines: PyTorch \S+ has no cta_policy$")
        self.assertNotIn("all_gather runs by copy engines", notes)

    def test_small_gathers(self):
        self.assertNotIn("all_gather runs by copy engines", self.choose(width=512).notes)


class Lanes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        """All scenarios run in one process a rank, whose first compile takes as long as ten further ones."""
        cls.told = [{} for _ in range(RANKS)]
        for told, output in zip(cls.told, torch_ranks.run_script(__file__, RANKS)):
            for line in output.splitlines():
                if line.startswith("told "):
                    told.update(json.loads(line.removeprefix("told ")))

    def get(self, scenario):
        return [told[scenario] for told in self.told]

    def test_equal_to_the_program(self):
        told, other = self.get("equal_to_the_program")
        self.assertEqual(told, other)
        self.assertIsNone(told["reason"])
        self.assertEqual((told["in lanes"], told["begin"]), (4, 1))
        self.assertIn("all_gather runs by copy engines", told["notes"])
        self.assertRegex(told["explained"], r"braid.inductor changed (the order and )?the lanes: .* ms")
        # Four weights of 256 KiB, of which not all live at once.
        self.assertLess(told["bytes"], 4 << 18)

    def test_a_result_that_escapes(self):
        for told in self.get("a_result_that_escapes"):
            self.assertEqual(told["in lanes"], 1)

    def test_graphs_share_memory(self):
        told, other = self.get("graphs_share_memory")
        self.assertEqual(told, other)
        first, second, third = told["sizes"]
        self.assertEqual(first, second)
        self.assertEqual(third[: len(first)], first)

    def test_a_pass_behind(self):
        for told in self.get("a_pass_behind"):
            self.assertEqual(told["bytes"], 4 << 18)

    def test_two_threads(self):
        for told in self.get("two_threads"):
            self.assertEqual(told, {"rooms": 2, "equal": [True, True]})

    def test_groups_that_end(self):
        self.assertEqual([told["is gone"] for told in self.get("groups_that_end")], [True, True])

    def test_one_rank_cannot(self):
        for rank, told in enumerate(self.get("one_rank_cannot")):
            self.assertRegex(told["logged"][0], "run without lanes of their own: rank 1 cannot make them: NoMemory: no more memory")
            self.assertEqual(told["errors"], [rank, 0])


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()

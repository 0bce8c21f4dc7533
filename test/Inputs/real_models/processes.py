# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a case on all of its ranks, and tells what each way of compiling it gave."""

import dataclasses
import functools
import json
import os
import sys
import tempfile

#: Passes by name: functions from (kind of order, seed, number) to (pass over scheduler nodes, pass over the FX graph).
PASSES = (
    "inductor",
    "inductor keep",
    "inductor defaults",
    "inductor drawn",
    "inductor lanes",
    "inductor lanes drawn",
    "fx",
    "fx keep",
    "fx drawn",
    "both",
    "both keep",
    "both drawn",
)
#: How a case runs (`Plan`).
MODES = ("ranks", "late", "steps")


def make_passes(name, seed):
    """The passes of this name (`PASSES`): over scheduler nodes and over the FX graph, None where there is none."""
    import braid.fx
    import braid.inductor

    from .orders import drawn

    # Everything takes long, so that the search has reasons to move all that may move.
    options = {"machine": "h100x8", "min_gain": 0, "estimates": _estimate}
    where, _, how = name.partition(" ")
    options |= {"keep_order": True} if how == "keep" else {}
    lanes = {"lanes": True} if how.startswith("lanes") else {}
    options |= lanes

    def make(kind):
        if how.endswith("drawn"):
            return drawn(kind, seed, **lanes)
        return kind() if how == "defaults" else kind(**options)

    scheduler = make(braid.inductor.Overlap) if where in ("inductor", "both") else None
    return scheduler, make(braid.fx.Overlap) if where in ("fx", "both") else None


def _estimate(node):
    return 100_000


@dataclasses.dataclass(frozen=True)
class Plan:
    """What to compile of a case: all passes with all settings; `orders` random orders where a pass draws them.

    `mode`, one of `MODES`: "ranks" over Gloo compile the graphs of a step again, "late" is one process with the collectives of `late`,
    and in "steps" ranks over Gloo train as a user's program does.
    """

    settings: tuple = ("plain",)
    passes: tuple = ("inductor", "inductor keep", "inductor drawn")
    orders: int = 4
    seed: int = 0
    mode: str = "ranks"

    def make_ways(self):
        from .compare import Compiled

        for setting in self.settings:
            for name in self.passes:
                for number in range(self.orders if name.endswith("drawn") else 1):
                    seed = self.seed + number
                    label = f"{name} {seed}" if name.endswith("drawn") else name
                    yield Compiled(setting, *make_passes(name, seed), label)


@dataclasses.dataclass
class Outcome:
    """What one way of compiling gave on a rank; `setting` "eager" is the comparison of the model with itself."""

    rank: int
    setting: str
    name: str
    differences: list
    #: Graphs for which passes were called, those among them whose order changed, and why a pass kept an order.
    graphs: int = 0
    moved: int = 0
    reasons: list = dataclasses.field(default_factory=list)
    #: Why there is nothing to compare: PyTorch fails without passes, or None.
    failure: "str | None" = None


@functools.cache
def _make_cache():
    """A folder for the kernels of all cases of this process, whose ranks are forks of one process, too."""
    return tempfile.TemporaryDirectory()


def run_case(case, plan, seconds=270, cache=None):
    """The `Outcome`s of a `compare.Case` on all ranks; raises `AssertionError` if a rank fails or hangs."""
    import torch_ranks

    cache = cache or _make_cache().name
    with tempfile.TemporaryDirectory() as folder:
        spec = json.dumps([dataclasses.asdict(case), dataclasses.asdict(plan)])
        ranks = range(1 if plan.mode == "late" else case.ranks)
        outputs = [os.path.join(folder, f"output{rank}") for rank in ranks]
        environment = {"TORCHINDUCTOR_CACHE_DIR": os.path.join(cache, "kernels"), **torch_ranks.make_compiler(cache)}
        if "CXX" in environment:
            # Inductor keeps precompiled headers in the folder of temporary files; those of lit's compiler all tests share.
            environment["TMPDIR"] = cache
        inputs = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
        paths = [inputs, *filter(None, [os.environ.get("PYTHONPATH")])]
        environment["PYTHONPATH"] = os.pathsep.join(paths)
        words = [os.path.join(folder, "store"), spec]
        torch_ranks.run_ranks(
            folder,
            [["-m", __name__, str(rank), outputs[rank], *words] for rank in ranks],
            [environment] * len(ranks),
            seconds,
            (*torch_ranks.IMPORTS, "real_models.compare", "transformers.modeling_utils"),
        )
        found = []
        for path in outputs:
            with open(path) as file:
                found += [Outcome(**json.loads(line)) for line in file]
        return found


def _run_rank(rank, output, store, spec):
    import logging

    import torch
    import torch.distributed as dist
    import torch_ranks
    from braid.inductor import explain

    from . import late
    from .compare import Case, check, describe
    from .record import Recording
    from .settings import describe_gpu, keep_collectives
    from .steps import Steps

    torch_ranks.say_where()
    describe_gpu()
    keep_collectives()
    logging.disable(logging.WARNING)
    torch.set_num_threads(1)
    case, plan = json.loads(spec)
    case = Case(**case)
    plan = Plan(**{name: tuple(value) if isinstance(value, list) else value for name, value in plan.items()})
    if plan.mode == "late":
        late.start_group(case.ranks)
    else:
        torch_ranks.init_group(store, rank, case.ranks)
    with open(output, "w") as file:

        def tell(*words, **more):
            file.write(json.dumps(dataclasses.asdict(Outcome(rank, *words, **more))) + "\n")
            file.flush()

        try:
            recording = Steps(case, rank, plan.settings[0]) if plan.mode == "steps" else Recording(case, rank)
            differences = recording.check_against_eager()
        except Exception as error:  # No pass has run.
            tell("eager", "", [], failure=f"PyTorch fails without passes: {describe(error)}")
            # Peers may wait for this rank in a collective.
            os._exit(0)
        tell("eager", "", differences, graphs=len(recording.graphs))
        known = len(explain())
        for way, differences, failure in check(recording, plan.make_ways()):
            calls = [call for graph in explain()[known:] for call in graph.calls]
            known = len(explain())
            reasons = sorted({call.why for call in calls if call.why})
            moved = sum(call.changed for call in calls)
            tell(way.setting, way.name, differences, graphs=len(calls), moved=moved, reasons=reasons, failure=failure)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    _run_rank(int(sys.argv[1]), *sys.argv[2:])

"""braid.torchtitan: where its pass stands among those of torchtitan, what it says where torchtitan lacks something, and, where
torchtitan is installed, the losses of its trainer on two ranks."""

# REQUIRES: package, torch
# RUN: %package_python -W ignore %s

import importlib.metadata
import importlib.util
import json
import os
import runpy
import sys
import tempfile
import types
import unittest
from unittest import mock

import braid.torchtitan
import torch_ranks
from braid.errors import BraidError

GRAPH_TRAINER = "torchtitan.experiments.graph_trainer"
RANKS = 2
#: What ranks have imported when they begin; the first one replaces what torchtitan asks of a GPU.
IMPORTS = (
    "torchtitan_training", *torch_ranks.IMPORTS, f"{GRAPH_TRAINER}.llama3.config_registry", "braid.torchtitan",
)  # fmt: skip
FSDP = [
    "--module=graph_trainer.llama3", "--config=graph_trainer_llama3_debugmodel_sdpa",
    "--parallelism.data_parallel_shard_degree=2",
]  # fmt: skip


def make_stubs():
    """Modules of torchtitan with what the adapter calls."""
    modules = {}
    for name in ("", ".registry", ".passes", ".graph_pp", ".graph_pp.graph_builder"):
        modules[GRAPH_TRAINER + name] = types.ModuleType(GRAPH_TRAINER + name)
    for name in ("torchtitan", "torchtitan.experiments"):
        modules[name] = types.ModuleType(name)

    def bucketing_pass(gm, inputs):
        return gm

    def regional_inductor_pass(gm, inputs):
        return gm

    def full_inductor_compilation_pass(gm, inputs):
        import torch._inductor.config as config

        return config.reorder_for_compute_comm_overlap_passes

    def insert_kernel_annotations_pass(gm, inputs):
        return gm

    def cudagraph_pass(gm, inputs):
        return gm

    def final(compile_config, *, use_cudagraph=False, boxed_codegen=False):
        last = full_inductor_compilation_pass if compile_config.inductor_compilation == "full" else regional_inductor_pass
        return [last, insert_kernel_annotations_pass] if use_cudagraph else [last]

    def construct(traced, config, *, parallel_dims=None):
        before = [] if traced == "artifact" else [bucketing_pass, *final(config.compile, use_cudagraph=False)]
        return [*before, cudagraph_pass]

    registry = {}
    modules[f"{GRAPH_TRAINER}.registry"].PASS_PIPELINE_REGISTRY = registry
    modules[f"{GRAPH_TRAINER}.registry"].register_pass_pipeline = lambda name: lambda function: registry.update({name: function})
    modules[f"{GRAPH_TRAINER}.passes"].construct_default_graph_passes = construct
    modules[f"{GRAPH_TRAINER}.passes"].final_inductor_compile_passes = final
    modules[f"{GRAPH_TRAINER}.graph_pp.graph_builder"].final_inductor_compile_passes = final
    return modules


class Stubs(unittest.TestCase):
    def setUp(self):
        self.modules, self.version = make_stubs(), "0.3.0"
        stubs = mock.patch.dict(sys.modules, self.modules)
        version = mock.patch.object(importlib.metadata, "version", side_effect=lambda name: self.version)
        pipelines = mock.patch.dict(braid.torchtitan.pipeline._pipelines, clear=True)
        for patch in (stubs, version, pipelines):
            patch.start()
            self.addCleanup(patch.stop)

    def get_module(self, name):
        return self.modules[f"{GRAPH_TRAINER}.{name}"]

    def get_passes(self, traced=None, pipeline="braid", disabled=(), compilation="regional"):
        settings = {"disable_passes": list(disabled), "inductor_compilation": compilation, "pass_pipeline": pipeline}
        self.config = types.SimpleNamespace(compile=types.SimpleNamespace(**settings))
        return self.get_module("registry").PASS_PIPELINE_REGISTRY[pipeline](traced, self.config, parallel_dims=None)


def get_names(passes):
    return [one.__name__ for one in passes]


class Places(Stubs):
    def test_behind_passes_that_change_the_graph(self):
        braid.torchtitan.register()
        self.assertEqual(
            get_names(self.get_passes()),
            ["bucketing_pass", "braid_overlap_pass", "regional_inductor_pass", "cudagraph_pass"],
        )

    def test_disabled(self):
        braid.torchtitan.register()
        names = get_names(self.get_passes(disabled=[braid.torchtitan.PASS_NAME]))
        self.assertEqual(names, ["bucketing_pass", "regional_inductor_pass", "cudagraph_pass"])

    def test_in_inductor_where_it_compiles_the_whole_graph(self):
        import torch._inductor.config as config

        braid.torchtitan.register("other", machine="cpu", lanes=False)
        passes = self.get_passes(pipeline="other", compilation="full")
        self.assertEqual(get_names(passes), ["bucketing_pass", "full_inductor_compilation_pass", "cudagraph_pass"])
        before = config.reorder_for_compute_comm_overlap_passes
        (overlap,) = passes[1](None, ())
        self.assertEqual((overlap.options["machine"], overlap.options["lanes"]), ("cpu", False))
        self.assertEqual(config.reorder_for_compute_comm_overlap_passes, before)

    def test_precompiled_artifacts_keep_their_order(self):
        braid.torchtitan.register()
        with self.assertLogs("braid.torchtitan") as logs:
            self.assertEqual(get_names(self.get_passes("artifact")), ["cudagraph_pass"])
        self.assertIn("precompiled artifact", logs.output[0])

    def test_stages_of_pipelines(self):
        braid.torchtitan.register()
        self.get_passes()
        builder = self.get_module("graph_pp.graph_builder")
        passes = builder.final_inductor_compile_passes(self.config.compile, use_cudagraph=False, boxed_codegen=True)
        self.assertEqual(get_names(passes), ["braid_overlap_pass", "regional_inductor_pass"])
        self.config.compile.pass_pipeline = "default"
        passes = builder.final_inductor_compile_passes(self.config.compile, use_cudagraph=False, boxed_codegen=True)
        self.assertEqual(get_names(passes), ["regional_inductor_pass"])


class Missing(Stubs):
    def get_error(self):
        with self.assertRaises(BraidError) as raised:
            braid.torchtitan.register()
        return str(raised.exception)

    def test_no_torchtitan(self):
        with mock.patch.object(importlib.metadata, "version", side_effect=importlib.metadata.PackageNotFoundError):
            self.assertEqual(self.get_error(), "found no package torchtitan, expected torchtitan 0.3 (pip install torchtitan)")
            with self.assertRaises(SystemExit) as raised:
                runpy.run_module("braid.torchtitan", run_name="__main__")
        self.assertIn("braid.torchtitan: error: found no package torchtitan", str(raised.exception.code))

    def test_command_line(self):
        train = types.ModuleType("torchtitan.train")
        train.main = lambda: self.assertIn("braid", self.get_module("registry").PASS_PIPELINE_REGISTRY)
        with mock.patch.dict(sys.modules, {"torchtitan.train": train}):
            runpy.run_module("braid.torchtitan", run_name="__main__")

    def test_hooks(self):
        del self.get_module("registry").register_pass_pipeline
        self.assertEqual(
            self.get_error(), f"found no register_pass_pipeline in {GRAPH_TRAINER}.registry, expected that of torchtitan 0.3"
        )
        self.modules[f"{GRAPH_TRAINER}.registry"] = None
        with mock.patch.dict(sys.modules, self.modules):
            self.assertIn(f"found no module {GRAPH_TRAINER}.registry", self.get_error())

    def test_stages(self):
        del self.get_module("graph_pp.graph_builder").final_inductor_compile_passes
        with self.assertLogs("braid.torchtitan") as logs:
            braid.torchtitan.register()
        self.assertIn("Stages of pipeline parallelism keep the order of torchtitan: found no final_", logs.output[0])
        self.assertIn("braid_overlap_pass", get_names(self.get_passes()))

    def test_another_version(self):
        self.version = "0.30.1"
        with self.assertLogs("braid.torchtitan") as logs:
            braid.torchtitan.register()
        self.assertIn("Braid was never tested with torchtitan 0.30.1, only with 0.3", logs.output[0])


def run_rank(store, rank, settings):
    import torchtitan_training

    with torch_ranks.gloo(store, rank, RANKS):
        torchtitan_training.prepare(rank, RANKS)
        braid.torchtitan.register(machine="cpu", min_gain=0, memory_budget=None)
        found = {pipeline: torchtitan_training.train([*settings, "--compile.pass_pipeline", pipeline]) for pipeline in ("default", "braid")}
        graphs = braid.torchtitan.explain()
    print(json.dumps({**found, "changed": [graph.changed for graph in graphs]}))


@unittest.skipUnless(
    all(map(importlib.util.find_spec, ("torchtitan", "triton"))), "torchtitan is not installed (pip install torchtitan triton)"
)
class Training(unittest.TestCase):
    def check(self, settings):
        with tempfile.TemporaryDirectory() as folder:
            words = [[os.path.abspath(__file__), os.path.join(folder, "store"), str(rank), json.dumps(settings)] for rank in range(RANKS)]
            outputs = torch_ranks.run_ranks(folder, words, [{}] * RANKS, imports=IMPORTS)
        for output in outputs:
            # Triton may say at the end what it has leaked.
            found = json.loads(next(line for line in output.splitlines() if line.startswith("{")))
            self.assertEqual(found["default"], found["braid"])
            self.assertEqual(found["changed"], [True])

    def test_fully_sharded(self):
        self.check(FSDP)


if __name__ == "__main__":
    if len(sys.argv) == 4:
        run_rank(sys.argv[1], int(sys.argv[2]), json.loads(sys.argv[3]))
    else:
        unittest.main()

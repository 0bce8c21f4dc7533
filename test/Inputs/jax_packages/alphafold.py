# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Models of AlphaFold: Haiku."""

import haiku as hk
import jax
import jax.numpy as jnp
from alphafold.model import config as alphafold_config
from alphafold.model import modules

from . import Task, model, normal


@model("Evoformer iteration, 128 x 128", "AlphaFold")
def evoformer(small):
    rows = residues = 8 if small else 128
    config = alphafold_config.model_config("model_1")["model"]
    part = config["embeddings_and_evoformer"]
    batch = {"msa": normal(1, (rows, residues, part["msa_channel"])), "pair": normal(2, (residues, residues, part["pair_channel"])),
             "msa_mask": jnp.ones((rows, residues)), "pair_mask": jnp.ones((residues, residues))}  # fmt: skip

    @hk.transform
    def iterate(batch):
        iteration = modules.EvoformerIteration(part["evoformer"], config["global_config"], is_extra_msa=False)
        masks = {"msa": batch["msa_mask"], "pair": batch["pair_mask"]}
        return iteration({"msa": batch["msa"], "pair": batch["pair"]}, masks, is_training=False)

    parameters = jax.jit(iterate.init)(jax.random.key(0), batch)
    return Task(lambda parameters, batch: iterate.apply(parameters, jax.random.key(0), batch), parameters, batch)

"""The experts of a Mixtral spread over ranks compute what they compute on one, where each has room for all tokens."""

# REQUIRES: package, torch, transformers
# RUN: %package_python -W ignore %s

import copy
import os
import sys
import tempfile
import unittest

import torch_ranks

RANKS = 2


def run_rank(store, rank):
    import torch
    import torch.distributed as dist
    import torch.distributed.nn as dist_nn
    from real_models import experts
    from real_models.parallel import PARALLELISMS
    from real_models.zoo import MODELS

    experts.CAPACITY = 8
    model = MODELS["mixtral"]

    def check(found, gradient, scale):
        dist.all_reduce(gradient)
        torch.testing.assert_close(found, gradient * scale, rtol=1e-4, atol=1e-6)

    with torch_ranks.gloo(store, rank, RANKS):
        torch.manual_seed(0)
        whole = model.make(2)
        spread = PARALLELISMS["ep"].distribute(model, copy.deepcopy(whole), RANKS, True)
        inputs = model.make_inputs(rank, torch.Generator().manual_seed(rank))
        compiled = torch.compile(lambda *given: model.loss(spread, *given), fullgraph=True, backend="aot_eager")
        losses = model.loss(whole, *inputs), compiled(*inputs)
        torch.testing.assert_close(*losses)
        for loss in losses:
            loss.backward()
        theirs, own = (module.model.layers[0] for module in (whole, spread))
        given = theirs.mlp.experts.down_proj.grad
        check(torch.cat(dist_nn.all_gather(own.mlp.experts.down_proj.grad)), given, 1)
        query = own.self_attn.q_proj._parameters["weight"].grad.full_tensor()
        check(query, theirs.self_attn.q_proj.weight.grad, 1 / RANKS)
    print("equal")


class Experts(unittest.TestCase):
    def test_spread_over_ranks(self):
        with tempfile.TemporaryDirectory() as folder:
            words = [[__file__, os.path.join(folder, "store"), str(rank)] for rank in range(RANKS)]
            for output in torch_ranks.run_ranks(folder, words, [{}] * RANKS):
                self.assertIn("equal", output)


if __name__ == "__main__":
    if len(sys.argv) == 3:
        run_rank(sys.argv[1], int(sys.argv[2]))
    else:
        unittest.main()

#!/usr/bin/env python3
"""Passes PyTorch's tensors on GPUs to compiled programs and back, without copies.

    cuda_dlpack.py FOLDER --prepare [--build=build] [--chip=sm_90]
    cuda_dlpack.py FOLDER

The first line, where Braid is built, fills FOLDER with the programs and the Python
package; the second one runs on a machine with GPUs, PyTorch and NumPy, with BRAID_ROOT
as the folder of a bundle, on one GPU and, where they are, on two. Prints a line for
each check; the exit status is 1 if one fails.
"""

import argparse
import os
import shutil
import subprocess
import sys
import traceback

SIZE = 512
SUM = """comm.group @world all
func.func @main(%x: tensor<SIZExSIZExTYPE>) -> tensor<SIZExSIZExTYPE> {
  %t = comm.all_reduce sum %x on @world : tensor<SIZExSIZExTYPE>
  %s = comm.wait %t : !comm.token<tensor<SIZExSIZExTYPE>>
  return %s : tensor<SIZExSIZExTYPE>
}
"""
PRODUCT = """comm.group @world all
func.func @main(%x: tensor<SIZExSIZExbf16>, %w: tensor<SIZExSIZExbf16>) -> tensor<SIZExSIZExbf16> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<SIZExSIZExbf16>
  %f = linalg.fill ins(%z : bf16) outs(%e : tensor<SIZExSIZExbf16>) -> tensor<SIZExSIZExbf16>
  %p = linalg.matmul ins(%x, %w : tensor<SIZExSIZExbf16>, tensor<SIZExSIZExbf16>)
      outs(%f : tensor<SIZExSIZExbf16>) -> tensor<SIZExSIZExbf16>
  %t = comm.all_reduce sum %p on @world : tensor<SIZExSIZExbf16>
  %s = comm.wait %t : !comm.token<tensor<SIZExSIZExbf16>>
  return %s : tensor<SIZExSIZExbf16>
}
"""
DYNAMIC = """comm.group @world all
func.func @main(%x: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %t = comm.all_reduce sum %x on @world : tensor<?x4xf32>
  %s = comm.wait %t : !comm.token<tensor<?x4xf32>>
  return %s : tensor<?x4xf32>
}
"""
DONATED = """comm.group @world all
func.func @main(%x: tensor<SIZExSIZExf32> {comm.donated}) -> tensor<SIZExSIZExf32> {
  %y = arith.addf %x, %x : tensor<SIZExSIZExf32>
  return %y : tensor<SIZExSIZExf32>
}
"""
TYPES = ["f32", "f16", "bf16", "i64"]
PROGRAMS = {**{f"sum_{name}": SUM.replace("TYPE", name) for name in TYPES},
            "product": PRODUCT, "dynamic": DYNAMIC, "donated": DONATED}


def prepare(options):
    """Fills the folder."""
    # The copy of this script in the folder has no such module beside it.
    from python_package import copy_package  # pylint: disable=import-outside-toplevel

    os.makedirs(options.folder, exist_ok=True)
    copy_package(options.folder)
    shutil.copy(os.path.abspath(__file__), options.folder)
    for name, text in PROGRAMS.items():
        source = os.path.join(options.folder, name + ".mlir")
        with open(source, "w", encoding="utf-8") as file:
            file.write(text.replace("SIZE", str(SIZE)))
        subprocess.run([os.path.join(options.build, "bin", "braid-compile"), source,
                        "--target=cuda", f"--chip={options.chip}",
                        "-o", os.path.join(options.folder, name + ".so")], check=True)


class Checks:
    """The checks on a number of GPUs; a check fails by an assertion or another error."""

    def __init__(self, folder, ranks):
        import braid.mlir  # pylint: disable=import-outside-toplevel
        import torch  # pylint: disable=import-error,import-outside-toplevel

        self.torch, self.braid, self.folder, self.ranks = torch, braid.mlir, folder, ranks
        self.programs = {}

    def program(self, name):
        if name not in self.programs:
            path = os.path.join(self.folder, name + ".so")
            self.programs[name] = self.braid.Executable(path)
        return self.programs[name]

    def run(self, name, arguments, **options):
        """The first result of each rank, of a run that copies nothing."""
        program = self.program(name)
        results = [rank[0] for rank in program.run(arguments, **options)]
        assert program.copied_bytes == 0, f"{program.copied_bytes} bytes were copied"
        return results

    def take(self, results):
        """Tensors that share the memory of results."""
        tensors = []
        for rank, result in enumerate(results):
            tensor = self.torch.from_dlpack(result)
            assert tensor.device.index == rank, f"{tensor.device} for rank {rank}"
            again = self.torch.from_dlpack(result)
            assert tensor.data_ptr() == again.data_ptr() != 0, "from_dlpack copies"
            tensors.append(tensor)
        return tensors

    def numbers(self, dtype, rank):
        """Small integers, whose sums every type has."""
        generator = self.torch.Generator(device=f"cuda:{rank}").manual_seed(rank)
        return self.torch.randint(-8, 9, (SIZE, SIZE), generator=generator,
                                  device=f"cuda:{rank}").to(dtype)

    def check_types(self):
        for name, dtype in zip(TYPES, ["float32", "float16", "bfloat16", "int64"]):
            inputs = [self.numbers(getattr(self.torch, dtype), r) for r in range(self.ranks)]
            kept = [x.clone() for x in inputs]
            tensors = self.take(self.run(f"sum_{name}", [[x] for x in inputs]))
            expected = sum(x.cpu() for x in inputs)
            for found, x, before in zip(tensors, inputs, kept):
                assert found.dtype == before.dtype, f"{name}: {found.dtype}"
                assert self.torch.equal(found.cpu(), expected), f"{name}: another sum"
                assert self.torch.equal(x, before), f"{name}: the argument has changed"

    def check_product(self):
        inputs = [[self.numbers(self.torch.bfloat16, r), self.numbers(self.torch.bfloat16, r).t().contiguous()]
                  for r in range(self.ranks)]
        expected = sum(x.cpu().double() @ w.cpu().double() for x, w in inputs)
        for found in self.take(self.run("product", inputs)):
            error = (found.cpu().double() - expected).abs().max() / expected.abs().max()
            assert error < 2**-6, f"the error is {error} of the largest element"

    def check_order(self):
        """Braid waits for what other streams still write, and torch for Braid."""
        torch, inputs = self.torch, []
        for rank in range(self.ranks):
            with torch.cuda.device(rank):
                x = torch.zeros(SIZE, SIZE, device=f"cuda:{rank}")
                torch.cuda.synchronize()
                with torch.cuda.stream(torch.cuda.Stream()):
                    torch.cuda._sleep(200_000_000)  # pylint: disable=protected-access
                    x.fill_(rank + 1)
                inputs.append(x)
        tensors = self.take(self.run("sum_f32", [[x] for x in inputs]))
        expected = float(sum(range(1, self.ranks + 1)))
        for tensor in tensors:
            assert bool((tensor == expected).all()), f"found {tensor[0, 0].item()}"

    def check_memory(self):
        """A result lives as long as what shares it, and is shared in both directions."""
        inputs = [[self.numbers(self.torch.float32, r)] for r in range(self.ranks)]
        results = self.run("sum_f32", inputs)
        tensors = self.take(results)
        kept = [tensor.clone() for tensor in tensors]
        tensors[0][0, 0] = kept[0][0, 0] = 77
        self.torch.cuda.synchronize()
        assert results[0].numpy()[0, 0] == 77, "the result does not share its memory"
        del results
        for _ in range(20):
            self.run("sum_f32", inputs)
        for tensor, before in zip(tensors, kept):
            assert self.torch.equal(tensor, before), "a later run has overwritten a result"

    def check_chain(self):
        """Results are arguments, of a torch tensor and as they are."""
        inputs = [[self.numbers(self.torch.float32, r)] for r in range(self.ranks)]
        results = self.run("sum_f32", inputs)
        tensors = self.take(self.run("sum_f32", [[x] for x in results]))
        expected = self.ranks * sum(x.cpu() for (x,) in inputs)
        assert self.torch.equal(tensors[0].cpu(), expected), "another sum"

    def check_dynamic(self):
        inputs = [[self.torch.full((5, 4), rank + 1.0, device=f"cuda:{rank}")]
                  for rank in range(self.ranks)]
        expected = float(sum(range(1, self.ranks + 1)))
        for tensor in self.take(self.run("dynamic", inputs)):
            assert tuple(tensor.shape) == (5, 4), f"shape {tuple(tensor.shape)}"
            assert bool((tensor == expected).all()), f"found {tensor[0, 0].item()}"

    def check_donated(self):
        inputs = [[self.numbers(self.torch.float32, r)] for r in range(self.ranks)]
        expected = [2 * x for (x,) in inputs]
        for tensor, wanted in zip(self.take(self.run("donated", inputs, donate=True)), expected):
            assert self.torch.equal(tensor, wanted), "another result"

    def check_errors(self):
        x = self.numbers(self.torch.float32, 0)
        cases = [([x.t()], "expected memory without gaps"), ([x[:4]], "expected tensor<")]
        if self.ranks > 1:
            cases.append(([self.numbers(self.torch.float32, 1)], "is on GPU 1, expected GPU 0"))
        for first, text in cases:
            others = [[self.numbers(self.torch.float32, r)] for r in range(1, self.ranks)]
            try:
                self.program("sum_f32").run([first, *others])
            except self.braid.ArgumentError as error:
                assert text in str(error), f"found {error}, expected {text}"
            else:
                assert False, f"no error; expected {text}"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder")
    parser.add_argument("--prepare", action="store_true", help="fill the folder")
    parser.add_argument("--build", default="build", help="the build folder")
    parser.add_argument("--chip", default="sm_90")
    options = parser.parse_args()
    options.folder = os.path.abspath(options.folder)
    if options.prepare:
        prepare(options)
        return 0
    sys.path.insert(0, os.path.join(options.folder, "python"))
    import torch  # pylint: disable=import-error,import-outside-toplevel

    failed = 0
    if torch.cuda.device_count() == 0:
        print("no GPU: PyTorch finds none")
        return 1
    for ranks in range(1, min(2, torch.cuda.device_count()) + 1):
        checks = Checks(options.folder, ranks)
        for name in [name for name in dir(checks) if name.startswith("check_")]:
            try:
                getattr(checks, name)()
                outcome = "passed"
            except Exception as error:  # pylint: disable=broad-exception-caught
                outcome = f"FAILED: {type(error).__name__}: {error}"
                traceback.print_exc()
                failed += 1
            print(f"{ranks} GPU{'s' if ranks > 1 else ''}, {name.removeprefix('check_')}: {outcome}",
                  flush=True)
    print(f"{failed} failed" if failed else "all passed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Checks and times the kernels beside this file, which prepare.py made, on GPU 0.

    run.py [--only=NAME,...] [--rounds=20]

Needs the CUDA driver and PyTorch. Prints for each program the bandwidth, in bytes that must be read and written, beside
that of a device-to-device copy of as many bytes timed in turns with it. Exits with 1 if a result is wrong."""
import argparse
import ctypes
import json
import os
import statistics
import sys

import torch

from figures import record
from reference import REFERENCE, error, tolerance

HERE = os.path.dirname(os.path.abspath(__file__))
LAUNCHES = 5


class Driver:
    """The calls of the CUDA driver that launching takes."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")

    def check(self, status, what):
        if status:
            text = ctypes.c_char_p()
            self.library.cuGetErrorString(status, ctypes.byref(text))
            sys.exit(f"{what}: {text.value.decode() if text.value else status}")

    def load(self, path):
        module = ctypes.c_void_p()
        with open(path, "rb") as file:
            image = file.read()
        self.check(self.library.cuModuleLoadData(ctypes.byref(module), image), path)
        return module

    def function(self, module, name):
        function = ctypes.c_void_p()
        self.check(self.library.cuModuleGetFunction(ctypes.byref(function), module, name.encode()), name)
        return function


def make_input(index, buffer, generator):
    shape, dtype = buffer["shape"], getattr(torch, buffer["dtype"])
    return torch.randn(shape, generator=generator, device="cuda", dtype=torch.float32).to(dtype)


def prepare(driver, program):
    """The launches of a program as a function, its inputs and its results."""
    generator = torch.Generator(device="cuda").manual_seed(1)
    tensors, inputs, outputs = {}, [], []
    for index, (name, buffer) in enumerate(program["buffers"].items()):
        if buffer["direction"] == "in":
            tensors[name] = make_input(index, buffer, generator)
            inputs.append(tensors[name])
        else:
            # Not a number, so that what a kernel leaves out is seen.
            tensors[name] = torch.full(buffer["shape"], float("nan"), device="cuda", dtype=getattr(torch, buffer["dtype"]))
            if buffer["direction"] == "out":
                outputs.append(tensors[name])
    module = driver.load(os.path.join(HERE, program["name"] + ".cubin"))
    calls = []
    for launch in program["launches"]:
        values = [ctypes.c_void_p(tensors[name].data_ptr()) for name in launch["arguments"]]
        pointers = (ctypes.c_void_p * len(values))(*[ctypes.addressof(v) for v in values])
        calls.append((driver.function(module, launch["kernel"]), launch["grid"], launch["block"], pointers, values))
    stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)

    def launch():
        for function, grid, block, pointers, _ in calls:
            driver.check(driver.library.cuLaunchKernel(function, *grid, *block, 0, stream, pointers, None), "cuLaunchKernel")

    return launch, inputs, outputs, tensors


def milliseconds(function):
    start, stop = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    start.record()
    for _ in range(LAUNCHES):
        function()
    stop.record()
    stop.synchronize()
    return start.elapsed_time(stop) / LAUNCHES


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="parts of the names of those that are wanted")
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with open(os.path.join(HERE, "manifest.json")) as file:
        manifest = json.load(file)
    torch.cuda.init()
    torch.zeros(1, device="cuda")
    driver = Driver()
    print(torch.cuda.get_device_name(), "torch", torch.__version__)
    print(f"{'program':24} {'launches':>8} {'error':>9} {'GB/s':>7} {'copy':>7} {'of copy':>7}")
    failed = 0
    for program in manifest:
        if not any(part in program["name"] for part in options.only.split(",")):
            continue
        launch, inputs, outputs, tensors = prepare(driver, program)
        launch()
        torch.cuda.synchronize()
        expected = REFERENCE[program["kind"]](*[t.double() for t in inputs])
        result = outputs[0]
        depth = max(1, inputs[0].numel() // max(1, result.numel()))
        found = error(result, expected)
        # A comparison with something that is no number is false.
        right = found <= tolerance(program["kind"], str(result.dtype), depth) and result.shape == expected.shape
        first = result.clone()
        launch()
        torch.cuda.synchronize()
        same = torch.equal(first, result)
        del expected, first
        bytes_moved = sum(t.numel() * t.element_size() for t in inputs + outputs)
        source = torch.empty(bytes_moved // 2, dtype=torch.uint8, device="cuda")
        target = torch.empty_like(source)
        times, copies = [], []
        for _ in range(3 + options.rounds):
            times.append(milliseconds(launch))
            copies.append(milliseconds(lambda: target.copy_(source)))
        rate = bytes_moved / statistics.median(times[3:]) / 1e6
        copy = bytes_moved / statistics.median(copies[3:]) / 1e6
        record(f"{program['name']}, of a copy", rate / copy, "", "higher")
        note = ("" if right else "  WRONG") + ("" if same else "  DIFFERS BETWEEN RUNS")
        failed += bool(note)
        print(f"{program['name']:24} {len(program['launches']):8} {found:9.1e} {rate:7.0f} {copy:7.0f} {rate / copy:7.3f}{note}", flush=True)
        del launch, inputs, outputs, tensors, source, target, result
        torch.cuda.empty_cache()
    print(f"{failed} wrong" if failed else "all right")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())

# Part of the Braid Project, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Programs of MLIR: parse, transform, report, compile."""

import copy
import json
import os
import tempfile

from .errors import ArgumentError
from .executable import Executable
from .pass_options import pass_options
from .tools import run_tool

_LEVEL_VARIABLE = "BRAID_OPTIMIZATION_LEVEL"
_REPORT_FORMATS = ("text", "json", "trace", "html")


class Program:
    """A program that braid-opt has parsed and verified.

    text: the program, as braid-opt prints it
    """

    def __init__(self, text):
        """Parses and verifies `text`, which tools call <stdin> in their messages.

        Raises ToolError, with the location and the op, for a program that is not
        valid.
        """
        self._source = text
        self._path = None
        self.text = self._run("braid-opt", [])

    @classmethod
    def from_file(cls, path):
        """The program of a file, which messages name."""
        program = cls.__new__(cls)
        with open(path, encoding="utf-8") as file:
            program._source = file.read()
        program._path = os.path.abspath(path)
        program.text = program._run("braid-opt", [])
        return program

    def __str__(self):
        return self.text

    def _run(self, tool, options):
        """What a tool makes of the program as it was written, whose places its
        messages name."""
        if self._path:
            return run_tool(tool, [*options, self._path])[0]
        return run_tool(tool, [*options, "-"], self._source)[0]

    def run_passes(self, passes):
        """The program that a pass pipeline makes of this one.

        passes: a pipeline of the module, such as "func.func(comm-sink-waits)" or
            "braid-prepare,braid-overlap{max-memory=1GiB}"
        """
        pipeline = f"--pass-pipeline=builtin.module({passes})"
        program = copy.copy(self)
        program._source = self._run("braid-opt", [pipeline, "--mlir-print-debuginfo"])
        program._path = None
        program.text = program._run("braid-opt", [])
        return program

    def report(self, format="text", passes=None, output=None, **options):
        """Braid's report of the program: timeline, exposed communication, reasons.

        format: "text", "json" (a dictionary comes back), "trace" or "html"
        passes: a pipeline; the report shows the program before and after it
        output: a file to write the report to instead of giving it back
        options: further options of the pass comm-report, with _ for -, such as
            machine="h200x8" or ranks=8
        """
        if format not in _REPORT_FORMATS:
            raise ArgumentError(f"format is {format!r}, expected one of "
                                f"{', '.join(_REPORT_FORMATS)}")
        with tempfile.TemporaryDirectory(prefix="braid-") as folder:
            path = os.path.abspath(output) if output else os.path.join(folder, "report")
            words = {"format": format, "output": path}
            if passes:
                words["passes"] = passes
            self._run("braid-opt", [f"--comm-report={pass_options({**words, **options})}"])
            if output:
                return None
            with open(path, encoding="utf-8") as file:
                text = file.read()
        return json.loads(text) if format == "json" else text

    def compile(self, target="host", passes=None, output=None, chip=None, verify=None,
                attention=None, convolution=None):
        """Compiles the program with braid-compile.

        target: "host" or "cuda"
        passes: how to schedule: a pipeline, "none", or by default braid-overlap
        output: the file of the shared object; without it none is left
        chip: the GPU to compile for, such as "sm_90"
        verify: what becomes of a deadlock or race that comm-verify finds: "error"
            (the default), "warning", "off", or "each" (an error, also after each pass)
        attention: what computes attention on a GPU: "library" (the default, cuDNN where it
            supports the op) or "decompose" (matmuls, sums and elementwise ops)
        convolution: the same for convolutions

        The variable BRAID_OPTIMIZATION_LEVEL gives the level of optimization of host code.

        Gives an Executable for the host, which runs in this process. For the target
        "cuda" it gives the path of the shared object, for braid-run; `output` is
        needed then.
        """
        if target not in ("host", "cuda"):
            raise ArgumentError(f"target is {target!r}, expected 'host' or 'cuda'")
        if target == "cuda" and not output:
            raise ArgumentError("a program for cuda runs through braid-run: name the file "
                                "of the shared object with output=")
        options = [f"--target={target}"]
        level = os.environ.get(_LEVEL_VARIABLE)
        if level and target == "host":
            if level not in ("0", "1", "2", "3"):
                raise ArgumentError(f"the variable {_LEVEL_VARIABLE} is {level!r}, expected a level of "
                                    "optimization, 0 to 3")
            options.append(f"-O{level}")
        for name, value in (("passes", passes), ("chip", chip), ("verify", verify), ("attention", attention),
                            ("convolution", convolution)):
            if value is not None:
                options.append(f"--{name}={value}")
        if output:
            # A whole path is no option, no file of options and no name to search for.
            path = os.path.abspath(output)
            self._run("braid-compile", [*options, "-o", path])
            return Executable(path) if target == "host" else path
        with tempfile.TemporaryDirectory(prefix="braid-") as folder:
            path = os.path.join(folder, "program.so")
            self._run("braid-compile", [*options, "-o", path])
            # A loaded object needs its file no more.
            return Executable(path)

#!/usr/bin/env python3
"""Runs mutated programs through pipelines of every pass; none of them may crash.

The corpus is every program in the .mlir files below test/. A mutated program has
lines or tokens exchanged: integers for boundary values, types, op names, values of
attributes, symbols. Each goes through all pipelines, whose options vary as well. An
error is a good answer. A finding is a process that dies from a signal, a failed
assertion, a report of a sanitizer, or a time limit. The command and a reduced
program are printed and kept for each kind of finding. Crashes of upstream MLIR
alone that ALLOWED names are counted, and are no findings.

The same seed, number, corpus and options give the same programs: nothing depends on
time or on the number of jobs. The exit status is 1 when there is a finding.
"""
import argparse
import collections
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Of crashes whose stacks show no frame of Braid: what their report says, what the
# program has, and why they are not Braid's.
ALLOWED = [
    (r"linalg::ReduceOp::parse", "", "the parser of linalg.reduce reads operands that failed to parse"),
    (r"linalg::GenericOp::parse", "", "the parser of linalg.generic takes every iterator type for a string"),
    (r"linalg::TransposeOp::parse", "", "the parser of linalg.transpose takes every permutation for an array"),
    (r"shard::\w+::verifySymbolUses", "", "the verifiers of the shard dialect take every axis of a tensor for one that it has"),
    (r"libMLIR.*\n.*PatternApplicator::matchAndRewrite.*\n(.*\n)?.*applyPatternsGreedily",
     r"constant -\d+ : index(.*\n)+.*(memref|tensor)\.dim",
     "canonicalization of memref.dim in the gpu dialect takes negative dimensions"),
]

# `OPTION=*` takes any of OPTIONS, or is left out.
COSTS = "machine=* ranks=* ranks-per-node=* collective-model=* dynamic-size=* cuda-graph=*"
ITERATIVE = (
    "use-runtime-estimations=* peak-memory-budget=* group-with-collectives=* comm-runtime-mult=* "
    f"compute-runtime-mult=* extra-overlap=* statistics=/dev/null {COSTS}"
)
PIPELINES = [
    ["verify-roundtrip", "resolve-ranked-shaped-type-result-dims", "canonicalize", "cse"],
    ["inline", "sccp", "loop-invariant-code-motion", "control-flow-sink", "symbol-dce", "mlir-print-op-generic"],
    ["comm-order-collectives", "comm-sink-waits", "comm-raise-collectives{with-producers=*}"],
    ["comm-raise-collectives", f"comm-reorder-compute-for-overlap{{{COSTS}}}", f"comm-simple-overlap{{{COSTS}}}"],
    [f"comm-list-schedule{{raise=* sink=* reorder=* {COSTS}}}"],
    ["comm-latency-hiding-schedule{overlap-limit=* point-to-point-limit=* memory-limit=* reruns=* aggressive=* "
     f"post-process=* keep-order=* {COSTS}}}"],
    [f"comm-schedule{{max-memory=* max-in-flight=* lanes=* keep-order=* seed=* steps=20000 {COSTS}}}"],
    [f"comm-reorder-preserving-peak-memory{{unsafe-collectives-reorder=* {ITERATIVE}}}",
     f"comm-sink-waits-iterative{{swap-with-collectives=* {ITERATIVE}}}"],
    [f"comm-report{{output=/dev/null format=* max-memory=* passes=comm-schedule{{steps=2000}} {COSTS}}}"],
    ["comm-fuse-elementwise{ops-per-byte=*}", "comm-inline-compute", "comm-bufferize", "comm-verify{only-buffers=true}"],
    ["braid-widen-sums", "comm-bufferize", "braid-mark-overwriting-matmuls", "convert-linalg-to-braid-rt", "braid-arrange-loops",
     "braid-outline-kernels", "braid-divide-kernels", "convert-reductions-to-loops",
     "ownership-based-buffer-deallocation", "braid-drop-unowned-deallocations", "braid-split-deallocations",
     "braid-free-early", "braid-check-allocation-sizes", "braid-separate-entries", "braid-prepare-entries",
     "braid-drop-deallocations", "convert-assert-to-braid-rt", "convert-parts-to-braid-rt", "braid-emit-entry-table"],
    ["comm-verify{ranks=* lanes=* strict=* max-paths=*}", "comm-interpret{ranks=* rounds=2}"],
    ["braid-prepare", "braid-overlap", "braid-lower-to-host"],
    ["braid-overlap-inductor", "braid-lower-to-host"],
    ["convert-shard-to-comm{ranks=*}", "comm-schedule{steps=20000}", "braid-lower-to-host"],
    ["comm-reduce-behind-loops", "comm-legalize-for-nccl", "braid-decompose-attention", "braid-decompose-convolutions{target=*}",
     "braid-decompose-scatters{target=*}", "braid-decompose-solvers{target=*}", "braid-decompose-transforms",
     "braid-fold-splats", "braid-mark-overwriting-matmuls{target=cuda}", "braid-fold-matmul-layouts{target=cuda}",
     "braid-expand-small-matmuls", "braid-fuse-epilogues", "comm-assign-lanes", "braid-hash-schedule"],
    ["braid-split-reductions", "braid-place-control-flow-buffers", "convert-linalg-to-gpu", "braid-expand-functions",
     "braid-expand-divisions", "braid-lower-nontemporal-loads", "braid-wait-for-earlier-kernels{chip=*}"],
    ["braid-rotate-loop-buffers", "braid-plan-memory", "braid-deallocate-buffers",
     "braid-expand-dynamic-shapes", "convert-device-copies-to-braid-rt", "convert-device-control-flow-to-braid-rt",
     "convert-device-memory-to-braid-rt", "braid-check-cuda-toolkit", "braid-check-device-code"],
    # PTX, as not every machine has a toolkit that makes cubins of it.
    ["braid-prepare{target=cuda}", "comm-assign-lanes", "convert-elementwise-to-linalg", "comm-bufferize",
     "braid-separate-entries", "braid-prepare-entries{target=cuda}", "comm-verify{only-buffers=true}", "braid-drop-deallocations",
     "convert-bufferization-to-memref", "braid-split-reductions", "braid-place-control-flow-buffers",
     "convert-linalg-to-gpu{leave-calls=true}", "braid-plan-memory", "braid-deallocate-buffers",
     "convert-linalg-to-braid-rt{target=cuda}", "convert-device-copies-to-braid-rt", "convert-linalg-to-gpu",
     "convert-device-control-flow-to-braid-rt",
     "braid-lower-kernels", "gpu-module-to-binary{format=isa}", "convert-gpu-launch-to-braid-rt",
     "convert-device-memory-to-braid-rt", "braid-check-device-code"],
    ["braid-attach-kernel-target{chip=*}", "gpu-module-to-binary{format=isa}", "convert-gpu-launch-to-braid-rt"],
    # Without a toolkit a program with kernels ends where it is asked for.
    ["braid-prepare{target=cuda}", "braid-overlap", "braid-lower-to-cuda{toolkit=/dev/null chip=*}"],
    [f"comm-pipeline-matmul{{chunks=* min-gain=* plan-resources=* {COSTS}}}", "comm-bufferize", "braid-expand-float8",
     "braid-approximate-math", "braid-expand-float16", "braid-tile-transposes"],
    [f"comm-own-part-first{{matmuls=* max-memory=* plan-resources=* min-gain=* {COSTS}}}", "comm-bufferize"],
    [f"comm-split-all-reduce{{all=* min-gain=* {COSTS}}}"],
    [f"comm-split-hierarchy{{all=* numerics=* min-gain=* {COSTS}}}"],
    [f"comm-pipeline-loops{{all=* sink-all=* unroll=* numerics=* max-memory=* plan-resources=* min-gain=* {COSTS}}}", "comm-bufferize"],
    [f"comm-combine{{bytes=* count=* span=* kinds=* max-memory=* plan-resources=* min-gain=* {COSTS}}}"],
    [f"comm-simplify{{numerics=* max-memory=* plan-resources=* min-gain=* {COSTS}}}"],
    [f"comm-merge-batch{{all=* plan-resources=* max-memory=* min-gain=* {COSTS}}}", "comm-bufferize"],
    [f"comm-split-batch{{all=* parts=* percentages=* numerics=* max-memory=* min-gain=* {COSTS}}}", "comm-bufferize"],
    [f"comm-plan-resources{{{COSTS}}}"],
    [f"comm-plan-resources{{orders=search {COSTS}}}"],
    ["comm-interpret{ranks=* rounds=1 in-order=*}"],
]
# Of each option values that are common, and values that may be refused. A command
# line has one of the latter at most, as it may keep every program from running.
FACTORS = ("0 1 0.5 2.5", "1e300 -1 nan inf")
MEMORY = ("0 1B 5KB 80GiB", "9223372036854775807B 9223372036854775808B -1")
LIMIT = ("0 1 2", "4294967295 -1")
OPTIONS = {
    "machine": ("v100x8 a100x8 h100x8 h200x8 b200x8 cpu ideal ideal ideal", "none"),
    "ranks-per-node": ("0 1 2 5 8", "16777216 16777217 -1"),
    "cuda-graph": ("auto 0 1", "2 on"),
    # Latency and bandwidth are for this model alone.
    "collective-model": (
        "auto nccl inductor link link,link-latency=20us,link-bandwidth=10GB/s",
        "none link,link-latency=1e300s link,link-latency=9223372036854775807ns "
        "link,link-bandwidth=1e-300GB/s link,link-bandwidth=1e300GB/s",
    ),
    "dynamic-size": ("0 1 1000000007", "9223372036854775807 -1"),
    "ranks": ("0 1 2 3 7 8 64", "2147483647 9223372036854775807 -1"),
    "strict": ("true false", "maybe"),
    "all": ("true false", "maybe"),
    "sink-all": ("true false", "maybe"),
    "unroll": ("true false", "maybe"),
    "plan-resources": ("true false", "maybe"),
    "max-paths": ("1 16", "-1"),
    "max-memory": MEMORY,
    "memory-limit": MEMORY,
    "max-in-flight": LIMIT,
    "overlap-limit": LIMIT,
    "point-to-point-limit": LIMIT,
    "reruns": ("0 1 5", "-1"),
    "seed": ("0 1", "18446744073709551615 -1"),
    "lanes": ("communicator shared", "none"),
    "bytes": ("0 16B 1MiB", "-1 many"),
    "count": ("0 2 8", "4294967295 -1"),
    "span": ("0 1 16", "4294967295 -1"),
    "kinds": ("all_gather all_reduce permute", "send none"),
    "numerics": ("exact same-terms reassociate", "none"),
    "chunks": ("0 2 3 8", "1 -1 9223372036854775807"),
    "parts": ("2 3 8", "1 65 -1"),
    "percentages": ("50,50 20,80 1,98,1", "100 0,100 -1 60,60"),
    "min-gain": ("auto 0 0.005 10%", "-2 nan inf"),
    "ops-per-byte": ("0 7", "-1 9223372036854775807"),
    "chip": ("sm_80 sm_90 sm_100", "sm_1 none"),
    "format": ("text json trace html", "none"),
    "peak-memory-budget": FACTORS,
    "comm-runtime-mult": FACTORS,
    "compute-runtime-mult": FACTORS,
    "extra-overlap": FACTORS,
}
INTEGERS = [0, 1, -1, 2, 63, 64, 2**31 - 1, 2**31, -(2**31), 2**32, 2**63 - 1, 2**63 - 2, -(2**63), 2**63, 2**64 - 1]
INTEGER = r"-?(?<![\w%.@#])\d+(?![\w.])|\b\d+(?=x)"

# What tokens are exchanged for others of their kind.
KINDS = {
    "type": r"(?:tensor|memref|vector)<[^<>\n]*>|!comm\.token(?:<tensor<[^<>\n]*>>)?|\b(?:f16|bf16|f32|f64|i1|i8|i32|i64|index)\b",
    "op": r"(?<![@\w\"!#.])[a-z_]+\.[a-z_]+(?:\.[a-z_]+)*\b(?! *[=:}])",
    "attribute": r"(?<= = )(?:-?\d+(?:\.\d+)?(?:e[+-]?\d+)? : \w+|\"[^\"\n]*\"|\[[^\]\n]*\]|array<[^>\n]*>|true|false|unit|dense<[^>\n]*> : \w+<[^>\n]*>)",
    "key": r"\b(?:comm|braid|linalg|func|llvm)\.[a-z_]+(?= *[=,}])",
    "symbol": r"@\w+",
    "value": r"%\w+(?:#\d+)?",
    "word": r"(?<![\w.@%\"])(?:sum|prod|min|max|avg|premul_sum|all|root|dim|from|to|pairs|async|private|public|start|outs|ins|in|on)\b",
}
STRING = r'"(?:[^"\\\n]|\\.)*"'
SPLIT = re.compile(r"^//-+ *$|^// ?-----.*$|^//--- .*$", re.M)
REPORT = re.compile(r"ERROR: (?:Address|Leak)Sanitizer|runtime error: |Assertion `|LLVM ERROR:|PLEASE submit a bug report")
# A frame of a stack, as the sanitizers and LLVM print it.
FRAME = re.compile(r"^ *#\d+ 0x[0-9a-f]+ (?:in )?(.*)$", re.M)

Finding = collections.namedtuple("Finding", "index command kind reason program report")


def split_functions(program):
    """A program for each of its functions, with what that refers to."""
    items, depth = [""], 0
    for line in program.splitlines(keepends=True):
        if depth == 0 and not line[0].isspace():
            items.append("")
        items[-1] += line
        code = re.sub(STRING, "", line)
        depth += sum(map(code.count, "{([")) - sum(map(code.count, "})]"))
    names = [re.match(r"func\.func [^@\n]*(@\w+)", item) for item in items]
    if depth != 0 or sum(map(bool, names)) < 2:
        return [program]
    bodies = {name[1]: item for name, item in zip(names, items) if name}
    programs = []
    for root in bodies:
        needed, pending = set(), [root]
        while pending:
            name = pending.pop()
            if name in bodies and name not in needed:
                needed.add(name)
                pending += re.findall(r"@\w+", bodies[name])
        programs.append("".join(item for name, item in zip(names, items) if not name or name[1] in needed))
    return programs


def read_corpus(folder):
    """The programs of all tests, each once and without comments: those that are
    valid, and those that are tests of errors."""
    valid, wrong = {}, {}
    for path in sorted(folder.rglob("*.mlir")):
        for text in SPLIT.split(path.read_text(encoding="utf-8", errors="replace")):
            lines = [re.sub(rf"({STRING})|\s*//.*", r"\1", line) for line in text.splitlines()]
            lines = [line for line in lines if line.strip()]
            if lines:
                programs = split_functions("\n".join(lines) + "\n")
                (wrong if "expected-error" in text else valid).update(dict.fromkeys(programs))
    return list(valid), list(wrong)


def read_pass_names():
    """Every pass that Braid defines, and every pipeline."""
    names = set()
    for path in sorted((ROOT / "include").rglob("*.td")):
        names.update(re.findall(r'\bPass<"([^"]+)"', path.read_text(encoding="utf-8")))
    for path in sorted((ROOT / "lib").rglob("*.cpp")):
        names.update(re.findall(r'PassPipelineRegistration<\w*>\(\s*"([^"]+)"', path.read_text(encoding="utf-8")))
    return names


class Mutator:
    """Makes programs and command lines from a corpus."""

    def __init__(self, valid, wrong, seed):
        self.valid = valid
        self.wrong = wrong or valid
        self.seed = seed
        self.words = {kind: self.count(pattern) for kind, pattern in KINDS.items()}

    def count(self, pattern):
        """What occurs in the corpus, each once: rare words are as good as others."""
        return sorted({word for program in self.valid + self.wrong for word in re.findall(pattern, program)})

    def make(self, index):
        """The program with this number."""
        source = random.Random(f"{self.seed}/{index}")
        # What has an error already goes no further than that.
        program = source.choice(self.valid if source.random() < 0.85 else self.wrong)
        for _ in range(source.choice([1, 1, 1, 1, 2, 2, 3])):
            what = source.choice(["lines", "integer", "integer", "integer", *KINDS])
            if what == "lines":
                program = self.change_lines(source, program)
            elif what == "integer":
                program = self.replace(source, program, INTEGER, lambda _: str(source.choice(INTEGERS)))
            else:
                local = sorted(set(re.findall(KINDS[what], program)))
                words = local if what in ("value", "symbol") or source.random() < 0.4 else self.words[what]
                program = self.replace(source, program, KINDS[what], lambda _: source.choice(words))
        # The separator of programs is no program.
        return SPLIT.sub("", program)

    def change_lines(self, source, program):
        lines = program.splitlines()
        if not lines:
            return program
        i, j = source.randrange(len(lines)), source.randrange(len(lines))
        what = source.choice(["delete", "duplicate", "swap", "move", "insert"])
        if what == "swap":
            lines[i], lines[j] = lines[j], lines[i]
        elif what == "insert":
            lines.insert(i, source.choice(source.choice(self.valid).splitlines()))
        elif what == "duplicate":
            # Its results have new names.
            lines.insert(j, re.sub(r"%(\w+)(?=[^()]* = )", r"%\1_again", lines[i]))
        else:
            line = lines.pop(i)
            if what == "move":
                lines.insert(j, line)
        return "\n".join(lines) + "\n"

    @staticmethod
    def replace(source, program, pattern, get):
        places = list(re.finditer(pattern, program))
        if not places:
            return program
        place = source.choice(places)
        word = get(place[0])
        if source.random() < 0.6:
            # All that are the same, as types that fit still do then.
            return re.sub(pattern, lambda other: word if other[0] == place[0] else other[0], program)
        return program[: place.start()] + word + program[place.end() :]

    def make_arguments(self, pipeline, batch):
        """The pipeline with options that suit the number of the batch."""
        source = random.Random(f"{self.seed}/{pipeline}/{batch}")

        all_options = [name for part in PIPELINES[pipeline] for name in re.findall(r"([\w-]+)=\*", part)]
        extreme = source.choice(all_options) if all_options and source.random() < 0.3 else None

        def choose(option):
            common, rare = OPTIONS.get(option[1], ("true false", ""))
            if option[1] == extreme:
                return f"{option[1]}={source.choice((rare or common).split())}"
            # Most are left out: the defaults are what most programs are compiled with.
            return f"{option[1]}={source.choice(common.split())}" if source.random() < 0.25 else ""

        arguments = []
        for name in PIPELINES[pipeline]:
            name, _, options = name.partition("{")
            options = " ".join(re.sub(r"([\w-]+)=\*", choose, options[:-1]).replace(",", " ").split())
            arguments.append(f"--{name}={options}" if options else f"--{name}")
        return arguments


class Runner:
    def __init__(self, options):
        self.options = options

    def get_command(self, arguments):
        return [self.options.tool, "--split-input-file", "--mlir-disable-threading", "-o", "/dev/null", *arguments]

    def run(self, arguments, programs):
        """What is printed if the process does not end well; None if it does."""
        text = "\n// -----\n".join(programs)
        limit = self.options.time_limit + 5 * (len(programs) - 1)
        environment = dict(os.environ)
        if len(programs) == 1:
            # LLVM has no frame pointers: whole stacks cost time.
            environment["ASAN_OPTIONS"] = environment.get("ASAN_OPTIONS", "") + ":fast_unwind_on_malloc=0"
        try:
            result = subprocess.run(
                self.get_command(arguments), input=text.encode(), capture_output=True, timeout=limit, env=environment
            )
        except subprocess.TimeoutExpired:
            return f"no end within {limit} s"
        report = result.stderr.decode(errors="replace")
        if result.returncode in (0, 1) and not REPORT.search(report):
            return None
        return report + f"\nexit status {result.returncode}"

    def find(self, arguments, programs):
        """Yields the place of each program that does not end well, with its report."""
        report = self.run(arguments, programs)
        if report is None:
            return
        if len(programs) == 1:
            yield 0, report
            return
        half = len(programs) // 2
        found = 0
        for begin, end in ((0, half), (half, len(programs))):
            for place, single in self.find(arguments, programs[begin:end]):
                found += 1
                yield begin + place, single
        if not found:
            yield 0, "only together with the programs that follow it:\n" + report

    def reduce(self, arguments, program, kind):
        """Removes lines as long as the same kind of crash remains."""
        lines = program.splitlines()
        size, runs = max(1, len(lines) // 2), 0
        while size >= 1:
            begin = 0
            while begin < len(lines) and runs < self.options.reductions:
                fewer = lines[:begin] + lines[begin + size :]
                runs += 1
                report = self.run(arguments, ["\n".join(fewer) + "\n"])
                if report is not None and get_kind(report) == kind:
                    lines = fewer
                else:
                    begin += size
            size //= 2
        return "\n".join(lines) + "\n"


def get_frames(report):
    return [frame for frame in FRAME.findall(report) if "sanitizer" not in frame and "libc.so" not in frame]


def is_own(frame):
    """True for a frame of Braid's own code but the file of main, which every stack has."""
    # A build without lines names the program in place of the source.
    in_source = re.search(rf"{re.escape(str(ROOT))}\S*:\d|\(anonymous namespace\).*/braid-opt\+0x", frame) is not None
    return "/tools/braid-opt/braid-opt.cpp:" not in frame and ("braid::" in frame or in_source)


def get_kind(report):
    """What two reports of one bug have in common."""
    for pattern in (
        r"runtime error: .*",
        r"Assertion `.*' failed",
        r"LLVM ERROR: .*",
        r"SUMMARY: \w+: [\w-]+",
        r"no end within",
    ):
        if match := re.search(pattern, report):
            what = re.sub(r"0x[0-9a-f]+|-?\d+", "N", match[0])
            break
    else:
        what = report.splitlines()[-1]
    own = next((frame for frame in get_frames(report) if is_own(frame)), "upstream")
    return f"{what} in {re.sub(r'0x[0-9a-f]+', 'N', own)}"


def classify(report, program):
    """Why a crash is not Braid's; None if it may be."""
    frames = get_frames(report)
    if not frames or any(map(is_own, frames)):
        return None
    return next(
        (reason for stack, text, reason in ALLOWED if re.search(stack, "\n".join(frames)) and re.search(text, program)), None
    )


def save(folder, number, finding):
    """Keeps a finding: the program, its command line above it, and the report."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"finding-{number}.mlir"
    command = " ".join(shlex.quote(part) for part in [*finding.command, str(path)])
    path.write_text(f"// {command}\n{finding.program}", encoding="utf-8")
    path.with_suffix(".txt").write_text(finding.report, encoding="utf-8")
    return path, command


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)

    def add(name, default, text, **keywords):
        parser.add_argument(name, default=default, help=f"{text} (default: %(default)s)", **keywords)

    add("--tool", "braid-opt", "the braid-opt to run, best one with sanitizers and assertions")
    add("--programs", 1500, "how many programs to make", type=int)
    add("--first", 0, "the number of the first program", type=int)
    add("--seed", 1, "of all random choices", type=int)
    add("--pipelines", range(len(PIPELINES)), "the numbers of those to run", type=int, nargs="+", metavar="NUMBER")
    add("--jobs", os.cpu_count(), "processes at a time", type=int)
    add("--batch", 50, "programs for one process", type=int)
    add("--time-limit", 60, "seconds for one program", type=int)
    add("--reductions", 150, "runs to make a program smaller", type=int)
    add("--corpus", ROOT / "test", "the folder of .mlir files", type=pathlib.Path)
    add("--output", pathlib.Path("mutations"), "the folder for findings", type=pathlib.Path)
    return parser.parse_args()


def main():
    options = parse_arguments()
    run = " ".join(" ".join(pipeline) for pipeline in PIPELINES)
    missing = sorted(
        name
        for name in read_pass_names()
        if not re.search(rf"(?<![\w-]){name}(?![\w-])", run)
    )
    if missing:
        print(f"in no pipeline of {pathlib.Path(__file__).name}: {', '.join(missing)}")
        return 1
    valid, wrong = read_corpus(options.corpus)
    if not valid:
        print(f"no programs below {options.corpus}")
        return 1
    mutator, runner = Mutator(valid, wrong, options.seed), Runner(options)

    def run_batch(task):
        pipeline, first, end = task
        programs = [mutator.make(index) for index in range(first, end)]
        arguments = mutator.make_arguments(pipeline, first)
        findings = []
        for place, report in runner.find(arguments, programs):
            kind = get_kind(report)
            findings.append(Finding(first + place, arguments, kind, classify(report, programs[place]), programs[place], report))
        return findings

    end = options.first + options.programs
    tasks = [
        (pipeline, first, min(first + options.batch, end))
        for first in range(options.first, end, options.batch)
        for pipeline in options.pipelines
    ]
    groups, allowed = {}, collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as executor:
        for findings in executor.map(run_batch, tasks):
            for finding in findings:
                if finding.reason:
                    allowed[finding.reason] += 1
                else:
                    groups.setdefault(finding.kind, []).append(finding)
    for number, (kind, findings) in enumerate(groups.items(), 1):
        finding = findings[0]
        program = finding.program
        if "only together" not in finding.report:
            program = runner.reduce(finding.command, program, kind)
        finding = finding._replace(command=runner.get_command(finding.command), program=program)
        path, command = save(options.output, number, finding)
        print(f"finding {number}: {kind}")
        print(f"  {len(findings)} times, first in program {finding.index}; report: {path.with_suffix('.txt')}")
        print(f"  {command}\n{program}")
    for reason, times in sorted(allowed.items()):
        print(f"allowed, {times} times: {reason}")
    print(
        f"{options.programs} programs of {len(valid) + len(wrong)} in the corpus, "
        f"{len(options.pipelines)} pipelines, seed {options.seed}: {len(groups)} findings"
    )
    return 1 if groups else 0


if __name__ == "__main__":
    sys.exit(main())

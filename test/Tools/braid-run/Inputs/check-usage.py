"""Runs braid-run with one bad command line after the other: each must end with
status 2, or what the case says, and a message that contains the given text."""

import os
import subprocess
import sys

program = sys.argv[1]
cases = [
    ([], "no program given"),
    ([program, program], "two programs"),
    ([program, "--nonsense"], "unknown option '--nonsense'"),
    ([program, "--nonsense=1"], "unknown option '--nonsense'"),
    ([program, "--ranks"], "--ranks: 1 required N missing"),
    ([program, "--ranks=0"], "--ranks: found '0', expected a number from 1"),
    ([program, "--ranks=two"], "--ranks: found 'two'"),
    ([program, "--repeat=0"], "--repeat: found '0'"),
    ([program, "--repeat=-1"], "--repeat: found '-1'"),
    ([program, "--link=speed=1"], "--link: found 'speed=1'"),
    ([program, "--link="], "--link: the value is empty"),
    ([program, "--link=latency=20"], "has no unit, expected one of ns, us"),
    ([program, "--link=latency=-1us"], "number that is not negative"),
    ([program, "--link=bandwidth=10GB"], "has the unit 'GB', expected one of"),
    ([program, "--link=bandwidth=0GB/s"], "a bandwidth above 0"),
    ([program, "--reductions=slow"], "found 'slow', expected ordered or fast"),
    (
        [program, "--reductions=fast"],
        "--reductions: engine inproc has one kind of reductions, ordered",
    ),
    ([program, "--engine="], "--engine: the value is empty, expected one"),
    ([program, "--entry="], "--entry: the value is empty, expected one"),
    (["prog.mlir", "--passes="], "--passes: the value is empty, expected one"),
    (["prog.mlir", "--target=cuda", "--chip="], "--chip: the value is empty, expected one"),
    ([program, "--engine=none"], "--engine: there is no engine 'none' here"),
    ([program, "--engine=../x"], "--engine: '../x' is no engine"),
    ([program, "--show-binding=1"], "--show-binding: found '1', expected no value"),
    ([program, "--timeout=0s"], "a timeout must be above 0"),
    ([program, "--timeout=soon"], "does not start with a number"),
    ([program, "--target=rocm"], "found 'rocm', expected host, cuda or interpreter"),
    ([program, "--chip=sm_90"], "--chip: "),
    (["prog.mlir", "--chip=sm_90"], "--chip: found the target host, expected --target=cuda"),
    ([program, "--attention=decompose"], "--attention: "),
    (["prog.mlir", "--attention=decompose"], "--attention: found the target host, expected --target=cuda"),
    (["prog.mlir", "--target=cuda", "--attention=fused"], "--attention: found 'fused', expected library or decompose"),
    ([program, "--convolution=decompose"], "--convolution: "),
    (["prog.mlir", "--convolution=decompose"], "--convolution: found the target host, expected --target=cuda"),
    (["prog.mlir", "--target=cuda", "--convolution=fused"], "--convolution: found 'fused', expected library or decompose"),
    (["prog.mlir", "--tune=2", "--report"], "--report: found --tune, which compares every round itself; expected one of the two"),
    ([program, "--out="], "--out: the value is empty, expected one"),
    ([program, "--expect="], "--expect: the value is empty, expected one"),
    ([program, "--trace="], "--trace: the value is empty, expected one"),
    ([program, "--measurements", ""], "--measurements: the value is empty, expected FILE.json"),
    ([program, "--flight-recorder="], "--flight-recorder: the value is empty, expected one"),
    (["prog.mlir", "--tune=2", "--tuned-profile="], "--tuned-profile: the value is empty, expected one"),
    ([program, "--entry=late", "--out=o.npy"], "--out: found late without results, expected an entry with results"),
    ([program, "--entry=late", "--expect=o.npy"], "--expect: found late without results, expected an entry with"),
    ([program, "--entry=late", "--compare-results=" + program], "--compare-results: found late without results, expected an entry with"),
    ([program, "--warmup=-1"], "--warmup: found '-1', expected a number from 0"),
    ([program, "--plans=0"], "--plans: found '0', expected a number from 1 to 16"),
    (["prog.mlir", "--plans=2", "--passes=none"], "--plans: found --passes=none, expected the default passes, which have plans"),
    (["prog.mlir", "--plans=2", "--tune=2"], "--plans: found --tune, which chooses by measured costs; expected one of the two"),
    ([program, "--idle=-1ms"], "--idle: '-1ms' does not start with a number that is not negative"),
    ([program, "--idle=soon"], "--idle: 'soon' does not start with a number"),
    ([program, "--idle=61s"], "--idle: found '61s', expected at most 60s"),
    ([program, "--device=x"], "--device: found 'x', expected a number from 0"),
    ([program, "--lane=fast"], "--lane: found 'fast', expected NAME:ctas=NUMBER"),
    ([program, "--lane=:ctas=8"], "--lane: found ':ctas=8', expected NAME:ctas"),
    ([program, "--lane=a:ctas=0"], "--lane: ctas: found '0', expected a number from 1"),
    ([program, "--lane=a:transport=tcp"], "with default, symmetric or copy"),
    ([program, "--lane=a:ctas=8"], "engine inproc has no option 'lane.a'", 1),
    ([program, "--cuda-graph"], "engine inproc has no option 'cuda-graph'", 1),
    ([program, "--cuda-graph=1"], "--cuda-graph: found '1', expected no value"),
    ([program, "--matmul-tuning=best"], "expected measure or heuristic"),
    ([program, "--engine-option=speed"], "found 'speed', expected KEY=VALUE"),
    ([program, "--tolerance=lots"], "found 'lots', expected exact, auto or a"),
    ([program, "--tolerance=nan", "--expect=f.npy"], "--tolerance: found 'nan'"),
    ([program, "--tolerance=0.1"], "--tolerance: nothing is compared"),
    (
        [program, "--compare-results=" + program, "--expect=f.npy"],
        "--expect: --compare-results compares with a program already",
    ),
    ([program, "--interleave-with=prog.mlir"], "expected a compiled program (.so)"),
    (
        [program, "--arg=ones", "--ranks=2", "--expect=o.npy"],
        "--expect: there are 2 ranks, but 'o.npy' has no {rank}",
    ),
    ([program, "--arg=random:1*x"], "the factor in 'random:1*x' is no number"),
    ([program, "--compare-results"], "is already compiled; give the program"),
    ([program, "--compare-results="], "--compare-results: the value is empty, expected one"),
    ([program, "--passes=none"], "is already compiled"),
    ([program, "--arg=ones", "--entry=nothing"], "no entry 'nothing'; there is"),
    ([program], "main has 1 argument (arg0: tensor<4xf32>), found 0"),
    ([program, "--arg=ones", "--arg=ones"], "found 2 --arg options"),
    ([program, "--arg=twos"], "--arg: found 'twos', expected ones, zeros"),
    ([program, "--arg=random:x"], "the seed in 'random:x'"),
    (
        [program, "--entry=i32", "--arg=3.7"],
        "--arg: found '3.7' for argument 0 of element type i32, expected a whole number from "
        "-2147483648 to 2147483647",
    ),
    ([program, "--entry=i8", "--arg=300"], "expected a whole number from -128 to 127"),
    ([program, "--entry=i16", "--arg=nan"], "--arg: found 'nan' for argument 0 of element type i16"),
    ([program, "--entry=i64", "--arg=inf"], "--arg: found 'inf' for argument 0 of element type i64"),
    (
        [program, "--entry=i64", "--arg=9223372036854775808"],
        "expected a whole number from -9223372036854775808 to 9223372036854775807",
    ),
    ([program, "--entry=i1", "--arg=2"], "expected a whole number from 0 to 1"),
    ([program, "--arg=ones@5"], "is tensor<5xf32>, but arg0 of main is"),
    ([program, "--arg=ones@4y"], "are no sizes"),
    (
        [program, "--entry=dynamic", "--arg=ones", "--arg=2"],
        "x of dynamic is tensor<?xf32>: give its sizes",
    ),
    ([program, "--arg=ones", "--ranks=2", "--out=o.npy"], "has no {rank}"),
    (
        [program, "--entry=dynamic", "--arg=ones@2", "--arg=2", "--out=o.npy"],
        "there are 2 results, but 'o.npy' has no {result}",
    ),
]

failed = False
for words, text, *status in cases:
    result = subprocess.run(
        ["braid-run", *words], capture_output=True, text=True, check=False
    )
    if result.returncode != (status or [2])[0] or text not in result.stderr:
        print(words, result.returncode, result.stderr)
        failed = True

launched = {"OMPI_COMM_WORLD_RANK": "0", "OMPI_COMM_WORLD_SIZE": "4"}
for variables, words, text in [
    ({"BRAID_DEBUG": "LOUD"}, ["--arg=ones"], "must be OFF, INFO, or DETAIL"),
    (
        launched,
        ["--ranks=2"],
        "--ranks: found 2, but Open MPI has started 4 (OMPI_COMM_WORLD_RANK and "
        "OMPI_COMM_WORLD_SIZE)",
    ),
    (
        dict(launched, OMPI_COMM_WORLD_RANK="4"),
        [],
        "OMPI_COMM_WORLD_RANK=4 and OMPI_COMM_WORLD_SIZE=4, expected a rank below",
    ),
    (
        dict(launched, OMPI_COMM_WORLD_SIZE="four"),
        [],
        "OMPI_COMM_WORLD_SIZE='four', expected a whole number",
    ),
    ({"PMI_RANK": "-1", "PMI_SIZE": "2"}, [], "PMI_RANK='-1', expected a whole"),
]:
    result = subprocess.run(
        ["braid-run", program, *words],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ, **variables),
    )
    if result.returncode != 2 or text not in result.stderr:
        print(variables, words, result.returncode, result.stderr)
        failed = True

# Of several processes one says what is wrong with the command line of all.
result = subprocess.run(
    ["braid-run", program, "--nonsense"],
    capture_output=True,
    text=True,
    check=False,
    env=dict(os.environ, OMPI_COMM_WORLD_RANK="1", OMPI_COMM_WORLD_SIZE="4"),
)
if result.returncode != 2 or result.stderr:
    print(result.returncode, result.stderr)
    failed = True
sys.exit(failed)

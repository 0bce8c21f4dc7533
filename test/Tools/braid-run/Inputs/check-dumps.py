"""SIGUSR1 writes dumps while ranks wait; the analysis of dumps, also of bad ones."""

import json
import os
import shutil
import signal
import subprocess
import sys

from signal_testing import ask_until, check, has_failed, wait_until

folder = sys.argv[1]

def analyze(dumps):
    """The status, the lines and the errors."""
    done = subprocess.run(["braid-run", f"--analyze-dumps={dumps}"], capture_output=True,
                          text=True, check=False)
    return done.returncode, done.stdout.splitlines(), done.stderr


ALL_REDUCE = "all_reduce sum tensor<4xf32> at prog.mlir:12:8 (ar0)"
WAITS = f"waits for {ALL_REDUCE}, collective number 1 of group @world"
BEHIND = (f"rank 1 has not started collective number 1 of group @world; ranks 0 and 2 wait "
          f"for {ALL_REDUCE}")


def read(log):
    with open(log, encoding="utf-8") as file:
        return file.read()


def start(*options):
    """Ranks 0 and 2 wait for rank 1, which computes for ever."""
    log = os.path.join(folder, "log")
    with open(log, "w", encoding="utf-8") as file:
        process = subprocess.Popen(
            ["braid-run", f"{folder}/p.so", "--entry=forever", "--ranks=3", *options],
            stderr=file, env=dict(os.environ, BRAID_DEBUG="detail"))
    check(wait_until(lambda: read(log).count("starts all_reduce") == 2), "no start")
    return process, log


# SIGUSR1 ends nothing.
dumps = os.path.join(folder, "usr1")
os.mkdir(dumps)
process, log = start(f"--flight-recorder={dumps}/rank")
expected = ["dumps of 3 of 3 ranks", f"rank 0 (signal 10): {WAITS}",
            "rank 1 (signal 10): runs its program and has started no operation",
            f"rank 2 (signal 10): {WAITS}", BEHIND]
check(ask_until(process, lambda: analyze(dumps) == (0, expected, "")), analyze(dumps))
# A signal that ends braid-run writes them, too.
check(process.poll() is None, "SIGUSR1 has ended braid-run")
process.send_signal(signal.SIGTERM)
check(process.wait(timeout=30) == 1, "status", process.returncode)
expected = [line.replace("signal 10", "signal 15") for line in expected]
check(analyze(dumps) == (0, expected, ""), analyze(dumps))

# Without files the log has the operations.
process, log = start()
LAST = ("the last operations of rank 2:\n  number 1: all_reduce sum tensor<4xf32> on @world, "
        "number 1, at prog.mlir:12:8 (ar0): awaited")
check(ask_until(process, lambda: LAST in read(log)), read(log))
check("the last operations of rank 1: none" in read(log), read(log))
process.kill()
process.wait()

# A rank without a dump.
os.remove(f"{dumps}/rank1.json")
status, lines, _ = analyze(dumps)
check(status == 0 and lines[0] == "dumps of 2 of 3 ranks", lines)
check(lines[3:] == ["no dump of rank 1: a killed process writes none",
                    f"ranks 0 and 2 wait for {ALL_REDUCE}; whether rank 1 has started it is "
                    "not known"], lines)


def write(name, **changes):
    """A dump of rank 0 of 2, which awaits number 7."""
    entry = {"number": 1, "lane": "tp", "group": 0, "sequence": 7, "invocation": 1,
             "operation": "barrier", "fingerprint": "00", "site": "p.mlir:1:1", "bytes": 0,
             "state": "awaited", "started_ns": 1, "finished_ns": 0}
    entries = [{**entry, **more} for more in changes.pop("entries", [{}])]
    dump = {"version": 2, "rank": 0, "ranks": 2, "reason": "signal 10", "error": "",
            "begun": 1, "ended": 0, "groups": [{"name": "tp", "key": "1", "ranks": [0, 1]},
                                               {"name": "dp", "key": "2", "ranks": [0, 1]}],
            "entries": entries, **changes}
    with open(os.path.join(made, name), "w", encoding="utf-8") as file:
        json.dump(dump, file)


made = os.path.join(folder, "made")


def again():
    shutil.rmtree(made, ignore_errors=True)
    os.mkdir(made)


# Ranks that wait for each other.
again()
write("a.json")
write("b.json", rank=1, entries=[{"group": 1, "sequence": 3}])
check(analyze(made)[1][-1] ==
      "every rank waits for another one: rank 0 for barrier at p.mlir:1:1, rank 1 for "
      "barrier at p.mlir:1:1", analyze(made))
# The recorder has forgotten the operation of the rank that is further.
again()
write("a.json")
write("b.json", rank=1, begun=1, ended=1, entries=[{"sequence": 300, "state": "finished"}])
check("which all have started and which has not ended" in analyze(made)[1][-1], analyze(made))
# Nobody is behind.
again()
write("a.json", ended=1, entries=[{"state": "finished"}])
write("b.json", rank=1, ended=1, entries=[{"state": "finished"}])
check(analyze(made)[1][1:] ==
      [*(f"rank {rank} (signal 10): has ended its program; its last operation is barrier at "
         "p.mlir:1:1, collective number 7 of group @tp (finished)" for rank in (0, 1)),
       "no rank is behind another one"], analyze(made))
# A message.
again()
write("a.json", entries=[{"from": 0, "to": 1, "operation": "send to 1 tensor<2xf32>"}])
write("b.json", rank=1, entries=[])
check(analyze(made)[1][-1] ==
      "rank 1 has not started its side of the message of group @tp; rank 0 waits for send to 1 "
      "tensor<2xf32> at p.mlir:1:1", analyze(made))

# Bad folders and files.
again()
check(analyze(made)[0] == 2 and "has no files *.json" in analyze(made)[2], analyze(made))
check(analyze(made + "2")[0] == 2 and "No such file or directory" in analyze(made + "2")[2],
      analyze(made + "2"))
for name, text, message in [
        ("cut", '{"version": 2,\n "entries": [', "cut.json: parse error at line 2, column 14: syntax error "
         "while parsing value - unexpected end of input; expected '[', '{', or a literal"),
        ("text", "not JSON", "text.json: parse error at line 1, column 2: syntax error while parsing value - invalid literal"),
        ("large", '{"version": 3e999}', "large.json: number overflow parsing '3e999'"),
        ("other", '{"traceEvents": []}', "other.json: this is no file of --flight-recorder"),
        ("list", "[1]", "list.json: found array, expected an object"),
        ("after", "{} {}", "after.json: parse error at line 1, column 4: syntax error while parsing value - unexpected '{'; "
         "expected end of input"),
        ("deep", "[" * 100000, "unexpected end of input")]:
    again()
    with open(os.path.join(made, name + ".json"), "w", encoding="utf-8") as file:
        file.write(text)
    status, _, error = analyze(made)
    check(status == 1 and message in error, name, status, error)
for changes, message in [
        ({"version": 1}, "a.json: version: found 1, expected a number from 2 to 2"),
        ({"rank": 2}, "a.json: rank: found 2, expected a number from 0 to 1"),
        ({"rank": "0"}, 'a.json: rank: found "0", expected a number'),
        ({"entries": [{"group": 2}]}, "a.json: entries[0].group: found 2, expected a number from 0 to 1"),
        ({"entries": [{"state": 5}]}, "a.json: entries[0].state: found 5, expected a text"),
        ({"entries": [{"state": "sleeps"}]}, 'found "sleeps", expected started,'),
        ({"groups": [5]}, "a.json: groups[0]: found 5, expected an object"),
        ({"groups": [{"name": "tp"}]}, "a.json: groups[0]: the object has no 'ranks'"),
        ({"ended": 2}, "a.json: ended: found 2, expected a number from 0 to 1"),
        *(({"groups": [{"name": "tp", "key": "1", "ranks": [0, rank]}]}, message) for rank, message in [
            (2, "a.json: groups[0].ranks[1]: found 2, expected a number from 0 to 1"),
            (-5, "found -5, expected a number from 0 to 1"),
            (4294967297, "found 4294967297, expected a number from 0 to 1"),
            ((1 << 64) - 1, "found 18446744073709551615, expected a number from 0 to 1"),
            (1 << 64, "found 1.8446744073709552e+19, expected a number from 0 to 1"),
            (0, "found 0, expected each rank of the group once")])]:
    again()
    write("a.json", **changes)
    status, _, error = analyze(made)
    check(status == 1 and message in error, changes, status, error)
again()
write("a.json")
write("b.json")
check("are both of rank 0" in analyze(made)[2], analyze(made))
again()
write("a.json")
write("b.json", rank=1, ranks=3)
check("b.json is of a world of 3 ranks, but" in analyze(made)[2], analyze(made))

# A world of many ranks takes no more than its dumps.
again()
write("a.json", rank=5, ranks=2147483647)
status, lines, error = analyze(made)
check(status == 0 and lines[0] == "dumps of 1 of 2147483647 ranks", lines, error)
check(lines[2] == "no dump of ranks 0 to 4, 6 to 2147483646: a killed process writes none", lines)
# Nor do many values take long to read.
again()
write("a.json", ranks=300000, groups=[{"name": "tp", "key": "1", "ranks": list(range(300000))}])
check(analyze(made)[0] == 0, analyze(made)[2][:1000])
# Texts of files do not control the terminal, nor make lines of their own.
again()
write("a.json", reason="\x1b[31mred", error="first\nsecond \x1b]0;title\x07",
      entries=[{"operation": "send\nrank 1 (forged)", "site": "\ufffd \u00e9 \U0001f600"}],
      groups=[{"name": "t\x9bp", "key": "1", "ranks": [0, 1]}])
status, lines, error = analyze(made)
check(status == 0 and lines[1:4] == [
    "rank 0 (\\1B[31mred): has failed in its wait for send\\0Arank 1 (forged) at \ufffd \u00e9 \U0001f600, "
    "collective number 7 of group @t\\C2\\9Bp", "  error: first", "    second \\1B]0;title\\07"], lines, error)
again()
with open(os.path.join(made, "\x1b.json"), "wb") as file:
    file.write(b'\x9b')
check("\\1B.json: parse error at line 1, column 1: " in analyze(made)[2] and "'\\9B'" in analyze(made)[2], analyze(made))
again()
os.mkfifo(os.path.join(made, "a.json"))
check("a.json: not a regular file" in analyze(made)[2], analyze(made))

# The recorder writes whole files, or says why there is none.
done = subprocess.run(["sh", "-c", f"ulimit -f 0; exec braid-run {folder}/p.so --entry=late --ranks=2 --timeout=100ms "
                       f"--flight-recorder={made}/rank"], capture_output=True, text=True, check=False)
check(f"cannot write {made}/rank0.json: File too large" in done.stderr, done)
check(os.listdir(made) == ["a.json"], os.listdir(made))
sys.exit(has_failed())

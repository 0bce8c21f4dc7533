"""Checks the trace of two processes that run a barrier to which rank 1 comes
400 ms late: on a common time scale rank 0 starts 400 ms earlier and both end
together."""

import json
import sys

with open(sys.argv[1], encoding="utf-8") as file:
    events = json.load(file)["traceEvents"]
names = [e["args"]["name"] for e in events if e["name"] == "process_name"]
starts, waits = (
    {e["pid"]: e for e in events if e.get("cat") == category}
    for category in ("start", "wait")
)
late = starts[1]["ts"] - starts[0]["ts"]
ends = [waits[rank]["ts"] + waits[rank]["dur"] for rank in (0, 1)]
problem = (
    names != ["rank 0", "rank 1"]
    or not 300e3 < late < 3e6
    or abs(ends[0] - ends[1]) > 250e3
    or min(e["ts"] for e in events if "ts" in e) != 0
)
if problem:
    print(names, late, ends, events)
sys.exit(problem)

"""Which variants of a step cuda_table.py runs in turn, and how often."""

# The milliseconds of a settled measurement: without load, with load before it,
# and measured. GPUs at their power limit keep their clocks between 0.3 and 0.8 s
# after a rest (docs/design/simulator.md).
REST, WARM, MEASURED = 600, 300, 400

# The milliseconds of one round of variants at most: with longer ones the rounds
# of a measurement, four at least, end after the clocks have changed.
LONGEST_ROUND = 85


def settled_times(machine, step):
    """The predicted milliseconds of all variants, if they run at settled clocks."""
    predicted = step.get("predicted_ms") or {}
    is_known = all(predicted.get(name) for name in step["variants"])
    return predicted if machine.options.settled and is_known else None


def measured_runs(machine, step, variants):
    """How often each variant runs, as options of braid-run."""
    predicted = settled_times(machine, step)
    if not predicted:
        return [f"--repeat={machine.options.repeat}", f"--warmup={machine.options.warmup}"]
    round_ms = sum(predicted[name] for name in variants)
    # As many rounds forwards as backwards.
    repeat, warmup = (max(4, 2 * round(part / round_ms / 2)) for part in (MEASURED, WARM))
    return [f"--idle={REST}ms", f"--repeat={repeat}", f"--warmup={warmup}"]


def rounds_of_variants(machine, step):
    """The names of the variants that run in turn, in each round with the first of the step."""
    first, *others = step["variants"]
    predicted = settled_times(machine, step)
    if not predicted:
        return [[first, *others]]
    most = max(1, int(LONGEST_ROUND / max(predicted.values())) - 1)
    count = -(-len(others) // most)
    return [[first, *others[number::count]] for number in range(count)]

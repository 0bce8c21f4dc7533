"""How the results of the variants of cuda_table.py compare with those of the first one."""


def describe(figures):
    """What a variant records against the first one, and what the comparison found."""
    verified = figures.get("verified")
    if not verified:
        return "-"
    kind = verified["numerics"]["class"]
    if verified["by"] == "bits":
        return kind
    if verified["same_bits"]:
        return f"{kind}, same bits here"
    return f"{kind}, {verified['largest_error']:.2g} ({verified['allowed_error']:.2g} allowed)"


def list_sums(figures, most=3):
    """The sums that a variant may add in another order."""
    sums = figures.get("verified", {}).get("numerics", {}).get("reordered_sums", [])
    found = [f"{one['operation']} at {one['site']} ({one['reason']})" for one in sums[:most]]
    return ", ".join(found) + (f" and {len(sums) - most} more" if len(sums) > most else "")


def compare_variants(machine, kinds):
    """The rows of a table, one for each step and configuration of `kinds`, and a line for
    each variant whose sums may have another order."""
    names = list(machine.table["passes"])[1:]
    rows, causes = [["numerics", "", *names]], []
    for key, step in machine.results["steps"].items():
        for kind in kinds:
            variants = step.get(kind)
            if not variants:
                continue
            cells = [describe(variants.get(name, {})) for name in names]
            rows.append([key.replace("-", ", "), kind, *cells])
            for name in names:
                listed = list_sums(variants.get(name, {}))
                cause = f"{key}, {name}: other order of sums: {listed}"
                if listed and cause not in causes:
                    causes.append(cause)
    return rows, causes

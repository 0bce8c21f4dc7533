"""What each program of the benchmark computes, in PyTorch in float64, and how far a kernel may be from it."""
import torch


def relu(a):
    return torch.clamp(a, min=0)


def softmax(a):
    return torch.softmax(a, dim=1)


def layer_norm(a, g, b):
    return torch.nn.functional.layer_norm(a, (a.shape[1],), g, b, 1e-5)


REFERENCE = {
    "copy": lambda a: a,
    "relu": relu,
    "muladd": lambda a, b, c: a * b + c,
    "gelu": lambda a: torch.nn.functional.gelu(a),
    "cast": lambda a: a,
    "bias": lambda a, b: a + b,
    "sum_rows": lambda a: a.sum(1),
    "sum_columns": lambda a: a.sum(0),
    "sum_all": lambda a: a.sum(),
    "softmax": softmax,
    "layer_norm": layer_norm,
    "transpose": lambda a: a.t(),
}


def tolerance(kind, dtype, depth):
    """Relative to the largest magnitude of the result."""
    unit = 2.0**-8 if dtype == "torch.bfloat16" else 2.0**-23
    if kind in ("copy", "relu", "transpose"):
        return 0.0
    if kind.startswith("sum"):
        return 2.0**-23 * 4 * max(1.0, depth) ** 0.5
    return 8 * unit


def error(result, expected):
    """The largest difference, relative to the largest magnitude expected."""
    difference = (result.double() - expected).abs().max().item()
    scale = expected.abs().max().item()
    return difference / scale if scale else difference

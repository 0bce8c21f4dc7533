"""Sends arrays of every element type through a program that copies them, in C
and Fortran order and all versions of the format; then files that are broken."""

import subprocess
import sys

import numpy as np

program, folder = sys.argv[1:]
types = {
    "i1": "?",
    "i8": "i1",
    "i16": "<i2",
    "i32": "<i4",
    "i64": "<i8",
    "f16": "<f2",
    "bf16": "V2",
    "f32": "<f4",
    "f64": "<f8",
    "c64": "<c8",
    "c128": "<c16",
    "e4m3": "V1",
    "e5m2": "V1",
}


def run(entry, file, out="out.npy"):
    return subprocess.run(
        [
            "braid-run",
            program,
            f"--entry={entry}",
            f"--arg={folder}/{file}",
            f"--out={folder}/{out}",
        ],
        capture_output=True,
        text=True,
        check=False,
    )


rng = np.random.default_rng(1)
for entry, name in types.items():
    dtype = np.dtype(name)
    if entry == "i1":
        array = rng.integers(0, 2, (3, 2)).astype(bool)
    else:
        array = np.frombuffer(rng.bytes(6 * dtype.itemsize), dtype).reshape(3, 2)
    for order in (np.ascontiguousarray, np.asfortranarray):
        for version in ((1, 0), (2, 0), (3, 0)):
            with open(f"{folder}/in.npy", "wb") as file:
                np.lib.format.write_array(file, order(array), version=version)
            result = run(entry, "in.npy")
            assert result.returncode == 0, (entry, result.stderr)
            found = np.load(f"{folder}/out.npy")
            assert found.dtype == dtype and found.shape == (3, 2), (entry, found)
            assert found.tobytes() == array.tobytes(), entry

# bf16 also comes as 16-bit integers.
np.save(f"{folder}/in.npy", np.arange(6, dtype="<u2").reshape(3, 2))
assert run("bf16", "in.npy").returncode == 0


def refused(entry, text, status=1):
    result = run(entry, "in.npy")
    assert result.returncode == status and text in result.stderr, result


np.save(f"{folder}/in.npy", np.zeros((3, 2), "<f8"))
refused("f32", "in.npy: the file holds elements of type '<f8', expected '<f4' (f32)")
np.save(f"{folder}/in.npy", np.zeros((2, 3), "<f4"))
refused("f32", "is tensor<2x3xf32>, but arg0 of f32 is tensor<3x2xf32>", 2)
np.save(f"{folder}/in.npy", np.arange(6, dtype=">f4").reshape(3, 2))
assert run("f32", "in.npy").returncode == 0
assert (np.load(f"{folder}/out.npy") == np.arange(6).reshape(3, 2)).all()
np.save(f"{folder}/in.npy", np.zeros((3, 2), "<f4"))
with open(f"{folder}/in.npy", "rb") as file:
    whole = file.read()
for length, text in (
    (4, "is no .npy file"),
    (40, "ends within its header"),
    (len(whole) - 5, "ends after 19 bytes of data, expected 24"),
):
    with open(f"{folder}/in.npy", "wb") as file:
        file.write(whole[:length])
    refused("f32", text)
with open(f"{folder}/in.npy", "wb") as file:
    file.write(whole.replace(b"(3, 2)", b"(9999999999999, 9999999)"[:24]))
refused("f32", "in.npy: tensor<9999999999999x9999999xf32> is too large")

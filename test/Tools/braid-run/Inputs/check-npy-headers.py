"""Compares what braid-run reads in .npy files with what NumPy reads.

check-npy-headers.py READ-NPY FOLDER [NUMBER [SEED]]

Headers are dictionaries in all forms that Python has for them, right ones and wrong
ones, and some with bytes that are changed at random. braid-run reads those in the form
that programs write, and may refuse the others, but reads none otherwise than NumPy.
"""

import io
import os
import random
import re
import struct
import subprocess
import sys
import warnings

import numpy as np

TYPES = {
    "i1": ["|b1", "?", "bool", "<b1", ">?"],
    "i8": ["|i1", "i1", "int8", "b"],
    "i16": ["<i2", ">i2", "=i2", "short"],
    "i32": ["<i4", ">i4", "|i4", "int32", "i"],
    "i64": ["<i8", ">i8", "int64", "q", "l"],
    "f16": ["<f2", ">f2", "half", "e"],
    "bf16": ["|V2", "<V2", ">V2", "<u2", ">u2", "H", "V2"],
    "f32": ["<f4", ">f4", "=f4", "|f4", "f4", "single", "f", ">f"],
    "f64": ["<f8", ">f8", "float64", "d"],
    "c64": ["<c8", ">c8", "complex64", "F"],
    "c128": ["<c16", ">c16", "complex128"],
    "f8E4M3FN": ["|V1", "|u1", "B"],
}
# The runtime's names.
NAMES = {"c64": "complex<f32>", "c128": "complex<f64>"}
_SIZE = "(0|[1-9][0-9]{0,3})"
_SHAPE = rf"\(\)|\({_SIZE},\)|\({_SIZE}(, ?{_SIZE})+,?\)"
_VALUES = {"descr": "['\"][<>=|]?[a-zA-Z][0-9]+['\"]", "fortran_order": "True|False", "shape": _SHAPE}
#: What programs write, with any order of keys.
PLAIN = re.compile("\\{" + ",? ?".join([f"(['\"]({'|'.join(_VALUES)})['\"]: ?({'|'.join(_VALUES.values())}))"] * 3) +
                   ",? ?\\} *\n?", re.ASCII)
WRONG_TYPES = ["", "<", "<f3", "x", "<f4 ", "@f4", "<float32", "O", "|S4", "f4,f4", "<U1", "\\xff", "M8[s]"]


class Headers:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def chance(self, share):
        return self.random.random() < share

    def space(self):
        if self.plain or self.chance(0.8):
            return ""
        return self.random.choice([" ", "  ", "\t", "\n", " \n ", "\f", "#, '\n", "\\\n", "\r\n"])

    def text(self, text):
        """A string literal for `text`, which may have escape sequences."""
        if self.plain:
            return self.random.choice("'\"").join(["", text, ""])
        pieces = [text]
        if len(text) > 1 and self.chance(0.1):
            cut = self.random.randrange(len(text))
            pieces = [text[:cut], text[cut:]]
        return self.space().join(self.piece(piece) for piece in pieces)

    def piece(self, text):
        prefix = self.random.choice([""] * 8 + ["u", "r", "R", "U"])
        quote = self.random.choice(["'"] * 6 + ['"'] * 3 + ["'''", '"""'])
        if prefix not in ("r", "R") and "\\" not in text and text and self.chance(0.1):
            at = self.random.randrange(len(text))
            escape = self.random.choice(["\\x%02x", "\\%03o", "\\u%04x", "\\U%08x", "\\%o"]) % ord(text[at])
            text = text[:at] + escape + text[at + 1:]
        elif self.chance(0.02):
            text += self.random.choice(["\\q", "\\\n", "\\", "\\x4", "\\'", "\\u12", "\\U00110000"])
        if self.chance(0.01):
            prefix = self.random.choice(["b", "f", "ur", "x"])
        return prefix + quote + text + quote

    def number(self, value):
        if self.plain:
            return str(value)
        forms = [str(value)] * 12 + [hex(value), oct(value), bin(value), "+%d" % value, "%dL" % value, "%d L" % value,
                                     "(%d)" % value, "+ (%d)" % value, "0x_%x" % value]
        wrong = ["-%d" % value, "0%d" % value, "%d.0" % value, "%d_" % value, "--%d" % value, "%dl" % value, "True",
                 "None", "'%d'" % value, "%d+0" % value, "%dj" % value, "(%d,)" % value, "9223372036854775808", "1e1",
                 "9223372036854775807", "4611686018427387904", "00", "0_0", "1_0", "+-1", "-0", "0x", "0b2", "x", ""]
        return self.random.choice(wrong if self.chance(0.03) else forms)

    def shape(self):
        rank = self.random.choice([0, 1, 1, 2, 2, 3, 4, 8])
        if self.chance(0.02):
            rank = self.random.choice([31, 32, 65, 100])
        sizes = [self.random.choice([1, 1, 2, 3, 0] if rank > 3 else [1, 2, 3, 4, 10, 0]) for _ in range(rank)]
        if rank > 8:
            sizes = [1] * rank
        words = [self.space() + self.number(size) + self.space() for size in sizes]
        text = ",".join(words) + ("," if rank == 1 or (rank and self.chance(0.3)) else "")
        if self.chance(0.03):
            text = self.random.choice([text + ",", text[:-1], "," + text])
        brackets = "[]" if self.chance(0.02) else "{}" if self.chance(0.01) else "()"
        return brackets[0] + self.space() + text + self.space() + brackets[1]

    def around(self, text):
        return "(%s)" % text if not self.plain and self.chance(0.03) else text

    def header(self, descr):
        self.plain = self.chance(0.5)
        order = self.random.choice(["False", "True"])
        if self.chance(0.03):
            order = self.random.choice(["1", "0", "true", "None", "'True'", "not True", "Truex"])
        if self.chance(0.08):
            descr = self.random.choice(WRONG_TYPES)
        items = [("descr", self.text(descr)), ("fortran_order", order), ("shape", self.shape())]
        self.random.shuffle(items)
        if self.chance(0.04):
            items.insert(0, self.random.choice([("descr", "'<f4'"), ("shape", "(2, 3)"), ("more", "1"), ("Shape", "()")]))
        if self.chance(0.02):
            items.pop(self.random.randrange(len(items)))
        members = [self.space() + self.around(self.text(key)) + self.space() + ":" + self.space() +
                   self.around(value) + self.space() for key, value in items]
        text = "{" + ",".join(members) + ("," + self.space() if self.chance(0.5) else "") + "}"
        text = self.around(text)
        if self.chance(0.05):
            text = self.random.choice([" ", "\n", "\t\t", "\n ", "#x\n", " \n"]) + text
        text += " " * self.random.randrange(20) + ("\n" if self.chance(0.9) else "")
        if self.chance(0.04):
            text += self.random.choice(["#x", " # \xe9\n", "x", ";", "\n\n", "\0", ",", "\\"])
        return self.changed(text)

    def changed(self, text):
        if self.chance(0.75):
            return text
        for _ in range(self.random.choice([1, 1, 1, 2, 3])):
            at = self.random.randrange(len(text) + 1)
            new = self.random.choice("(){}[],:'\" \n\t\\0123456789_xLTF+-.#\x00\xe9ab<>|")
            text = self.random.choice([text[:at] + new + text[at:], text[:at] + new + text[at + 1:],
                                       text[:at] + text[at + 1:]])
        return text

    def file(self, descr):
        major = self.random.choice([1, 1, 1, 2, 3])
        header = self.header(descr).encode("utf-8" if major == 3 and self.chance(0.9) else "latin1", "replace")
        version = (major, 0)
        length = len(header)
        if self.chance(0.02):
            version = self.random.choice([(0, 0), (1, 1), (4, 0), (2, 1), (255, 255)])
        if self.chance(0.02):
            length = self.random.choice([0, length - 1, length + 1, 9999, 65535])
        if self.chance(0.01):
            header += b" " * (self.random.choice([10000, 10001]) - len(header))
            length = len(header)
        number = struct.pack("<H" if version[0] == 1 else "<I", length)
        data = self.random.randbytes(self.random.choice([0, 1000, 20000, 20000, 20000, 20000]))
        return b"\x93NUMPY" + bytes(version) + number + header + data


def expected(file, type_name):
    """What NumPy reads, as read-npy prints it; None: it refuses."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            array = np.lib.format.read_array(io.BytesIO(file), allow_pickle=False)
        except Exception:  # Whatever NumPy and Python's parser raise.
            return None
    dtype = np.dtype(TYPES[type_name][0])
    found = array.dtype.newbyteorder("=")
    unsigned = {"bf16": "<u2", "f8E4M3FN": "|u1"}.get(type_name)
    if found != dtype and not (unsigned and found == np.dtype(unsigned)):
        return None
    array = array.astype(found)
    # A boolean is a byte that is 1 for every other byte than 0.
    data = (array.view("u1") != 0).tobytes() if type_name == "i1" else array.tobytes()
    return "(%s) %s" % ("x".join(map(str, array.shape)), data.hex())


def main(tool, folder, number, seed):
    headers = Headers(seed)
    cases = []
    for i in range(number):
        type_name = headers.random.choice(list(TYPES))
        descr = headers.random.choice(TYPES[type_name])
        cases.append((type_name, headers.file(descr), os.path.join(folder, f"header-{i}.npy")))
    for _, data, path in cases:
        with open(path, "wb") as file:
            file.write(data)
    lines = "".join(f"{NAMES.get(type_name, type_name)} {path}\n" for type_name, _, path in cases)
    done = subprocess.run([tool], input=lines, capture_output=True, text=True, errors="replace", check=True)
    # Messages quote files, which may have newlines: each answer begins as follows.
    answers = []
    for line in done.stdout.split("\n"):
        if line.startswith(("(", "refused: ")):
            answers.append(line)
    assert len(answers) == number, (len(answers), number)
    wrong = accepted = 0
    for (type_name, data, path), answer in zip(cases, answers):
        wanted = expected(data, type_name)
        accepted += wanted == answer
        size = 2 if data[6] == 1 else 4
        header = data[8 + size:8 + size + int.from_bytes(data[8:8 + size], "little")].decode("latin1")
        if answer == wanted or (answer.startswith("refused: ") and (wanted is None or not PLAIN.fullmatch(header))):
            os.remove(path)
            continue
        wrong += 1
        print(f"{path}: {type_name}: {data[:300]!r}\n  found {answer[:300]}\n  NumPy {wanted and wanted[:300]}")
    print(f"{number} headers, {accepted} read, {wrong} read otherwise than by NumPy")
    # Many of the headers are right, or the comparison says little.
    return wrong != 0 or not 0.1 * number < accepted < 0.8 * number


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[3:]]
    sys.exit(main(sys.argv[1], sys.argv[2], *(numbers + [1000, 1][len(numbers):])))

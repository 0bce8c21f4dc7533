# RUN: %python %s --programs 40 --jobs 2 | FileCheck %s
# CHECK: comm-merge-batch=all: 40 right, {{[1-3][0-9]|40}} changed
# CHECK: comm-merge-batch=machine=cpu {{.*}}: 40 right, {{[1-9][0-9]?}} changed
# CHECK: 40 programs: 0 wrong
"""Merges the parts of random programs; the results have to stay.

A program does what one of split-batch-random-programs.py does to two parts, which are
arguments or slices of one, with the same weights. The ops of the parts are side by side or
not, some of the second part differ, and some results are put together or added up.
comm-merge-batch makes one op of two where it can, and comm-interpret has to give the same
bits on all ranks.

The exit status is 1 if there is a difference; the script prints and keeps the program.
"""
import importlib.util
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[4] / "Dev"))
import rewritten_programs  # noqa: E402
from rewritten_programs import spell  # noqa: E402

spec = importlib.util.spec_from_file_location("split", pathlib.Path(__file__).with_name("split-batch-random-programs.py"))
split = importlib.util.module_from_spec(spec)
spec.loader.exec_module(split)

PASSES = ["comm-merge-batch=all",
          "comm-merge-batch=machine=cpu min-gain=0 collective-model=link link-latency=100us link-bandwidth=10GB/s ranks=4"]
SHARED = ("%w", "%v")


class PartsGenerator(split.BatchGenerator):
    def rename(self, line, part):
        """The same for one of the parts; names within ops stay."""
        return re.sub(r"%(v\d+|[abcd])\b", rf"%\1_{part}", line)

    def make(self):
        self.values = list(self.arguments)
        for _ in range(self.draw.randint(5, 12)):
            getattr(self, self.draw.choice(self.steps))()
        while self.flights:
            self.wait()
        lists = [[self.rename(line, part) for line in self.lines] for part in range(2)]
        if self.draw.random() < 0.3:
            place = self.draw.randrange(len(lists[1]))
            for this, other in (("addf", "mulf"), ("addi", "muli"), (" sum ", " max ")):
                lists[1][place] = lists[1][place].replace(this, other)
        # Each part keeps its order.
        sequential, lines = self.draw.random() < 0.4, []
        while lists[0] or lists[1]:
            chosen = not lists[0] or bool(lists[1]) and not sequential and self.draw.random() < 0.5
            lines.append(lists[chosen].pop(0))
        arguments, slices = [], []
        for name, shape, element in self.arguments:
            dim = self.draw.randrange(2)
            whole = tuple(2 * n if i == dim else n for i, n in enumerate(shape))
            if name in SHARED:
                arguments.append((name, shape, element))
            elif self.draw.random() < 0.6:
                arguments.append((name, whole, element))
                for part in range(2):
                    offsets = ", ".join(str(part * n) if i == dim else "0" for i, n in enumerate(shape))
                    slices.append(f"{name}_{part} = tensor.extract_slice {name}[{offsets}] [{shape[0]}, {shape[1]}] [1, 1] : "
                                  f"{spell(whole, element)} to {spell(shape, element)}")
            else:
                arguments += [(f"{name}_{part}", shape, element) for part in range(2)]
        results = []
        own = [value for value in self.values if value[0] not in SHARED]
        for name, shape, element in self.draw.sample(own, min(3, len(own))):
            type, parts = spell(shape, element), [self.rename(name, part) for part in range(2)]
            kind, dim = self.draw.randrange(3), self.draw.randrange(len(shape))
            if kind == 0:
                results += [(part, shape, element) for part in parts]
            elif kind == 1:
                sum = self.new()
                lines.append(f"{sum} = arith.add{'i' if element.startswith('i') else 'f'} {parts[0]}, {parts[1]} : {type}")
                results.append((sum, shape, element))
            else:
                whole = tuple(2 * n if i == dim else n for i, n in enumerate(shape))
                place = self.new()
                lines.append(f"{place} = tensor.empty() : {spell(whole, element)}")
                for number, part in self.draw.sample(list(enumerate(parts)), 2):
                    joined, sizes = self.new(), ", ".join(map(str, shape))
                    offsets = ", ".join(str(number * n) if i == dim else "0" for i, n in enumerate(shape))
                    lines.append(f"{joined} = tensor.insert_slice {part} into {place}[{offsets}] [{sizes}] "
                                 f"[{', '.join('1' for _ in shape)}] : {type} into {spell(whole, element)}")
                    place = joined
                results.append((place, whole, element))
        types = ", ".join(spell(value[1], value[2]) for value in results)
        groups = "[[0, 1]]" if self.ranks == 2 else "[[0, 1], [2, 3]]"
        given = ", ".join(f"{value[0]}: {spell(value[1], value[2])}" for value in arguments)
        return "\n".join([
            f"comm.group @world [{list(range(self.ranks))}]", f"comm.group @pair {groups}",
            f"func.func @main({given}) -> ({types}) {{", *slices, *lines,
            f"return {', '.join(value[0] for value in results)} : {types}", "}", ""])


if __name__ == "__main__":
    sys.exit(rewritten_programs.main(__doc__, PASSES, "comm-merge-batch", PartsGenerator))

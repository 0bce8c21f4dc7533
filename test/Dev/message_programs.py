"""Random programs in which ranks exchange messages in pairs, all in one text.

Each rank takes part in some rounds of the text; two ranks that meet may be in
different rounds of it. Collectives, computation and waits stand between the messages.
Not all programs are right as written: comm-verify tells.
"""
import random

RANKS = 3
SIZE = 4
TENSOR = f"tensor<{SIZE}xf32>"


class Generator:
    def __init__(self, seed):
        self.draw = random.Random(f"messages {seed}")
        self.lines, self.values, self.waits, self.count = [], ["%x"], [], 0

    def number(self):
        self.count += 1
        return self.count

    def cost(self):
        return f"{{comm.cost_ns = {self.draw.choice([1000, 10000, 100000])} : i64}}"

    def peers(self):
        """For each round of the text the peers of all ranks. The meetings are pairs in a
        random order; the rounds of a rank are its meetings in this order."""
        meetings = [[] for _ in range(RANKS)]
        pairs = [(0, 1), (0, 2), (1, 2)] * self.draw.randint(1, 2)
        self.draw.shuffle(pairs)
        for a, b in pairs:
            meetings[a].append(b)
            meetings[b].append(a)
        return list(zip(*meetings))

    def select(self, numbers):
        """The number of the rank, as a value."""
        name = f"%c{numbers[-1]}"
        for rank, number in enumerate(numbers[:-1]):
            peer = f"%peer{self.number()}"
            self.lines.append(f"{peer} = arith.select %is{rank}, %c{number}, {name} : index")
            name = peer
        return name

    def collective(self):
        i = self.number()
        kind = self.draw.choice(["sum", "max"])
        group = self.draw.choice(["@world", "@other"])
        self.lines.append(f"%t{i} = comm.all_reduce {kind} {self.draw.choice(self.values)} on {group} {self.cost()} : {TENSOR}")
        self.waits.append(f"%v{i} = comm.wait %t{i} : !comm.token<{TENSOR}>")

    def compute(self):
        name = f"%v{self.number()}"
        a, b = self.draw.choice(self.values), self.draw.choice(self.values)
        self.lines.append(f"{name} = arith.maximumf {a}, {b} {self.cost()} : {TENSOR}")
        self.values.append(name)

    def wait(self, index):
        wait = self.waits.pop(index)
        self.lines.append(wait)
        if "=" in wait:
            self.values.append(wait.split(" ")[0])

    def steps(self, least, most):
        for _ in range(self.draw.randint(least, most)):
            chance = self.draw.random()
            if chance < 0.35 and self.waits:
                self.wait(self.draw.randrange(len(self.waits)))
            elif chance < 0.65:
                self.collective()
            else:
                self.compute()

    def exchange(self, peers):
        peer, i = self.select(peers), self.number()
        self.lines.append(f"%s{i} = comm.send {self.draw.choice(self.values)} on @world to {peer} {self.cost()} : {TENSOR}")
        self.lines.append(f"%r{i} = comm.recv on @world from {peer} {self.cost()} : {TENSOR}")
        return [f"comm.wait %s{i} : !comm.token", f"%v{i} = comm.wait %r{i} : !comm.token<{TENSOR}>"]

    def make(self):
        for round in self.peers():
            waits = self.exchange(round)
            self.steps(0, 3)
            # The next round may need the end of this one.
            for wait in waits:
                self.waits.append(wait)
                self.wait(len(self.waits) - 1)
            self.steps(0, 3)
        while self.waits:
            self.wait(self.draw.randrange(len(self.waits)))
        names = ", ".join(self.values[1:])
        types = ", ".join([TENSOR] * (len(self.values) - 1))
        head = [f"%c{i} = arith.constant {i} : index" for i in range(RANKS)] + ["%rank = comm.rank on @world"]
        head += [f"%is{i} = arith.cmpi eq, %rank, %c{i} : index" for i in range(RANKS)]
        return "\n".join(["comm.group @world all", "comm.group @other all", f"func.func @main(%x: {TENSOR}) -> ({types}) {{",
                          *head, *self.lines, f"return {names} : {types}", "}", ""])

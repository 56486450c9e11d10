#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random programs whose work-items part and meet again, in C for the device and for the CPU.

diverge.py SEED COUNT writes COUNT programs to standard output. A program is a few phases with a
barrier between them. In a phase a work-item computes on its own state by random loops, branches,
switches and calls, some of them recursive, and reads what its neighbours have left in the group's
memory by the last phase. The state is all integers, so that all who run the program must agree.
"""
import random
import sys

VARS = ["s->v[0]", "s->v[1]", "s->v[2]", "s->v[3]"]


class Program:
    def __init__(self, rng, number):
        self.rng = rng
        self.number = number
        self.calls = rng.randint(0, 3)
        self.loops = 0

    def value(self, depth=2):
        rng = self.rng
        if depth == 0 or rng.random() < 0.3:
            return rng.choice(VARS + ["id", f"{rng.randint(0, 9)}ull", f"{rng.getrandbits(32)}u"])
        op = rng.choice(["+", "-", "*", "^", "&", "|", "<<", ">>", "/", "%", "<", "min", "w"])
        a, b = self.value(depth - 1), self.value(depth - 1)
        if op in ("<<", ">>"):
            return f"(({a}) {op} (({b}) & 31))"
        if op in ("/", "%"):
            return f"(({a}) {op} (({b}) | 1))"
        if op == "min":
            return f"((int64_t)({a}) < (int64_t)({b}) ? ({a}) : ({b}))"
        if op == "w":
            return f"(uint64_t)(int64_t)((int32_t)({a}) >> 3)"
        return f"(uint64_t)(({a}) {op} ({b}))"

    def condition(self):
        op = self.rng.choice(["<", "==", "!=", ">="])
        bits = self.rng.choice([1, 3, 7, 15])
        return f"(({self.value()}) & {bits}) {op} {self.rng.randint(0, bits)}"

    def block(self, depth, call, loop=False):
        return "{ " + " ".join(self.statement(depth - 1, call, loop)
                               for _ in range(self.rng.randint(1, 3))) + " }"

    def statement(self, depth, call, loop):
        rng = self.rng
        kind = rng.random()
        if depth <= 0 or kind < 0.3:
            return f"{rng.choice(VARS)} {rng.choice(['=', '+=', '^=', '-='])} {self.value()};"
        if kind < 0.5:
            other = f" else {self.block(depth, call, loop)}" if rng.random() < 0.5 else ""
            return f"if ({self.condition()}) {self.block(depth, call, loop)}{other}"
        if kind < 0.7:
            self.loops += 1
            i = f"i{self.loops}"
            return (f"for (unsigned {i} = 0; s->fuel && {i} < (({self.value()}) & 7); "
                    f"{i}++, s->fuel -= !!s->fuel) {self.block(depth, call, True)}")
        if kind < 0.8:
            cases = " ".join(f"case {n}: {self.block(depth, call)} break;" for n in range(4))
            return f"switch (({self.value()}) & 7) {{ {cases} default: {VARS[0]}++; }}"
        if kind < 0.85 and loop:
            return f"if ({self.condition()}) {rng.choice(['break', 'continue'])};"
        if call < self.calls:
            return f"f{self.number}_{rng.randint(call, self.calls - 1)}(s, id, n + 1);"
        return f"{VARS[1]} += n;"

    def text(self):
        rng = self.rng
        out = []
        for k in range(self.calls):
            out.append(f"static void f{self.number}_{k}(struct state *s, uint64_t id, unsigned n);")
        for k in range(self.calls):
            out.append(f"static __attribute__((noinline)) void f{self.number}_{k}"
                       "(struct state *s, uint64_t id, unsigned n)\n{ if (n > 4 || !s->fuel) return; s->fuel--;\n"
                       f"{self.block(3, k)}\n}}")
        phases = rng.randint(1, 4)
        for k in range(phases):
            near = (f"s->v[{rng.randint(0, 3)}] ^= near[(id % size + {rng.randint(0, 40)}) % size];"
                    if k else "")
            out.append(f"static __attribute__((noinline)) void p{self.number}_{k}(struct state *s, "
                       "uint64_t id, uint64_t size, const uint64_t *near)\n"
                       f"{{ unsigned n = 0; (void)size; (void)near; (void)n; {near}\n"
                       f"{self.block(4, 0)}\n}}")
        names = ", ".join(f"p{self.number}_{k}" for k in range(phases))
        out.append(f"DIVERGE_PROGRAM({self.number}, {phases}, {names})")
        return "\n".join(out)


def main():
    seed, count = int(sys.argv[1], 0), int(sys.argv[2])
    print(f"/* diverge.py {seed} {count} */\n#include \"diverge_program.h\"\n")
    for number in range(count):
        print(Program(random.Random(f"{seed}:{number}"), number).text())
    print(f"#define DIVERGE_COUNT {count}\n#define DIVERGE_ALL(X) "
          + " ".join(f"X({n})" for n in range(count)) + "\n#include \"diverge_table.h\"")


main()

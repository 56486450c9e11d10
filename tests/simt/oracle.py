#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0
"""Random sequences of instructions, each extension by itself, on local and private memory, and all
mixed, in one program.

oracle.py SEED COUNT writes to standard output, in assembler's language, COUNT sequences of each
kind in oracle_frame.S's frame. Registers are x1 to x30, and any float; x31 is the address of the
work-item's block, whose last ORACLE_MEM bytes are for loads and stores. All jumps go forward.
"""
import random
import sys

MEM, MEM_BYTES = 544, 480       # of a block, see oracle_frame.S
LENGTH = 18
NEAR = 2000                     # so many sequences take less than a jump's reach
FCSR, FLOAT = 1, 2              # what test_oracle.c is told of a sequence

RR = {
    'I': 'add sub sll slt sltu xor srl sra or and addw subw sllw srlw sraw',
    'M': 'mul mulh mulhsu mulhu div divu rem remu mulw divw divuw remw remuw',
    'Zba': 'add.uw sh1add sh2add sh3add sh1add.uw sh2add.uw sh3add.uw',
    'Zbb': 'andn orn xnor max maxu min minu rol rolw ror rorw',
    'Zbs': 'bclr bext binv bset',
}
RI = {'I': 'addi slti sltiu xori ori andi addiw'}
SHIFT = {'I': 'slli srli srai', 'Zba': 'slli.uw', 'Zbb': 'rori', 'Zbs': 'bclri bexti binvi bseti'}
SHIFT_W = {'I': 'slliw srliw sraiw', 'Zbb': 'roriw'}
R1 = {'Zbb': 'clz clzw ctz cpop cpopw sext.b sext.h zext.h orc.b rev8'}
LOADS = {'b': 1, 'bu': 1, 'h': 2, 'hu': 2, 'w': 4, 'wu': 4, 'd': 8}
AMO = 'swap add xor and or min max minu maxu'.split()
MODES = 'rne rtz rdn rup rmm dyn'.split()


class Sequence:
    def __init__(self, rng, number, kinds, finish):
        self.rng, self.number, self.kinds, self.finish = rng, number, kinds, finish
        self.lines, self.labels, self.traits = [], 0, 0
        # Few registers, so that results are operands soon.
        self.x_regs = rng.sample(range(1, 31), rng.randint(3, 10)) + [0]
        self.f_regs = rng.sample(range(32), rng.randint(3, 8))
        self.last_f = self.f()

    def put(self, text):
        self.lines.append('\t' + text)

    def x(self, zero=True):
        return f'x{self.rng.choice(self.x_regs if zero else self.x_regs[:-1])}'

    def f(self):
        return f'f{self.rng.choice(self.f_regs)}'

    def one_of(self, table, kind):
        return self.rng.choice(table[kind].split())

    def imm(self, bits=12):
        edge = 1 << (bits - 1)
        return self.rng.choice([self.rng.randint(-edge, edge - 1), self.rng.randint(-8, 8),
                                -edge, edge - 1, -1, 0])

    def offset(self, size):
        at = MEM + self.rng.randint(0, MEM_BYTES - size)
        return at - at % size if self.rng.random() < 0.7 else at

    def base(self, size):
        """An address for an access of some size: of the block, or of any register."""
        if self.rng.random() < 0.6:
            return f'{self.offset(size)}(x31)'
        reg = self.x(zero=False)
        if self.rng.random() < 0.5:     # another one in each work-item
            self.put(f'andi {reg}, {reg}, {self.rng.choice([0xf8, 0xff, 0x38])}')
            self.put(f'add {reg}, {reg}, x31')
            return f'{MEM + self.rng.randint(0, 200)}({reg})'
        distance = self.rng.randint(-500, 500)
        self.put(f'addi {reg}, x31, {self.offset(size) - distance}')
        return f'{distance}({reg})'

    def skip(self):
        self.labels += 1
        label = f'skip_{self.number}_{self.labels}'
        return label, self.rng.randint(0, 3)

    def arithmetic(self, kind):
        shapes = [(t, s) for t, s in ((RR, 'rr'), (RI, 'ri'), (SHIFT, '6'), (SHIFT_W, '5'),
                                      (R1, 'r')) if kind in t]
        table, shape = self.rng.choices(shapes, [len(t[kind].split()) for t, s in shapes])[0]
        last = {'rr': f', {self.x()}', 'ri': f', {self.imm()}', 'r': '',
                '6': f', {self.rng.randint(0, 63)}', '5': f', {self.rng.randint(0, 31)}'}[shape]
        self.put(f'{self.one_of(table, kind)} {self.x()}, {self.x()}{last}')

    def jump(self):
        label, count = self.skip()
        kind = self.rng.random()
        if kind < 0.7:
            op = self.rng.choice('beq bne blt bge bltu bgeu'.split())
            self.put(f'{op} {self.x()}, {self.x()}, {label}')
        elif kind < 0.85:
            self.put(f'jal {self.x()}, {label}')
        else:
            reg = self.x(zero=False)
            self.put(f'lla {reg}, {label}')
            self.put(f'jalr {self.x()}, {self.rng.choice([0, 1])}({reg})')
        for _ in range(count):
            self.step()
        self.lines.append(f'{label}:')

    def insn_i(self):
        kind = self.rng.random()
        if kind < 0.5:
            self.arithmetic('I')
        elif kind < 0.65:
            op = self.rng.choice(list(LOADS))
            self.put(f'l{op} {self.x()}, {self.base(LOADS[op])}')
        elif kind < 0.8:
            op = self.rng.choice('bhwd')
            self.put(f's{op} {self.x()}, {self.base(LOADS[op])}')
        elif kind < 0.87:
            op = self.rng.choice(['lui', 'auipc'])
            self.put(f'{op} {self.x()}, {self.rng.getrandbits(20):#x}')
        elif kind < 0.9:
            self.put(self.rng.choice(['fence iorw, iorw', 'fence r, w', 'fence.i', 'fence.tso']))
        else:
            self.jump()

    def insn_a(self):
        w, size = self.rng.choice([('w', 4), ('d', 8)])
        at = MEM + self.rng.randrange(0, MEM_BYTES, size)
        address, order = self.x(zero=False), self.rng.choice(['', '.aq', '.rl', '.aqrl'])
        self.put(f'addi {address}, x31, {at}')
        if self.rng.random() < 0.6:
            op = self.rng.choice(AMO)
            self.put(f'amo{op}.{w}{order} {self.x()}, {self.x()}, ({address})')
            return
        # A pair, at times with a store to the place or elsewhere between them.
        self.put(f'lr.{w}{order} {self.x()}, ({address})')
        if self.rng.random() < 0.4:
            self.put(f's{w} {self.x()}, {self.rng.choice([at, at, MEM])}(x31)')
        again = self.x(zero=False)
        self.put(f'addi {again}, x31, {self.rng.choice([at, at, at, MEM])}')
        if self.rng.random() < 0.9:
            self.put(f'sc.{w}{order} {self.x()}, {self.x()}, ({again})')

    def window(self, size, aligned=False):
        """An address for an access of some size in local or private memory."""
        reg, kind = self.x(zero=False), self.rng.random()
        step = size if aligned else 1
        if kind < 0.3:          # one address for all, at times across words
            self.put(f'lui {reg}, 0x60000')
            return f'{self.rng.randrange(0, 65 - size, step)}({reg})'
        if kind < 0.6:          # another one in each work-item
            mask = self.rng.choice([0x38, 0x30, 0x18])
            self.put(f'andi {reg}, {reg}, {mask}')
            self.put(f'bseti {reg}, {reg}, 29')
            self.put(f'bseti {reg}, {reg}, 30')
            return f'{self.rng.randrange(0, 65 - mask - size, step)}({reg})'
        word = self.rng.randint(0, 3)
        self.put(f'srli {reg}, x31, 7')
        self.put(f'binvi {reg}, {reg}, 25')
        self.put(f'bseti {reg}, {reg}, 30')
        return f'{512 * word + self.rng.randrange(0, 9 - size, step)}({reg})'

    def insn_window(self):
        kind = self.rng.random()
        if kind < 0.35:
            op = self.rng.choice(list(LOADS))
            self.put(f'l{op} {self.x()}, {self.window(LOADS[op])}')
        elif kind < 0.65:
            op = self.rng.choice('bhwd')
            self.put(f's{op} {self.x()}, {self.window(LOADS[op])}')
        elif kind < 0.8:
            w, size = self.rng.choice([('w', 4), ('d', 8)])
            self.put(f"{self.rng.choice(['fl', 'fs'])}{w} {self.f()}, {self.window(size)}")
        else:
            w, size = self.rng.choice([('w', 4), ('d', 8)])
            offset, reg = self.window(size, aligned=True).rstrip(')').split('(')
            self.put(f'addi {reg}, {reg}, {offset}')
            if kind < 0.9:
                self.put(f'amo{self.rng.choice(AMO)}.{w} {self.x()}, {self.x()}, ({reg})')
                return
            again = self.rng.choice([f'x{r}' for r in self.x_regs[:-1] if f'x{r}' != reg])
            self.put(f'lr.{w} {again}, ({reg})')
            self.put(f'sc.{w} {again}, {self.x()}, ({reg})')

    def csr(self):
        """Accesses to fcsr that leave a valid rounding mode: test_modes.c has the others."""
        self.traits |= FCSR
        reg = self.x(zero=False)
        kind = self.rng.randrange(6)
        if kind == 0:
            self.put(f'csrrwi {self.x()}, frm, {self.rng.randint(0, 4)}')
        elif kind == 1:
            op = self.rng.choice(['csrrw', 'csrrs', 'csrrc'])
            self.put(f'{op} {self.x()}, fflags, {self.x()}')
        elif kind == 2:
            op = self.rng.choice(['csrrwi', 'csrrsi', 'csrrci'])
            self.put(f'{op} {self.x()}, fflags, {self.rng.randint(0, 31)}')
        elif kind == 3:
            csr = self.rng.choice(['fcsr', 'frm', 'fflags'])
            self.put(f'csrrs {self.x()}, {csr}, x0')
        elif kind == 4:
            self.put(f'csrrci {self.x()}, frm, {self.rng.randint(0, 7)}')
        else:
            self.put(f'andi {reg}, {reg}, 0x9f')
            self.put(f'csrrw {self.x()}, fcsr, {reg}')

    def insn_f(self, s):
        self.traits |= FLOAT
        kind, mode = self.rng.random(), self.rng.choice(MODES)
        d, a, b, c = self.f(), self.f(), self.f(), self.f()
        if self.rng.random() < 0.5:     # what was computed just now is an operand, or several
            mode = 'dyn'
            a, b, c = (self.rng.choice([r, self.last_f]) for r in (a, b, c))
        self.last_f = d
        if kind < 0.3:
            op = self.rng.choice(['fadd', 'fsub', 'fmul', 'fdiv'])
            self.put(f'{op}.{s} {d}, {a}, {b}, {mode}')
        elif kind < 0.42:
            op = self.rng.choice(['fmadd', 'fmsub', 'fnmadd', 'fnmsub'])
            self.put(f'{op}.{s} {d}, {a}, {b}, {c}, {mode}')
        elif kind < 0.46:
            self.put(f'fsqrt.{s} {d}, {a}, {mode}')
        elif kind < 0.56:
            op = self.rng.choice(['fmin', 'fmax', 'fsgnj', 'fsgnjn', 'fsgnjx'])
            self.put(f'{op}.{s} {d}, {a}, {b}')
        elif kind < 0.64:
            self.put(f"{self.rng.choice(['feq', 'flt', 'fle'])}.{s} {self.x()}, {a}, {b}")
        elif kind < 0.74:
            self.put(f"fcvt.{self.rng.choice(['w', 'wu', 'l', 'lu'])}.{s} {self.x()}, {a}, {mode}")
        elif kind < 0.84:
            op = self.rng.choice(['w', 'wu', 'l', 'lu'])
            exact = s == 'd' and op in ('w', 'wu')
            self.put(f"fcvt.{s}.{op} {d}, {self.x()}" + ('' if exact else f', {mode}'))
        elif kind < 0.88:
            self.put(f'fclass.{s} {self.x()}, {a}')
        elif kind < 0.92:
            w = 'w' if s == 's' else 'd'
            self.put(self.rng.choice([f'fmv.x.{w} {self.x()}, {a}', f'fmv.{w}.x {d}, {self.x()}']))
        elif kind < 0.96:
            w, size = ('w', 4) if s == 's' else ('d', 8)
            self.put(f"{self.rng.choice(['fl', 'fs'])}{w} {a}, {self.base(size)}")
        elif s == 'd':
            self.put(self.rng.choice([f'fcvt.s.d {d}, {a}, {mode}', f'fcvt.d.s {d}, {a}']))
        else:
            self.put(f'fneg.s {d}, {a}')

    def instead(self, word, text):
        """Four instructions for qemu-riscv64, and one of the same effect for the interpreter."""
        self.labels += 1
        label = f'instead_{self.number}_{self.labels}'
        self.lines += [f'\tinstead {label}, {word:#x}', f'{label}:'] + [f'\t{t}' for t in text]

    def insn_zicond(self):
        """qemu-riscv64 7.2 does not know it."""
        d, a, b = (self.rng.choice(self.x_regs) for _ in range(3))
        funct3, branch = self.rng.choice([(5, 'beq'), (7, 'bne')])
        self.instead(0x0e000033 | funct3 << 12 | d << 7 | a << 15 | b << 20,
                     [f'{branch} x{b}, x0, .+12', f'mv x{d}, x{a}', 'j .+8', f'li x{d}, 0'])

    def ctzw(self):
        """qemu-riscv64 7.2 looks at all 64 bits."""
        d, a = self.rng.choice(self.x_regs), self.rng.choice(self.x_regs)
        self.instead(0x6010101b | d << 7 | a << 15,
                     [f'slli x{d}, x{a}, 32', f'ctz x{d}, x{d}', f'addi x{d}, x{d}, -32', 'nop'])

    def step(self):
        kind = self.rng.choice(self.kinds)
        rest = self.rng.random()
        if kind == 'I' or rest < 0.08:
            self.insn_i()
        elif rest < 0.13:
            self.jump()
        elif kind == 'A':
            self.insn_a()
        elif kind in ('F', 'D'):
            self.insn_f(kind.lower().replace('f', 's'))
        elif kind == 'Fcsr':
            self.csr() if rest < 0.3 else self.insn_f(self.rng.choice('sd'))
        elif kind == 'Zicond':
            self.insn_zicond()
        elif kind == 'Windows':
            self.insn_window()
        elif kind == 'Zbb' and rest < 0.17:
            self.ctzw()
        else:
            self.arithmetic(kind)

    def start(self):
        """Registers that are equal in all work-items, or in equal steps, or of 32 bits."""
        regs = self.x_regs[:-1]
        for reg in regs if self.rng.random() < 0.4 else self.rng.sample(regs, 1):
            self.put(self.rng.choice([
                f'addi x{reg}, x0, {self.imm()}', f'lui x{reg}, {self.rng.getrandbits(20):#x}',
                f'addi x{reg}, x31, {self.imm()}', f'sub x{reg}, x0, x31',
                f'slli x{reg}, x31, {self.rng.randint(0, 63)}', f'addiw x{reg}, x31, 0',
                f'lw x{reg}, {self.offset(4)}(x31)', f'lbu x{reg}, {self.offset(1)}(x31)']))

    def write(self, name):
        self.start()
        end = len(self.lines) + LENGTH
        while len(self.lines) < end:
            self.step()
        windows = 'Windows' in self.kinds
        print(f'case {self.number}, {self.traits}, "{name:<8}"')
        if windows:
            print('\twindows_in')
        print('\n'.join(self.lines))
        if windows:
            print('\twindows_out')
        print(f'\tj {self.finish}')


def main():
    rng, count = random.Random(int(sys.argv[1], 0)), int(sys.argv[2])
    one = 'I M A F D Fcsr Zba Zbb Zbs Zicond Windows'.split()
    print(f'/* Made by oracle.py {sys.argv[1]} {count}. */\n#include "oracle_frame.S"')
    end = 'finish'
    for name in one + ['all']:
        for k in range(count):
            number = (one + ['all']).index(name) * count + k
            if number % NEAR == 0:
                print(f'\t.text\nfinish_{number}:\tj {end}')
                end = f'finish_{number}'
            Sequence(rng, number, one if name == 'all' else [name], end).write(name)


main()

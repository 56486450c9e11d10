// SPDX-License-Identifier: GPL-2.0
/* An interpreter: a stack machine's byte code, one of four programs for each work-item. */
#include "native.h"

#define ITEMS	1024

enum { HALT, PUSH, LOAD, STORE, ADD, SUB, MUL, MOD, HALF, JZ, JMP };

static const uint8_t programs[4][48] = {
	{	/* greatest common divisor with 180 */
		PUSH, 180, STORE, 1, LOAD, 1, JZ, 21, LOAD, 1, LOAD, 0, LOAD, 1, MOD, STORE, 1,
		STORE, 0, JMP, 4, LOAD, 0, HALT,
	}, {	/* steps of Collatz's sequence */
		LOAD, 0, PUSH, 1, SUB, JZ, 38, LOAD, 2, PUSH, 1, ADD, STORE, 2, LOAD, 0, PUSH, 2,
		MOD, JZ, 31, LOAD, 0, PUSH, 3, MUL, PUSH, 1, ADD, JMP, 34, LOAD, 0, HALF, STORE, 0,
		JMP, 0, LOAD, 2, HALT,
	}, {	/* sum of squares */
		LOAD, 2, LOAD, 0, LOAD, 0, MUL, ADD, STORE, 2, LOAD, 0, PUSH, 1, SUB, STORE, 0,
		LOAD, 0, JZ, 23, JMP, 0, LOAD, 2, HALT,
	}, {	/* smallest divisor */
		PUSH, 2, STORE, 1, LOAD, 0, LOAD, 1, MOD, JZ, 20, LOAD, 1, PUSH, 1, ADD, STORE, 1,
		JMP, 4, LOAD, 1, HALT,
	},
};

static uint32_t run(const uint8_t *code, uint32_t argument)
{
	uint32_t stack[8], vars[4] = { argument }, *sp = stack, pc = 0;

	for (;;) {
		switch (code[pc++]) {
		case PUSH:
			*sp++ = code[pc++];
			break;
		case LOAD:
			*sp++ = vars[code[pc++]];
			break;
		case STORE:
			vars[code[pc++]] = *--sp;
			break;
		case ADD:
			sp--;
			sp[-1] += sp[0];
			break;
		case SUB:
			sp--;
			sp[-1] -= sp[0];
			break;
		case MUL:
			sp--;
			sp[-1] *= sp[0];
			break;
		case MOD:
			sp--;
			sp[-1] %= sp[0];
			break;
		case HALF:
			sp[-1] /= 2;
			break;
		case JZ:
			pc = *--sp ? pc + 1 : code[pc];
			break;
		case JMP:
			pc = code[pc];
			break;
		default:
			return sp[-1];
		}
	}
}

static void item(const uint32_t *in, uint32_t *out, uint32_t id)
{
	out[id] = run(programs[in[2 * id]], in[2 * id + 1]);
}

HOST void prepare(uint32_t *in)
{
	uint32_t i;

	for (i = 0; i < ITEMS; i++) {
		in[2 * i] = pick(4);
		in[2 * i + 1] = 2 + pick(150);
	}
}

PROGRAM(bytecode, "four programs of a stack machine, one switch", ITEMS, 8 * ITEMS, 4 * ITEMS)

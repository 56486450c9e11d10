// SPDX-License-Identifier: GPL-2.0
/* Backtracking: sudokus, one for each work-item. */
#define VGPU_PRIVATE_BYTES	16384
#include "native.h"

#define ITEMS	256
#define CELLS	81
#define EMPTY	46

static int fits(const uint8_t *board, uint32_t at, uint8_t digit)
{
	uint32_t row = at / 9, column = at % 9, i;

	for (i = 0; i < 9; i++) {
		if (board[9 * row + i] == digit || board[9 * i + column] == digit)
			return 0;
		if (board[9 * (row / 3 * 3 + i / 3) + column / 3 * 3 + i % 3] == digit)
			return 0;
	}
	return 1;
}

static int solve(uint8_t *board, uint32_t at)
{
	uint8_t digit;

	while (at < CELLS && board[at])
		at++;
	if (at == CELLS)
		return 1;
	for (digit = 1; digit <= 9; digit++) {
		if (!fits(board, at, digit))
			continue;
		board[at] = digit;
		if (solve(board, at + 1))
			return 1;
	}
	board[at] = 0;
	return 0;
}

static void item(const uint8_t *in, uint8_t *out, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < CELLS; i++)
		out[id * CELLS + i] = in[id * CELLS + i];
	solve(out + id * CELLS, 0);
}

HOST void prepare(uint8_t *in)
{
	uint32_t i, j, shift, row;

	for (i = 0; i < ITEMS; i++, in += CELLS) {
		shift = pick(9);
		for (j = 0; j < CELLS; j++) {
			row = j / 9;
			in[j] = (uint8_t)((row * 3 + row / 3 + j % 9 + shift) % 9 + 1);
		}
		for (j = 0; j < EMPTY; j++)
			in[pick(CELLS)] = 0;
	}
}

PROGRAM(sudoku, "sudokus by backtracking, recursive", ITEMS, CELLS * ITEMS, CELLS * ITEMS)

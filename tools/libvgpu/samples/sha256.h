/* SPDX-License-Identifier: GPL-2.0 */
/* SHA-256 (FIPS 180-4) of a message of 32 bytes per work-item. */
#ifndef SAMPLE_SHA256_H
#define SAMPLE_SHA256_H

#include <stdint.h>

#define SHA256_WORDS	8	/* of 32 bits, of a message, and of a digest */

/**
 * struct sha256_args - arguments
 * @messages: SHA256_WORDS words each, the first byte of a word is its highest
 * @digests:  likewise
 */
struct sha256_args {
	const uint32_t *messages;
	uint32_t *digests;
};

static const uint32_t sha256_k[64] = {
	0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4,
	0xab1c5ed5, 0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe,
	0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f,
	0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7,
	0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc,
	0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b,
	0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116,
	0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
	0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
	0xc67178f2,
};

static const uint32_t sha256_begin[SHA256_WORDS] = {
	0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab,
	0x5be0cd19,
};

static inline uint32_t sha256_ror(uint32_t x, unsigned int by)
{
	return x >> by | x << (32 - by);
}

/* The message, its end, and its length in bits; then what is made of them. */
static inline void sha256_schedule(const uint32_t *message, uint32_t *w)
{
	uint32_t s0, s1;
	int i;

	for (i = 0; i < SHA256_WORDS; i++)
		w[i] = message[i];
	w[8] = 0x80000000;
	for (i = 9; i < 15; i++)
		w[i] = 0;
	w[15] = 32 * SHA256_WORDS;
	for (i = 16; i < 64; i++) {
		s0 = sha256_ror(w[i - 15], 7) ^ sha256_ror(w[i - 15], 18) ^ w[i - 15] >> 3;
		s1 = sha256_ror(w[i - 2], 17) ^ sha256_ror(w[i - 2], 19) ^ w[i - 2] >> 10;
		w[i] = w[i - 16] + s0 + w[i - 7] + s1;
	}
}

static inline void sha256_item(const struct sha256_args *args, uint32_t id)
{
	const uint32_t *begin = sha256_begin;
	uint32_t a = begin[0], b = begin[1], c = begin[2], d = begin[3], e = begin[4];
	uint32_t f = begin[5], g = begin[6], h = begin[7], t1, t2, w[64];
	uint32_t *digest = args->digests + (uint64_t)id * SHA256_WORDS;
	int i;

	sha256_schedule(args->messages + (uint64_t)id * SHA256_WORDS, w);
	for (i = 0; i < 64; i++) {
		t1 = h + (sha256_ror(e, 6) ^ sha256_ror(e, 11) ^ sha256_ror(e, 25)) +
			((e & f) ^ (~e & g)) + sha256_k[i] + w[i];
		t2 = (sha256_ror(a, 2) ^ sha256_ror(a, 13) ^ sha256_ror(a, 22)) +
			((a & b) ^ (a & c) ^ (b & c));
		h = g;
		g = f;
		f = e;
		e = d + t1;
		d = c;
		c = b;
		b = a;
		a = t1 + t2;
	}
	digest[0] = begin[0] + a;
	digest[1] = begin[1] + b;
	digest[2] = begin[2] + c;
	digest[3] = begin[3] + d;
	digest[4] = begin[4] + e;
	digest[5] = begin[5] + f;
	digest[6] = begin[6] + g;
	digest[7] = begin[7] + h;
}

#endif /* SAMPLE_SHA256_H */

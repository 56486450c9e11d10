/* SPDX-License-Identifier: GPL-2.0 */
/* The monotonic clock, and sleeping on it; used by the selftests, the fuzzer and the bench. */
#ifndef CLK_H
#define CLK_H

#include <stdint.h>

uint64_t clk_ns(void);
uint64_t clk_ms(void);

/* Sleep for at least that long, also when a signal interrupts the sleep. */
void clk_sleep_ns(uint64_t ns);
void clk_sleep_ms(unsigned int ms);

#endif /* CLK_H */

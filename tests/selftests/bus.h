/* SPDX-License-Identifier: GPL-2.0 */
/* Writes to memory that may end in a SIGBUS. */
#ifndef BUS_H
#define BUS_H

#include <stdbool.h>
#include <stdint.h>

/* Between these two calls a SIGBUS of bus_write() does not end the process. */
void bus_catch(void);
void bus_release(void);

/* Whether the byte could be written; false: there was a SIGBUS. */
bool bus_write(volatile uint8_t *at, uint8_t value);

#endif /* BUS_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Tests that report in KTAP. A program is a list of test functions. A check that fails ends its
 * test function; then @cleanup of ktap_run() is called, and the next test runs.
 */
#ifndef KTAP_H
#define KTAP_H

#include <stddef.h>
#include <stdlib.h>

#define KTAP_EXIT_PASS	0
#define KTAP_EXIT_FAIL	1
#define KTAP_EXIT_SKIP	4

struct ktap_test {
	const char *name;
	void (*run)(void);
};

#define KTAP_TEST(function)	{ #function, function }

/*
 * Returns the exit code of the program. @cleanup runs after each test, failed or not. With
 * VGPU_TEST_ONLY in the environment that test is the only one.
 */
int ktap_run(const struct ktap_test *tests, size_t nr, void (*cleanup)(void));

#define KTAP_MAIN(tests, cleanup)					\
	int main(void)							\
	{								\
		exit(ktap_run(tests, sizeof(tests) / sizeof((tests)[0]), \
			      cleanup));				\
	}

__attribute__((format(printf, 1, 2)))
void ktap_note(const char *fmt, ...);
__attribute__((noreturn, format(printf, 4, 5)))
void ktap_fail(const char *file, int line, const char *what, const char *fmt, ...);
__attribute__((noreturn, format(printf, 1, 2)))
void ktap_skip(const char *fmt, ...);
__attribute__((noreturn, format(printf, 1, 2)))
void ktap_skip_all(const char *fmt, ...);

#define FAIL(...)	ktap_fail(__FILE__, __LINE__, "", __VA_ARGS__)

#define CHECK(condition, ...)						\
	do {								\
		if (!(condition))					\
			ktap_fail(__FILE__, __LINE__, #condition,	\
				  " " __VA_ARGS__);			\
	} while (0)

/* Two integers that are to be equal; if they are not, both are printed. */
#define CHECK_EQ(a, b, ...)						\
	do {								\
		long long ktap_a = (long long)(a);			\
		long long ktap_b = (long long)(b);			\
									\
		if (ktap_a != ktap_b) {					\
			ktap_note("%s is %lld (%#llx), not %lld (%#llx)", #a, \
				  ktap_a, (unsigned long long)ktap_a,	\
				  ktap_b, (unsigned long long)ktap_b);	\
			ktap_fail(__FILE__, __LINE__, "", " " __VA_ARGS__); \
		}							\
	} while (0)

#endif /* KTAP_H */

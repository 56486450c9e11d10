// SPDX-License-Identifier: GPL-2.0
/*
 * PCI configuration space, as VM monitors and guests use it: the capability list, BAR and ROM
 * sizing with every width, command bits, power states, function level reset; then random writes
 * that must not change what is read-only.
 */
#include <linux/pci_regs.h>

#include "function_test.h"

static u64 get(const struct vgpu_config *config, u32 offset, unsigned int len)
{
	u64 value = 0;

	vgpu_config_read(config, offset, &value, len);
	return value;
}

static unsigned int put(struct vgpu_config *config, u32 offset, u64 value, unsigned int len)
{
	return vgpu_config_write(config, offset, &value, len);
}

/* The offset of a capability, or 0. */
static u32 find_cap(const struct vgpu_config *config, u8 id)
{
	u32 offset = get(config, PCI_CAPABILITY_LIST, 1);
	unsigned int i;

	for (i = 0; i < 48 && offset; i++) {
		assert_true(offset >= 0x40 && offset % 4 == 0);
		if (get(config, offset, 1) == id)
			return offset;
		offset = get(config, offset + 1, 1);
	}
	assert_int_equal(offset, 0);
	return 0;
}

static void test_header(void **state)
{
	struct vgpu_config config;

	vgpu_config_init(&config, &typical);
	assert_int_equal(get(&config, 0, 4), 0x10f11af4);
	assert_int_equal(get(&config, PCI_COMMAND, 2), 0);
	assert_int_equal(get(&config, PCI_STATUS, 2), PCI_STATUS_CAP_LIST);
	assert_int_equal(get(&config, PCI_CLASS_REVISION, 4), 0x03020000);
	assert_int_equal(get(&config, PCI_HEADER_TYPE, 1), 0);
	assert_int_equal(get(&config, PCI_SUBSYSTEM_VENDOR_ID, 4), 0x10f11af4);
	assert_int_equal(get(&config, PCI_INTERRUPT_PIN, 1), 0);
	assert_int_equal(get(&config, PCI_ROM_ADDRESS, 4), 0);
	assert_int_equal(get(&config, 0x100, 4), 0);
	assert_int_equal(vgpu_config_state(&config), 0);
}

static void test_capabilities(void **state)
{
	struct vgpu_function_desc without = typical;
	struct vgpu_config config;
	u32 cap;

	vgpu_config_init(&config, &typical);
	cap = find_cap(&config, PCI_CAP_ID_MSIX);
	assert_true(cap);
	assert_int_equal(get(&config, cap + PCI_MSIX_FLAGS, 2), 31);
	assert_int_equal(get(&config, cap + PCI_MSIX_TABLE, 4), 0x2002);
	assert_int_equal(get(&config, cap + PCI_MSIX_PBA, 4), 0x2802);
	put(&config, cap + PCI_MSIX_FLAGS, 0xffff, 2);
	assert_int_equal(get(&config, cap + PCI_MSIX_FLAGS, 2), 0xc01f);

	cap = find_cap(&config, PCI_CAP_ID_PM);
	assert_true(cap);
	assert_int_equal(get(&config, cap + PCI_PM_CTRL, 2), PCI_PM_CTRL_NO_SOFT_RESET);

	cap = find_cap(&config, PCI_CAP_ID_EXP);
	assert_true(cap);
	assert_int_equal(get(&config, cap + PCI_EXP_FLAGS, 2), 2);
	assert_true(get(&config, cap + PCI_EXP_DEVCAP, 4) & PCI_EXP_DEVCAP_FLR);
	assert_int_equal(find_cap(&config, PCI_CAP_ID_VNDR), 0);

	without.vectors = 0;
	vgpu_config_init(&config, &without);
	assert_int_equal(find_cap(&config, PCI_CAP_ID_MSIX), 0);
	assert_true(find_cap(&config, PCI_CAP_ID_PM));
	assert_true(find_cap(&config, PCI_CAP_ID_EXP));
}

/* Writes the @bytes low bytes of @value by accesses of @width bytes. */
static void write_by(struct vgpu_config *config, u32 offset, u64 value, unsigned int bytes,
		     unsigned int width)
{
	unsigned int i;

	for (i = 0; i < bytes; i += width)
		put(config, offset + i, value >> (8 * i), width);
}

/* Finds out the size of a BAR of @bytes as a guest does: it must be @size, the low bits @type. */
static void size_bar(struct vgpu_config *config, unsigned int bar, unsigned int bytes,
		     unsigned int width, u64 size, u64 type)
{
	u32 offset = PCI_BASE_ADDRESS_0 + 4 * bar;
	u64 mask = bytes == 8 ? ~0ULL : 0xffffffffULL;
	u64 address = 0x123456789abcdef0ULL & mask;
	u64 old;

	write_by(config, offset, address, bytes, width);
	old = get(config, offset, bytes);
	assert_int_equal(old, (address & ~(size - 1) & mask) | type);

	write_by(config, offset, ~0ULL, bytes, width);
	assert_int_equal(get(config, offset, bytes), (~(size - 1) & mask) | type);
	assert_int_equal((~(get(config, offset, bytes) & ~0xfULL) & mask) + 1, size);

	write_by(config, offset, old, bytes, width);
	assert_int_equal(get(config, offset, bytes), old);
}

static void test_sizing(void **state)
{
	struct vgpu_config config;
	unsigned int width;

	for (width = 1; width <= 8; width *= 2) {
		vgpu_config_init(&config, &typical);
		size_bar(&config, 0, 8, width, 8ULL << 30,
			 PCI_BASE_ADDRESS_MEM_TYPE_64 |
			 PCI_BASE_ADDRESS_MEM_PREFETCH);
		size_bar(&config, 4, 8, width, 16 * 4096, PCI_BASE_ADDRESS_MEM_TYPE_64);
		if (width <= 4)
			size_bar(&config, 2, 4, width, 0x20000, 0);
		assert_int_equal(get(&config, PCI_BASE_ADDRESS_3, 4), 0);
		write_by(&config, PCI_BASE_ADDRESS_3, ~0ULL, 4, width < 4 ? width : 4);
		assert_int_equal(get(&config, PCI_BASE_ADDRESS_3, 4), 0);
		write_by(&config, PCI_ROM_ADDRESS, ~0ULL, 4, width < 4 ? width : 4);
		assert_int_equal(get(&config, PCI_ROM_ADDRESS, 4), 0);
	}
}

static void test_command(void **state)
{
	struct vgpu_config config;

	vgpu_config_init(&config, &typical);
	assert_int_equal(put(&config, PCI_COMMAND, PCI_COMMAND_IO, 2), 0);
	assert_int_equal(get(&config, PCI_COMMAND, 2), 0);
	assert_int_equal(put(&config, PCI_COMMAND, PCI_COMMAND_MEMORY, 2), 0);
	assert_int_equal(vgpu_config_state(&config), VGPU_CONFIG_MEMORY);
	assert_int_equal(put(&config, PCI_COMMAND,
			     PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 1),
			 VGPU_CONFIG_MASTER_ON);
	assert_int_equal(vgpu_config_state(&config), VGPU_CONFIG_MEMORY | VGPU_CONFIG_MASTER);
	assert_int_equal(put(&config, PCI_COMMAND, ~0U, 4), 0);
	assert_int_equal(get(&config, PCI_COMMAND, 2), 0x546);
	assert_int_equal(get(&config, PCI_STATUS, 2), PCI_STATUS_CAP_LIST);
	assert_int_equal(put(&config, PCI_COMMAND, 0, 2), 0);
	assert_int_equal(vgpu_config_state(&config), 0);
	assert_int_equal(put(&config, PCI_VENDOR_ID,
			     (u64)PCI_COMMAND_MASTER << 32, 8),
			 VGPU_CONFIG_MASTER_ON);
	vgpu_config_reset(&config);
	assert_int_equal(vgpu_config_state(&config), 0);
}

static void test_power(void **state)
{
	struct vgpu_config config;
	u32 pm;

	vgpu_config_init(&config, &typical);
	pm = find_cap(&config, PCI_CAP_ID_PM) + PCI_PM_CTRL;
	put(&config, PCI_COMMAND, PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER, 2);
	put(&config, pm, 1, 2);
	assert_int_equal(get(&config, pm, 2), PCI_PM_CTRL_NO_SOFT_RESET);
	assert_int_equal(put(&config, pm, 3, 2), 0);
	assert_int_equal(vgpu_config_state(&config), 0);
	put(&config, pm, 2, 2);
	assert_int_equal(get(&config, pm, 2), PCI_PM_CTRL_NO_SOFT_RESET | 3);
	assert_int_equal(put(&config, pm, 0, 2), VGPU_CONFIG_MASTER_ON);
	assert_int_equal(vgpu_config_state(&config), VGPU_CONFIG_MEMORY | VGPU_CONFIG_MASTER);
	assert_int_equal(get(&config, PCI_COMMAND, 2), PCI_COMMAND_MEMORY | PCI_COMMAND_MASTER);
}

static void test_flr(void **state)
{
	struct vgpu_config config;
	u32 ctl;
	u64 was;

	vgpu_config_init(&config, &typical);
	ctl = find_cap(&config, PCI_CAP_ID_EXP) + PCI_EXP_DEVCTL;
	was = get(&config, ctl, 2);
	assert_int_equal(put(&config, ctl, was, 2), 0);
	assert_int_equal(put(&config, ctl, was | PCI_EXP_DEVCTL_BCR_FLR, 2), VGPU_CONFIG_RESET);
	assert_int_equal(get(&config, ctl, 2), was);
	assert_int_equal(put(&config, ctl + 1, 0x80, 1), VGPU_CONFIG_RESET);
	assert_int_equal(put(&config, ctl, PCI_EXP_DEVCTL_BCR_FLR, 4), VGPU_CONFIG_RESET);
	assert_int_equal(put(&config, ctl - 4, 0x8000ULL << 32, 8), VGPU_CONFIG_RESET);
	assert_int_equal(put(&config, ctl, 0x80, 1), 0);
}

/* These bytes are read-only, whatever is written. */
static const struct {
	u32 offset;
	u32 len;
} read_only[] = {
	{ PCI_VENDOR_ID, 4 },
	{ PCI_STATUS, 2 },
	{ PCI_CLASS_REVISION, 4 },
	{ PCI_LATENCY_TIMER, 3 },
	{ PCI_BASE_ADDRESS_3, 4 },
	{ PCI_CARDBUS_CIS, 0x14 },
	{ PCI_INTERRUPT_PIN, 3 },
};

static void test_random(void **state)
{
	struct vgpu_config config, fresh;
	u8 bytes[VGPU_CONFIG_SIZE];
	u64 rnd = test_seed();
	unsigned int round, i;

	vgpu_config_init(&config, &typical);
	vgpu_config_init(&fresh, &typical);
	for (round = 0; round < ROUNDS; round++) {
		unsigned int len = 1U << random_range(&rnd, 0, 3);
		u32 offset = random_range(&rnd, 0, (random_one_in(&rnd, 4) ? VGPU_CONFIG_SIZE :
								     VGPU_CONFIG_HEAD) - 1);
		u64 value = random_next(&rnd);
		unsigned int before = vgpu_config_state(&config);
		unsigned int after, events, expect = 0;

		offset &= ~(len - 1);
		events = put(&config, offset, value, len);
		after = vgpu_config_state(&config);
		if (after & ~before & VGPU_CONFIG_MASTER)
			expect = VGPU_CONFIG_MASTER_ON;
		assert_int_equal(events & ~VGPU_CONFIG_RESET, expect);

		vgpu_config_read(&config, offset, bytes, len);
		for (i = 0; i < len; i++)
			assert_int_equal(bytes[i], get(&config, offset + i, 1));
		assert_int_equal(get(&config, 0x0c, 8) & ~0xffULL & 0xffffffff, 0);
		for (i = 0; i < ARRAY_SIZE(read_only); i++)
			assert_memory_equal(config.space + read_only[i].offset,
					    fresh.space + read_only[i].offset,
					    read_only[i].len);
		assert_int_equal(get(&config, PCI_BASE_ADDRESS_0, 4) & 0xfff, 0xc);
		assert_int_equal(get(&config, PCI_BASE_ADDRESS_2, 4) & 0x1ffff, 0);
		assert_int_equal(get(&config, PCI_COMMAND, 2) & ~0x546ULL, 0);
	}

	vgpu_config_read(&config, 0, bytes, sizeof(bytes));
	for (i = VGPU_CONFIG_HEAD; i < VGPU_CONFIG_SIZE; i++)
		assert_int_equal(bytes[i], 0);
	vgpu_config_reset(&config);
	assert_memory_equal(&config, &fresh, sizeof(config));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_header),
		cmocka_unit_test(test_capabilities),
		cmocka_unit_test(test_sizing),
		cmocka_unit_test(test_command),
		cmocka_unit_test(test_power),
		cmocka_unit_test(test_flr),
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

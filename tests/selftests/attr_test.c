// SPDX-License-Identifier: GPL-2.0
/* The groups vgpu/ in sysfs, of GPUs and vGPUs. */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/ioctl.h>

#include "child.h"
#include "tune.h"

static struct fx_vgpu v[2];
static struct vgpu_ctl_gpu gpu;

/* An attribute of the group vgpu/: of @vgpu, or of the GPU if that is NULL. */
static void attr_path(const struct fx_vgpu *vgpu, const char *name, char *path, size_t room)
{
	if (vgpu)
		snprintf(path, room, "/sys/bus/mdev/devices/%s/vgpu/%s", vgpu->uuid, name);
	else
		snprintf(path, room, "/sys/class/mdev_bus/%s/vgpu/%s", fx_gpu(), name);
}

static int set_attr(const struct fx_vgpu *vgpu, const char *name, const char *text)
{
	char path[256];

	attr_path(vgpu, name, path, sizeof(path));
	return file_write(path, text);
}

static void check_attr(const struct fx_vgpu *vgpu, const char *name, const char *wanted)
{
	char path[256], text[64], line[64];
	int n;

	attr_path(vgpu, name, path, sizeof(path));
	n = file_read(path, text, sizeof(text));
	snprintf(line, sizeof(line), "%s\n", wanted);
	CHECK(n > 0 && !strcmp(text, line), "%s: '%s', not '%s'", path,
	      n > 0 ? text : strerror(-n), wanted);
}

/* What is set in sysfs is what /dev/vgpu shows. */
static void gpu_attributes(void)
{
	static const struct {
		const char *name, *text, *shows;
	} good[] = {
		{ "window_ms", "1000", "1000" },
		{ "policy", "qos\n", "qos" },
		{ "slice_ns", "3000000\n", "3000000" },
		{ "slice_ns", "0x1e8480", "2000000" },
		{ "frequency_hz", "960", "960" },
		{ "frequency_hz", "63", "63" },
		{ "frequency_hz", "400", "400" },
		{ "window_ms", "25", "25" },
		{ "preempt_timeout_us", "1000000", "1000000" },
		{ "preempt_timeout_us", "20000", "20000" },
		{ "linger_us", "0", "0" },
		{ "linger_us", "50", "50" },
		{ "quarantine_faults", "16", "16" },
		{ "quarantine_backoff_ms", "1", "1" },
	};
	struct vgpu_ctl_sched before, now;
	const char *policy;
	unsigned int i;
	char text[64];

	tune_begin();
	tune_get(&before);
	check_attr(NULL, "policy", (char *)before.policy);
	for (i = 0; (policy = tune_policy_at(i)); i++) {
		snprintf(text, sizeof(text), i % 2 ? "%s" : "%s\n", policy);
		CHECK_EQ(set_attr(NULL, "policy", text), 0, "%s", policy);
		check_attr(NULL, "policy", policy);
	}
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		CHECK_EQ(set_attr(NULL, good[i].name, good[i].text), 0, "%s %s",
			 good[i].name, good[i].text);
		check_attr(NULL, good[i].name, good[i].shows);
	}
	tune_get(&now);
	CHECK(!strcmp((char *)now.policy, "qos"), "%s", (char *)now.policy);
	CHECK_EQ(now.slice_ns, 2500000);
	CHECK_EQ(now.window_ns, 25000000);
	CHECK_EQ(now.preempt_timeout_us, 20000);
	CHECK_EQ(now.linger_us, 50);
	CHECK_EQ(now.quarantine_faults, 16);
	CHECK_EQ(now.quarantine_backoff_ms, 1);
	tune_set(&before, TUNE_ALL);
	check_attr(NULL, "policy", (char *)before.policy);
}

static void gpu_attributes_bad_input(void)
{
	static const struct {
		const char *name, *text;
		int error;
	} bad[] = {
		{ "policy", "\n", EINVAL },
		{ "policy", "gos", EINVAL },
		{ "policy", "qos\nqos", EINVAL },
		{ "policy", "qos, and a long text that no policy is named by", EINVAL },
		{ "slice_ns", "x", EINVAL },
		{ "slice_ns", "\n", EINVAL },
		{ "slice_ns", "-1", EINVAL },
		{ "slice_ns", "2000000 ns", EINVAL },
		{ "slice_ns", "999999", ERANGE },
		{ "slice_ns", "30000001", ERANGE },
		{ "slice_ns", "18446744073709551616", ERANGE },
		{ "frequency_hz", "62", ERANGE },
		{ "frequency_hz", "961", ERANGE },
		{ "frequency_hz", "4294967796", ERANGE }, /* 2^32 + 500 */
		{ "window_ms", "9", ERANGE },
		{ "window_ms", "1001", ERANGE },
		/* In ns that is 41 ms, modulo 2^64. */
		{ "window_ms", "18446744073751", ERANGE },
		{ "preempt_timeout_us", "999", ERANGE },
		{ "preempt_timeout_us", "1000001", ERANGE },
		{ "linger_us", "1001", ERANGE },
		{ "linger_us", "4294967346", ERANGE }, /* 2^32 + 50 */
		{ "quarantine_faults", "17", ERANGE },
		{ "quarantine_backoff_ms", "0", ERANGE },
		{ "quarantine_backoff_ms", "3600001", ERANGE },
	};
	struct vgpu_ctl_sched before, now;
	unsigned int i;

	tune_get(&before);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		CHECK_EQ(set_attr(NULL, bad[i].name, bad[i].text),
			 -bad[i].error, "%s: %s", bad[i].name, bad[i].text);
	tune_get(&now);
	CHECK(!memcmp(&before, &now, sizeof(now)), "changed");
}

static void vgpu_attributes(void)
{
	struct vgpu_ctl_instance inst;
	char text[16];

	fx_create(&v[0], "1Q");
	fx_instance(&v[0], &inst);
	snprintf(text, sizeof(text), "%u", inst.guarantee);
	check_attr(&v[0], "guarantee", text);
	check_attr(&v[0], "cap", "1000");
	check_attr(&v[0], "frl", "default");
	check_attr(&v[0], "frl_fps", "60");
	check_attr(&v[0], "vga", "0");
	CHECK_EQ(set_attr(&v[0], "vga", "1\n"), 0);
	check_attr(&v[0], "vga", "1");
	CHECK_EQ(set_attr(&v[0], "vga", "0"), 0);
	CHECK_EQ(set_attr(&v[0], "guarantee", "300\n"), 0);
	CHECK_EQ(set_attr(&v[0], "cap", "400"), 0);
	CHECK_EQ(set_attr(&v[0], "weight", "0x10"), 0);
	CHECK_EQ(set_attr(&v[0], "frl", "30"), 0);
	CHECK_EQ(set_attr(&v[0], "frl_fps", "30"), -EACCES, "read-only");
	check_attr(&v[0], "frl_fps", "30");
	fx_open(&v[0]);
	fx_close(&v[0]);
	check_attr(&v[0], "guarantee", "300");
	check_attr(&v[0], "cap", "400");
	check_attr(&v[0], "weight", "16");
	check_attr(&v[0], "frl", "30");
	fx_instance(&v[0], &inst);
	CHECK_EQ(inst.guarantee, 300);
	CHECK_EQ(inst.cap, 400);
	CHECK_EQ(inst.weight, 16);
	CHECK_EQ(inst.frl_config, 30);
	CHECK_EQ(set_attr(&v[0], "frl", "0\n"), 0);
	check_attr(&v[0], "frl", "0");
	check_attr(&v[0], "frl_fps", "0");
	CHECK_EQ(set_attr(&v[0], "frl", "default\n"), 0);
	check_attr(&v[0], "frl", "default");
	check_attr(&v[0], "frl_fps", "60");
}

static void vgpu_attributes_bad_input(void)
{
	static const struct {
		const char *name, *text, *part;
	} bad[] = {
		{ "guarantee", "x", "guarantee" },
		{ "guarantee", "-1", "guarantee" },
		{ "guarantee", "\n", "guarantee" },
		{ "guarantee", "1001", "must be 0..1000" },
		{ "guarantee", "65536", "must be 0..1000" },
		{ "guarantee", "4294967296", "guarantee" },
		{ "guarantee", "default", "guarantee" },
		{ "cap", "0", "must be 1..1000" },
		{ "cap", "1001", "must be 1..1000" },
		{ "cap", "10", "is above the cap" },
		{ "weight", "0", "must be 1..1000" },
		{ "weight", "1001", "must be 1..1000" },
		{ "weight", "4294967295", "weight" },
		{ "frl", "1001", "must be 0" },
		{ "frl", "4294967295", "frl" },
		{ "frl", "off", "frl" },
		{ "frl", "defaults", "frl" },
		{ "vga", "2", "must be 0 (off)..1" },
		{ "vga", "on", "vga" },
	};
	struct vgpu_ctl_instance before, now;
	unsigned int i;

	fx_create(&v[0], "1Q");
	fx_create(&v[1], "1Q");
	CHECK_EQ(set_attr(&v[0], "guarantee", "100"), 0);
	fx_instance(&v[0], &before);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		CHECK_EQ(set_attr(&v[0], bad[i].name, bad[i].text), -EINVAL,
			 "%s: %s", bad[i].name, bad[i].text);
		fx_check_refusal(&v[0], EINVAL, bad[i].part);
	}
	fx_instance(&v[0], &now);
	CHECK_EQ(set_attr(&v[1], "guarantee", "901"), -ENOSPC);
	fx_check_refusal(&v[1], ENOSPC, "100 of 1000 are given to others, 900 are left; lower theirs by 1");
	CHECK_EQ(set_attr(&v[1], "guarantee", "900"), 0);
	fx_instance(&v[0], &now);
	CHECK_EQ(now.guarantee, before.guarantee);
	CHECK_EQ(now.cap, before.cap);
	CHECK_EQ(now.weight, before.weight);
	CHECK_EQ(now.frl_config, before.frl_config);
	CHECK_EQ(now.vga, before.vga);
}

static void run_mdevctl(const char *fmt, ...)
{
	char command[512];
	va_list args;
	int n;

	n = snprintf(command, sizeof(command), "mdevctl ");
	va_start(args, fmt);
	vsnprintf(command + n, sizeof(command) - (size_t)n, fmt, args);
	va_end(args);
	CHECK_EQ(system(command), 0, "%s", command);
}

/* mdevctl writes attributes when it has created a vGPU, before anybody opens it. */
static void mdevctl_attributes(void)
{
	struct vgpu_ctl_instance inst;
	char type[128];

	fx_ctl_gpu(&gpu);
	memset(&v[0], 0, sizeof(v[0]));
	fx_new_uuid(&v[0]);
	snprintf(type, sizeof(type), "%.32s-%.32s-1Q", (char *)gpu.driver, (char *)gpu.board);
	run_mdevctl("define -u %s -p %s -t %s", v[0].uuid, fx_gpu(), type);
	run_mdevctl("modify -u %s --addattr vgpu/guarantee --value 200", v[0].uuid);
	run_mdevctl("modify -u %s --addattr vgpu/cap --value 300", v[0].uuid);
	run_mdevctl("modify -u %s --addattr vgpu/weight --value 7", v[0].uuid);
	run_mdevctl("modify -u %s --addattr vgpu/frl --value 25", v[0].uuid);
	run_mdevctl("start -u %s", v[0].uuid);
	fx_instance(&v[0], &inst);
	CHECK_EQ(inst.guarantee, 200);
	CHECK_EQ(inst.cap, 300);
	CHECK_EQ(inst.weight, 7);
	CHECK_EQ(inst.frl_config, 25);
	fx_open(&v[0]);
	fx_close(&v[0]);
	fx_instance(&v[0], &inst);
	CHECK_EQ(inst.guarantee, 200);
	run_mdevctl("stop -u %s", v[0].uuid);
	run_mdevctl("undefine -u %s", v[0].uuid);
}

/*
 * A child process: reads and sets attributes, whether or not GPU and vGPU are there just then. By
 * number it sets those of all GPUs, to what they are.
 */
static void hammer(void *before)
{
	const struct vgpu_ctl_sched *sched = before;
	struct vgpu_ctl_sched s = { .size = sizeof(s), .linger_us = sched->linger_us };
	char path[256], text[64];
	unsigned int i;

	fx_control();
	for (i = 0;; i++) {
		attr_path(NULL, "policy", path, sizeof(path));
		file_read(path, text, sizeof(text));
		file_write(path, i & 1 ? "qos" : "best_effort");
		attr_path(NULL, "linger_us", path, sizeof(path));
		file_write(path, i & 1 ? "10" : "100");
		attr_path(&v[0], "weight", path, sizeof(path));
		file_write(path, i & 1 ? "10" : "100");
		file_read(path, text, sizeof(text));
		s.gpu = i % 64;
		s.valid = VGPU_SCHED_LINGER;
		ioctl(fx_control(), VGPU_IOC_SCHED_SET, &s);
	}
}

static void rebind(const char *address)
{
	char path[128];

	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%.32s/unbind", (char *)gpu.driver);
	CHECK_EQ(file_write(path, address), 0, "%s", path);
	v[0].created = false;
	snprintf(path, sizeof(path), "/sys/bus/pci/drivers/%.32s/bind", (char *)gpu.driver);
	CHECK_EQ(file_write(path, address), 0, "%s", path);
}

/* The GPU goes, with all its attributes, while processes use them. */
static void gpu_goes_while_it_is_set(void)
{
	struct vgpu_ctl_sched before;
	pid_t children[3];
	char address[64];
	unsigned int i;

	tune_get(&before);
	fx_ctl_gpu(&gpu);
	snprintf(address, sizeof(address), "%.32s", (char *)gpu.address);
	memset(&v[0], 0, sizeof(v[0]));
	fx_new_uuid(&v[0]);
	for (i = 0; i < 3; i++)
		children[i] = child_start(hammer, &before);
	for (i = 0; i < 10; i++) {
		CHECK_EQ(fx_try_create(&v[0], "1Q"), 0);
		clk_sleep_ms(20);
		rebind(address);
	}
	for (i = 0; i < 3; i++)
		child_kill(children[i]);
	rebind(address);
	fx_ctl_gpu(&gpu);
	CHECK_EQ(gpu.guarantee_sum, 0);
	CHECK_EQ(gpu.instances, 0);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(gpu_attributes),
	KTAP_TEST(gpu_attributes_bad_input),
	KTAP_TEST(vgpu_attributes),
	KTAP_TEST(vgpu_attributes_bad_input),
	KTAP_TEST(mdevctl_attributes),
	KTAP_TEST(gpu_goes_while_it_is_set),
};

KTAP_MAIN(tests, tune_cleanup)

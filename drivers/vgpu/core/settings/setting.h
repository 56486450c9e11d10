/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A setting is one row of a table: vgpu_share_settings (share_rules.c) holds those of a vGPU,
 * vgpu_gpu_settings (gpu_settings.c) those of a GPU. The rows define what the control ABI accepts
 * and refuses, the sysfs attributes and the initial values.
 *
 * Settings are kept in the structure by which the control ABI sets them (struct vgpu_ctl_share,
 * struct vgpu_ctl_sched). So a new setting needs a row here and, in <uapi/linux/vgpu.h>, a bit, a
 * field at the end of that structure, for a vGPU's setting also a reserved field of struct
 * vgpu_ctl_instance, and the next VGPU_ABI_MINOR. vgpuctl needs its own row, in
 * tools/vgpuctl/share.c or sched.c. Code that acts on the setting reads the field; the scheduler
 * reads struct vgpu_share.
 *
 * These documents describe each setting: tools/vgpuctl/vgpuctl.8,
 * Documentation/vgpuctl.schema.json and Documentation/ABI/testing/sysfs-vgpu, and for a GPU's
 * module parameter Documentation/management.rst. tests/unit/test_commands.c fails while a vGPU's
 * setting is missing in one of the first three, or a GPU's in one of the first two.
 *
 * Pure logic, compiled in user space too; callers serialise their calls.
 */
#ifndef _VGPU_SETTING_H
#define _VGPU_SETTING_H

#include <linux/types.h>
#include <uapi/linux/vgpu.h>

/* Each row has its own bit in the 32 bits of @valid. */
#define VGPU_SETTINGS_MAX	32

enum vgpu_setting_type {
	VGPU_SETTING_U32,
	VGPU_SETTING_U64,
	VGPU_SETTING_TEXT,	/* __u8[VGPU_ADDR_LEN]: a string with its NUL */
};

/**
 * struct vgpu_setting - a row: one setting
 * @name:       name of the sysfs attribute; NULL ends a table
 * @valid:      the bit that names the setting in the control ABI
 * @type:       type of its field in the structure of the control ABI
 * @offset:     offset of that field
 * @reported:   offset of the field in struct vgpu_ctl_instance that reports a vGPU's setting
 * @min:        smallest number, in the field's unit
 * @max:        largest number, in the field's unit
 * @other:      one more valid number, beyond @max
 * @other_name: the text for @other in sysfs; NULL if there is no such number
 * @attr_unit:  one unit of the attribute, in the field's unit; 0 is taken as 1
 * @what:       first words of a refusal, as in "WHAT 0 ms: must be 1..10". NULL for a number that
 *              vgpu_sched_params_check() checks instead
 * @unit:       follows the number, " ms" in the example; may be NULL
 * @zero:       follows a @min of 0 and tells what 0 means; may be NULL
 * @at_open:    a change of this setting takes effect when the vGPU is opened the next time
 * @check:      checks the setting against the rows above; on failure sets @why and returns -errno.
 *              May be NULL
 * @initial:    number of a new vGPU
 * @initial_of: computes that number from the framebuffers of vGPU and GPU, in GiB; may be NULL
 * @param:      module parameter with the number of a new GPU; NULL for a vGPU's setting
 * @param_name: name of that parameter
 * @param_unit: one unit of the parameter, in the field's unit
 * @param_auto: the parameter can be 0: the driver chooses the number
 */
struct vgpu_setting {
	const char *name;
	u32 valid;
	enum vgpu_setting_type type;
	u16 offset;
	u16 reported;
	u64 min;
	u64 max;
	u64 other;
	const char *other_name;
	u32 attr_unit;
	const char *what;
	const char *unit;
	const char *zero;
	bool at_open;
	int (*check)(const void *settings, char *why, size_t size);
	u32 initial;
	u32 (*initial_of)(u32 size_gb, u32 region_gb);
	const unsigned int *param;
	const char *param_name;
	u32 param_unit;
	bool param_auto;
};

static inline size_t vgpu_setting_size(const struct vgpu_setting *setting)
{
	return setting->type == VGPU_SETTING_U32 ? sizeof(u32) :
	       setting->type == VGPU_SETTING_U64 ? sizeof(u64) : VGPU_ADDR_LEN;
}

/* Returns a setting that is a number. @settings is the structure with its field. */
static inline u64 vgpu_setting_number(const struct vgpu_setting *setting, const void *settings)
{
	const void *field = settings + setting->offset;

	return setting->type == VGPU_SETTING_U64 ? *(const u64 *)field : *(const u32 *)field;
}

void vgpu_settings_auto(struct vgpu_ctl_sched *settings, unsigned int most);
bool vgpu_setting_set_number(const struct vgpu_setting *setting, void *settings, u64 number);
int vgpu_settings_check_form(const struct vgpu_setting *table, u32 valid, u32 pad, char *why,
			     size_t size);
void vgpu_settings_copy(const struct vgpu_setting *table, u32 valid, void *to, const void *from);
int vgpu_settings_check(const struct vgpu_setting *table, u32 valid, const void *settings,
			char *why, size_t size);

#endif /* _VGPU_SETTING_H */

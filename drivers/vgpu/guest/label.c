// SPDX-License-Identifier: GPL-2.0
/* What the guest tells its host: whose a channel is, and which driver and OS this is. */
#include <linux/cred.h>
#include <linux/sched.h>
#include <linux/sched/signal.h>
#include <linux/uidgid.h>
#include <linux/utsname.h>

#include "device.h"

void guest_label_make(struct vgpu_hw_label *label, const struct drm_file *file)
{
	char comm[TASK_COMM_LEN];

	*label = (struct vgpu_hw_label){
		.magic = cpu_to_le32(VGPU_HW_LABEL_MAGIC),
		.pid = cpu_to_le32(task_tgid_nr(current)),
		.uid = cpu_to_le32(from_kuid(&init_user_ns, current_uid())),
		.client = cpu_to_le64(file->client_id),
	};
	get_task_comm(comm, current->group_leader);
	BUILD_BUG_ON(sizeof(label->comm) != sizeof(comm));
	memcpy(label->comm, comm, sizeof(comm));
}

void guest_label_write(struct guest_dev *gdev, u32 channel, const struct vgpu_hw_label *label)
{
	u8 __iomem *at = gdev->pages + channel * VGPU_HW_PAGE_SIZE + VGPU_HW_LABEL;
	const size_t head = sizeof_field(struct vgpu_hw_label, magic);

	/* The host may look at any time: without the magic there is no label. */
	writel(0, at);
	memcpy_toio(at + head, (const u8 *)label + head, sizeof(*label) - head);
	wmb(); /* what the magic stands for comes first */
	writel(le32_to_cpu(label->magic), at);
}

static const struct vgpu_hw_guest_info label_info = {
	.name = GUEST_NAME,
	.version = GUEST_VERSION,
};

/* The kernel's own names: a namespace of the process that is current here does not count. */
static void label_os(struct vgpu_hw_guest_info *info)
{
	const struct new_utsname *uts = init_utsname();
	char text[sizeof(uts->sysname) + sizeof(uts->release)] = {};

	BUILD_BUG_ON(sizeof(info->os) > sizeof(text));
	scnprintf(text, sizeof(text), "%s %s", uts->sysname, uts->release);
	memcpy(info->os, text, sizeof(info->os));
}

void guest_label_driver(struct guest_dev *gdev)
{
	struct vgpu_hw_guest_info info = label_info;
	__le32 word[sizeof(info) / 4];
	unsigned int i, nr = ARRAY_SIZE(word);

	if (gdev->hw_version < VGPU_HW_VERSION_1_3)
		nr = offsetof(struct vgpu_hw_guest_info, os) / 4;
	label_os(&info);
	memcpy(word, &info, sizeof(info));
	for (i = 0; i < nr; i++)
		writel(le32_to_cpu(word[i]), guest_reg(gdev, VGPU_HW_GUEST_INFO(i)));
}

bool guest_dev_forgot(struct guest_dev *gdev)
{
	__le32 word;

	memcpy(&word, label_info.name, sizeof(word));
	return readl(guest_reg(gdev, VGPU_HW_GUEST_INFO(0))) != le32_to_cpu(word);
}

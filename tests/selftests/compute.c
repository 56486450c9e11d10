// SPDX-License-Identifier: GPL-2.0
#include <endian.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#include "compute.h"
#include "space.h"

const uint32_t compute_loop[3] = {
	RV_ADDI(RV_T0, RV_T0, 1), RV_XOR(RV_T1, RV_T1, RV_T0), RV_J(-8),
};

const uint32_t compute_barrier[4] = {
	RV_CSRR(RV_T0, VGPU_HW_CSR_LOCAL_ID), RV_BEQ(RV_T0, RV_ZERO, 0), RV_BARRIER, RV_RET,
};

struct vgpu_chan *compute_chan(struct fx_vgpu *v)
{
	fx_need("DISPATCH");
	if (!v->dev)
		fx_create_open(v, fx_default_type());
	return fx_chan(v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
}

void compute_head(struct fx_vgpu *v, uint64_t head, uint64_t image, uint32_t nr,
		  uint32_t private_bytes)
{
	struct vgpu_hw_program *program = (void *)(v->dev->fb + head);

	memset(program, 0, sizeof(*program));
	program->magic = htole32(VGPU_HW_PROGRAM_MAGIC);
	program->image_bytes = htole32(nr * 4);
	program->text_bytes = htole32(nr * 4);
	program->image = htole64(image);
	program->private_bytes = htole32(private_bytes);
}

void compute_invalidate(struct fx_vgpu *v, uint32_t root)
{
	FX_OK(v->dev, vgpu_reg_write32(v->dev, VGPU_HW_DEV_BASE + VGPU_HW_INVALIDATE, root));
}

void compute_load(struct fx_vgpu *v, const uint32_t *words, uint32_t nr, uint32_t private_bytes)
{
	uint32_t *text = (void *)(v->dev->fb + COMPUTE_IMAGE), i;

	for (i = 0; i < nr; i++)
		text[i] = htole32(words[i]);
	compute_head(v, COMPUTE_HEAD, COMPUTE_IMAGE, nr, private_bytes);
	compute_invalidate(v, 0);
}

struct vgpu_chan *compute_load_in_space(const uint32_t *words, uint32_t nr,
					uint32_t private_bytes)
{
	fx_need("DISPATCH");
	space_make();
	compute_load(&v, words, nr, private_bytes);
	compute_head(&v, COMPUTE_HEAD, COMPUTE_IMAGE_VA, nr, private_bytes);
	space_map_page(COMPUTE_HEAD_VA, COMPUTE_HEAD, VGPU_HW_PTE_R);
	space_map_page(COMPUTE_IMAGE_VA, COMPUTE_IMAGE, VGPU_HW_PTE_R | VGPU_HW_PTE_X);
	return fx_chan_in(space, VGPU_HW_ENGINE_GR, 0, RING_VA, 4);
}

void compute_dispatch_head(struct vgpu_chan *chan, uint64_t head, uint64_t args,
			   struct compute_size grid, struct compute_size group,
			   uint32_t local_bytes)
{
	struct vgpu_hw_packet packet = {
		.type = VGPU_HW_PKT_DISPATCH,
		.dst = htole64(head),
		.src = htole64(args),
		.grid = { htole32(grid.x), htole32(grid.y), htole32(grid.z) },
		.local_bytes = htole32(local_bytes),
		.group = { htole16(group.x), htole16(group.y), htole16(group.z) },
	};

	FX_OK(chan->dev, vgpu_chan_submit(chan, &packet, 1));
}

void compute_dispatch(struct vgpu_chan *chan, struct compute_size grid, struct compute_size group,
		      uint32_t local_bytes)
{
	compute_dispatch_head(chan, COMPUTE_HEAD, COMPUTE_OUT, grid, group, local_bytes);
}

void compute_check_fault(struct vgpu_chan *chan, enum vgpu_hw_fault code, uint64_t addr,
			 uint64_t pc, struct compute_size id, const char *what)
{
	struct vgpu_fault fault;

	FX_OK(chan->dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, code, "%s", what);
	CHECK_EQ(fault.addr, addr, "%s", what);
	CHECK_EQ(le32toh(chan->page->fault_code), code, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_pos), fault.pos, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_addr), addr, "%s", what);
	CHECK_EQ(le64toh(chan->page->fault_pc), pc, "%s", what);
	CHECK_EQ(le32toh(chan->page->fault_id[0]), id.x, "%s", what);
	CHECK_EQ(le32toh(chan->page->fault_id[1]), id.y, "%s", what);
	CHECK_EQ(le32toh(chan->page->fault_id[2]), id.z, "%s", what);
}

struct vgpu_chan *compute_neighbour(struct fx_vgpu *v)
{
	static const uint32_t words[] = {
		RV_LD(RV_T0, 0, RV_A0), RV_LD(RV_T1, 8, RV_A0), RV_ADD(RV_T0, RV_T0, RV_T1),
		RV_SD(RV_T0, 16, RV_A0), RV_RET,
	};
	struct vgpu_chan *chan = compute_chan(v);

	COMPUTE_LOAD(v, words);
	return chan;
}

void compute_check_sum(struct vgpu_chan *neighbour, uint64_t a, uint64_t b)
{
	uint64_t *data = (void *)(neighbour->dev->fb + COMPUTE_OUT);

	data[0] = htole64(a);
	data[1] = htole64(b);
	compute_dispatch(neighbour, COMPUTE_ONE, COMPUTE_ONE, 0);
	fx_finish(neighbour);
	CHECK_EQ(le64toh(data[2]), a + b);
}

/* What debugfs has on the vGPU's channels, and on those of vGPUs behind it. */
static const char *compute_text(const struct fx_vgpu *v)
{
	static char text[1 << 20];
	char path[128], *at;
	int ret;

	if (access("/sys/kernel/debug/vgpu", F_OK))
		mount("none", "/sys/kernel/debug", "debugfs", 0, NULL);
	snprintf(path, sizeof(path), "/sys/kernel/debug/vgpu/%s/channels", fx_gpu());
	ret = file_read(path, text, sizeof(text));
	CHECK(ret > 0, "%s: %d", path, ret);
	at = strstr(text, v->uuid);
	CHECK(at, "%s in %s", v->uuid, path);
	return at;
}

uint64_t compute_counter(const struct fx_vgpu *v, const char *name)
{
	const char *at = strstr(compute_text(v), "  compute:");

	at = at ? strstr(at, name) : NULL;
	CHECK(at, "%s", name);
	return strtoull(at + strlen(name), NULL, 10);
}

void compute_check_host(const struct fx_vgpu *v, const struct vgpu_chan *chan,
			enum vgpu_hw_fault code, uint64_t addr, uint64_t pc,
			struct compute_size id, const char *what)
{
	char begin[32], end[160];
	const char *at, *rest;
	size_t length;

	snprintf(begin, sizeof(begin), "\n  %u: gr, faulted, ", chan->id);
	snprintf(end, sizeof(end), ", fault %u at 0x%llx, pc 0x%llx, work-item %u,%u,%u", code,
		 (unsigned long long)addr, (unsigned long long)pc, id.x, id.y, id.z);
	at = strstr(compute_text(v), begin);
	CHECK(at, "%s: no line \"%s\"", what, begin + 1);
	length = strcspn(++at, "\n");
	rest = length > strlen(end) ? at + length - strlen(end) : at;
	CHECK(!strncmp(rest, end, strlen(end)), "%s: \"%.*s\" does not end with \"%s\"", what,
	      (int)length, at, end);
}

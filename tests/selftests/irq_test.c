// SPDX-License-Identifier: GPL-2.0
/* MSI-X through eventfds: fences, the fault vector, bus mastering, bounds. */
#include <endian.h>
#include <errno.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <linux/pci_regs.h>
#include <linux/vfio.h>

#include "fixture.h"
#include "irqs.h"

static struct fx_vgpu v;

static void raise_vector(struct vgpu_chan *chan, unsigned int vector)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE,
		.flags = VGPU_HW_PKT_IRQ,
		.vector = htole16((uint16_t)vector),
	};

	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
}

/* Each vector signals its own eventfd, and no other. */
static void every_vector(void)
{
	struct vgpu_chan *chan;
	unsigned int i, k;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_irq_enable(v.dev, v.dev->vectors));
	for (i = 0; i < v.dev->vectors; i++) {
		raise_vector(chan, i);
		for (k = 0; k < v.dev->vectors; k++)
			CHECK_EQ(vgpu_irq_wait(v.dev, k, k == i ? FX_TIMEOUT_MS : 0), k == i ? 1 :
				 -ETIMEDOUT, "%u, raised %u", k, i);
	}
	vgpu_chan_destroy(chan);
}

/* An interrupt comes after the signal that it announces. */
static void signal_before_interrupt(void)
{
	struct vgpu_chan *chan;
	uint64_t fence, i;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 2));
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_SYS, 4);
	CHECK_EQ(chan->vector, 1);
	for (i = 0; i < 300; i++) {
		FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
		CHECK(vgpu_irq_wait(v.dev, 1, FX_TIMEOUT_MS) > 0, "fence %llu",
		      (unsigned long long)fence);
		CHECK_EQ(le64toh(__atomic_load_n(chan->signal, __ATOMIC_ACQUIRE)), fence);
	}
	vgpu_chan_destroy(chan);
}

static void fault_raises_vector_0(void)
{
	struct vgpu_chan *chan;
	struct vgpu_fault fault;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 4));
	chan = fx_chan(&v, VGPU_HW_ENGINE_GR, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_FB(v.dev->fb_bytes), 0, 4));
	CHECK_EQ(vgpu_irq_wait(v.dev, 0, FX_TIMEOUT_MS), 1);
	FX_OK(v.dev, vgpu_chan_wait_fault(chan, FX_TIMEOUT_MS, &fault));
	CHECK_EQ(fault.code, VGPU_HW_FAULT_ADDRESS);
	vgpu_chan_destroy(chan);
}

/* An interrupt is held while bus mastering is off, and delivered when it is switched on. */
static void bus_master_holds(void)
{
	struct vgpu_hw_packet p = {
		.type = VGPU_HW_PKT_FENCE, .flags = VGPU_HW_PKT_IRQ,
		.vector = htole16(3),
	};
	struct vgpu_chan *chan;

	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_irq_enable(v.dev, 8));
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, PCI_COMMAND_MASTER));
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
	FX_OK(v.dev, vgpu_chan_submit(chan, &p, 1));
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	CHECK_EQ(vgpu_irq_wait(v.dev, 3, 200), -ETIMEDOUT, "bus master is off");
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MASTER, 0));
	CHECK(vgpu_irq_wait(v.dev, 3, FX_TIMEOUT_MS) > 0, "lost");
	vgpu_chan_destroy(chan);
}

/* Engines access no guest memory while bus mastering is off, and go on when it is on. */
static void bus_master_gates_dma(void)
{
	struct vgpu_chan *chan;
	struct vgpu_buf buf;
	uint64_t fence;

	fx_need("execution");
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 4);
	FX_OK(v.dev, vgpu_buf_alloc(v.dev, 65536, &buf));
	FX_OK(v.dev, vgpu_dev_command(v.dev, 0, PCI_COMMAND_MASTER));
	FX_OK(v.dev, vgpu_chan_fill(chan, VGPU_SYS(&buf, 0), ~0u, 65536));
	FX_OK(v.dev, vgpu_chan_fence(chan, &fence));
	CHECK(!fx_wait_fence(chan, fence, 300), "passed without bus master");
	CHECK(fx_is_zero(buf.ptr, 65536), "was written without bus master");
	FX_OK(v.dev, vgpu_dev_command(v.dev, PCI_COMMAND_MASTER, 0));
	CHECK(fx_wait_fence(chan, fence, FX_TIMEOUT_MS), "stalls for ever");
	CHECK_EQ(*(uint32_t *)buf.ptr, ~0u);
	vgpu_chan_destroy(chan);
	vgpu_buf_free(&buf);
}

#define TRIGGER(data)	(VFIO_IRQ_SET_ACTION_TRIGGER | VFIO_IRQ_SET_DATA_##data)
#define MSIX		VFIO_PCI_MSIX_IRQ_INDEX

static void bounds(void)
{
	int32_t fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK), bad = 9999;
	int32_t file = STDOUT_FILENO, none = -1, fds[2];
	uint32_t n;

	fx_create_open(&v, fx_default_type());
	n = v.dev->vectors;
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), n, 1, &fd, 1), -EINVAL);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), n - 1, 2, &fd, 1), -EINVAL);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), ~0u, 2, &fd, 1), -EINVAL);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 0, 4, &fd, 1), -EINVAL, "argsz is short");
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 0, 1, &bad, 1), -EBADF);
	CHECK(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 0, 1, &file, 1) < 0,
	      "a file that is no eventfd");
	CHECK_EQ(irqs_set(v.dev, VFIO_PCI_INTX_IRQ_INDEX, TRIGGER(EVENTFD), 0, 1, &fd,
			  1), -EINVAL, "there is no INTx");
	CHECK_EQ(irqs_set(v.dev, 99, TRIGGER(EVENTFD), 0, 1, &fd, 1), -EINVAL);
	CHECK(irqs_set(v.dev, MSIX, VFIO_IRQ_SET_ACTION_MASK | VFIO_IRQ_SET_DATA_NONE, 0, 1, NULL,
		       0) < 0, "MSI-X cannot be masked here");
	/* A bad eventfd among good ones changes nothing. */
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 1, 1, &fd, 1), 0);
	fds[0] = none;
	fds[1] = bad;
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 1, 2, fds, 2), -EBADF);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(NONE), 1, 1, NULL, 0), 0, "loopback");
	CHECK_EQ(eventfd_read(fd, &(eventfd_t){ 0 }), 0, "vector 1 is gone");
	/* Loopback of a vector without an eventfd; and a count of 0, which disables all vectors. */
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(NONE), 5, 1, NULL, 0), 0);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(NONE), 0, 0, NULL, 0), 0, "disable");
	close(fd);
}

/* A vector that gets another eventfd lets go of the first one, as kmemleak would tell. */
static void another_eventfd(void)
{
	int32_t first = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int32_t second = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	fx_create_open(&v, fx_default_type());
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 2, 1, &first, 1), 0);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(EVENTFD), 2, 1, &second, 1), 0);
	CHECK_EQ(irqs_set(v.dev, MSIX, TRIGGER(NONE), 2, 1, NULL, 0), 0, "loopback");
	CHECK(eventfd_read(first, &(eventfd_t){ 0 }) < 0, "the first one is signalled");
	CHECK_EQ(eventfd_read(second, &(eventfd_t){ 0 }), 0, "the second one is not");
	close(first);
	close(second);
}

/* Vectors come and go while interrupts are being raised. */
static void change_under_load(void)
{
	struct vgpu_hw_packet p[16];
	struct vgpu_chan *chan;
	unsigned int i, k;

	memset(p, 0, sizeof(p));
	for (i = 0; i < 16; i++) {
		p[i].type = VGPU_HW_PKT_FENCE;
		p[i].flags = VGPU_HW_PKT_IRQ;
		p[i].vector = htole16((uint16_t)(i % 8));
	}
	fx_create_open(&v, fx_default_type());
	chan = fx_chan(&v, VGPU_HW_ENGINE_CE, 0, VGPU_RING_FB, 8);
	for (i = 0; i < 200; i++) {
		for (k = 0; k < 8; k++)
			FX_OK(v.dev, vgpu_chan_submit(chan, p, 16));
		FX_OK(v.dev, vgpu_irq_enable(v.dev, 1 + i % 8));
		FX_OK(v.dev, vgpu_irq_disable(v.dev));
	}
	FX_OK(v.dev, vgpu_chan_wait_idle(chan, FX_TIMEOUT_MS));
	vgpu_chan_destroy(chan);
}

static const struct ktap_test tests[] = {
	KTAP_TEST(every_vector),
	KTAP_TEST(signal_before_interrupt),
	KTAP_TEST(fault_raises_vector_0),
	KTAP_TEST(bus_master_holds),
	KTAP_TEST(bus_master_gates_dma),
	KTAP_TEST(bounds),
	KTAP_TEST(another_eventfd),
	KTAP_TEST(change_under_load),
};

KTAP_MAIN(tests, fx_cleanup)

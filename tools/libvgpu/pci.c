// SPDX-License-Identifier: GPL-2.0
/* Bus in a virtual machine: the resource files that sysfs has for the function. */
#include <dirent.h>
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "internal.h"

/* An entry of /proc/self/pagemap: bit 63 is set if the page is present, bits 0-54 are its frame. */
#define PAGEMAP_PRESENT	(1ull << 63)
#define PAGEMAP_FRAME	((1ull << 55) - 1)

static int pci_fail(struct vgpu_dev *dev, const char *what)
{
	int error = -errno;

	return vgpu_fail(dev, error, "%s: %s", what, strerror(-error));
}

static int pci_open(struct vgpu_dev *dev, const char *file, int flags)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), VGPU_PCI_DEVICES "/%s/%s", dev->name, file);
	fd = open(path, flags | O_CLOEXEC);
	return fd < 0 ? pci_fail(dev, file) : fd;
}

/* Reads a hexadecimal number from a file of the function. Returns ~0 if it cannot be read. */
static unsigned long pci_id(const char *address, const char *file)
{
	unsigned long value = ~0ul;
	char path[512], text[32];
	FILE *f;

	snprintf(path, sizeof(path), VGPU_PCI_DEVICES "/%.64s/%s", address, file);
	f = fopen(path, "re");
	if (!f)
		return value;
	if (fgets(text, sizeof(text), f))
		value = strtoul(text, NULL, 16);
	fclose(f);
	return value;
}

/*
 * One that is a VGA card has the IDs of QEMU's own, which has less registers; in the end the ID
 * register tells them apart.
 */
bool vgpu_pci_is_like_one(const char *address)
{
	unsigned long vendor = pci_id(address, "vendor"), device = pci_id(address, "device");
	char path[512];
	struct stat st;

	if (vendor == VGPU_HW_VENDOR_ID && device == VGPU_HW_DEVICE_ID)
		return true;
	if (vendor != VGPU_HW_VGA_VENDOR_ID || device != VGPU_HW_VGA_DEVICE_ID)
		return false;
	snprintf(path, sizeof(path), VGPU_PCI_DEVICES "/%.64s/resource%u", address,
		 VGPU_HW_BAR_REGS);
	return !stat(path, &st) && st.st_size >= VGPU_HW_REGS_SIZE;
}

/* Two drivers of one function would take the same channels and the same framebuffer. */
static int pci_check_driver(struct vgpu_dev *dev)
{
	char path[256], driver[256];
	const char *name;
	ssize_t n;

	snprintf(path, sizeof(path), VGPU_PCI_DEVICES "/%s/driver", dev->name);
	n = readlink(path, driver, sizeof(driver) - 1);
	if (n < 0)
		return 0;
	driver[n] = 0;
	name = strrchr(driver, '/');
	return vgpu_fail(dev, -EBUSY, "the driver %.64s has it: write %s to %s/unbind before",
			 name ? name + 1 : driver, dev->name, path);
}

static int pci_enable(struct vgpu_dev *dev)
{
	int fd, ret = 0;

	fd = pci_open(dev, "enable", O_WRONLY);
	if (fd < 0)
		return fd;
	if (write(fd, "1", 1) != 1)
		ret = pci_fail(dev, "enable");
	close(fd);
	return ret;
}

static int pci_map(struct vgpu_dev *dev, unsigned int bar, uint64_t bytes,
		   void **ptr)
{
	char file[16];
	int fd, ret = 0;

	snprintf(file, sizeof(file), "resource%u", bar);
	fd = pci_open(dev, file, O_RDWR);
	if (fd < 0)
		return fd;
	*ptr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (*ptr == MAP_FAILED) {
		*ptr = NULL;
		ret = pci_fail(dev, file);
	}
	close(fd);
	return ret;
}

static void pci_close(struct vgpu_dev *dev)
{
	if (dev->regs)
		munmap((void *)(uintptr_t)dev->regs, VGPU_HW_REGS_SIZE);
	if (dev->config_fd >= 0)
		close(dev->config_fd);
	if (dev->lock_fd >= 0)
		close(dev->lock_fd);
	if (dev->pagemap_fd >= 0)
		close(dev->pagemap_fd);
}

static int pci_reg_rw(struct vgpu_dev *dev, uint64_t offset, void *buf,
		      size_t count, bool write)
{
	volatile uint8_t *at = dev->regs + offset;

	if (offset > VGPU_HW_REGS_SIZE - count || offset % count)
		return vgpu_fail(dev, -EINVAL, "register %#llx",
				 (unsigned long long)offset);
	if (count == 8 && write)
		*(volatile uint64_t *)at = *(uint64_t *)buf;
	else if (count == 8)
		*(uint64_t *)buf = *(volatile uint64_t *)at;
	else if (write)
		*(volatile uint32_t *)at = *(uint32_t *)buf;
	else
		*(uint32_t *)buf = *(volatile uint32_t *)at;
	return 0;
}

static int pci_config_rw(struct vgpu_dev *dev, unsigned int offset, void *buf,
			 size_t count, bool write)
{
	ssize_t n = write ? pwrite(dev->config_fd, buf, count, offset) :
		pread(dev->config_fd, buf, count, offset);

	if (n == (ssize_t)count)
		return 0;
	if (n >= 0)
		errno = EIO;
	return pci_fail(dev, "configuration space");
}

static int pci_buf_map(struct vgpu_dev *dev, struct vgpu_buf *buf)
{
	size_t pages = buf->bytes / VGPU_HW_PAGE_SIZE, i;
	off_t first = (off_t)((uintptr_t)buf->ptr / VGPU_HW_PAGE_SIZE);
	ssize_t n;

	if (sysconf(_SC_PAGESIZE) != VGPU_HW_PAGE_SIZE)
		return vgpu_fail(dev, -EOPNOTSUPP, "pages are not 4 KiB");
	/* The pages must not move, neither into a huge page nor by copy on write after a fork. */
	madvise(buf->ptr, buf->bytes, MADV_NOHUGEPAGE);
	if (madvise(buf->ptr, buf->bytes, MADV_DONTFORK))
		return pci_fail(dev, "madvise");
	if (mlock(buf->ptr, buf->bytes))
		return pci_fail(dev, "mlock");
	memset(buf->ptr, 0, buf->bytes);
	buf->pages = calloc(pages, sizeof(*buf->pages));
	if (!buf->pages)
		return vgpu_fail(dev, -ENOMEM, "out of memory");
	n = pread(dev->pagemap_fd, buf->pages, pages * sizeof(*buf->pages),
		  first * (off_t)sizeof(*buf->pages));
	for (i = 0; n == (ssize_t)(pages * sizeof(*buf->pages)) && i < pages; i++) {
		uint64_t frame = buf->pages[i] & PAGEMAP_FRAME;

		if (!(buf->pages[i] & PAGEMAP_PRESENT) || !frame)
			break;
		buf->pages[i] = frame * VGPU_HW_PAGE_SIZE;
	}
	if (i == pages)
		return 0;
	free(buf->pages);
	buf->pages = NULL;
	return vgpu_fail(dev, -EPERM,
			 "/proc/self/pagemap does not say where pages are (are you root?)");
}

static void pci_buf_unmap(struct vgpu_buf *buf)
{
	free(buf->pages);
	buf->pages = NULL;
}

static int pci_reset(struct vgpu_dev *dev)
{
	return vgpu_reg_write32(dev, VGPU_HW_DEV_BASE + VGPU_HW_RESET,
				VGPU_HW_RESET_MAGIC);
}

/*
 * Locks of open file descriptions: of all programs that have the function open each is another
 * holder, and the kernel ends its locks with it. The file is root's alone.
 */
static int pci_lock(struct vgpu_dev *dev, uint64_t first, uint64_t nr, uint64_t *next)
{
	struct flock lock = {
		.l_type = F_WRLCK, .l_whence = SEEK_SET,
		.l_start = (off_t)first, .l_len = (off_t)nr,
	};

	if (!fcntl(dev->lock_fd, F_OFD_SETLK, &lock))
		return 0;
	if ((errno != EAGAIN && errno != EACCES) || fcntl(dev->lock_fd, F_OFD_GETLK, &lock))
		return pci_fail(dev, "lock of a channel or of framebuffer");
	/* It may have been unlocked meanwhile. */
	*next = lock.l_type == F_UNLCK ? first : (uint64_t)(lock.l_start + lock.l_len);
	return -EBUSY;
}

static void pci_unlock(struct vgpu_dev *dev, uint64_t first, uint64_t nr)
{
	struct flock lock = {
		.l_type = F_UNLCK, .l_whence = SEEK_SET,
		.l_start = (off_t)first, .l_len = (off_t)nr,
	};

	fcntl(dev->lock_fd, F_OFD_SETLK, &lock);
}

static const struct vgpu_bus pci_bus = {
	.close = pci_close,
	.map = pci_map,
	.reg_rw = pci_reg_rw,
	.config_rw = pci_config_rw,
	.buf_map = pci_buf_map,
	.buf_unmap = pci_buf_unmap,
	.reset = pci_reset,
	.lock = pci_lock,
	.unlock = pci_unlock,
};

static int pci_setup(struct vgpu_dev *dev)
{
	void *ptr;
	int ret;

	ret = pci_check_driver(dev);
	if (ret)
		return ret;
	dev->config_fd = pci_open(dev, "config", O_RDWR);
	if (dev->config_fd < 0)
		return dev->config_fd;
	ret = pci_enable(dev);
	if (!ret)
		ret = pci_map(dev, VGPU_HW_BAR_REGS, VGPU_HW_REGS_SIZE, &ptr);
	if (ret)
		return ret;
	dev->regs = ptr;
	ret = vgpu_regs_open(dev);
	if (ret)
		return ret;
	dev->pagemap_fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	if (dev->pagemap_fd < 0)
		return pci_fail(dev, "/proc/self/pagemap");
	dev->lock_fd = pci_open(dev, "resource2", O_RDWR);
	return dev->lock_fd < 0 ? dev->lock_fd : 0;
}

/* -ENODEV: it is no vGPU. */
static int pci_open_at(struct vgpu_dev **devp, const char *address)
{
	struct vgpu_dev *dev;
	int ret;

	if (!vgpu_pci_is_like_one(address))
		return vgpu_fail(NULL, -ENODEV, "%s is no vGPU", address);
	dev = vgpu_regs_new(&pci_bus, address);
	if (!dev)
		return vgpu_fail(NULL, -ENOMEM, "out of memory");
	ret = pci_setup(dev);
	if (ret)
		return vgpu_dev_open_failed(dev, ret);
	*devp = dev;
	return 0;
}

/* Opens the vGPU with the lowest address. */
static int pci_open_first(struct vgpu_dev **devp)
{
	struct dirent **names;
	int i, n, ret = -ENODEV;

	n = scandir(VGPU_PCI_DEVICES, &names, NULL, alphasort);
	for (i = 0; i < n; i++) {
		if (ret == -ENODEV && names[i]->d_name[0] != '.')
			ret = pci_open_at(devp, names[i]->d_name);
		free(names[i]);
	}
	if (n >= 0)
		free(names);
	return ret != -ENODEV ? ret :
		vgpu_fail(NULL, ret, "no PCI function is a vGPU (%04x:%04x, %04x:%04x as VGA card)",
			  VGPU_HW_VENDOR_ID, VGPU_HW_DEVICE_ID, VGPU_HW_VGA_VENDOR_ID,
			  VGPU_HW_VGA_DEVICE_ID);
}

int vgpu_dev_open_pci(struct vgpu_dev **devp, const char *address)
{
	*devp = NULL;
	return address ? pci_open_at(devp, address) : pci_open_first(devp);
}

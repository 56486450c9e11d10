// SPDX-License-Identifier: GPL-2.0
/* Pictures by the kernel's mode setting: its ioctls, without a library. */
#include <drm/drm.h>
#include <drm/drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "display.h"
#include "picture.h"

#define MAX_CARDS	4
#define MAX_MODES	128

/**
 * struct surface - a buffer that can be shown
 * @handle: of the buffer; 0 if there is none
 * @fb:     id of the framebuffer object
 * @pitch:  bytes from row to row
 * @bytes:  size
 * @at:     the pixels, mapped
 */
struct surface {
	uint32_t handle;
	uint32_t fb;
	uint32_t pitch;
	uint64_t bytes;
	uint8_t *at;
};

/**
 * struct card - an open card; this program is its master
 * @pci:       address of the function; empty if this element is not in use
 * @fd:        the card's file
 * @crtc:      id of the first CRTC
 * @connector: id of the first connector
 * @mode:      modes of the connector
 * @modes:     number of elements of @mode in use
 * @surface:   two, to flip between them
 * @width:     of the mode that is set
 * @height:    of the mode that is set
 */
struct card {
	char pci[16];
	int fd;
	uint32_t crtc;
	uint32_t connector;
	struct drm_mode_modeinfo mode[MAX_MODES];
	uint32_t modes;
	struct surface surface[2];
	uint32_t width;
	uint32_t height;
};

static struct card cards[MAX_CARDS];

static bool call(struct card *card, unsigned long request, void *arg, const char *name)
{
	int ret;

	do {
		ret = ioctl(card->fd, request, arg);
	} while (ret && (errno == EINTR || errno == EAGAIN));
	return !ret || failed("%s: %s: %s", card->pci, name, strerror(errno));
}

#define CALL(card, request, arg) call(card, DRM_IOCTL_MODE_##request, arg, #request)

static bool look_up(struct card *card)
{
	uint32_t crtcs[8], connectors[8], encoders[8], props[64];
	uint64_t values[64];
	struct drm_mode_card_res res = {
		.crtc_id_ptr = (uintptr_t)crtcs, .count_crtcs = 8,
		.connector_id_ptr = (uintptr_t)connectors, .count_connectors = 8,
	};
	struct drm_mode_get_connector conn = { 0 };

	if (!CALL(card, GETRESOURCES, &res))
		return false;
	if (!res.count_crtcs || !res.count_connectors)
		return failed("%s: no CRTC or no connector", card->pci);
	card->crtc = crtcs[0];
	card->connector = connectors[0];
	/* With no room for modes the kernel looks for them. */
	conn.connector_id = card->connector;
	if (!CALL(card, GETCONNECTOR, &conn))
		return false;
	conn = (struct drm_mode_get_connector) {
		.connector_id = card->connector,
		.modes_ptr = (uintptr_t)card->mode, .count_modes = MAX_MODES,
		.encoders_ptr = (uintptr_t)encoders, .count_encoders = 8,
		.props_ptr = (uintptr_t)props, .prop_values_ptr = (uintptr_t)values,
		.count_props = 64,
	};
	if (!CALL(card, GETCONNECTOR, &conn))
		return false;
	if (conn.connection != 1 || conn.count_modes > MAX_MODES)
		return failed("%s: connection %u, %u modes", card->pci, conn.connection,
			      conn.count_modes);
	card->modes = conn.count_modes;
	return true;
}

static struct card *find(const char *pci)
{
	unsigned int i;

	for (i = 0; i < MAX_CARDS; i++) {
		if (!strcmp(cards[i].pci, pci))
			return &cards[i];
	}
	return NULL;
}

static struct card *open_card(const char *pci)
{
	struct card *card = find(pci);
	char name[32], path[64];

	if (card)
		return card;
	card = find("");
	if (!card) {
		failed("too many cards");
		return NULL;
	}
	if (!node_find(name, sizeof(name), pci, "drm", "card"))
		return NULL;
	snprintf(path, sizeof(path), "/dev/dri/%s", name);
	memset(card, 0, sizeof(*card));
	card->fd = open(path, O_RDWR | O_CLOEXEC);
	if (card->fd < 0) {
		failed("%s: %s", path, strerror(errno));
		return NULL;
	}
	snprintf(card->pci, sizeof(card->pci), "%s", pci);
	if (!look_up(card)) {
		kms_close(pci);
		return NULL;
	}
	return card;
}

static void free_surface(struct card *card, struct surface *surface)
{
	struct drm_mode_destroy_dumb destroy = { .handle = surface->handle };

	if (surface->at)
		munmap(surface->at, surface->bytes);
	if (surface->fb)
		CALL(card, RMFB, &surface->fb);
	if (surface->handle)
		CALL(card, DESTROY_DUMB, &destroy);
	memset(surface, 0, sizeof(*surface));
}

static bool make_surface(struct card *card, uint32_t width, uint32_t height,
			 struct surface *surface)
{
	struct drm_mode_create_dumb create = { .width = width, .height = height, .bpp = 32 };
	struct drm_mode_fb_cmd fb = { .width = width, .height = height, .bpp = 32, .depth = 24 };
	struct drm_mode_map_dumb map = { 0 };

	memset(surface, 0, sizeof(*surface));
	if (!CALL(card, CREATE_DUMB, &create))
		return false;
	surface->handle = create.handle;
	surface->pitch = create.pitch;
	surface->bytes = create.size;
	fb.handle = create.handle;
	fb.pitch = create.pitch;
	map.handle = create.handle;
	if (!CALL(card, ADDFB, &fb) || !CALL(card, MAP_DUMB, &map))
		goto err;
	surface->fb = fb.fb_id;
	surface->at = mmap(NULL, surface->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, card->fd,
			   (off_t)map.offset);
	if (surface->at != MAP_FAILED)
		return true;
	surface->at = NULL;
	failed("%s: mmap: %s", card->pci, strerror(errno));
err:
	free_surface(card, surface);
	return false;
}

bool kms_modes(const char *pci)
{
	struct card *card = open_card(pci);
	char text[MAX_MODES * 16] = "";
	size_t len = 0;
	uint32_t i;

	/* The monitor may be another one than when the card was opened. */
	if (!card || !look_up(card))
		return false;
	for (i = 0; i < card->modes; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, " %ux%u%s",
					card->mode[i].hdisplay, card->mode[i].vdisplay,
					card->mode[i].type & DRM_MODE_TYPE_PREFERRED ? "*" : "");
	say("modes%s", text);
	return true;
}

/* The connector's mode of this size or, if it has none, one with plausible timings. */
static struct drm_mode_modeinfo pick_mode(const struct card *card, uint32_t width, uint32_t height)
{
	struct drm_mode_modeinfo mode = {
		.hdisplay = (uint16_t)width, .hsync_start = (uint16_t)(width + 48),
		.hsync_end = (uint16_t)(width + 80), .htotal = (uint16_t)(width + 160),
		.vdisplay = (uint16_t)height, .vsync_start = (uint16_t)(height + 3),
		.vsync_end = (uint16_t)(height + 9), .vtotal = (uint16_t)(height + 30),
		.clock = (width + 160) * (height + 30) * 60 / 1000,
		.vrefresh = 60, .name = "own",
	};
	uint32_t i;

	for (i = 0; i < card->modes; i++) {
		if (card->mode[i].hdisplay == width && card->mode[i].vdisplay == height)
			return card->mode[i];
	}
	return mode;
}

static bool verify(const struct card *card, const struct surface *surface, uint32_t seed)
{
	uint32_t nr = picture_differs(surface->at, card->width, card->height, surface->pitch, seed);

	return !nr || failed("%s: %u pixels of the buffer are not what was drawn", card->pci, nr);
}

bool kms_draw(const char *pci, uint32_t width, uint32_t height, uint32_t seed, uint32_t pad)
{
	struct card *card = open_card(pci);
	struct drm_mode_crtc crtc = { .count_connectors = 1, .mode_valid = 1 };
	struct surface surface;
	unsigned int i;

	if (!card || !make_surface(card, width + pad, height, &surface))
		return false;
	crtc.set_connectors_ptr = (uintptr_t)&card->connector;
	crtc.crtc_id = card->crtc;
	crtc.fb_id = surface.fb;
	crtc.mode = pick_mode(card, width, height);
	if (!CALL(card, SETCRTC, &crtc)) {
		free_surface(card, &surface);
		return false;
	}
	/* Setting a mode may clear the screen, so drawing comes behind it. */
	picture_draw(surface.at, width, height, surface.pitch, seed);
	for (i = 0; i < 2; i++)
		free_surface(card, &card->surface[i]);
	card->surface[0] = surface;
	card->width = width;
	card->height = height;
	say("drawn %u %u %u pitch %u, the mode is %s", width, height, seed, surface.pitch,
	    crtc.mode.name);
	return verify(card, &surface, seed);
}

/* Waits until the kernel says that the flip is done. */
static bool wait_flip(struct card *card)
{
	char event[1024];
	ssize_t n;

	do {
		n = read(card->fd, event, sizeof(event));
	} while (n < 0 && errno == EINTR);
	return n >= (ssize_t)sizeof(struct drm_event) ||
		failed("%s: no event of a flip: %s", card->pci, strerror(errno));
}

bool kms_flip(const char *pci, uint32_t nr, uint32_t seed)
{
	struct drm_mode_crtc_page_flip flip = { .flags = DRM_MODE_PAGE_FLIP_EVENT };
	struct card *card = find(pci);
	struct surface *surface;
	uint32_t i;

	if (!card || !card->surface[0].handle)
		return failed("%s: draw first", pci);
	surface = card->surface;
	if (!surface[1].handle &&
	    !make_surface(card, surface->pitch / 4, card->height, &surface[1]))
		return false;
	flip.crtc_id = card->crtc;
	for (i = 1; i <= nr; i++) {
		if (i + 2 > nr)
			picture_draw(surface[i % 2].at, card->width, card->height,
				     surface[i % 2].pitch, seed + nr - i);
		flip.fb_id = surface[i % 2].fb;
		if (!CALL(card, PAGE_FLIP, &flip) || !wait_flip(card))
			return false;
	}
	say("flipped %u %u %u, %u times", card->width, card->height, seed, nr);
	return verify(card, &surface[nr % 2], seed);
}

bool kms_off(const char *pci)
{
	struct card *card = open_card(pci);
	struct drm_mode_crtc crtc = { 0 };

	if (!card)
		return false;
	crtc.crtc_id = card->crtc;
	return CALL(card, SETCRTC, &crtc);
}

bool kms_close(const char *pci)
{
	struct card *card = find(pci);
	unsigned int i;

	if (!card)
		return failed("%s: not open", pci);
	for (i = 0; i < 2; i++)
		free_surface(card, &card->surface[i]);
	close(card->fd);
	card->pci[0] = 0;
	return true;
}

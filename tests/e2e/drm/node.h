/* SPDX-License-Identifier: GPL-2.0 */
/* The render node of the guest's driver, call by call; and the tests. */
#ifndef E2E_DRM_NODE_H
#define E2E_DRM_NODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <drm/vgpu_drm.h>
#include <linux/vgpu_hw.h>

#include "say.h"

#define PAGE		4096ull
#define MIB		(1024ull * 1024)

/* What takes longer never comes: a busy host may make all of it several times as slow. */
#define WAIT_MS		300000
#define NODE_TRIES	3000	/* with 20 ms between them */

/* The driver's options: jobs work until a test ends them, however slow the host is. */
#define PATIENT		"job_timeout_ms=120000"

/* Where tests map things: what programs see as global memory. */
#define VA_DATA		0x100000000ull
#define VA_MORE		0x200000000ull

/* End the test's process if it does not hold, or if the call does not return what is wanted. */
#define CHECK(cond)		check((cond), __FILE__, __LINE__, #cond)
#define CHECK_RET(call, want)	check_ret((call), (want), __FILE__, __LINE__, #call)
void check(bool ok, const char *file, int line, const char *text);
void check_ret(int ret, int want, const char *file, int line, const char *text);

/**
 * struct buf - a buffer that the CPU has mapped
 * @handle: of the buffer
 * @bytes:  its size
 * @ptr:    mapping
 */
struct buf {
	uint32_t handle;
	uint64_t bytes;
	void *ptr;
};

/* Writes into a file, as those of sysfs and debugfs are; says why not. */
bool text_write(const char *path, const char *text);

/* What fdinfo tells of a file: in a line, or in that of a key; in bytes, or ns. ~0: nothing. */
uint64_t fdinfo_number(const char *line);
uint64_t fdinfo_of(int fd, const char *key);

/* All return 0 or a negative errno. */
int node_open(void);	/* the only one that there is */
int node_ioctl(int fd, unsigned long request, void *arg);
int node_info(int fd, struct drm_vgpu_dev_info *info);
int vm_make(int fd, uint32_t *id);
int vm_end(int fd, uint32_t id);
int bo_make(int fd, uint64_t bytes, uint32_t placement, uint32_t vm, uint32_t *handle);
/* With DRM_VGPU_BO_CONTIGUOUS. */
int bo_make_piece(int fd, uint64_t bytes, uint32_t vm, uint32_t *handle);
int bo_close(int fd, uint32_t handle);
int bo_map(int fd, uint32_t handle, uint64_t bytes, void **ptr);
int buf_make(int fd, uint64_t bytes, uint32_t placement, struct buf *buf);
void buf_end(int fd, struct buf *buf);
int bind_map(int fd, uint32_t vm, uint32_t handle, uint64_t offset, uint64_t va, uint64_t bytes,
	     uint32_t flags);
int bind_unmap(int fd, uint32_t vm, uint64_t va, uint64_t bytes);
int queue_make(int fd, uint32_t vm, uint32_t engine, uint32_t order, uint32_t *id);
int queue_make_as(int fd, uint32_t vm, uint32_t engine, uint32_t order, int priority, uint32_t *id);
int queue_end(int fd, uint32_t id);
int queue_ask(int fd, uint32_t id, struct drm_vgpu_queue_query *query);

/* A bind of nothing, that waits for @wait, if it is not 0, and signals @signal. */
int bind_later(int fd, uint32_t vm, uint32_t wait, uint32_t signal);

int sync_make(int fd, uint32_t *handle);
int sync_end(int fd, uint32_t handle);
int sync_wait(int fd, uint32_t handle, unsigned int ms);
int sync_wait_point(int fd, uint32_t handle, uint64_t point, unsigned int ms);

/* Those of a call that waits for @wait and signals @signal, where these are not 0. */
struct drm_vgpu_array sync_pair(struct drm_vgpu_sync sync[2], uint32_t wait, uint32_t signal);

/* The error of the syncobj's fence, which has been signalled. */
int sync_error(int fd, uint32_t handle);

/* A job that waits for @wait and signals @signal, where these are not 0. */
int exec(int fd, uint32_t queue, const struct vgpu_hw_packet *packets, uint32_t nr, uint32_t wait,
	 uint32_t signal);

/* A job that is over when it returns: 0, its error, or that of the call. */
int exec_wait(int fd, uint32_t queue, const struct vgpu_hw_packet *packets, uint32_t nr);

struct vgpu_hw_packet packet_fill(uint64_t dst, uint64_t bytes, uint32_t value);
struct vgpu_hw_packet packet_copy(uint64_t dst, uint64_t src, uint64_t bytes);
struct vgpu_hw_packet packet_dispatch(uint64_t head, uint64_t args, uint32_t items,
				      uint32_t group);

/*
 * Puts a program into a buffer of framebuffer, its head in the first page and the text behind that,
 * and maps it at @va.
 */
int program_load(int fd, uint32_t vm, const uint32_t *words, uint32_t nr, uint64_t va,
		 struct buf *buf);

/**
 * struct test - a test
 * @name: of it
 * @run:  returns whether all was right; says what was not
 * @told: it runs only when it is named: the host has to tell it something, or it takes long
 */
struct test {
	const char *name;
	bool (*run)(void);
	bool told;
};

/* What follows a colon behind the running test's name in the command line, else @usual. */
uint64_t test_amount(uint64_t usual);

/* What follows "seed:" in the command line, else of this boot. */
uint64_t test_seed(void);

/* The memory of the guest that buffers can have. */
uint64_t system_free(int fd);

/* Whether so much of the file's buffers is in the framebuffer; says how much it is. */
bool resident_is(int fd, uint64_t bytes);

/* Shows what the VM has at an address: lines of PAGE bytes. */
int present(int fd, uint32_t queue, uint64_t va, uint32_t lines);

/* The framebuffer that is free, when what others have given back has come. */
uint64_t fb_free(int fd);

/* Whether it becomes that: on a slow host what others give back comes late. So with memory. */
bool fb_free_is(int fd, uint64_t want);
bool system_free_is(int fd, uint64_t want);

/* Whether the node is there, or is not, within a minute. */
bool node_is(bool there);

/* Whether who touches this page dies by SIGBUS. */
bool raises_sigbus(const void *page);

/* What a file of the device in debugfs has, until the next call. */
char *debugfs_text(const char *name);

bool test_query(void);
bool test_vm(void);
bool test_bo(void);
bool test_bo_zero(void);
bool test_fdinfo(void);
bool test_usage_query(void);
bool test_usage_time(void);
bool test_usage_beside(void);
bool test_exhausted(void);
bool test_evict(void);
bool test_evict_too_much(void);
bool test_evict_at_work(void);
bool test_evict_bind(void);
bool test_evict_full(void);
bool test_evict_exit(void);
bool test_evict_idle_first(void);
bool test_evict_own(void);
bool test_evict_pieces(void);
bool test_evict_stays(void);
bool test_evict_crowd(void);
bool test_evict_tables(void);
bool test_evict_killed(void);
bool test_fail_evict(void);
bool test_present(void);
bool test_present_stays(void);
bool test_shown_freed(void);
bool test_shown_asleep(void);
bool test_shown_seen(void);
bool test_debugfs(void);
bool test_import(void);
bool test_export(void);
bool test_copy(void);
bool test_bind(void);
bool test_bind_async(void);
bool test_sync(void);
bool test_ring(void);
bool test_interrupts(void);
bool test_dispatch(void);
bool test_text_changes(void);
bool test_fault(void);
bool test_program_fault(void);
bool test_timeout(void);
bool test_destroy_at_work(void);
bool test_exit_at_work(void);
bool test_channels(void);
bool test_channels_held(void);
bool test_channels_oldest(void);
bool test_files_apart(void);
bool test_bad_vm(void);
bool test_bad_bo(void);
bool test_bad_bind(void);
bool test_bad_queue(void);
bool test_bad_exec(void);
bool test_bad_sync(void);
bool test_user_library(void);
bool test_user_run(void);
bool test_user_samples(void);
bool test_user_nvml(void);
bool test_user_unbind(void);
bool test_reload(void);
bool test_label(void);
bool test_fuzz(void);
bool test_fence_outlives(void);
bool test_import_fails(void);
bool test_destroy_waiting(void);
bool test_queues_apart(void);
bool test_move_lies(void);
bool test_exec_unmap(void);
bool test_exits(void);
bool test_fail_nth(void);
bool test_guess(void);
bool test_many(void);
bool test_many_full(void);
bool test_faults_apart(void);
bool test_remove(void);
bool test_taken_away(void);
bool test_time_is_over(void);
bool test_unbind(void);
bool test_unmap(void);
bool test_oracle(void);
bool test_moved(void);

bool test_time_is_shared(void);
bool test_priority_order(void);
bool test_priority_starves_none(void);
bool test_priority_allowed(void);
bool test_reset(void);
bool test_reset_function(void);
bool test_reset_at_work(void);
bool test_scribble(void);
bool test_quarantine(void);
bool test_suspend_devices(void);
bool test_suspend(void);
bool test_hibernate(void);
bool test_awaken(void);

/* If the guest has a disk, and one has hibernated to it, does not return: that one goes on. */
bool disk_resume(void);

/* Writes to a file of /sys/power: 0 or a negative errno. */
int power_write(const char *file, const char *text);

/* Resets the function, as by its file in sysfs. */
bool function_reset(void);

/* A job of somebody else is done as ever. */
bool others_work(void);

/* A queue that works for ever, with jobs behind that. Returns the file, or -1. */
int begin_for_ever(uint32_t *queue, uint32_t *sync);

/*
 * A thread that opens, makes, works and closes, until the bool that it is given is true: any call
 * may find the device gone.
 */
void *work_on(void *stop);

/* A program that adds 1 to the word at a0, until the next word is not 0. */
#define UNTIL_FLAG_WORDS	6
extern const uint32_t until_flag[UNTIL_FLAG_WORDS];

/* Of the syncobj's fence, a file; or a negative errno. */
int sync_file(int fd, uint32_t sync);

/* A dma-buf of pages that this process has, mapped at @*ptr; or a negative errno. */
int udmabuf(uint64_t bytes, void **ptr);
int import(int fd, int dmabuf, uint32_t *handle);

/*
 * Another driver, vgem: returns a file of its node; and a syncobj of @fd, whose fence it signals
 * after 10 s. All that has that fence goes before the driver does.
 */
int vgem_load(void);
bool vgem_unload(void);
uint32_t vgem_fence(int fd, int other);

/* From now on fail_nth() can have an allocation fail: the @nth one of this thread after it. */
bool failures_on(void);

/* 0: none fails. Returns what was left to count of the call before; 0: it has failed. */
int fail_nth(int nth);

/* Maps a BAR of the function; it stays mapped as long as the test's process is there. */
volatile uint32_t *bar_map(int bar, size_t bytes);
volatile uint32_t *regs_map(void);
bool function_reset(void);

/* What the host tells: tests/e2e/guest/tell.c. */
int tell_open(void);
bool tell_wait(int fd, unsigned int seconds);
bool tell_over(int fd, uint64_t start, unsigned int seconds, bool *ok);

/* Of the driver's module: its file, and its parameters for the tests. */
int module_load(void);
int module_unload(void);
bool module_version(char *text, size_t room);

/* Unloads the module, which nobody keeps, and loads it, with @options or (NULL) the usual ones. */
bool module_again(const char *options);

#endif /* E2E_DRM_NODE_H */

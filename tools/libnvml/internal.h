/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Inside the library: its state and lock (state.c), where its GPUs come from (host.c, render.c),
 * /dev/vgpu (node.c), the GPUs, types and vGPUs that clients have handles of (table.c), samples
 * (sample.c, looks.c), and how functions answer (answer.c). mig.h is about GPUs that are divided.
 *
 * A function of the interface calls one of nv_enter*(), which takes the lock unless it returns an
 * error, and returns what nv_leave() returns, which drops it.
 */
#ifndef VGPU_NVML_INTERNAL_H
#define VGPU_NVML_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <linux/vgpu.h>
#include <linux/vgpu_hw.h>

#include "nvml.h"

#define NV_VGPUS_MAX	32	/* of a GPU, as the ABI has it */
#define NV_LOOKS	8	/* at the channels of guests, that are kept */
#define NV_MIGS_MAX	VGPU_PARTITION_EIGHTHS	/* partitions of a GPU at a time */
#define NV_CI_ID	0	/* of the compute instance of each GPU instance */
#define NV_VERSION	"13.0"	/* of the interface whose names functions.list has */

/* Bytes of an element of an array of the driver's that ends in engine[], for so many engines. */
#define nv_entry_size(type, engines) \
	(offsetof(type, engine) + ((engines) < VGPU_MAX_ENGINES ? (engines) : VGPU_MAX_ENGINES) * \
	 sizeof(((type *)0)->engine[0]))

#define NV_ARRAY_SIZE(a)	(sizeof(a) / sizeof((a)[0]))

/* A type, whichever GPUs have it. @id: the clients' number of it; see nv_type_id(). */
struct nv_type {
	unsigned int id;
	struct vgpu_ctl_type info;
};

/*
 * The first entries of VGPU_IOC_STATS.
 * @known: they have been read, and nothing has happened since
 */
struct nv_vgpus {
	bool known;
	unsigned int nr;
	struct vgpu_ctl_instance inst[NV_VGPUS_MAX];
};

/* What was so far at a time, of CLOCK_MONOTONIC: the head of what the file has that looks. */
struct nv_look {
	uint64_t time_ns;
};

/* The last looks, the newest first. */
struct nv_looks {
	struct nv_look *look[NV_LOOKS];
};

/*
 * What is known of a process in a guest (record.c).
 * @session:  of the vGPU, in which it was seen
 * @start_ns: when the first channel that was seen of it was enabled
 * @last_ns:  when it was seen last
 * @runs:     it was there at the last look
 * @comm:     its name, by the guest's word, when it was seen first
 * @busy:     of each engine, what it got in looks so far
 */
struct nv_record {
	nvmlVgpuInstance_t vgpu;
	uint64_t session;
	unsigned int pid;
	uint64_t start_ns;
	uint64_t last_ns;
	bool runs;
	uint8_t comm[VGPU_COMM_LEN];
	struct vgpu_ctl_engine_busy busy[VGPU_MAX_ENGINES];
};

struct nv_records {
	unsigned int nr;
	struct nv_record *record;
};

/* The compute instance of a GPU instance, for this process: see compute_instance.c. */
enum nv_ci_state {
	NV_CI_GIVEN = 0,	/* it is there */
	NV_CI_CREATED,		/* this process has created it */
	NV_CI_DESTROYED,	/* this process has destroyed it */
};

/*
 * A partition, which is a GPU instance, that a client has been told of.
 * @gi:   number that is in its handle
 * @ci:   likewise, of its compute instance and its MIG device
 * @info: as it was when it was read last
 */
struct nv_mig {
	struct nvmlDevice_st *device;
	uint32_t partition;
	uint64_t gi;
	uint64_t ci;
	enum nv_ci_state state;
	struct vgpu_ctl_partition info;
};

struct nv_migs {
	unsigned int nr;
	struct nv_mig mig[NV_MIGS_MAX];
};

/*
 * A GPU that was there when the library was initialized.
 * @info:      as it was then; of a guest's GPU what it has of that (render.c)
 * @minor:     a number for clients
 * @uuid:      likewise
 * @looks:     of guest.c: at the channels of guests; of render_load.c: at the engines
 * @processes: of render_process.c: looks at the processes
 * @records:   of guest.c: processes in guests that were seen
 * @fd:        of a guest's GPU: its node; else -1
 * @types:     number of its types; type[i] is that of index i
 * @vgpus:     for nv_vgpus()
 * @migs:      for nv_migs_read()
 */
struct nvmlDevice_st {
	unsigned int index;
	unsigned int minor;
	uint8_t uuid[VGPU_UUID_LEN];
	struct vgpu_ctl_gpu info;
	unsigned int pci_device_id;
	unsigned int pci_subsystem_id;
	struct nv_looks looks;
	struct nv_looks processes;
	struct nv_records records;
	int fd;
	unsigned int types;
	struct nv_type **type;
	struct nv_vgpus vgpus;
	struct nv_migs migs;
};

/* A vGPU that a client has been told of. Its UUID can be that of an earlier one. */
struct nv_vgpu {
	nvmlVgpuInstance_t id;
	uint32_t gpu;
	uint8_t uuid[VGPU_UUID_LEN];
	uint64_t created_ns;
};

/* All of it is protected by the lock. */
struct nv_state {
	unsigned int refs;		/* nvmlInit() without nvmlShutdown() */
	const struct nv_source *source;	/* where the GPUs come from */
	int fd;				/* /dev/vgpu, or -1 */
	bool fd_is_parents;		/* this is a child of fork(); see nv_node_quiet() */
	uint64_t epoch_ns;		/* CLOCK_REALTIME at 0 of CLOCK_MONOTONIC */
	char driver_version[VGPU_NAME_LEN + 1];
	struct nvmlDevice_st *device;
	unsigned int devices;
	struct nv_type *type;
	unsigned int types;
	struct nv_vgpu *vgpu;
	unsigned int vgpus;
	unsigned int vgpu_room;
	struct nvmlEventSet_st *sets;
};

extern struct nv_state nv;

/* ---- state.c ---- */

nvmlReturn_t nv_enter(void);
nvmlReturn_t nv_leave(nvmlReturn_t ret);

/* The GPU that has that handle, or NULL. */
struct nvmlDevice_st *nv_device_at(nvmlDevice_t handle);

/*
 * As nv_enter(), and checks the handle; @out, where the result is to go, must not be NULL. MIG
 * devices are NOT_SUPPORTED: mig.h has another one for them.
 */
nvmlReturn_t nv_enter_device(nvmlDevice_t device, const void *out);

/* As these two, for what only a host of vGPUs has: elsewhere NOT_SUPPORTED. */
nvmlReturn_t nv_enter_host(void);
nvmlReturn_t nv_enter_host_device(nvmlDevice_t device, const void *out);

/* The lock alone, for what is done without the library being initialized. */
void nv_lock(void);
void nv_unlock(void);

/* ---- node.c: /dev/vgpu ---- */

/* Opens the node; sets @fd, or says why not. The caller closes it. */
nvmlReturn_t nv_node_open(int flags, int *fd);
nvmlReturn_t nv_node_error(int error);
nvmlReturn_t nv_open_error(int error);
nvmlReturn_t nv_node_call(unsigned long request, void *arg);
nvmlReturn_t nv_node_gpus(uint32_t **ids, unsigned int *nr);
nvmlReturn_t nv_node_gpu(uint32_t id, struct vgpu_ctl_gpu *gpu);

/* Is the GPU divided now? nv_node_whole() is NOT_SUPPORTED then: of what only a whole GPU has. */
nvmlReturn_t nv_node_divided(uint32_t id, bool *divided);
nvmlReturn_t nv_node_whole(uint32_t id);

nvmlReturn_t nv_node_type(uint32_t gpu, uint32_t index, struct vgpu_ctl_type *type);
nvmlReturn_t nv_node_instance(const uint8_t *uuid, struct vgpu_ctl_instance *inst);
nvmlReturn_t nv_node_profile(uint32_t gpu, uint32_t index, struct vgpu_ctl_profile *profile);
nvmlReturn_t nv_node_partitions(uint32_t gpu, uint32_t ids[NV_MIGS_MAX], unsigned int *nr);
nvmlReturn_t nv_node_partition(uint32_t gpu, uint32_t id, struct vgpu_ctl_partition *part);

/*
 * What the vGPU is for a move, or if @uuid is NULL, what a new one of the type would be; @can:
 * VGPU_MIGRATION_*. With a driver that does not know of moves all is 0, which is no error.
 */
nvmlReturn_t nv_node_migration(const uint8_t *uuid, uint32_t gpu, uint32_t type,
			       struct vgpu_stream_about *about, uint32_t *can);

nvmlReturn_t nv_node_vgpus(uint32_t gpu, struct nv_vgpus *vgpus);

/*
 * Has nothing happened since the last call, to any vGPU or GPU? What the driver reports by events
 * is as it was then: which vGPUs there are, who has them open, how they are set.
 */
bool nv_node_quiet(void);

/* Without the end that a text of the ABI may lack. @to has one byte more than the array. */
void nv_text(char *to, const void *text, size_t room);

/* ---- table.c ---- */

/*
 * As nv_enter_device(), for types and vGPUs. What changes without an event, that is, counters and
 * memory, is only set by nv_enter_vgpu_now().
 */
nvmlReturn_t nv_enter_type(nvmlVgpuTypeId_t id, const void *out, struct nv_type **type);
nvmlReturn_t nv_enter_vgpu(nvmlVgpuInstance_t id, const void *out, struct vgpu_ctl_instance *inst);
nvmlReturn_t nv_enter_vgpu_now(nvmlVgpuInstance_t id, const void *out,
			       struct vgpu_ctl_instance *inst);

nvmlReturn_t nv_table_init(void);
void nv_table_exit(void);

/* Sets what sysfs knows of the GPU at its address, if there is a sysfs: PCI's ids. */
void nv_table_pci(struct nvmlDevice_st *device);

/* The GPU that has that number in the ABI, or NULL. */
struct nvmlDevice_st *nv_device_of(uint32_t gpu);
struct nv_type *nv_type_of(unsigned int id);

/*
 * A type as it is on that GPU, now: GPUs of one name can differ in how many vGPUs fit, by their
 * placement. INVALID_ARGUMENT: the GPU has no such type.
 */
nvmlReturn_t nv_device_type(const struct nvmlDevice_st *device, unsigned int id,
			    struct vgpu_ctl_type *info);

/*
 * The vGPUs of a GPU, until the lock is dropped. Their counters and memory are those of now if
 * @now, else of some time before. Forgets the numbers of vGPUs that are gone.
 */
nvmlReturn_t nv_vgpus(struct nvmlDevice_st *device, bool now, const struct nv_vgpus **vgpus);

/* ---- mig_table.c ---- */

/* SUCCESS, if the handle is that of a MIG device which is there; INVALID_ARGUMENT, if it is not. */
nvmlReturn_t nv_mig_device(nvmlDevice_t handle);

/* ---- answer.c ---- */

/*
 * Texts and arrays with the client's room. nv_put_text() has it by value; the other two have it by
 * pointer, and set it to what is needed if it does not suffice (INSUFFICIENT_SIZE).
 */
nvmlReturn_t nv_put_text(char *to, unsigned int room, const char *text);
nvmlReturn_t nv_put_text_size(char *to, unsigned int *room, const char *text);
nvmlReturn_t nv_put_count(const void *array, unsigned int *room, unsigned int needed);

#define NV_UUID_TEXT	37

void nv_uuid_text(const uint8_t *uuid, char *text);

/* A UUID that is made of a text: the same one for the same text. */
void nv_uuid_of(const char *text, uint8_t uuid[VGPU_UUID_LEN]);

/*
 * Copies a text of @bytes bytes at most, and an end, to @to; each byte that is no UTF-8, or that a
 * terminal obeys, becomes '?'.
 */
void nv_shown_text(char *to, const uint8_t *text, size_t bytes);

/* The name of a process, fit to be shown, cut to the room; "" if there is none to be read. */
void nv_process_name(unsigned int pid, char *name, size_t room);

/* ---- number.c ---- */

/*
 * The number of a vGPU for clients. The same vGPU has the same number until nvmlShutdown(), and no
 * other vGPU ever gets it in this process. 0: out of memory.
 */
nvmlVgpuInstance_t nv_vgpu_id(const struct vgpu_ctl_instance *inst);

/* Whether that is the vGPU which has the number of @vgpu. */
bool nv_vgpu_is(const struct nv_vgpu *vgpu, const struct vgpu_ctl_instance *inst);

/* ---- measure.c ---- */

uint64_t nv_clock_ns(clockid_t clock);

/* CLOCK_MONOTONIC of the driver to the clients' us since 1970. */
uint64_t nv_time_us(uint64_t monotonic_ns);

enum nv_engine { NV_SM, NV_MEM, NV_ENC, NV_DEC, NV_ENGINES };

extern const uint32_t nv_engine_class[NV_ENGINES]; /* enum vgpu_hw_engine_class */

bool nv_has_engine(const struct nvmlDevice_st *device, enum nv_engine engine);

/*
 * Per cent of the GPU's engines of a class, from the service that each engine has given in
 * @period_ns.
 */
void nv_percent(const struct vgpu_ctl_gpu *gpu, const struct vgpu_ctl_engine_busy *engine,
		uint64_t period_ns, unsigned int percent[NV_ENGINES]);

/* ---- sample.c ---- */

/*
 * @vgpu:     0: the GPU
 * @of_guest: of a process in the guest, which names it
 * @pid:      of the process that has the vGPU open, or of that in the guest; 0: none
 * @comm:     likewise; NULL: not known
 */
struct nv_sample {
	nvmlVgpuInstance_t vgpu;
	bool of_guest;
	unsigned int pid;
	const uint8_t *comm;
	uint64_t time_us;
	unsigned int percent[NV_ENGINES];
};

/*
 * Samples in the order of their times: of the GPU, or of its vGPUs that are still there.
 * @spare:  how many more there may be soon, for clients who ask again with an array
 * @now_ns: when they were read
 */
struct nv_samples {
	unsigned int nr;
	unsigned int spare;
	uint64_t now_ns;
	const struct nv_vgpus *vgpus;
	struct nv_sample *sample;
};

/* Those later than @since_us. Frees nothing of the last call: nv_samples_free() does. */
nvmlReturn_t nv_samples_read(struct nvmlDevice_st *device, uint64_t since_us, bool of_gpu,
			     struct nv_samples *samples);
void nv_samples_free(struct nv_samples *samples);

/*
 * Of samples, NOT_FOUND if there are none; else as nv_put_count(), with some room to spare for
 * those that come before the client's next call.
 */
nvmlReturn_t nv_put_samples(const struct nv_samples *samples, const void *array,
			    unsigned int *room);

/* Per cent over the last second. */
nvmlReturn_t nv_load(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES]);

/* ---- looks.c ---- */

/* Is the last one as good as a new one? Else, from when on is it not? */
bool nv_looks_fresh(const struct nv_looks *looks, uint64_t now_ns);
uint64_t nv_looks_next_ns(const struct nv_looks *looks);

/* Adds one, which was allocated. */
void nv_looks_push(struct nv_looks *looks, struct nv_look *look);
void nv_looks_forget(struct nv_looks *looks);

/*
 * The look before the newest one from which on the client wants to know: the last one that is not
 * later than @since_us, or else the oldest one; NULL if there is only one.
 */
const struct nv_look *nv_looks_base(const struct nv_looks *looks, uint64_t since_us);

/* ---- guest.c: on a host, what runs in its guests ---- */

/*
 * Puts the processes in guests, with their loads since a look that is not later than @since_us, or
 * since the oldest one, in the place of the samples of vGPUs whose guests name processes. @samples
 * are those of vGPUs; what they point to is valid until the lock is dropped.
 */
nvmlReturn_t nv_guests_read(struct nvmlDevice_st *device, uint64_t since_us,
			    struct nv_samples *samples);

/* Looks, if the last look is not as good, so that device->records are of now. */
nvmlReturn_t nv_guests_look(struct nvmlDevice_st *device);

/* The version of the driver in a guest, fit to be shown; "": the guest does not tell. */
nvmlReturn_t nv_guest_driver(const struct vgpu_ctl_instance *inst,
			     char version[VGPU_GUEST_NAME_LEN + 1]);

/* ---- record.c ---- */

/*
 * A look at so many channels begins: who is seen no more does not run; of vGPUs that are gone
 * nothing is kept.
 */
nvmlReturn_t nv_record_look(struct nv_records *records, const struct nv_vgpus *vgpus,
			    unsigned int channels);

/* A channel of a process is seen. @seen->busy: what it got since the last look */
void nv_record_see(struct nv_records *records, const struct nv_record *seen);
void nv_records_free(struct nv_records *records);

/* ---- where GPUs come from ---- */

/* A process that uses a GPU, by its number for the library's caller. */
struct nv_process {
	unsigned int pid;
	bool computes;
	uint64_t fb_bytes;
	uint32_t partition;	/* of its vGPU; 0: the whole GPU */
};

struct nv_processes {
	unsigned int nr;
	struct nv_process *process;
};

/*
 * struct nv_source - where GPUs come from. What is 0 is NOT_SUPPORTED
 * @mode:            of virtualization
 * @is_host:         it has types, vGPUs, their schedulers, sessions and events
 * @vbios_version:   of all its GPUs
 * @compute_mode:    likewise, or NULL
 * @init:            finds nv.device and the rest of nv; DRIVER_NOT_LOADED: it has nothing here
 * @exit:            frees that, also after a failure of @init
 * @memory:          of a GPU, now
 * @load:            per cent over the last second, or since the last call
 * @load_of_due:     the same, of what the vGPU could have had of the engines
 * @samples:         as nv_samples_read() for the GPU
 * @processes:       those that use the GPU now; the caller frees the array, if it returns SUCCESS
 * @process_samples: as nv_samples_read(), with the pid of each
 */
struct nv_source {
	nvmlGpuVirtualizationMode_t mode;
	bool is_host;
	const char *vbios_version;
	const nvmlComputeMode_t *compute_mode;
	nvmlReturn_t (*init)(void);
	void (*exit)(void);
	nvmlReturn_t (*memory)(const struct nvmlDevice_st *device, nvmlMemory_t *memory);
	nvmlReturn_t (*load)(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES]);
	nvmlReturn_t (*load_of_due)(struct nvmlDevice_st *device, unsigned int percent[NV_ENGINES]);
	nvmlReturn_t (*samples)(struct nvmlDevice_st *device, uint64_t since_us,
				struct nv_samples *samples);
	nvmlReturn_t (*processes)(struct nvmlDevice_st *device, struct nv_processes *processes);
	nvmlReturn_t (*process_samples)(struct nvmlDevice_st *device, uint64_t since_us,
					struct nv_samples *samples);
};

extern const struct nv_source nv_source_host;	/* /dev/vgpu */
extern const struct nv_source nv_source_render;	/* in a guest, nodes of its driver */

/* ---- event.c ---- */

void nv_events_exit(void);

#endif /* VGPU_NVML_INTERNAL_H */

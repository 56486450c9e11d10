// SPDX-License-Identifier: GPL-2.0
/*
 * When code of this CPU is made for programs, and how much: for programs whose lanes run alone for
 * long, once each, by one kernel worker for all GPUs, so that guests that load one program after
 * the other take no more than that from the host. Until there is code, and where there is none, the
 * interpreter executes programs.
 *
 * The memory is that of modules, of which a host has little, so it is bounded: for a vGPU
 * (programs.c), and for all together (native.c).
 */
#include <linux/atomic.h>
#include <linux/debugfs.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#include "lanes.h"
#include "native.h"
#include "natives.h"
#include "programs.h"

static bool soft_natives_on = true;
module_param_named(native, soft_natives_on, bool, 0644);
MODULE_PARM_DESC(native, "Compile programs whose lanes part, by the kernel's compiler of BPF (1)");

static struct workqueue_struct *soft_natives_wq;

/* How many programs were compiled, or not, as the kernel would not; and the time it took. */
static atomic_t soft_natives_made, soft_natives_refused;
static u64 soft_natives_ns;	/* written by the one worker */

static void soft_natives_work(struct work_struct *work)
{
	struct soft_programs *programs = container_of(work, struct soft_programs, native_work);
	struct soft_program *program = programs->native_program;
	u64 start_ns = ktime_get_ns();
	struct simt_native *native;

	native = soft_native_make(&program->text, soft_lanes);
	if (native && soft_programs_add(programs, program, soft_native_bytes(native))) {
		/* Units of the engine read it without a lock: all of the code comes before. */
		smp_store_release(&program->native, native);
		atomic_inc(&soft_natives_made);
	} else {
		soft_native_free(native);
		atomic_inc(&soft_natives_refused);
	}
	WRITE_ONCE(soft_natives_ns, soft_natives_ns + ktime_get_ns() - start_ns);
	soft_programs_put(programs, program);
	WRITE_ONCE(programs->native_program, NULL);
}

/**
 * soft_natives_get() - return the code of a program, and have it made if it is worth that
 * @programs: the vGPU's, of which one program is compiled at a time
 * @program: one that the caller uses
 * Context: the thread of gr that leads; does not sleep.
 * Return: the code, which is there as long as the program; NULL: there is none.
 */
const struct simt_native *soft_natives_get(struct soft_programs *programs,
					   struct soft_program *program)
{
	if (!READ_ONCE(soft_natives_on))
		return NULL;
	if (!program->asked && READ_ONCE(program->hot) && !READ_ONCE(programs->native_program) &&
	    program->text.nr <= SOFT_NATIVE_MOST) {
		program->asked = true;
		soft_programs_use(programs, program);
		WRITE_ONCE(programs->native_program, program);
		queue_work(soft_natives_wq, &programs->native_work);
	}
	/* Pairs with soft_natives_work(): who has the code sees all of it. */
	return smp_load_acquire(&program->native);
}

/* Before the first program of a new vGPU. */
void soft_natives_begin(struct soft_programs *programs)
{
	programs->native_program = NULL;
	INIT_WORK(&programs->native_work, soft_natives_work);
}

/**
 * soft_natives_stop() - stop to compile programs
 * @programs: those of a vGPU that executes none
 *
 * When this returns none is being compiled, or used for that.
 *
 * Context: sleeps, for as long as a program takes to be compiled.
 */
void soft_natives_stop(struct soft_programs *programs)
{
	if (!cancel_work_sync(&programs->native_work))
		return;
	soft_programs_put(programs, programs->native_program);
	WRITE_ONCE(programs->native_program, NULL);
}

/* Module init. Returns 0 or -ENOMEM. */
int soft_natives_init(void)
{
	soft_natives_wq = alloc_workqueue("vgpu_soft_native", WQ_UNBOUND, 1);
	return soft_natives_wq ? 0 : -ENOMEM;
}

/* Undoes soft_natives_init(). There is no vGPU any more. */
void soft_natives_exit(void)
{
	destroy_workqueue(soft_natives_wq);
}

static int soft_natives_show(struct seq_file *m, void *unused)
{
	seq_printf(m, "programs %d\n", atomic_read(&soft_natives_made));
	seq_printf(m, "refused %d\n", atomic_read(&soft_natives_refused));
	seq_printf(m, "bytes %ld\n", soft_native_total());
	seq_printf(m, "ns %llu\n", READ_ONCE(soft_natives_ns));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(soft_natives);

/*
 * Makes the file "native": how many programs were compiled so far, for how many the kernel has
 * refused it, or there was no room; how many bytes there are; how many ns all that took.
 */
void soft_natives_debugfs(struct dentry *dir)
{
	debugfs_create_file("native", 0400, dir, NULL, &soft_natives_fops);
}

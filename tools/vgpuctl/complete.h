/* SPDX-License-Identifier: GPL-2.0 */
/* Words with which a shell can complete a command line. */
#ifndef VGPUCTL_COMPLETE_H
#define VGPUCTL_COMPLETE_H

void complete_print(int argc, char **argv);

#endif /* VGPUCTL_COMPLETE_H */

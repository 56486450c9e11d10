/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The scheduling policies, in the order in which users see them. A policy is one file, NAME.c, that
 * defines vgpu_policy_NAME, and one line here. The table in policies.c, the declarations in
 * policy.h and the list of objects (Kbuild here, which reads the names from these lines) are made
 * of it.
 */
VGPU_POLICY(best_effort)
VGPU_POLICY(equal_share)
VGPU_POLICY(fixed_share)
VGPU_POLICY(qos)

# SPDX-License-Identifier: GPL-2.0
CPPFLAGS_test_drm_abi := -I$(TOP)/include/uapi -idirafter $(TOP)/tools/libvgpu/uapi

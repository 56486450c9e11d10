# SPDX-License-Identifier: GPL-2.0
SRCS_test_simt_decode := drivers/vgpu/soft/simt/decode.c
CPPFLAGS_test_simt_decode := -DDIRECTORY='"$(OUT)/simt_decode"'
SRCS_test_simt_program := drivers/vgpu/soft/simt/decode.c
SRCS_test_simt_float := drivers/vgpu/soft/simt/float.c
LDLIBS_test_simt_float := -lm
CFLAGS_test_simt_float := -frounding-math

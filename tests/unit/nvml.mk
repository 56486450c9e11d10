# SPDX-License-Identifier: GPL-2.0
#
# Tests of tools/libnvml: the library's files with the driver that nvml_fake.h is.
comma := ,
NVML_SRCS := $(addprefix tools/libnvml/,account.c answer.c device.c event.c guest.c init.c \
	instance.c load.c meta.c node.c place.c process.c sample.c sched.c state.c table.c type.c \
	virtual.c) \
	$(addprefix drivers/vgpu/core/,objects/placement.c objects/types.c) \
	tests/unit/nvml_fake.c tests/unit/nvml_heap.c

$(foreach t,nvml nvml_abi nvml_load nvml_errors nvml_race nvml_cancel nvml_rooms nvml_guest,\
	$(eval SRCS_test_$t := $(NVML_SRCS))\
	$(eval CPPFLAGS_test_$t := -I$(TOP)/include/uapi -iquote $(TOP)/tools/libnvml \
		-DNVML_LIST='"$(TOP)/tools/libnvml/functions.list"' \
		-DNVML_MANUAL='"$(TOP)/Documentation/management.rst"')\
	$(eval LDLIBS_test_$t := -pthread $(addprefix -Wl$(comma)--wrap=,\
		open close ioctl malloc calloc realloc free)))
# Of a thread that is cancelled ASan takes the stack for one that is in use.
CFLAGS_test_nvml_cancel := -fno-sanitize=address

# The library as tools/Makefile builds it.
NVML_LIBRARY := $(OUT)/nvml/libnvml/libnvidia-ml.so.1
CPPFLAGS_test_nvml_symbols := -I$(TOP)/include/uapi -iquote $(TOP)/tools/libnvml \
	-DNVML_LIST='"$(TOP)/tools/libnvml/functions.list"' -DNVML_LIBRARY='"$(NVML_LIBRARY)"'
LDLIBS_test_nvml_symbols := -ldl
$(OUT)/test_nvml_symbols: $(NVML_LIBRARY)
$(NVML_LIBRARY): $(wildcard $(TOP)/tools/libnvml/*) $(TOP)/tools/Makefile
	@$(MAKE) --no-print-directory -s -C $(TOP)/tools O=$(OUT)/nvml CFLAGS='-O1 -g' $@

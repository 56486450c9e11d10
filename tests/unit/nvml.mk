# SPDX-License-Identifier: GPL-2.0
#
# Tests of tools/libnvml: the library's files with the driver that nvml_fake.h is.
comma := ,
NVML_SRCS := $(addprefix tools/libnvml/,account.c answer.c compute_instance.c device.c enter.c \
	event.c fdinfo.c gpu_instance.c guest.c host.c init.c instance.c load.c looks.c measure.c \
	meta.c mig.c mig_profile.c mig_table.c node.c number.c place.c process.c record.c render.c \
	render_call.c render_load.c render_process.c sample.c sched.c state.c table.c type.c \
	virtual.c) \
	tools/libvgpu/node_find.c \
	$(addprefix drivers/vgpu/core/objects/,about_fits.c place_rules.c placement.c \
	profile.c types.c) \
	$(addprefix drivers/vgpu/core/settings/,setting.c share_rules.c) \
	$(addprefix tests/unit/,nvml_fake.c nvml_heap.c nvml_move.c nvml_node.c nvml_part.c)
NVML_GUEST_SRCS := $(addprefix tests/unit/,nvml_guest.c nvml_rows.c)

$(foreach t,nvml nvml_abi nvml_account nvml_load nvml_errors nvml_race nvml_cancel nvml_rooms \
	nvml_guest nvml_meta nvml_mig nvml_ci nvml_places nvml_node nvml_node_load \
	nvml_node_process,\
	$(eval SRCS_test_$t := $(NVML_SRCS))\
	$(eval CPPFLAGS_test_$t := -I$(TOP)/include/uapi -iquote $(TOP)/tools/libnvml \
		-idirafter $(TOP)/tools/libvgpu/uapi \
		-DNVML_LIST='"$(TOP)/tools/libnvml/functions.list"' \
		-DNVML_MANUAL='"$(TOP)/Documentation/management.rst"')\
	$(eval LDLIBS_test_$t := -pthread $(addprefix -Wl$(comma)--wrap=,open openat close \
		ioctl malloc calloc realloc free scandir readlink opendir fstatat \
		clock_gettime clock_nanosleep)))
$(foreach t,nvml_guest nvml_account,$(eval SRCS_test_$t += tests/unit/nvml_channels.c))
SRCS_test_nvml_errors += tests/unit/nvml_rows.c
$(foreach t,nvml_mig nvml_ci nvml_places,\
	$(eval SRCS_test_$t += $(addprefix tests/unit/,nvml_mig_world.c nvml_rows.c)))
$(foreach t,nvml_node nvml_node_load nvml_node_process,$(eval SRCS_test_$t += $(NVML_GUEST_SRCS)))
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

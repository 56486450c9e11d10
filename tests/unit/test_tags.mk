SRCS_test_tags := drivers/vgpu/sched/qos.c

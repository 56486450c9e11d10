/* SPDX-License-Identifier: GPL-2.0 */
#ifndef _ENGINE_SHIM_ASM_BYTEORDER_H
#define _ENGINE_SHIM_ASM_BYTEORDER_H

#include <endian.h>

#define cpu_to_le16(x)	((__force __le16)htole16(x))
#define cpu_to_le32(x)	((__force __le32)htole32(x))
#define cpu_to_le64(x)	((__force __le64)htole64(x))
#define le16_to_cpu(x)	le16toh((__force u16)(x))
#define le32_to_cpu(x)	le32toh((__force u32)(x))
#define le64_to_cpu(x)	le64toh((__force u64)(x))

#endif /* _ENGINE_SHIM_ASM_BYTEORDER_H */

/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What most operations compute. A file that includes this has defined the macros SIMT_DEFINE_* of
 * the lists: lane_*.h for all lanes of a warp, lone*.h for one lane. So it has no guard. At the end
 * it undefines them, for the next one.
 *
 * Documentation/isa.rst says what the macros' parameters mean.
 */

SIMT_DEFINE_RU(ADD, a + b, SIMT_AFFINE(a + b, sa + sb))
SIMT_DEFINE_RU(SUB, a - b, SIMT_AFFINE(a - b, sa - sb))
SIMT_DEFINE_RU(SLL, a << (b & 63), SIMT_IF(!sb, SIMT_AFFINE(a << (b & 63), sa << (b & 63))))
SIMT_DEFINE_RN(SLT, (s64)a < (s64)b, a < b)
SIMT_DEFINE_RN(SLTU, a < b, (u32)a < (u32)b)
SIMT_DEFINE_RN(XOR, a ^ b, a ^ b)
SIMT_DEFINE_RU(SRL, a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RU(SRA, (s64)a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_RN(OR, a | b, a | b)
SIMT_DEFINE_RN(AND, a & b, a & b)
SIMT_DEFINE_W(ADDW, a + b, SIMT_AFFINE_W(a + b, sa + sb))
SIMT_DEFINE_W(SUBW, a - b, SIMT_AFFINE_W(a - b, sa - sb))
SIMT_DEFINE_W(SLLW, a << (b & 31), SIMT_IF(!sb, SIMT_AFFINE_W(a << (b & 31), sa << (b & 31))))
SIMT_DEFINE_W(SRLW, a >> (b & 31), SIMT_NONE)
SIMT_DEFINE_W(SRAW, (s32)a >> (b & 31), SIMT_NONE)
SIMT_DEFINE_RU(MUL, a * b, SIMT_AFFINE_MUL(SIMT_AFFINE))
SIMT_DEFINE_RR(MULH, simt_mulh(a, b), SIMT_NONE)
SIMT_DEFINE_RR(MULHSU, simt_mulhu(a, b) - ((s64)a < 0 ? b : 0), SIMT_NONE)
SIMT_DEFINE_RR(MULHU, simt_mulhu(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIV, simt_div(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIVU, b ? a / b : U64_MAX, SIMT_NONE)
SIMT_DEFINE_RR(REM, simt_rem(a, b), SIMT_NONE)
SIMT_DEFINE_RR(REMU, b ? a % b : a, SIMT_NONE)
SIMT_DEFINE_W(MULW, a * b, SIMT_AFFINE_MUL(SIMT_AFFINE_W))
SIMT_DEFINE_RR(DIVW, simt_divw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(DIVUW, (u32)b ? simt_w((u32)a / (u32)b) : U64_MAX, SIMT_NONE)
SIMT_DEFINE_RR(REMW, simt_remw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(REMUW, simt_w((u32)b ? (u32)a % (u32)b : (u32)a), SIMT_NONE)
SIMT_DEFINE_RU(ADD_UW, (u32)a + b, SIMT_AFFINE_UW(0))
SIMT_DEFINE_RR(SH1ADD, (a << 1) + b, SIMT_AFFINE((a << 1) + b, (sa << 1) + sb))
SIMT_DEFINE_RR(SH2ADD, (a << 2) + b, SIMT_AFFINE((a << 2) + b, (sa << 2) + sb))
SIMT_DEFINE_RR(SH3ADD, (a << 3) + b, SIMT_AFFINE((a << 3) + b, (sa << 3) + sb))
SIMT_DEFINE_RR(SH1ADD_UW, ((u64)(u32)a << 1) + b, SIMT_AFFINE_UW(1))
SIMT_DEFINE_RR(SH2ADD_UW, ((u64)(u32)a << 2) + b, SIMT_AFFINE_UW(2))
SIMT_DEFINE_RR(SH3ADD_UW, ((u64)(u32)a << 3) + b, SIMT_AFFINE_UW(3))
SIMT_DEFINE_RN(ANDN, a & ~b, a & ~b)
SIMT_DEFINE_RN(ORN, a | ~b, a | ~b)
SIMT_DEFINE_RN(XNOR, ~(a ^ b), ~(a ^ b))
SIMT_DEFINE_RN(MAX, (s64)a > (s64)b ? a : b, a > b ? a : b)
SIMT_DEFINE_RN(MAXU, a > b ? a : b, (u32)a > (u32)b ? a : b)
SIMT_DEFINE_RN(MIN, (s64)a < (s64)b ? a : b, a < b ? a : b)
SIMT_DEFINE_RN(MINU, a < b ? a : b, (u32)a < (u32)b ? a : b)
SIMT_DEFINE_RU(ROL, simt_rol(a, b), SIMT_NONE)
SIMT_DEFINE_W(ROLW, simt_rorw(a, -b), SIMT_NONE)
SIMT_DEFINE_RU(ROR, simt_rol(a, -b), SIMT_NONE)
SIMT_DEFINE_W(RORW, simt_rorw(a, b), SIMT_NONE)
SIMT_DEFINE_RR(BCLR, a & ~(1ULL << (b & 63)), SIMT_NONE)
SIMT_DEFINE_RR(BEXT, a >> (b & 63) & 1, SIMT_NONE)
SIMT_DEFINE_RR(BINV, a ^ 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RR(BSET, a | 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RN(CZERO_EQZ, b ? a : 0, b ? a : 0)
SIMT_DEFINE_RN(CZERO_NEZ, b ? 0 : a, b ? 0 : a)

SIMT_DEFINE_UNARY(ADDI, a + b, SIMT_AFFINE(a + b, sa), SIMT_IF(!b, SIMT_NARROW_I(a)))
SIMT_DEFINE_RIN(SLTI, (s64)a < (s64)b, a < b)
SIMT_DEFINE_RIN(SLTIU, a < b, (u32)a < (u32)b)
SIMT_DEFINE_RIN(XORI, a ^ b, a ^ b)
SIMT_DEFINE_RIN(ORI, a | b, a | b)
SIMT_DEFINE_UNARY(ANDI, a & b,
		  SIMT_IF(!(b & (b + 1)) && simt_same_block(a, sa, b), SIMT_AFFINE(a & b, sa)),
		  SIMT_NARROW_I(a & b))
SIMT_DEFINE_RI(SLLI, a << (b & 63), SIMT_AFFINE(a << (b & 63), sa << (b & 63)))
SIMT_DEFINE_RI(SRLI, a >> (b & 63),
	       SIMT_IF(simt_same_block(a, sa, (1ULL << (b & 63)) - 1), SIMT_AFFINE(a >> b, 0)))
SIMT_DEFINE_RI(SRAI, (s64)a >> (b & 63), SIMT_NONE)
SIMT_DEFINE_WI(ADDIW, a + b, SIMT_AFFINE_W(a + (s64)(s32)b, sa))
SIMT_DEFINE_WI(SLLIW, a << (b & 31), SIMT_AFFINE_W(a << (b & 31), sa << (b & 31)))
SIMT_DEFINE_WI(SRLIW, a >> (b & 31),
	       SIMT_IF(simt_same_block((u32)a, (u64)(s64)(s32)sa, (1ULL << (b & 31)) - 1),
		       SIMT_AFFINE(simt_w((u32)a >> b), 0)))
SIMT_DEFINE_WI(SRAIW, (s32)a >> (b & 31), SIMT_NONE)
SIMT_DEFINE_RI(RORI, simt_rol(a, -b), SIMT_NONE)
SIMT_DEFINE_WI(RORIW, simt_rorw(a, b), SIMT_NONE)
SIMT_DEFINE_RI(BCLRI, a & ~(1ULL << (b & 63)), SIMT_NONE)
SIMT_DEFINE_RI(BEXTI, a >> (b & 63) & 1, SIMT_NONE)
SIMT_DEFINE_RI(BINVI, a ^ 1ULL << (b & 63), SIMT_NONE)
SIMT_DEFINE_RI(BSETI, a | 1ULL << (b & 63), SIMT_NONE)

SIMT_DEFINE_RI(CLZ, simt_clz(a), SIMT_NONE)
SIMT_DEFINE_RI(CLZW, simt_clz((u32)a) - 32, SIMT_NONE)
SIMT_DEFINE_RI(CTZ, simt_ctz(a), SIMT_NONE)
SIMT_DEFINE_RI(CTZW, simt_ctz(a | 1ULL << 32), SIMT_NONE)
SIMT_DEFINE_RI(CPOP, simt_cpop(a), SIMT_NONE)
SIMT_DEFINE_RI(CPOPW, simt_cpop((u32)a), SIMT_NONE)
SIMT_DEFINE_RIN(SEXT_B, (s64)(s8)a, (s64)(s8)a)
SIMT_DEFINE_RIN(SEXT_H, (s64)(s16)a, (s64)(s16)a)
SIMT_DEFINE_RIN(ZEXT_H, (u16)a, (u16)a)
SIMT_DEFINE_RI(ORC_B, simt_orc_b(a), SIMT_NONE)
SIMT_DEFINE_RI(REV8, __builtin_bswap64(a), SIMT_NONE)

SIMT_DEFINE_BRANCH(BEQ, a == b, a == b, true)
SIMT_DEFINE_BRANCH(BNE, a != b, a != b, true)
SIMT_DEFINE_BRANCH(BLT, (s64)a < (s64)b, a < b, false)
SIMT_DEFINE_BRANCH(BGE, (s64)a >= (s64)b, a >= b, false)
SIMT_DEFINE_BRANCH(BLTU, a < b, (u32)a < (u32)b, false)
SIMT_DEFINE_BRANCH(BGEU, a >= b, (u32)a >= (u32)b, false)

SIMT_DEFINE_LOAD(LB, s8, n, s32, SIMT_SET_X)
SIMT_DEFINE_LOAD(LBU, u8, n, s32, SIMT_SET_X)
SIMT_DEFINE_LOAD(LH, s16, n, s32, SIMT_SET_X)
SIMT_DEFINE_LOAD(LHU, u16, n, s32, SIMT_SET_X)
SIMT_DEFINE_LOAD(LW, s32, n, s32, SIMT_SET_X)
SIMT_DEFINE_LOAD(LWU, u32, x, u64, SIMT_SET_X)
SIMT_DEFINE_LOAD(LD, u64, x, u64, SIMT_SET_X)
SIMT_DEFINE_LOAD(FLW, u32, s, u32, SIMT_SET_F(s))
SIMT_DEFINE_LOAD(FLD, u64, d, u64, SIMT_SET_F(d))

SIMT_DEFINE_STORE(SB, u8, s32, simt_low)
SIMT_DEFINE_STORE(SH, u16, s32, simt_low)
SIMT_DEFINE_STORE(SW, u32, s32, simt_low)
SIMT_DEFINE_STORE(SD, u64, u64, simt_x)
SIMT_DEFINE_STORE(FSW, u32, u32, simt_single)
SIMT_DEFINE_STORE(FSD, u64, u64, simt_d)

SIMT_DEFINE_F2(FADD_S, simt_f32, s, a + b, SIMT_NAN_S)
SIMT_DEFINE_F2(FSUB_S, simt_f32, s, a - b, SIMT_NAN_S)
SIMT_DEFINE_F2(FMUL_S, simt_f32, s, a * b, SIMT_NAN_S)
SIMT_DEFINE_F2(FDIV_S, simt_f32, s, a / b, SIMT_NAN_S)
SIMT_DEFINE_F2(FADD_D, simt_f64, d, a + b, SIMT_NAN_D)
SIMT_DEFINE_F2(FSUB_D, simt_f64, d, a - b, SIMT_NAN_D)
SIMT_DEFINE_F2(FMUL_D, simt_f64, d, a * b, SIMT_NAN_D)
SIMT_DEFINE_F2(FDIV_D, simt_f64, d, a / b, SIMT_NAN_D)

SIMT_DEFINE_F1(FSQRT_S, simt_f32, s, simt_f32, s, 0, __builtin_sqrtf(a), SIMT_NAN_S)
SIMT_DEFINE_F1(FSQRT_D, simt_f64, d, simt_f64, d, 0, __builtin_sqrt(a), SIMT_NAN_D)

SIMT_DEFINE_MINMAX(FMIN_S, simt_f32, s, u32, 32, <, 1, SIMT_NAN_S)
SIMT_DEFINE_MINMAX(FMAX_S, simt_f32, s, u32, 32, >, 0, SIMT_NAN_S)
SIMT_DEFINE_MINMAX(FMIN_D, simt_f64, d, u64, 64, <, 1, SIMT_NAN_D)
SIMT_DEFINE_MINMAX(FMAX_D, simt_f64, d, u64, 64, >, 0, SIMT_NAN_D)

SIMT_DEFINE_COMPARE(FEQ_S, simt_f32, s, a == b)
SIMT_DEFINE_COMPARE(FLT_S, simt_f32, s, a < b)
SIMT_DEFINE_COMPARE(FLE_S, simt_f32, s, a <= b)
SIMT_DEFINE_COMPARE(FEQ_D, simt_f64, d, a == b)
SIMT_DEFINE_COMPARE(FLT_D, simt_f64, d, a < b)
SIMT_DEFINE_COMPARE(FLE_D, simt_f64, d, a <= b)

SIMT_DEFINE_FX(FCVT_W_S, simt_f32, s, n, s32, simt_to_i32(a))
SIMT_DEFINE_FX(FCVT_WU_S, simt_f32, s, n, s32, simt_to_u32(a))
SIMT_DEFINE_FX(FCVT_L_S, simt_f32, s, x, u64, simt_to_i64(a))
SIMT_DEFINE_FX(FCVT_LU_S, simt_f32, s, x, u64, simt_to_u64(a))
SIMT_DEFINE_FX(FCVT_W_D, simt_f64, d, n, s32, simt_to_i32(a))
SIMT_DEFINE_FX(FCVT_WU_D, simt_f64, d, n, s32, simt_to_u32(a))
SIMT_DEFINE_FX(FCVT_L_D, simt_f64, d, x, u64, simt_to_i64(a))
SIMT_DEFINE_FX(FCVT_LU_D, simt_f64, d, x, u64, simt_to_u64(a))

SIMT_DEFINE_F1(FCVT_S_W, simt_f32, s, s32, low, 0, (float)(s32)a, SIMT_NAN_S)
SIMT_DEFINE_F1(FCVT_S_WU, simt_f32, s, s32, low, 0, (float)(s64)(u32)a, SIMT_NAN_S)
SIMT_DEFINE_F1(FCVT_S_L, simt_f32, s, u64, x, 0, (float)(s64)a, SIMT_NAN_S)
SIMT_DEFINE_F1(FCVT_S_LU, simt_f32, s, u64, x, 0, (float)a, SIMT_NAN_S)
SIMT_DEFINE_F1(FCVT_D_W, simt_f64, d, s32, low, 0, (double)(s32)a, SIMT_NAN_D)
SIMT_DEFINE_F1(FCVT_D_WU, simt_f64, d, s32, low, 0, (double)(s64)(u32)a, SIMT_NAN_D)
SIMT_DEFINE_F1(FCVT_D_L, simt_f64, d, u64, x, 0, (double)(s64)a, SIMT_NAN_D)
SIMT_DEFINE_F1(FCVT_D_LU, simt_f64, d, u64, x, 0, (double)a, SIMT_NAN_D)

SIMT_DEFINE_SIGN(FSGNJ_S, s, u32, b)
SIMT_DEFINE_SIGN(FSGNJN_S, s, u32, ~b)
SIMT_DEFINE_SIGN(FSGNJX_S, s, u32, (a ^ b))
SIMT_DEFINE_SIGN(FSGNJ_D, d, u64, b)
SIMT_DEFINE_SIGN(FSGNJN_D, d, u64, ~b)
SIMT_DEFINE_SIGN(FSGNJX_D, d, u64, (a ^ b))

SIMT_DEFINE_FX(FCLASS_S, u32, s, n, s32, simt_f32_class(a))
SIMT_DEFINE_FX(FCLASS_D, u64, d, n, s32, simt_f64_class(a))
SIMT_DEFINE_FX(FMV_X_D, u64, d, x, u64, a)

#ifdef __FMA__
SIMT_DEFINE_F3(FMADD_S, simt_f32, s, __builtin_fmaf(a, b, c), SIMT_NAN_S)
SIMT_DEFINE_F3(FMSUB_S, simt_f32, s, __builtin_fmaf(a, b, -c), SIMT_NAN_S)
SIMT_DEFINE_F3(FNMSUB_S, simt_f32, s, __builtin_fmaf(-a, b, c), SIMT_NAN_S)
SIMT_DEFINE_F3(FNMADD_S, simt_f32, s, __builtin_fmaf(-a, b, -c), SIMT_NAN_S)
SIMT_DEFINE_F3(FMADD_D, simt_f64, d, __builtin_fma(a, b, c), SIMT_NAN_D)
SIMT_DEFINE_F3(FMSUB_D, simt_f64, d, __builtin_fma(a, b, -c), SIMT_NAN_D)
SIMT_DEFINE_F3(FNMSUB_D, simt_f64, d, __builtin_fma(-a, b, c), SIMT_NAN_D)
SIMT_DEFINE_F3(FNMADD_D, simt_f64, d, __builtin_fma(-a, b, -c), SIMT_NAN_D)
#endif

#undef SIMT_DEFINE_RR
#undef SIMT_DEFINE_RU
#undef SIMT_DEFINE_RN
#undef SIMT_DEFINE_W
#undef SIMT_DEFINE_RI
#undef SIMT_DEFINE_RIN
#undef SIMT_DEFINE_UNARY
#undef SIMT_DEFINE_WI
#undef SIMT_DEFINE_BRANCH
#undef SIMT_DEFINE_LOAD
#undef SIMT_DEFINE_STORE
#undef SIMT_DEFINE_F1
#undef SIMT_DEFINE_F2
#undef SIMT_DEFINE_F3
#undef SIMT_DEFINE_MINMAX
#undef SIMT_DEFINE_COMPARE
#undef SIMT_DEFINE_FX
#undef SIMT_DEFINE_SIGN

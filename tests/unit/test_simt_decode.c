// SPDX-License-Identifier: GPL-2.0
/*
 * The decoder of instructions against binutils: what their assembler makes of every instruction
 * with random operands; and of random words, that their disassembler sees an instruction where the
 * decoder does, and the same one.
 */
#include <ctype.h>
#include <sys/stat.h>

#include "vgpu_test.h"

#include <uapi/linux/vgpu_hw.h>

#include "soft/simt/float.h"
#include "soft/simt/program.h"

#define BINUTILS	"riscv64-linux-gnu-"
#define MARCH		"rv64imafd_zicsr_zifencei_zba_zbb_zbs"
#define PER_OP		64	/* times that each instruction is assembled */
#define NR_RANDOM	1000000

/* An entry of a table. */
#define AS(op, text)	\
	[SIMT_##op] = text,

#define NAME_OF(op)	AS(op, #op)
static const char *const names[SIMT_NR_OPS] = { SIMT_OPS(NAME_OF) };

/*
 * Operands in the assembler's language: d rd, s rs1, t rs2, of floats D S T R; i an immediate
 * value, o an address with one, a an address; < and > numbers of bits of words and double words;
 * b and j distances, u the upper bits of a value; m a rounding mode; c a float CSR, n one of an id,
 * z 5 bits in place of rs1; f the sets of FENCE.
 */
#define RR(op)		AS(op, "d,s,t")
#define RI(op)		AS(op, "d,s,i")
#define R1(op)		AS(op, "d,s")
#define LOAD(op)	AS(op, "d,o")
#define STORE(op)	AS(op, "t,o")
#define ATOMIC(op)	AS(op, "d,t,a")
#define FLAG(op)	AS(op, "d,S,T")
#define ROUND(op)	AS(op, "D,S,T,m")
#define FLOAT(op)	AS(op, "D,S,T")

static const char *const operands_of_group[SIMT_NR_OPS] = {
	SIMT_OPS_RR(RR) SIMT_OPS_RI(RI) SIMT_OPS_R(R1) SIMT_OPS_LOAD(LOAD) SIMT_OPS_STORE(STORE)
	SIMT_OPS_ATOMIC(ATOMIC) SIMT_OPS_FLAG(FLAG) SIMT_OPS_ROUND(ROUND) SIMT_OPS_FLOAT(FLOAT)
};

#define BOTH(op, text)	AS(op##_S, text) AS(op##_D, text)

/* Where they are others than those of the group. */
static const char *const operands_of[SIMT_NR_OPS] = {
	[SIMT_SLLI] = "d,s,>", [SIMT_SRLI] = "d,s,>", [SIMT_SRAI] = "d,s,>",
	[SIMT_SLLI_UW] = "d,s,>", [SIMT_RORI] = "d,s,>", [SIMT_BCLRI] = "d,s,>",
	[SIMT_BEXTI] = "d,s,>", [SIMT_BINVI] = "d,s,>", [SIMT_BSETI] = "d,s,>",
	[SIMT_SLLIW] = "d,s,<", [SIMT_SRLIW] = "d,s,<", [SIMT_SRAIW] = "d,s,<",
	[SIMT_RORIW] = "d,s,<",
	[SIMT_LUI] = "d,u", [SIMT_AUIPC] = "d,u", [SIMT_JAL] = "d,j", [SIMT_JALR] = "d,o",
	[SIMT_BEQ] = "s,t,b", [SIMT_BNE] = "s,t,b", [SIMT_BLT] = "s,t,b", [SIMT_BGE] = "s,t,b",
	[SIMT_BLTU] = "s,t,b", [SIMT_BGEU] = "s,t,b",
	[SIMT_FLW] = "D,o", [SIMT_FLD] = "D,o", [SIMT_FSW] = "T,o", [SIMT_FSD] = "T,o",
	[SIMT_LR_W] = "d,a", [SIMT_LR_D] = "d,a",
	[SIMT_FENCE] = "f", [SIMT_BARRIER] = "", [SIMT_CSR_ID] = "d,n,0",
	[SIMT_FCSR_RW] = "d,c,s", [SIMT_FCSR_RS] = "d,c,s", [SIMT_FCSR_RC] = "d,c,s",
	[SIMT_FCSR_RWI] = "d,c,z", [SIMT_FCSR_RSI] = "d,c,z", [SIMT_FCSR_RCI] = "d,c,z",
	BOTH(FSQRT, "D,S,m") BOTH(FMADD, "D,S,T,R,m") BOTH(FMSUB, "D,S,T,R,m")
	BOTH(FNMSUB, "D,S,T,R,m") BOTH(FNMADD, "D,S,T,R,m")
	[SIMT_FCVT_S_D] = "D,S,m", [SIMT_FCVT_D_S] = "D,S",
	BOTH(FCVT_W, "d,S,m") BOTH(FCVT_WU, "d,S,m") BOTH(FCVT_L, "d,S,m")
	BOTH(FCVT_LU, "d,S,m")
	[SIMT_FCVT_S_W] = "D,s,m", [SIMT_FCVT_S_WU] = "D,s,m", [SIMT_FCVT_S_L] = "D,s,m",
	[SIMT_FCVT_S_LU] = "D,s,m", [SIMT_FCVT_D_W] = "D,s", [SIMT_FCVT_D_WU] = "D,s",
	[SIMT_FCVT_D_L] = "D,s,m", [SIMT_FCVT_D_LU] = "D,s,m",
	BOTH(FMIN, "D,S,T") BOTH(FMAX, "D,S,T") BOTH(FCLASS, "d,S")
	[SIMT_FMV_X_W] = "d,S", [SIMT_FMV_X_D] = "d,S", [SIMT_FMV_W_X] = "D,s",
	[SIMT_FMV_D_X] = "D,s",
};

/* Where the name is not ours with a dot for _. The assembler does not know Zicond. */
static const char *const mnemonics[SIMT_NR_OPS] = {
	[SIMT_CZERO_EQZ] = ".insn r 0x33, 5, 7,", [SIMT_CZERO_NEZ] = ".insn r 0x33, 7, 7,",
	[SIMT_BARRIER] = ".4byte 0x0000000b", [SIMT_CSR_ID] = "csrrsi",
	[SIMT_FCSR_RW] = "csrrw", [SIMT_FCSR_RS] = "csrrs", [SIMT_FCSR_RC] = "csrrc",
	[SIMT_FCSR_RWI] = "csrrwi", [SIMT_FCSR_RSI] = "csrrsi", [SIMT_FCSR_RCI] = "csrrci",
};

#define NR_ASSEMBLED	(SIMT_NR_OPS * PER_OP)

static struct simt_insn want[NR_ASSEMBLED];
static u32 assembled[NR_ASSEMBLED];
static u32 nr_assembled;
static u32 words[NR_RANDOM];
static u64 seed;

static u32 number(u32 nr)
{
	return random_next(&seed) % nr;
}

/* A number of so many bits, signed; often one of the least or greatest. */
static s32 immediate(int bits)
{
	s32 value = number(1U << bits) - (1 << (bits - 1));

	if (number(4))
		return value;
	return number(2) ? (1 << (bits - 1)) - 1 - (s32)number(2) : -(1 << (bits - 1));
}

static void mnemonic_of(enum simt_op op, char *to)
{
	const char *name = names[op];

	if (mnemonics[op]) {
		strcpy(to, mnemonics[op]);
		return;
	}
	for (; *name; name++)
		*to++ = *name == '_' ? '.' : tolower(*name);
	*to = 0;
}

#define AT(field)	offsetof(struct simt_insn, field)
static const struct {
	char operand, file;
	size_t at;
} registers[] = {
	{ 'd', 'x', AT(rd) }, { 'D', 'f', AT(rd) },
	{ 's', 'x', AT(rs1) }, { 'S', 'f', AT(rs1) },
	{ 't', 'x', AT(rs2) }, { 'T', 'f', AT(rs2) },
	{ 'R', 'f', AT(rs3) },
};

static bool write_register(FILE *to, char operand, struct simt_insn *insn)
{
	u32 i, nr = number(32);

	for (i = 0; i < ARRAY_SIZE(registers); i++) {
		if (registers[i].operand != operand)
			continue;
		fprintf(to, "%c%u", registers[i].file, nr);
		((u8 *)insn)[registers[i].at] = operand == 'd' && !nr ? SIMT_X_SINK : nr;
		return true;
	}
	return false;
}

static s32 write_distance(FILE *to, int bits)
{
	s32 bytes = immediate(bits) * 2;

	fprintf(to, ".%+d", bytes);
	return bytes % 4 ? SIMT_NO_DISTANCE + bytes : bytes / 4;
}

static u8 write_rm(FILE *to)
{
	static const char *const modes[] = { "rne", "rtz", "rdn", "rup", "rmm", "dyn" };
	u32 rm = number(ARRAY_SIZE(modes));

	fputs(modes[rm], to);
	return rm == 5 ? SIMT_RM_DYN : rm;
}

/* A value of an operand that is a number. */
static u32 random_number(char operand)
{
	switch (operand) {
	case 'i':
		return immediate(12);
	case '<':
	case 'z':
		return number(32);
	case '>':
		return number(64);
	case 'c':
		return 1 + number(3);
	case 'n':
		return VGPU_HW_CSR_GLOBAL_ID + number(18);
	default:
		return number(1 << 20);
	}
}

static void write_number(FILE *to, char operand, struct simt_insn *insn)
{
	u32 value = random_number(operand);

	fprintf(to, "%d", value);
	if (operand == 'z')
		insn->rs1 = value;
	else
		insn->imm = operand == 'u' ? value << 12 : value;
}

static void write_fence(FILE *to, struct simt_insn *insn)
{
	static const char *const sets[] = { "i", "o", "r", "w", "rw", "iorw", "ir", "ow" };
	static const u8 bits[] = { 8, 4, 2, 1, 3, 15, 10, 5 };
	u32 before = number(8), behind = number(8);

	fprintf(to, "%s,%s", sets[before], sets[behind]);
	insn->imm = bits[before] << 4 | bits[behind];
}

static void write_address(FILE *to, struct simt_insn *insn)
{
	fputc('(', to);
	write_register(to, 's', insn);
	fputc(')', to);
}

/* Writes an operand, and sets what it is to become. */
static void write_operand(FILE *to, char operand, struct simt_insn *insn)
{
	if (write_register(to, operand, insn))
		return;
	if (operand == 'o') {
		write_number(to, 'i', insn);
		write_address(to, insn);
	} else if (operand == 'a') {
		write_address(to, insn);
	} else if (operand == 'b' || operand == 'j') {
		insn->imm = write_distance(to, operand == 'b' ? 12 : 20);
	} else if (operand == 'm') {
		insn->rm = write_rm(to);
	} else if (operand == 'f') {
		write_fence(to, insn);
	} else if (strchr("i<>cnzu", operand)) {
		write_number(to, operand, insn);
	} else {
		fputc(operand, to);
	}
}

static void write_insn(FILE *to, enum simt_op op, struct simt_insn *insn)
{
	static const char *const orders[] = { "", ".aq", ".rl", ".aqrl" };
	const char *operands = operands_of[op] ?: operands_of_group[op];
	bool atomic = operands_of_group[op] && !strcmp(operands_of_group[op], "d,t,a");
	char mnemonic[32];

	assert_non_null(operands);
	mnemonic_of(op, mnemonic);
	fprintf(to, "%s%s ", mnemonic, atomic ? orders[number(4)] : "");
	*insn = (struct simt_insn){ .op = op };
	for (; *operands; operands++)
		write_operand(to, *operands, insn);
	fputc('\n', to);
}

static void run(const char *command)
{
	int status = system(command);

	check_that(!status, "status %d of: %s (package binutils-riscv64-linux-gnu)", status,
		   command);
}

static FILE *open_file(const char *name, const char *mode)
{
	FILE *file = fopen(name, mode);

	check_that(file, "%s", name);
	return file;
}

/* Has every instruction assembled, PER_OP times. */
static void assemble(void)
{
	FILE *file = open_file(DIRECTORY "/all.s", "w");
	enum simt_op op;
	int i;

	fputs(".option norelax\n", file);
	for (op = SIMT_ILLEGAL + 1; op <= SIMT_FCVT_D_LU; op++) {
		for (i = 0; i < PER_OP; i++)
			write_insn(file, op, &want[nr_assembled++]);
	}
	assert_int_equal(fclose(file), 0);
	run(BINUTILS "as -march=" MARCH " " DIRECTORY "/all.s -o " DIRECTORY "/all.o && "
	    BINUTILS "objcopy -O binary -j .text " DIRECTORY "/all.o " DIRECTORY "/all.bin");
	file = open_file(DIRECTORY "/all.bin", "r");
	assert_int_equal(fread(assembled, 4, nr_assembled, file), nr_assembled);
	assert_int_equal(fgetc(file), EOF);
	fclose(file);
}

static int set_up(void **state)
{
	seed = test_seed();
	mkdir(DIRECTORY, 0755);
	assemble();
	return 0;
}

static void test_assembled(void **state)
{
	struct simt_insn insn, *w;
	u32 i;

	for (i = 0; i < nr_assembled; i++) {
		memset(&insn, 0xaa, sizeof(insn));
		simt_decode(assembled[i], &insn);
		w = &want[i];
		check_that(!memcmp(&insn, w, sizeof(insn)),
			   "line %u, %08x: %s rd %u rs1 %u rs2 %u rs3 %u rm %u imm %d, not %s rd %u rs1 %u rs2 %u rs3 %u rm %u imm %d",
			   i + 2, assembled[i], names[insn.op], insn.rd, insn.rs1, insn.rs2,
			   insn.rs3, insn.rm, insn.imm, names[w->op], w->rd, w->rs1, w->rs2,
			   w->rs3, w->rm, w->imm);
	}
}

#define FUNCT3(word)	((word) >> 12 & 7)

/* Of SYSTEM there are accesses to CSRs only, and to few of these. */
static bool csr_valid(u32 word)
{
	u32 csr = word >> 20;
	bool reads_only = (FUNCT3(word) & 3) >= 2 && !(word >> 15 & 31);

	if (!(FUNCT3(word) & 3))
		return false;
	return (csr >= 1 && csr <= 3) || (reads_only && csr >= 0xcc0 && csr <= 0xcd1);
}

/* Conversions that are exact have a rounding mode, though it has no effect. */
static bool is_exact_conversion(u32 word)
{
	u32 high = word >> 20;

	return (word & 0x7f) == 0x53 && (high == 0x420 || high == 0xd20 || high == 0xd21);
}

static bool is_zicond(u32 word)
{
	return (word & 0xfe00507f) == 0x0e005033;
}

/* Whether a word is an instruction; binutils say @known. The cases in which we differ from them. */
static bool is_valid(u32 word, bool known)
{
	switch (word & 0x7f) {
	case 0x0f:	/* fields of FENCE and FENCE.I that have no meaning yet are ignored */
		return FUNCT3(word) <= 1;
	case 0x73:
		return csr_valid(word);
	}
	if (is_exact_conversion(word))
		return FUNCT3(word) != 5 && FUNCT3(word) != 6;
	return known || is_zicond(word) || word == VGPU_HW_INSN_BARRIER;
}

/* Whether an operation is the one that binutils name. */
static bool same_name(const struct simt_insn *insn, char *theirs)
{
	char ours[32];
	char *order;

	if (insn->op == SIMT_CSR_ID)
		return !strncmp(theirs, "csrr", 4);
	if (insn->op == SIMT_FENCE)
		return !strncmp(theirs, "fence", 5) || theirs[0] == '.';
	mnemonic_of(insn->op, ours);
	order = strstr(theirs, ".aq") ?: strstr(theirs, ".rl");
	if (order)
		*order = 0;
	return !strcmp(ours, theirs);
}

/* @line: the word, and what it is disassembled to. */
static void check_line(u32 word, char *line)
{
	char theirs[32] = "";
	struct simt_insn insn;
	bool known, valid;

	assert_true(sscanf(line, "%*x %31s", theirs) == 1);
	known = theirs[0] != '.' && !strstr(line, "unknown");
	valid = is_valid(word, known);
	simt_decode(word, &insn);
	check_that((insn.op != SIMT_ILLEGAL) == valid, "%08x is %s, not %s", word,
		   names[insn.op], line);
	if (valid && known)
		check_that(same_name(&insn, theirs), "%08x is %s, not %s", word, names[insn.op],
			   line);
}

/* Half of the words are random, half are instructions with a few bits changed. */
static u32 random_word(void)
{
	u32 word = random_next(&seed), changes;

	if (number(2)) {
		word = assembled[number(nr_assembled)];
		for (changes = number(4); changes; changes--)
			word ^= 1U << number(32);
	}
	return word;
}

static bool has_32_bits(u32 word)
{
	return (word & 3) == 3 && (word & 0x1f) != 0x1f;
}

static void write_words(void)
{
	FILE *file = open_file(DIRECTORY "/words.bin", "w");
	u32 i;

	for (i = 0; i < NR_RANDOM; i++) {
		words[i] = random_word() | 3;
		if (!has_32_bits(words[i]))
			words[i] &= ~(4U << number(3));
	}
	assert_int_equal(fwrite(words, 4, NR_RANDOM, file), NR_RANDOM);
	assert_int_equal(fclose(file), 0);
	run("echo nop | " BINUTILS "as -march=" MARCH " - -o " DIRECTORY "/words.o && "
	    BINUTILS "objcopy --update-section .text=" DIRECTORY "/words.bin " DIRECTORY
	    "/words.o");
}

static void test_disassembled(void **state)
{
	char line[160], *at;
	u32 nr = 0;
	FILE *pipe;

	write_words();
	pipe = popen(BINUTILS "objdump -d -z -M no-aliases,numeric " DIRECTORY "/words.o", "r");
	assert_non_null(pipe);
	while (fgets(line, sizeof(line), pipe)) {
		at = strstr(line, ":\t");
		if (!at)
			continue;
		assert_true(nr < NR_RANDOM);
		assert_int_equal(strtoul(line, NULL, 16), nr * 4);
		assert_int_equal(strtoul(at + 2, NULL, 16), words[nr]);
		check_line(words[nr++], at + 2);
	}
	assert_int_equal(pclose(pipe), 0);
	assert_int_equal(nr, NR_RANDOM);
}

/* Instructions of other lengths than 32 bits are none. */
static void test_lengths(void **state)
{
	struct simt_insn insn, illegal = { .op = SIMT_ILLEGAL };
	u32 i, word;

	for (i = 0; i < NR_RANDOM; i++) {
		word = random_word();
		if (has_32_bits(word))
			continue;
		memset(&insn, 0xaa, sizeof(insn));
		simt_decode(word, &insn);
		check_that(!memcmp(&insn, &illegal, sizeof(insn)), "%08x is %s", word,
			   names[insn.op]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_assembled),
		cmocka_unit_test(test_disassembled),
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, set_up, NULL);
}

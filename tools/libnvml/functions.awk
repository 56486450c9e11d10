# SPDX-License-Identifier: GPL-2.0
# awk -v what=WHAT -f functions.awk functions.list
#
# Makes of the list of names what the linker and the compiler need: the version script (what=map),
# the second names of functions as symbols for the linker (what=names), or the functions that are
# not supported (what=stubs).
/^#/ || !NF { next }
what == "map" { body = body "\t" $1 ";\n" }
what == "names" && $2 !~ /^(implemented|not_supported)$/ { print $1 " = " $2 ";" }
what == "stubs" && $2 == "not_supported" {
	print "nvmlReturn_t " $1 "(void) __attribute__((alias(\"nv_not_supported\")));"
}
BEGIN {
	if (what == "stubs")
		print "#include \"internal.h\"\n" \
		      "#pragma GCC visibility push(default)\n" \
		      "nvmlReturn_t nv_not_supported(void)\n{\n" \
		      "\tnvmlReturn_t ret = nv_enter();\n\n" \
		      "\treturn ret ? ret : nv_leave(NVML_ERROR_NOT_SUPPORTED);\n}\n"
}
END {
	if (what == "map")
		printf "{\nglobal:\n%slocal:\n\t*;\n};\n", body
}

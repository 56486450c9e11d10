#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# run.sh [NAME...]: proves that the tests find mistakes of the driver. For each mutation that is
# named, or all: makes the mistake (NAME.sed) in a copy of the tree, build/mutations/tree, builds
# it, runs the tests that NAME.sed names in their lane, and says whether they have caught it.
# Environment: MUTATIONS_KERNEL, another kernel for those of debug and lab (uml is faster).
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1

if [[ ${1:-} == --help ]]; then
	sed -n '3,6s/^# //p' tests/mutations/run.sh
	exit
fi
here=$PWD out=$PWD/build/mutations
tree=$out/tree
names=("$@") passed=0 failed=0
if ((!${#names[@]})); then
	for file in tests/mutations/*.sed; do
		file=${file##*/}
		names+=("${file%.sed}")
	done
fi

# The copy becomes what is in this tree; what is the same stays as it is, for make.
copy() {
	local file
	mkdir -p "$tree"
	git ls-files -c -o --exclude-standard | while IFS= read -r file; do
		[[ -e $file ]] || continue
		cmp -s "$file" "$tree/$file" && continue
		mkdir -p "$(dirname "$tree/$file")"
		cp "$file" "$tree/$file"
	done
	(cd "$tree" && find . -path ./build -prune -o -type f -print) | while IFS= read -r file; do
		[[ -e $here/$file ]] || rm "$tree/$file"
	done
}

# of NAME FIELD: what NAME.sed says of itself
of() {
	sed -n "s/^# $2: //p" "tests/mutations/$1.sed"
}

# The machine's kernel of a lane.
kernel_of() {
	case $1 in
	lab) echo "${MUTATIONS_KERNEL:-stock}" ;;
	debug | driver) echo "${MUTATIONS_KERNEL:-uml-debug}" ;;
	rt) echo stock-rt ;;
	esac
}

# in_tree LOG COMMAND...
in_tree() {
	local log=$1
	shift
	(cd "$tree" && "$@") >>"$log" 2>&1
}

# prepare LOG: what guests with the driver need beside it
prepare() {
	in_tree "$1" scripts/lab chroot make -s -C tools O="$tree/build/lab-tools" &&
		build driver "" "$1"
}

# build LANE TESTS LOG
build() {
	case $1 in
	unit) in_tree "$3" make -s -C tests/unit all TESTS="$2" ;;
	driver) in_tree "$3" scripts/build-modules "$(kernel_of "$1")" &&
		in_tree "$3" scripts/guest-image drm ;;
	*) in_tree "$3" scripts/build-modules "$(kernel_of "$1")" ;;
	esac
}

# run_tests LANE TESTS LOG: fails if a test does, or its kernel reports something
run_tests() {
	# shellcheck disable=SC2086 # words
	case $1 in
	unit) in_tree "$3" make -s -C tests/unit check TESTS="$2" ;;
	driver) in_tree "$3" scripts/lab run --kernel "$(kernel_of "$1")" --timeout 900 -- \
		env E2E_VERBOSE=1 DRIVER_TESTS="$2" tests/e2e/run.sh driver ;;
	*) in_tree "$3" timeout 900 tests/selftests/check.sh "$(kernel_of "$1")" $2 ;;
	esac
}

# targets NAME: the files in drivers, of the name that NAME.sed says, which it changes
targets() {
	local file
	git ls-files -c -o --exclude-standard drivers | while IFS= read -r file; do
		[[ -e $file && ${file##*/} == "$(of "$1" file)" ]] || continue
		sed -f "tests/mutations/$1.sed" "$file" | cmp -s - "$file" || echo "$file"
	done
}

# try NAME: says in a line of TAP whether the mutation was caught
try() {
	local name=$1 lane tests file log=$out/$1.log found start=$SECONDS said=caught
	lane=$(of "$name" lane) tests=$(of "$name" tests)
	: >"$log"
	mapfile -t found < <(targets "$name")
	if [[ ! $lane =~ ^(unit|debug|lab|rt|driver)$ || ! $tests ]]; then
		said="names no lane or no test"
	elif ((${#found[@]} != 1)); then
		said="changes ${#found[@]} files called $(of "$name" file), not one"
	else
		file=${found[0]}
		sed -i -f "tests/mutations/$name.sed" "$tree/$file"
		if ! build "$lane" "$tests" "$log"; then
			said="does not build: ${log#"$here/"}"
		elif run_tests "$lane" "$tests" "$log"; then
			said="MISSED"
		fi
		cp "$file" "$tree/$file"
	fi
	if [[ $said == caught ]]; then
		passed=$((passed + 1))
		echo "ok $((passed + failed)) - $name: caught by $lane, $tests # $((SECONDS - start)) s"
	else
		failed=$((failed + 1))
		echo "not ok $((passed + failed)) - $name: $said"
	fi
	grep -aE '^not ok|BUG:|WARNING:|KASAN|ERROR: AddressSanitizer|runtime error|unreferenced' \
		"$log" | head -n 4 | sed 's/^/#   /'
}

# The tests must pass as the driver is, or their failure says nothing.
right() {
	local lane tests name log=$out/as-it-is.log
	: >"$log"
	for lane in unit debug lab rt driver; do
		tests=$(for name in "${names[@]}"; do
			[[ $(of "$name" lane) != "$lane" ]] || of "$name" tests
		done | tr ' ' '\n' | sort -u | tr '\n' ' ')
		[[ $tests =~ [a-z] ]] || continue
		[[ $lane != driver ]] || prepare "$log" || return
		run_tests "$lane" "${tests% }" "$log" || return
	done
}

for name in "${names[@]}"; do
	[[ -e tests/mutations/$name.sed ]] || { echo "run.sh: no mutation '$name'" >&2; exit 2; }
done
copy
if ! right; then
	echo "not ok - tests fail without a mutation: ${out#"$here/"}/as-it-is.log"
	echo "0 passed, 1 failed"
	exit 1
fi
for name in "${names[@]}"; do
	try "$name"
done
echo "$passed passed, $failed failed"
((failed == 0))

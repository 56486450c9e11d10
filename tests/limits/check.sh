#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# check.sh [DIRECTORY]: proves that scripts/limits finds an include or a call against the arrows
# between the driver's rooms, however it is hidden. In a small driver that has all rooms, one file
# calling the next, each way around the arrows is tried and must be found. With a DIRECTORY where
# the driver's modules were built, these must have none.
set -u
cd -- "${BASH_SOURCE[0]%/*}/../.." || exit 1

if [[ ${1:-} == --help ]]; then
	sed -n '3,6s/^# //p' tests/limits/check.sh
	exit
fi
limits=$PWD/scripts/limits nr=0 failed=0 flags='' relative=''
scratch=$(mktemp -d) || exit
trap 'rm -rf "$scratch"' EXIT
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

result() { # STATUS NAME OUTPUT
	nr=$((nr + 1))
	if (($1 == 0)); then
		echo "ok $nr $2"
	else
		failed=$((failed + 1))
		echo "not ok $nr $2"
		sed 's/^/# /' <<<"$3"
	fi
}

# room NAME [NEXT]: a header and a file, whose function calls that of the room NEXT
room() {
	local name=$1 next=${2:-} path=drivers/vgpu/$1/${1##*/} up
	up=$(sed 's|[^/]*|..|g' <<<"$name")
	mkdir -p "drivers/vgpu/$name"
	echo "void go_${name##*/}(void);" >"$path.h"
	{
		echo '#include <linux/vgpu.h>'
		echo "#include \"$up/compat.h\""
		[[ -z $next ]] || echo "#include \"$up/$next/${next##*/}.h\""
		echo "#include \"${name##*/}.h\""
		echo "void go_${name##*/}(void)"
		echo '{'
		[[ -z $next ]] || echo "	go_${next##*/}();"
		echo '}'
	} >"$path.c"
}

# driver: in the current directory, the driver without a fault
driver() {
	mkdir -p drivers/vgpu include/linux include/uapi
	echo 'void go_public(void);' >include/linux/vgpu.h
	: >drivers/vgpu/compat.h
	room sched
	room core sched
	echo 'void go_public(void) { }' >>drivers/vgpu/core/core.c
	room vfio core
	room mdev vfio
	room null
	room soft/simt
	room soft/memory
	room soft/queue soft/memory
	room soft/work soft/queue
	room soft/face soft/work
	room soft/card soft/face
	printf '%s\n' '#include "mdev/mdev.h"' 'void go_main(void) { go_mdev(); }' \
		>drivers/vgpu/main.c
	# A call that a back end may make.
	printf '%s\n' 'void go_device(void) { go_public(); }' >>drivers/vgpu/soft/card/card.c
}

# compile FILE.c: in build/, a tree of links as scripts/build-modules makes it, with a .cmd file as
# kbuild has it
compile() {
	local dir=build/${1%/*} name=${1##*/} from=$PWD/build/
	name=${name%.c}
	[[ -z $relative ]] || from=''
	# shellcheck disable=SC2086
	(cd build && gcc -c -O1 -fno-common -Iinclude $flags -MMD -MF "$scratch/d" -MT x \
		-o "$OLDPWD/$dir/$name.o" "$1") || exit
	{
		echo "savedcmd_$from$1 := gcc"
		echo
		echo "source_$from${1%.c}.o := $from$1"
		echo
		echo "deps_$from${1%.c}.o := \\"
		tr -s ' \\\n' '\n\n\n' <"$scratch/d" | sed -n '3,$p' |
			sed "s|^[^/]|$from&|; s|.*|  & \\\\|"
		# shellcheck disable=SC2016
		echo '    $(wildcard include/config/MODULES) \'
		echo
	} >"$dir/.$name.o.cmd"
}

# build: compiles what differs from the driver without a fault; all, if a header does
build() {
	local file changed
	find drivers include -name '*.[ch]' | while read -r file; do
		[[ -L build/$file ]] && continue
		mkdir -p "build/${file%/*}"
		ln -s "$PWD/$file" "build/$file"
	done
	changed=$(find drivers include -name '*.[ch]' -newer "$scratch/stamp")
	[[ $changed != *.h* ]] || changed=$(find drivers -name '*.c')
	for file in $changed; do
		[[ $file == */skipped.c ]] || compile "$file"
	done
}

# look CHECK TEXT: what scripts/limits finds has TEXT in it
look() {
	local check=$1 text=$2 out
	if [[ $check == rooms ]]; then
		build
		out=$("$limits" rooms build 2>&1)
	else
		out=$("$limits" "$check" 2>&1)
	fi
	[[ $? == 1 && $out == *"$text"* ]]
	result $? "$way: $check" "looked for: $text, found: $out"
	flags='' relative=''
}

# way NAME: what follows is a way around the arrows
way() {
	way=$1
	rm -rf drivers include build
	cp -a "$scratch/base/." .
}

append() { # FILE LINE...
	printf '%s\n' "${@:2}" >>"drivers/vgpu/$1"
}

# prepend FILE LINE...
prepend() {
	local old
	old=$(cat "drivers/vgpu/$1")
	printf '%s\n' "${@:2}" "$old" >"drivers/vgpu/$1"
}

echo "TAP version 13"
top=$PWD
mkdir "$scratch/tree" "$scratch/base" && cd "$scratch/tree" && git init -q . || exit
echo '/build/' >.gitignore

touch -d '2 days ago' "$scratch/stamp"
driver
out=$("$limits" includes 2>&1)
result $? 'a driver with nothing wrong: includes' "$out"
build
out=$("$limits" rooms build 2>&1)
result $? 'a driver with nothing wrong: rooms' "$out"
cp -a drivers include build "$scratch/base"
find "$scratch/base" -exec touch -h -d yesterday {} +
touch -d '1 hour ago' "$scratch/stamp"

queue=soft/queue/queue.c
up="drivers/vgpu/$queue: includes drivers/vgpu/soft/work/work.h"

way 'an include'
prepend $queue '#include "../work/work.h"'
look includes "$queue"
look rooms "$up"

way 'an include by a macro'
prepend $queue '#define HEADER "../work/work.h"' '#include HEADER'
look includes "$queue"
look rooms "$up"

way 'an include through a public header'
echo '#include "../../drivers/vgpu/soft/work/work.h"' >>include/linux/vgpu.h
look includes 'include/linux/vgpu.h'
look rooms "$up"

way 'an include in <>'
prepend $queue '#include <../drivers/vgpu/soft/work/work.h>'
look includes "$queue"
look rooms "$up"

way 'an include through compat.h'
append compat.h '#include "soft/work/work.h"'
look rooms "$up"

way 'an include of a link to a header'
ln -s ../work/work.h drivers/vgpu/soft/queue/alias.h
prepend $queue '#include "alias.h"'
look includes "$queue"
look rooms "$up"

way 'an include by the command line'
touch drivers/vgpu/$queue
flags='-include drivers/vgpu/soft/work/work.h'
look rooms "$up"

way 'an include of a C file'
prepend $queue '#include "../work/work.c"'
look includes "$queue"
look rooms "drivers/vgpu/$queue: includes drivers/vgpu/soft/work/work.c"

way 'an include that this configuration does not compile'
prepend $queue '#ifdef CONFIG_OTHER' '  # /* " */ include_next \' '	"../work/work.h"' '#endif'
look includes "$queue"

way 'an include that a newer kernel names from its directory'
prepend $queue '#include "../work/work.h"'
relative=1
look rooms "$up"

way 'an include of the core by a back end'
prepend null/null.c '#include "../core/core.h"'
look includes 'null/null.c'
look rooms 'drivers/vgpu/null/null.c: includes drivers/vgpu/core/core.h'

use="drivers/vgpu/$queue: uses go_work of drivers/vgpu/soft/work/work.c"

way 'a call declared by hand'
append $queue 'extern void go_work(void);' 'void way(void) { go_work(); }'
look rooms "$use"

way 'a call under another name'
append $queue 'void harmless(void) __asm__("go_work");' 'void way(void) { harmless(); }'
look rooms "$use"

way 'a weak call'
append $queue 'extern void go_work(void) __attribute__((weak));' \
	'void way(void) { if (go_work) go_work(); }'
look rooms "$use"

way 'the address of a function'
append $queue 'extern void go_work(void);' 'void *way = go_work;'
look rooms "$use"

way 'a variable'
append soft/work/work.c 'int work_state;'
append $queue 'extern int work_state;' 'int way(void) { return work_state; }'
look rooms 'uses work_state'

way 'a function that another room replaces'
append $queue 'void __attribute__((weak)) way(void) { }'
append soft/work/work.c 'void way(void) { }'
look rooms 'defines way'

way 'a call in a header, from where those that include it may'
append soft/memory/memory.h 'extern void go_queue(void);' \
	'static inline void way(void) { go_queue(); }'
prepend soft/work/work.c '#include "../memory/memory.h"'
append soft/work/work.c 'void around(void) { way(); }'
sed -i '/memory/d' drivers/vgpu/$queue
look rooms 'drivers/vgpu/soft/memory/memory.h: names go_queue'

way 'a call that this configuration does not compile'
append $queue '#ifdef CONFIG_OTHER' 'extern void go_work(void);' \
	'void way(void) { go_work(); }' '#endif'
look rooms "drivers/vgpu/$queue: names go_work"

way 'a call past a room'
append mdev/mdev.c 'extern void go_sched(void);' 'void way(void) { go_sched(); }'
look rooms 'drivers/vgpu/mdev/mdev.c: uses go_sched'

way 'a call of the scheduler to the core'
append sched/sched.c 'extern void go_core(void);' 'void way(void) { go_core(); }'
look rooms 'drivers/vgpu/sched/sched.c: uses go_core'

way 'a call of the core to a back end'
append core/core.c 'extern void go_card(void);' 'void way(void) { go_card(); }'
look rooms 'drivers/vgpu/core/core.c: uses go_card'

way 'a call of a back end that no public header declares'
append null/null.c 'extern void go_core(void);' 'void way(void) { go_core(); }'
look rooms 'drivers/vgpu/null/null.c: uses go_core'

way 'a call to what is above all rooms'
append core/core.c 'extern void go_main(void);' 'void way(void) { go_main(); }'
look rooms 'drivers/vgpu/core/core.c: uses go_main'

way 'a symbol looked for at run time'
append $queue 'extern void *__symbol_get(const char *name);' \
	'void *way(void) { return __symbol_get("go_work"); }'
look rooms "drivers/vgpu/$queue: uses __symbol_get"

way 'a file in no room'
append soft/way.h 'void way(void);'
look includes 'drivers/vgpu/soft/way.h'

way 'a file that is not compiled'
append soft/queue/skipped.c 'extern void go_work(void);' 'void way(void) { go_work(); }'
look rooms 'drivers/vgpu/soft/queue/skipped.c: is not compiled'

way 'an object of which nothing says what it was made from'
rm build/drivers/vgpu/soft/queue/.queue.o.cmd
out=$("$limits" rooms build 2>&1)
[[ $? == 1 && $out == *'soft/queue/queue.o: no .cmd file'* ]]
result $? "$way" "$out"

way 'a directory where nothing was built'
out=$("$limits" rooms include 2>&1)
[[ $? == 1 && $out == *'no objects'* ]]
result $? "$way" "$out"

way 'a table that leads in a circle'
sed "s|'soft/queue': ('soft/memory', 'soft/state')|'soft/queue': ('soft/memory', 'soft/work')|" "$limits" >circle
prepend $queue '#include "../work/work.h"'
out=$(python3 circle includes 2>&1)
[[ $? == 1 && $out == *'back to soft/queue'* ]]
result $? "$way" "$out"

cd "$top" || exit
out=$("$limits" includes 2>&1)
result $? 'the driver as it is: includes' "$out"
if [[ -n ${1:-} ]]; then
	out=$("$limits" rooms "$1" 2>&1)
	result $? 'the driver as it is: rooms' "$out"
fi

echo "1..$nr"
echo "$((nr - failed)) passed, $failed failed"
((failed == 0))

# SPDX-License-Identifier: GPL-2.0
# bash completion for vgpuctl(8)

_vgpuctl()
{
	local cur prev command options
	local -r commands="gpus types list show stats create remove release events"

	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
		return
	fi
	command=${COMP_WORDS[1]}
	case $prev in
	--type)
		mapfile -t COMPREPLY < <(compgen -W "$(
			cat /sys/class/mdev_bus/*/mdev_supported_types/*/name 2>/dev/null)" -- "$cur")
		return
		;;
	--gpu)
		mapfile -t COMPREPLY < <(compgen -W "$(
			vgpuctl gpus 2>/dev/null | awk 'NR > 1 { print $1; print $2 }')" -- "$cur")
		__ltrim_colon_completions "$cur" 2>/dev/null
		return
		;;
	--uuid | --count)
		return
		;;
	esac
	case $command in
	types | list) options="--gpu --json --help" ;;
	stats) options="--watch --watch= --count --json --help" ;;
	create) options="--type --gpu --uuid --json --help" ;;
	events) options="--count --json --help" ;;
	gpus | show | remove | release) options="--json --help" ;;
	*) return ;;
	esac
	case $command in
	show | stats | remove | release)
		if [[ $cur != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$(
				vgpuctl list 2>/dev/null | awk 'NR > 1 { print $1 }')" -- "$cur")
			return
		fi
		;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
}

complete -F _vgpuctl vgpuctl

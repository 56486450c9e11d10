# SPDX-License-Identifier: GPL-2.0
# bash completion for vgpuctl(8)

_vgpuctl()
{
	local cur prev command options
	local -r commands="gpus types list show stats create remove release events sched share hist"

	cur=${COMP_WORDS[COMP_CWORD]}
	prev=${COMP_WORDS[COMP_CWORD - 1]}
	COMPREPLY=()

	if ((COMP_CWORD == 1)); then
		mapfile -t COMPREPLY < <(compgen -W "$commands --help --version" -- "$cur")
		return
	fi
	command=${COMP_WORDS[1]}
	case $command in
	sched) options="show set log" ;;
	share) options="show set" ;;
	*) options= ;;
	esac
	if [[ $options ]]; then
		if ((COMP_CWORD == 2)) && [[ $cur != -* ]]; then
			mapfile -t COMPREPLY < <(compgen -W "$options" -- "$cur")
			return
		fi
		# Without a second word it is show.
		[[ ${COMP_WORDS[2]} == -* ]] && command+=" show" || command+=" ${COMP_WORDS[2]}"
	fi
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
	--engine)
		mapfile -t COMPREPLY < <(compgen -W "$(
			vgpuctl stats 2>/dev/null | awk 'NR > 1 { print $3 }' | sort -u)" -- "$cur")
		return
		;;
	--policy)
		mapfile -t COMPREPLY < <(compgen -W "best_effort equal_share fixed_share qos" -- "$cur")
		return
		;;
	--frl)
		mapfile -t COMPREPLY < <(compgen -W "off default" -- "$cur")
		return
		;;
	--uuid | --count | --slice | --frequency | --window | --preempt-timeout | --linger | \
		--quarantine-faults | --quarantine-backoff | --guarantee | --cap | --weight)
		return
		;;
	esac
	case $command in
	types | list | "sched show") options="--gpu --json --help" ;;
	stats) options="--watch --watch= --count --json --help" ;;
	create) options="--type --gpu --uuid --json --help" ;;
	events) options="--count --json --help" ;;
	gpus | show | remove | release | "share show") options="--json --help" ;;
	hist) options="--engine --json --help" ;;
	"sched set") options="--gpu --policy --slice --frequency --window --preempt-timeout --linger
		--quarantine-faults --quarantine-backoff --json --help" ;;
	"sched log") options="--gpu --engine --count --follow --chart --json --help" ;;
	"share set") options="--guarantee --cap --weight --frl --json --help" ;;
	*) return ;;
	esac
	case $command in
	show | stats | remove | release | hist | "share show" | "share set")
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

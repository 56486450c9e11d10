# SPDX-License-Identifier: GPL-2.0
# bash completion for vgpu-run(1) and vgpu-samples(1), which know themselves what may stand where.

_vgpu_run()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words

	words=$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	if [[ -n $words ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
		# PCI addresses have colons, at which readline separates words.
		__ltrim_colon_completions "$cur" 2>/dev/null
		return
	fi
	compopt -o filenames 2>/dev/null
	mapfile -t COMPREPLY < <(compgen -f -- "$cur")
}

complete -F _vgpu_run vgpu-run vgpu-samples

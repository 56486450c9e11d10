# SPDX-License-Identifier: GPL-2.0
# bash completion for vgpuctl(8), which knows itself what may stand where.

_vgpuctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} words

	if [[ ${COMP_WORDS[COMP_CWORD-1]} == @(-f|--file) ]]; then
		compopt -o filenames 2>/dev/null
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	words=$("${COMP_WORDS[0]}" --complete "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
	mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	# PCI addresses have colons, at which readline separates words.
	__ltrim_colon_completions "$cur" 2>/dev/null
}

complete -F _vgpuctl vgpuctl

# SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
# Completion of ssadmin(8) and opensm-ssa(8) in bash.

_ssadmin_flags()
{
	COMPREPLY=($(compgen -W "$(_parse_help "$1")" -- "$cur"))
	[[ ${COMPREPLY-} == *= ]] && compopt -o nospace
}

_ssadmin_words()
{
	COMPREPLY=($(compgen -W "$1" -- "$cur"))
}

# The command that is there already; none: nothing is said.
_ssadmin_command()
{
	local i
	for ((i = 1; i < cword; i++)); do
		case ${words[i]} in
		ping | stats | nodeinfo | tree | verify | path | snapshot)
			printf '%s' "${words[i]}"
			return
			;;
		esac
	done
}

_ssadmin()
{
	local cur prev words cword split
	_init_completion -s || return

	case $prev in
	--config | -c | --snapshot | -s)
		_filedir
		return
		;;
	--recursion | -r)
		_ssadmin_words 'd u'
		return
		;;
	--filter)
		_ssadmin_words 'core distrib access acm'
		return
		;;
	--format | -f)
		_ssadmin_words 'full short conn up down'
		return
		;;
	--store | --core | --number | -n) return ;;
	esac
	$split && return
	if [[ $cur == -* ]]; then
		_ssadmin_flags "$1"
		return
	fi
	case $(_ssadmin_command) in
	'') _ssadmin_words 'ping stats nodeinfo tree verify path snapshot' ;;
	snapshot) _filedir ;;
	esac
} &&
	complete -F _ssadmin ssadmin

_opensm_ssa()
{
	local cur prev words cword split
	_init_completion -s || return

	case $prev in
	--config | -c) _filedir ;;
	*) $split || _ssadmin_flags "$1" ;;
	esac
} &&
	complete -F _opensm_ssa opensm-ssa

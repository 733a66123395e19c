#!/bin/bash
# The shells' completions, asked as the shells ask them.
. "$(dirname "$0")/common.sh"
completions=$build_dir/docs/completions
[ -d "$completions" ] || skip "no completions in this build"
PATH=$build_dir/bin:$PATH
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir some
touch some.json "with blank.json"

# Of each line: the line up to where it is completed, and what must be offered, in order of the
# alphabet. "..." after it: among others.
cases='
nvmemu |calibrate ...
nvmemu r|report run
nvmemu run --mo|--model
nvmemu run --model |asymmetric symmetric
nvmemu run --wlat 300 --model s|symmetric
nvmemu run --device opt|optane optane-ucsd
nvmemu run --log |debug error info warn
nvmemu devices opt|optane optane-ucsd
nvmemu report --format |csv html json text
nvmemu report --force --format html some.j|some.json
nvmemu report -o some.j|some.json
nvmemu heat d|diff
nvmemu heat --weight d|density
nvmemu sweep --time |cpu wall
nvmemu predict some.json --by |process region thread
nvmemu run env|env ...
nvmemu run --wlat 300 -- env|env ...
nvmemu sweep --rlat 300 env|env ...
nvmemu run cat some.j|some.json
'

check() { # shell, line, expected, offered (one a line)
	local expected=$3 offered

	offered=$(echo "$4" | sort | tr '\n' ' ' | sed 's/ *$//')
	case $expected in
	*' ...')
		echo "$4" | grep -qxF -- "${expected% ...}" || fail "$1: '$2' is completed by: $offered"
		;;
	*) [ "$offered" = "$expected" ] || fail "$1: '$2' is completed by: $offered; not: $expected" ;;
	esac
}

in_bash() { # line: as readline splits it
	bash --norc -c '
		. "$1/nvmemu"
		line=$2
		read -ra COMP_WORDS <<<"${line//=/ = }"
		[[ $line != *[\ =] ]] || [[ $line == *= ]] || COMP_WORDS+=("")
		COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_LINE=$line COMP_POINT=${#line}
		_nvmemu
		printf "%s\n" "${COMPREPLY[@]}"' bash "$completions" "$1"
}

in_fish() {
	HOME=$work XDG_CONFIG_HOME=$work fish --no-config -c \
		"source $completions/nvmemu.fish; complete -C '$1'" | cut -f 1
}

lines=() expected=()
while IFS='|' read -r line words; do
	[ -z "$line" ] || lines+=("$line") expected+=("$words")
done <<<"$cases"

each() { # shell
	local at

	for at in "${!lines[@]}"; do
		check "$1" "${lines[at]}" "${expected[at]}" "$("in_$1" "${lines[at]}")"
	done
}

# All at once: it takes a shell with a terminal.
all_in_zsh() {
	local at=0 word offered=

	while IFS= read -r word; do
		if [ -n "$word" ]; then
			offered+=${offered:+$'\n'}$word
			continue
		fi
		check zsh "${lines[at]}" "${expected[at]}" "$offered"
		at=$((at + 1)) offered=
	done < <(zsh -f "$source_dir/test/check/completion.zsh" "$completions" "${lines[@]}")
	[ "$at" -eq ${#lines[@]} ] || fail "zsh: answered $at of ${#lines[@]}"
}

shells=bash
each bash
if command -v fish >/dev/null; then
	shells="$shells fish"
	each fish
fi
if command -v zsh >/dev/null; then
	shells="$shells zsh"
	all_in_zsh
fi
# What shells differ in: a '=' is a word of its own in bash, and a part of the word in fish.
check bash "nvmemu run --heat=" "off on" "$(in_bash "nvmemu run --heat=")"
check bash "nvmemu run --heat=on --inject=s" "sleep spin" "$(in_bash "nvmemu run --heat=on --inject=s")"
check bash "nvmemu report with" "with blank.json" "$(in_bash "nvmemu report with")"
check bash "nvmemu env --json " "" "$(in_bash "nvmemu env --json ")"
bash -n "$completions/nvmemu" || fail "bash: syntax"
finish "completions ($shells)"

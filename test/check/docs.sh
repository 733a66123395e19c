#!/bin/bash
# What the documents name is there: files, links, benchmarks, subcommands, variables.
. "$(dirname "$0")/common.sh"
cd "$source_dir"
nvmemu=$build_dir/bin/nvmemu
[ -x "$nvmemu" ] || skip "no command nvmemu"

# What stands in backticks, and in indented blocks that are no drawings.
quoted() {
	grep -o '`[^`]*`' "$1" | tr -d '`'
	sed -n 's/^    \(\$ \)\?\([a-zA-Z].*\)/\2/p' "$1"
}

top=$(find . -mindepth 1 -maxdepth 1 -not -name '.git' -not -name 'build*' -printf '%P\n')

# A word names a file if it begins with one of the source directory's entries. What is built is not.
check_path() {
	local path=${1%%[,:;)]} first

	first=${path%%/*}
	echo "$top" | grep -qxF -- "$first" || return 0
	[[ $path =~ ^[A-Za-z0-9_./-]+$ ]] || return 0
	[ "$first" != "$path" ] || [[ $path == *.* ]] || [[ $path =~ ^[A-Z]+$ ]] || return 0
	[ -e "$path" ] || fail "$document: no $path"
}

check_command() {
	local words
	read -ra words <<<"$1"
	case ${words[0]-} in
	bench/run)
		[ "${words[1]-NAME}" = NAME ] || [ -e "bench/${words[1]}.py" ] ||
			fail "$document: no benchmark ${words[1]}"
		;;
	nvmemu | build/bin/nvmemu)
		[ ${#words[@]} -lt 2 ] || echo "$commands" | grep -qxF -- "${words[1]}" ||
			fail "$document: nvmemu has no command ${words[1]}"
		;;
	esac
}

check_variable() {
	echo "$variables" | grep -qxF -- "$1" ||
		fail "$document: no variable $1"
}

commands=$("$nvmemu" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')
variables=$(env -i "$nvmemu" env --markdown | sed -n 's/^| \(NVM_[A-Z_]*\) .*/\1/p')
[ -n "$commands" ] && [ -n "$variables" ] || fail "nvmemu lists no commands or no variables"

for document in README.md DESIGN.md CONTRIBUTING.md; do
	while read -r line; do
		check_command "$line"
		for word in $line; do
			check_path "$word"
		done
	done < <(set -f; quoted $document)
	while read -r link; do
		[ -e "$link" ] || fail "$document: no $link, to which a link leads"
	done < <(grep -o '](\([^)#:]*\))' $document | sed 's/](\(.*\))/\1/')
	while read -r variable; do
		check_variable "$variable"
	done < <(grep -oE '\bNVM_[A-Z][A-Z_]*' $document | sort -u)
done
finish "documents"

#!/bin/bash
# The manual pages: well formed, and of all that there is.
. "$(dirname "$0")/common.sh"
pages=$build_dir/docs/man
[ -d "$pages" ] || skip "no manual pages in this build"

tried=
if command -v mandoc >/dev/null; then
	# Dates would make each build another one.
	for page in "$pages"/man*/*.gz; do
		said=$(gzip -dc "$page" | mandoc -Tlint -Wwarning | grep -v 'missing date' || true)
		[ -z "$said" ] || fail "${page##*/}: $said"
	done
	tried="$tried mandoc"
fi
if command -v man >/dev/null; then
	for page in "$pages"/man*/*.gz; do
		said=$(LC_ALL=C.UTF-8 MANROFFSEQ='' man --warnings -E UTF-8 -l -Tutf8 -Z "$page" 2>&1 >/dev/null)
		[ -z "$said" ] || fail "${page##*/}: $said"
	done
	tried="$tried man"
fi
[ -n "$tried" ] || skip "neither mandoc nor man"

# text of a page, without what is only form
page() {
	gzip -dc "$pages/man$2/$1.$2.gz" | sed 's/\\-/-/g; s/\\(aq/'"'"'/g; s/\\f[BIR]//g; s/\\&//g'
}

holds() { # page, section, text
	page "$1" "$2" | grep -qF -- "$3" || fail "$1($2) says nothing of '$3'"
}

commands=$("$build_dir/bin/nvmemu" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]\{1,\}\) .*/\1/p')
[ -n "$commands" ] || fail "nvmemu lists no commands"
for command in $commands; do
	holds nvmemu 1 "nvmemu-$command(1)"
	# Each option that its help names, of as many lines as there are options.
	while read -r option; do
		holds "nvmemu-$command" 1 "$option"
	done < <("$build_dir/bin/nvmemu" "$command" --help | grep -oE '^ {2,6}-.*' | grep -oE -- '--[a-z-]+')
done
[ "$(find "$pages/man1" -type f | wc -l)" -eq $(($(echo "$commands" | wc -l) + 1)) ] ||
	fail "pages of other commands: $(ls "$pages/man1")"
for variable in $(env -i "$build_dir/bin/nvmemu" env --markdown | sed -n 's/^| \(NVM_[A-Z_]*\) .*/\1/p'); do
	holds nvmemu 1 "$variable"
done
for function in $(sed -n 's/^NVMEMU_API .*[ *]\(nvmemu_[a-z_]*\)(.*/\1/p' "$source_dir/include/nvmemu.h"); do
	holds "$function" 3 "$function("
done
for key in totals.cpu_ns program.started_at; do
	holds nvmemu-report 5 "${key#totals.}"
done
finish "manual pages (with$tried)"

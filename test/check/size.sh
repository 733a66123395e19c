#!/bin/bash
# How long files and functions may be, and how many parameters a function may have.
. "$(dirname "$0")/common.sh"
need ctags

max_source=600 max_header=150 max_function=80 max_p95=50 max_parameters=6

lengths=$(mktemp)
trap 'rm -f "$lengths"' EXIT

for file in $(sources include lib preload cli bench); do
	lines=$(wc -l <"$source_dir/$file")
	case $file in
	*.c) max=$max_source ;;
	*) max=$max_header ;;
	esac
	[ "$lines" -le $max ] || fail "$file: $lines lines, more than $max"
done

# file, name, first line, last line, signature; the tests' functions too, but they do not count below
while IFS='|' read -r file name first last signature; do
	length=$((last - first + 1))
	[ "$length" -le $max_function ] || fail "$file: $name: $length lines, more than $max_function"
	case $file in
	test/*) continue ;;
	esac
	echo "$length" >>"$lengths"
	# A parameter that is a function has commas of its own.
	flat=$(echo "$signature" | sed -E 's/^\((.*)\)$/\1/; :again; s/\([^()]*\)//g; t again')
	commas=${flat//[^,]/}
	# hooks whose parameters are somebody else's
	[ "$file" != lib/heap/arena_extents.c ] || continue
	[ $((${#commas} + 1)) -le $max_parameters ] ||
		fail "$file: $name: $((${#commas} + 1)) parameters, more than $max_parameters"
done < <(cd "$source_dir" && sources include lib preload cli bench test |
	ctags -L - --languages=C --map-C=+.h --kinds-C=f -x --_xformat='%F|%N|%n|%e|%S' |
	sort -u)

count=$(wc -l <"$lengths")
p95=$(sort -n "$lengths" | sed -n "$(((count * 95 + 99) / 100))p")
median=$(sort -n "$lengths" | sed -n "$(((count + 1) / 2))p")
echo "$count functions: median $median lines, 95 % within $p95"
[ "$p95" -le $max_p95 ] || fail "95th percentile of function lengths: $p95, more than $max_p95"
finish "sizes"

#!/bin/bash
# Every header compiles alone, and twice; the public one in every C and C++ that users may have.
. "$(dirname "$0")/common.sh"
need gcc

compile() { # header, compiler and its options
	local header=$1

	shift
	printf '#include "%s"\n#include "%s"\n' "$source_dir/$header" "$source_dir/$header" |
		"$@" -fsyntax-only -Wall -Wextra -Werror - || fail "$header: not with $*"
}

for header in $(sources lib preload cli bench test | grep '\.h$'); do
	compile "$header" gcc -x c -std=gnu11 -D_GNU_SOURCE -I"$source_dir/lib" -I"$source_dir/include" \
		-I"$source_dir" -I"$source_dir/$(dirname "$header")"
done
for header in $(sources include); do
	for standard in c89 c99 c11 c2x; do
		compile "$header" gcc -x c -std=$standard -pedantic
	done
	command -v g++ >/dev/null || continue
	for standard in c++98 c++11 c++20; do
		compile "$header" g++ -x c++ -std=$standard -pedantic
	done
done
finish "headers"

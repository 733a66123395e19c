#!/bin/bash
# What libnvmemu.so exports is what its map lists, no more and no less.
. "$(dirname "$0")/common.sh"
need nm

listed=$(sed 's|/\*|\n/*\n|g; s|\*/|\n*/\n|g' "$source_dir/preload/libnvmemu.map" |
	sed '/^\/\*$/,/^\*\/$/d' | sed -n '/global:/,/local:/p' |
	tr -s ' \t;' '\n' | grep -vE '^$|:$' | sort)
exported=$(nm -D --defined-only "$build_dir/lib/libnvmemu.so" |
	awk '$2 != "A" { sub(/@.*/, "", $3); print $3 }' | sort)

[ -n "$exported" ] || fail "nothing is exported"
while read -r line; do
	fail "$line"
done < <(diff <(echo "$listed") <(echo "$exported") |
	sed -n 's/^< \(.*\)/in the map, not exported: \1/p; s/^> \(.*\)/exported, not in the map: \1/p')
finish "exported symbols"

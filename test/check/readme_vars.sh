#!/bin/bash
# The README's table of variables is what `nvmemu env --markdown` prints.
. "$(dirname "$0")/common.sh"

readme=$source_dir/README.md
[ -e "$readme" ] && grep -q '<!-- variables -->' "$readme" || skip "no README.md with a variables block"
[ -x "$build_dir/bin/nvmemu" ] || skip "no command nvmemu"

block() {
	sed -n '/<!-- variables -->/,/<!-- \/variables -->/p' "$readme" | sed '1d;$d' | sed '/^$/d'
}

printed=$(env -i "$build_dir/bin/nvmemu" env --markdown | sed '/^$/d') || fail "env --markdown: exit status $?"
diff <(block) <(echo "$printed") || fail "README.md: the table is not what the command prints"
finish "README's variables"

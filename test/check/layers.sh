#!/bin/bash
# Who may include whom, and what only one place may call.
. "$(dirname "$0")/common.sh"
need gcc

stripped=$(mktemp -d)
trap 'rm -rf "$stripped"' EXIT
for file in $(sources lib preload cli bench); do
	mkdir -p "$stripped/$(dirname "$file")"
	code "$file" >"$stripped/$file"
done

# directory: the directories (or headers) that its files may include with quotes, besides their own
arrows='
lib/base:
lib/count: base
lib/emu: base count
lib/heap: base count
lib/report: base count
preload: base emu heap runtime.h markers.h placing.h source_lines.h stats.h nvmemu.h
cli: base count report bench calibrated.h chase.h counters.h enter.h presets.h traffic.h nvmemu.h
bench: base count nvmemu.h
'

check_include() { # file, included, allowed
	local file=$1 included=$2 top=${2%%/*} other

	case $included in
	*/*) [ "lib/$top" = "$(echo "$file" | cut -d/ -f1,2)" ] && return ;;
	*) [ -e "$source_dir/$(dirname "$file")/$included" ] && return ;;
	esac
	[ "${file%%/*}" = "$top" ] && return
	for other in $3; do
		[ "$top" = "$other" ] && return
	done
	fail "$file: may not include \"$included\""
}

while IFS=: read -r dir allowed; do
	[ -n "$dir" ] || continue
	while read -r file included; do
		check_include "$file" "$included" "$allowed"
	done < <(for file in $(sources "$dir"); do
		sed -n "s|^ *# *include *\"\(.*\)\".*|$file \1|p" "$stripped/$file"
	done)
done <<<"$arrows"

# words as an extended regular expression | where they are looked for | where they may stand
owners='
getenv|secure_getenv ; lib preload cli ; lib/base/options.c
dlsym|dlvsym ; lib preload cli ; preload/real.c
sigaction|rt_sigaction|signal ; lib preload ; lib/emu/inject.c preload/hook_signal.c preload/hook_syscall.[ch]
timer_create ; lib preload ; lib/emu/timer.c
tgkill|pthread_kill|pthread_sigqueue|sigqueue|kill|raise ; lib preload ; lib/emu/inject*.c preload/hook_signal*.c
perf_event_open|pfm_[a-z_]+ ; lib preload cli ; lib/count/*
je_[a-z_]+|mallctl|mallocx|dallocx|sdallocx ; lib preload cli ; lib/heap/arena*.[ch]
json_(load[a-z_]*|dump[a-z_]*|object_[a-z]+|array_[a-z]+|decref) ; lib preload cli ; lib/report/fields.c lib/report/merge.c lib/report/read*.c lib/report/run.c
unw_[a-z_]+ ; lib preload cli ; lib/heap/unwind*.c
Zydis[A-Za-z]+ ; lib preload cli ; lib/count/ahead/*
malloc|calloc|realloc|free|strdup|getline ; lib/base lib/count lib/emu preload ; preload/hook_alloc*.c preload/hook_thread.c preload/real_alloc.h
printf|fprintf|snprintf|sprintf|vsnprintf|puts|fputs|fopen|fclose|fwrite|fflush ; lib/base lib/count lib/emu preload ;
'

owned() { # file, patterns
	local pattern

	for pattern in $2; do
		# shellcheck disable=SC2254
		case $1 in $pattern) return 0 ;; esac
	done
	return 1
}

# A call, or a system call's number; not a member of that name, nor a word within another.
set -f
while IFS=';' read -r words where owner; do
	words=$(echo "$words" | tr -d ' ')
	[ -n "$words" ] || continue
	for file in $(set +f && sources $where); do
		owned "$file" "$owner" && continue
		found=$(grep -v '^ *#' "$stripped/$file" | sed 's/"\([^"\\]\|\\.\)*"/""/g' |
			grep -oE "(^|[^A-Za-z0-9_.>])(($words) *\(|SYS_($words)\b)" | head -1 || true)
		[ -z "$found" ] || fail "$file: ${found//[^A-Za-z0-9_]/}: only in ${owner:-other layers}"
	done
done <<<"$owners"
set +f
finish "layers"

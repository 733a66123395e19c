#!/bin/bash
# Every C file is as .clang-format has it.
. "$(dirname "$0")/common.sh"
need clang-format

# Versions of clang-format differ; the project's is that of Debian bookworm.
case $(clang-format --version) in
*"version 14."*) ;;
*) skip "clang-format is not of version 14" ;;
esac
cd "$source_dir"
for file in $(sources include lib preload cli bench test examples); do
	clang-format --dry-run -Werror "$file" >/dev/null 2>&1 || fail "$file: not formatted"
done
finish "formats"

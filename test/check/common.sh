# Sourced by the check scripts, which get the source and the build directory as arguments.
set -eu
export LC_ALL=C
source_dir=$(cd "${1:?source directory}" && pwd)
build_dir=$(cd "${2:?build directory}" && pwd)
failures=0

fail() {
	echo "$*"
	failures=$((failures + 1))
}

skip() {
	echo "skipped: $*"
	exit 77
}

need() {
	command -v "$1" >/dev/null || skip "no $1"
}

# finish WHAT: exit status of the script
finish() {
	echo "$1: $failures wrong"
	[ "$failures" -eq 0 ]
}

# The project's own C files and headers below the given directories, relative to the source directory.
sources() {
	(cd "$source_dir" && for dir in "$@"; do
		[ ! -d "$dir" ] || find "$dir" -name '*.[ch]'
	done | sort)
}

# A C file without its comments. A macro's lines that look like directives are no failure.
code() {
	gcc -fpreprocessed -dD -E -P "$source_dir/$1" 2>/dev/null || true
}

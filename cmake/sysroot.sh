#!/bin/bash
# cmake/sysroot.sh DIRECTORY PACKAGE...
#
# Unpacks Debian packages for arm64 into DIRECTORY, for cross-building and for qemu. Packages are
# downloaded into DIRECTORY.apt with an apt configuration of its own there: the machine's list of
# architectures and packages stays as it is, and nobody need be root. Just these packages, without
# what they depend on; @PACKAGE is what a metapackage stands for: the first that it depends on. Does
# nothing where all of them are there already.
set -eu

directory=${1:?directory} && shift
[ -f /etc/debian_version ] || { echo "not a Debian system: no arm64 packages" >&2; exit 1; }
mkdir -p "$directory"
directory=$(cd "$directory" && pwd)
private=$directory.apt
stamp=$directory/.unpacked

[ "$(cat "$stamp" 2>/dev/null)" != "$*" ] || exit 0
rm -rf "$directory"
mkdir -p "$directory" "$private"/{lists,archives}/partial
touch "$private/status"

# apt COMMAND ARGUMENT...: with what stands in the machine's own list of sources, for arm64
apt() {
	local command=$1

	shift
	(cd "$private" && "$command" -qq \
		-o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o Dir::State="$private" -o Dir::State::status="$private/status" \
		-o Dir::Cache="$private" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none \
		-o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false "$@")
}

apt apt-get update
for package; do
	case $package in
	@*)
		named=$(apt apt-cache depends "${package#@}" | sed -n 's/^  Depends: //p' | head -1)
		[ -n "$named" ] || { echo "no package ${package#@} for arm64" >&2; exit 1; }
		;;
	*) named=$package ;;
	esac
	apt apt-get download "$named"
done
for file in "$private"/*.deb; do
	dpkg-deb -x "$file" "$directory"
	rm "$file"
done
echo "$*" >"$stamp"

#!/bin/bash
# cmake/sysroot.sh DIRECTORY PACKAGE...
#
# Unpacks Debian packages for arm64 into DIRECTORY, for cross-building and for qemu. Packages are
# downloaded into DIRECTORY.apt with an apt configuration of its own there: the machine's list of
# architectures and packages stays as it is, and nobody need be root. Just these packages, without
# what they depend on. Does nothing where all of them are there already.
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

# What stands in the machine's own list of sources, for another architecture.
apt_private() {
	(cd "$private" && apt-get -qq \
		-o APT::Architecture=arm64 -o APT::Architectures=arm64 \
		-o Dir::State="$private" -o Dir::State::status="$private/status" \
		-o Dir::Cache="$private" -o APT::Sandbox::User="$(id -un)" \
		-o Acquire::Languages=none -o Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled=false \
		"$@")
}

apt_private update
apt_private download "$@"
for file in "$private"/*.deb; do
	dpkg-deb -x "$file" "$directory"
	rm "$file"
done
echo "$*" >"$stamp"

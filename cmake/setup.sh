# Packages and builds for bench/quickstart, bench/run and test/run. Sourced by shell scripts; as a
# command, "bash cmake/setup.sh" prepares build/ for benchmarks, and "bash cmake/setup.sh PACKAGE..."
# installs what is missing of the packages. Speaks on stderr. Works in the source directory.

# What library, command and benchmarks are built with. gcc alone would come without libc's headers.
build_packages="cmake make gcc libc6-dev libzydis-dev libpfm4-dev libjansson-dev libjemalloc-dev libunwind8 libdw-dev libelf-dev libiberty-dev zlib1g-dev python3"

# To build for AArch64, and to run that.
cross_packages="gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user"
# What the tests there link with, as packages for arm64.
cross_libraries="libcmocka0 libcmocka-dev libpfm4 libpfm4-dev libjansson4 libjansson-dev libjemalloc-dev libunwind8 libdw-dev libelf-dev zlib1g zlib1g-dev"

# missing_of PACKAGE...: those that dpkg does not have; none where there is no dpkg
missing_of() {
	local package

	command -v dpkg-query >/dev/null || return 0
	for package; do
		dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
			echo "$package"
	done
}

# Services that come with a package are not to be started.
install_quietly() {
	local policy=/usr/sbin/policy-rc.d status

	[ -e $policy ] && policy=
	[ -z "$policy" ] || printf '#!/bin/sh\nexit 101\n' >$policy
	[ -z "$policy" ] || chmod 755 $policy
	apt-get -qq update &&
		RUNLEVEL=1 DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends \
			-o Dpkg::Use-Pty=0 install "$@"
	status=$?
	[ -z "$policy" ] || rm -f $policy
	return $status
}

# install_missing PACKAGE...: only root installs; what is missing afterwards is for the caller to ask
install_missing() {
	local missing log=build/packages.log

	# shellcheck disable=SC2046
	missing=$(echo $(missing_of "$@"))
	[ -n "$missing" ] || return 0
	[ "$(id -u)" -eq 0 ] || return 0
	mkdir -p build
	echo "installing $missing" >&2
	# shellcheck disable=SC2086
	install_quietly $missing >$log 2>&1 || tail -20 $log >&2
}

# need_packages PACKAGE...: installs what is missing; fails, and says so, where it cannot
need_packages() {
	local missing

	install_missing "$@"
	# shellcheck disable=SC2046
	missing=$(echo $(missing_of "$@"))
	[ -n "$missing" ] || return 0
	echo "cannot go on without these packages: $missing" >&2
	return 1
}

# prepare_cross DIRECTORY: unpacks there what builds for AArch64 need; where it cannot, it fails with
# the reason in the last line. Installs nothing.
prepare_cross() {
	local missing

	# shellcheck disable=SC2046,SC2086
	missing=$(echo $(missing_of $cross_packages))
	[ -z "$missing" ] || {
		echo "not installed: $missing"
		return 1
	}
	# shellcheck disable=SC2086
	bash cmake/sysroot.sh "$1" $cross_libraries || {
		echo "no packages for arm64 to be had"
		return 1
	}
}

# cross_options DIRECTORY: for cmake
cross_options() {
	echo "-DCMAKE_TOOLCHAIN_FILE=$PWD/cmake/aarch64-linux-gnu.cmake -DNVMEMU_SYSROOT=$PWD/$1"
}

# build_into DIRECTORY OPTION...: what the build prints is shown only where it fails
build_into() {
	local dir=$1 log=$1/build.log

	shift
	mkdir -p "$dir"
	cmake -S . -B "$dir" "$@" >"$log" 2>&1 &&
		cmake --build "$dir" --parallel "${CMAKE_BUILD_PARALLEL_LEVEL:-$(nproc)}" >>"$log" 2>&1 &&
		return
	tail -60 "$log" >&2
	echo "$dir: the build failed" >&2
	return 1
}

# build/, for those who use the library and its benchmarks; one that is there keeps its options.
prepare_build() {
	# shellcheck disable=SC2086
	need_packages $build_packages || return 1
	if [ -e build/CMakeCache.txt ]; then
		build_into build
	else
		build_into build -DCMAKE_BUILD_TYPE=RelWithDebInfo -DNVMEMU_TESTS=OFF
	fi
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	cd "$(dirname "$0")/.." || exit 1
	if [ $# -gt 0 ]; then
		need_packages "$@"
	else
		prepare_build
	fi
fi

#!/bin/bash
# What is installed works: by pkg-config, by find_package, linked with and preloaded. A third argument
# is a prefix where it has been installed already, and where tools look without being told.
. "$(dirname "$0")/common.sh"
need cmake
need gcc

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=${3-"$work/a prefix"}
in_place=${3+yes}

[ -n "$in_place" ] || cmake --install "$build_dir" --prefix "$prefix" >"$work/log" || {
	cat "$work/log"
	exit 1
}
library=$(find "$prefix" -name libnvmemu.so)
libdir=$(dirname "$library")
if [ -z "$in_place" ]; then
	export PKG_CONFIG_PATH="$libdir/pkgconfig" CMAKE_PREFIX_PATH="$prefix"
	library_path="LD_LIBRARY_PATH=$libdir"
fi
version=$(sed -n 's/^#define NVMEMU_VERSION[[:space:]]*"\(.*\)"/\1/p' "$prefix/include/nvmemu.h")
# A build with sanitizers or without the header's version would pass below by accident.
[ -n "$version" ] || fail "the header has no version"

# Each function is linked; nothing is emulated.
mkdir "$work/user"
cat >"$work/user/user.c" <<'END'
#include <nvmemu.h>
#include <stdio.h>
#include <string.h>

int main(void)
{
	struct nvmemu_stats stats;

	nvmemu_region_begin("outer");
	nvmemu_region_begin("inner");
	nvmemu_pause();
	nvmemu_resume();
	nvmemu_region_end();
	nvmemu_region_end_named("outer");
	stats.size = sizeof(stats);
	stats.scope = NVMEMU_PROCESS;
	if (nvmemu_stats(&stats) != 0 || stats.emulated)
		return 2;
	puts(nvmemu_version());
	return strcmp(nvmemu_version(), NVMEMU_VERSION) != 0;
}
END
cat >"$work/user/user.cpp" <<'END'
#include <nvmemu.h>
#include <cstdio>

int main()
{
	nvmemu::region region("all");
	nvmemu::pause pause;

	std::puts(nvmemu_version());
	return 0;
}
END

expect() { # what, command: its output is the version, its stderr empty
	local what=$1 said

	shift
	said=$("$@" 2>&1) || fail "$what: exit status $?"
	[ "$said" = "$version" ] || fail "$what: said '$said', not '$version'"
}

by_pkg_config() {
	[ "$(pkg-config --modversion nvmemu)" = "$version" ] || fail "pkg-config: another version"
	eval "gcc '$work/user/user.c' -o '$work/by_pkg_config' $(pkg-config --cflags --libs nvmemu)" ||
		fail "pkg-config: does not link"
	if command -v g++ >/dev/null; then
		eval "g++ '$work/user/user.cpp' -o '$work/cxx' $(pkg-config --cflags --libs nvmemu)" ||
			fail "pkg-config: does not link with C++"
		expect "pkg-config, C++" env ${library_path+"$library_path"} "$work/cxx"
	fi
	expect "pkg-config" env ${library_path+"$library_path"} "$work/by_pkg_config"
	expect "linked with and preloaded" env ${library_path+"$library_path"} LD_PRELOAD="libnvmemu.so" \
		"$work/by_pkg_config"
}

by_find_package() {
	cat >"$work/user/CMakeLists.txt" <<-'END'
		cmake_minimum_required(VERSION 3.25)
		project(user C)
		find_package(nvmemu 0.1 REQUIRED)
		add_executable(user user.c)
		target_link_libraries(user PRIVATE nvmemu::nvmemu)
		include(CheckLanguage)
		check_language(CXX)
		if(CMAKE_CXX_COMPILER)
			enable_language(CXX)
			add_executable(user_cxx user.cpp)
			target_link_libraries(user_cxx PRIVATE nvmemu::nvmemu)
		endif()
	END
	cmake -S "$work/user" -B "$work/user/build" >"$work/log" 2>&1 &&
		cmake --build "$work/user/build" >>"$work/log" 2>&1 || {
		cat "$work/log"
		fail "find_package: does not build"
		return
	}
	expect "find_package" "$work/user/build/user"
	[ ! -e "$work/user/build/user_cxx" ] || expect "find_package, C++" "$work/user/build/user_cxx"
}

# LD_PRELOAD is a list: a path with a blank in it cannot be preloaded.
preloaded() {
	mkdir "$work/lib"
	cp -a "$libdir"/libnvmemu.so* "$work/lib/"
	said=$(LD_PRELOAD=$work/lib/libnvmemu.so sh -c 'echo out; exit 3' 2>&1) && fail "preloaded: status 0"
	[ "$said" = out ] || fail "preloaded: said '$said'"
	grep -q libnvmemu.so <(LD_PRELOAD=$work/lib/libnvmemu.so cat /proc/self/maps) ||
		fail "preloaded: not loaded"
}

if command -v pkg-config >/dev/null; then
	by_pkg_config
else
	echo "no pkg-config: not tried"
fi
by_find_package
preloaded
if [ -e "$prefix/bin/nvmemu" ]; then
	"$prefix/bin/nvmemu" --version >"$work/log" 2>&1 || fail "nvmemu --version: exit status $?"
	grep -qF "$version" "$work/log" || fail "nvmemu --version: said '$(cat "$work/log")'"
fi
finish "installation"

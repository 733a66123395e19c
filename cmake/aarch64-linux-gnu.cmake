# Builds for 64-bit Arm with Debian's cross compiler (gcc-aarch64-linux-gnu); tests run under qemu's
# user emulation. Foreign libraries are looked for in NVMEMU_SYSROOT, a directory of unpacked arm64
# packages (cmake/sysroot.sh makes one), beside the C library that the cross compiler brings.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)

list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES NVMEMU_SYSROOT)
set(CMAKE_FIND_ROOT_PATH /usr/aarch64-linux-gnu)
if(NVMEMU_SYSROOT)
	list(APPEND CMAKE_FIND_ROOT_PATH ${NVMEMU_SYSROOT} ${NVMEMU_SYSROOT}/usr)
endif()
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)

set(CMAKE_CROSSCOMPILING_EMULATOR qemu-aarch64 -L /usr/aarch64-linux-gnu
	-E LD_LIBRARY_PATH=${NVMEMU_SYSROOT}/usr/lib/aarch64-linux-gnu)

# NVMEMU_ARCH: the kind of processor that is built for. Files named after it stand beside the header
# that they fulfil. NVMEMU_AHEAD: whether there is an interpreter for it, which look-ahead needs.
string(TOLOWER "${CMAKE_SYSTEM_PROCESSOR}" NVMEMU_ARCH)
string(REGEX REPLACE "^amd64$" "x86_64" NVMEMU_ARCH "${NVMEMU_ARCH}")
string(REGEX REPLACE "^arm64$" "aarch64" NVMEMU_ARCH "${NVMEMU_ARCH}")
if(NOT EXISTS ${PROJECT_SOURCE_DIR}/lib/base/arch_${NVMEMU_ARCH}.c)
	message(FATAL_ERROR "libnvmemu has not been ported to ${CMAKE_SYSTEM_PROCESSOR}")
endif()
if(NVMEMU_ARCH STREQUAL "x86_64")
	set(NVMEMU_AHEAD TRUE)
else()
	set(NVMEMU_AHEAD FALSE)
endif()

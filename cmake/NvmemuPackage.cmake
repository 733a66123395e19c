# A package for Debian: `cmake --workflow --preset deb`, or `cpack` in a build directory. The command
# has the library's place in it, so the package's prefix is the build's.
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME nvmemu)
set(CPACK_PACKAGE_VENDOR "the libnvmemu developers")
set(CPACK_PACKAGE_CONTACT "the libnvmemu developers <libnvmemu@localhost>"
	CACHE STRING "maintainer of the package")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# Loaded while running, where call paths are looked for: no tool sees that.
set(CPACK_DEBIAN_PACKAGE_DEPENDS libunwind8)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "emulate slower memory under unmodified programs")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"A preloaded library makes a program run as if its memory had other read
and write latencies, such as those of non-volatile or CXL-attached memory.
It needs no hardware counters, kernel module or special rights, and no
change to the program.

The command nvmemu runs programs, shows reports as text, CSV and HTML,
predicts the run time at other latencies and tells whose memory the stall
time fell on. Header, pkg-config and CMake files for programs that mark
regions are included.")

# For packages of programs that link with the library. CPack's own way warns of libraries without a
# version; it has the loader's cache renewed in any case.
set(shlibs ${PROJECT_BINARY_DIR}/control/shlibs)
file(WRITE ${shlibs} "libnvmemu ${PROJECT_VERSION_MAJOR} nvmemu (>= ${PROJECT_VERSION})\n")
# Debian's own way to have the loader's cache renewed.
set(triggers ${PROJECT_BINARY_DIR}/control/triggers)
file(WRITE ${triggers} "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${shlibs} ${triggers})
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE
	GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
include(CPack)

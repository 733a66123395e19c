# jemalloc 5.3, to be linked into a shared object. Target: Jemalloc::Headers. Sets Jemalloc_FOUND and
# Jemalloc_LIBRARY, the static library of position-independent code.
find_path(Jemalloc_INCLUDE_DIR jemalloc/jemalloc.h)
find_library(Jemalloc_LIBRARY libjemalloc_pic.a)
mark_as_advanced(Jemalloc_INCLUDE_DIR Jemalloc_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Jemalloc REQUIRED_VARS Jemalloc_LIBRARY Jemalloc_INCLUDE_DIR)

if(Jemalloc_FOUND AND NOT TARGET Jemalloc::Headers)
	add_library(Jemalloc::Headers INTERFACE IMPORTED)
	target_include_directories(Jemalloc::Headers INTERFACE ${Jemalloc_INCLUDE_DIR})
endif()

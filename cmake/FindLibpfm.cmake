# libpfm4. Targets: Libpfm::Headers, which is what is needed to build, and Libpfm::Libpfm, the library,
# where there is one for the target's architecture. Sets Libpfm_FOUND and Libpfm_LIBRARY.
find_path(Libpfm_INCLUDE_DIR perfmon/pfmlib_perf_event.h)
find_library(Libpfm_LIBRARY pfm)
mark_as_advanced(Libpfm_INCLUDE_DIR Libpfm_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libpfm REQUIRED_VARS Libpfm_INCLUDE_DIR)

if(Libpfm_FOUND AND NOT TARGET Libpfm::Headers)
	add_library(Libpfm::Headers INTERFACE IMPORTED)
	target_include_directories(Libpfm::Headers INTERFACE ${Libpfm_INCLUDE_DIR})
endif()
if(Libpfm_FOUND AND Libpfm_LIBRARY AND NOT TARGET Libpfm::Libpfm)
	add_library(Libpfm::Libpfm UNKNOWN IMPORTED)
	set_target_properties(Libpfm::Libpfm PROPERTIES
		IMPORTED_LOCATION ${Libpfm_LIBRARY}
		INTERFACE_LINK_LIBRARIES Libpfm::Headers)
endif()

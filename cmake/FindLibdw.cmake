# libdw of elfutils, and libiberty, which makes its names readable. Target: Libdw::Libdw, where both
# are there. Sets Libdw_FOUND.
find_path(Libdw_INCLUDE_DIR elfutils/libdwfl.h)
find_path(Libdw_IBERTY_INCLUDE_DIR libiberty/demangle.h)
find_library(Libdw_LIBRARY dw)
find_library(Libdw_IBERTY_LIBRARY iberty)
mark_as_advanced(Libdw_INCLUDE_DIR Libdw_IBERTY_INCLUDE_DIR Libdw_LIBRARY Libdw_IBERTY_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Libdw REQUIRED_VARS Libdw_LIBRARY Libdw_INCLUDE_DIR
	Libdw_IBERTY_LIBRARY Libdw_IBERTY_INCLUDE_DIR)

if(Libdw_FOUND AND NOT TARGET Libdw::Libdw)
	add_library(Libdw::Libdw UNKNOWN IMPORTED)
	set_target_properties(Libdw::Libdw PROPERTIES
		IMPORTED_LOCATION ${Libdw_LIBRARY}
		INTERFACE_INCLUDE_DIRECTORIES "${Libdw_INCLUDE_DIR};${Libdw_IBERTY_INCLUDE_DIR}"
		INTERFACE_LINK_LIBRARIES ${Libdw_IBERTY_LIBRARY})
endif()

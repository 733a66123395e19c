# The header, and what pkg-config and find_package(nvmemu) need. Targets install themselves.
# Everything installed is found relative to itself, so the prefix may change at `cmake --install`.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/nvmemu)

file(RELATIVE_PATH pc_to_prefix
	${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${PROJECT_SOURCE_DIR}/cmake/nvmemu.pc.in ${PROJECT_BINARY_DIR}/nvmemu.pc @ONLY)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/nvmemu-config.cmake.in
	${PROJECT_BINARY_DIR}/nvmemu-config.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/nvmemu-config-version.cmake
	COMPATIBILITY SameMinorVersion)

install(FILES ${PROJECT_SOURCE_DIR}/include/nvmemu.h TYPE INCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE TYPE DOC RENAME copyright)
# Debian wants to know what has changed, in a form of its own.
set(changes ${PROJECT_SOURCE_DIR}/docs/changelog)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${changes})
file(STRINGS ${changes} newest LIMIT_COUNT 1)
if(NOT newest MATCHES "^nvmemu \\(${PROJECT_VERSION}\\) ")
	message(FATAL_ERROR "${changes} does not begin with version ${PROJECT_VERSION}")
endif()
# Without the time, which would make each build another.
execute_process(COMMAND gzip -9nc ${changes} OUTPUT_FILE ${PROJECT_BINARY_DIR}/changelog.gz
	COMMAND_ERROR_IS_FATAL ANY)
install(FILES ${PROJECT_BINARY_DIR}/changelog.gz TYPE DOC)

install(FILES ${PROJECT_BINARY_DIR}/nvmemu.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES ${PROJECT_BINARY_DIR}/nvmemu-config.cmake
	${PROJECT_BINARY_DIR}/nvmemu-config-version.cmake DESTINATION ${package_dir})
install(EXPORT nvmemu-targets NAMESPACE nvmemu:: DESTINATION ${package_dir})

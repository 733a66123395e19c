# nvmemu_unit(name): test/unit/<name>.c linked with the core and cmocka, run by ctest. Exit status 77: skipped.
function(nvmemu_unit name)
	add_executable(unit_${name} ${name}.c)
	nvmemu_common(unit_${name})
	target_link_libraries(unit_${name} PRIVATE nvmemu_core ${CMOCKA_LIBRARIES})
	add_test(NAME unit.${name} COMMAND unit_${name})
	set_tests_properties(unit.${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS unit)
endfunction()

# nvmemu_memcheck(name...): the unit tests of these names once more, under valgrind.
find_program(VALGRIND valgrind)
function(nvmemu_memcheck)
	if(NOT VALGRIND OR NVMEMU_SANITIZE OR CMAKE_CROSSCOMPILING)
		return()
	endif()
	foreach(name ${ARGN})
		add_test(NAME memcheck.${name} COMMAND ${VALGRIND} -q --error-exitcode=9
			--leak-check=full $<TARGET_FILE:unit_${name}>)
		set_tests_properties(memcheck.${name} PROPERTIES TIMEOUT 300 LABELS memcheck)
	endforeach()
endfunction()

# nvmemu_prog(name): a small victim program, test/prog/<name>.c, linked with nothing of ours.
function(nvmemu_prog name)
	add_executable(prog_${name} ${name}.c)
	target_compile_definitions(prog_${name} PRIVATE _GNU_SOURCE)
	target_compile_options(prog_${name} PRIVATE -std=gnu11 -O2 -Wall -Wextra)
	target_link_libraries(prog_${name} PRIVATE Threads::Threads)
endfunction()

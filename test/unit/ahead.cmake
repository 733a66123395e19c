# Look-ahead and its interpreter.
foreach(name budget lateness core dirty exposed learned lines misses pace predictor probe reach stream waits)
	nvmemu_unit(${name})
endforeach()
# Faults on purpose are no matter for a sanitizer.
foreach(name guard pages)
	nvmemu_unit(${name})
	set_tests_properties(unit.${name} PROPERTIES LABELS "unit;native")
endforeach()

foreach(name interp interp_native)
	nvmemu_unit(${name})
	target_sources(unit_${name} PRIVATE small_world.c)
endforeach()

nvmemu_unit(interp_step)
target_sources(unit_interp_step PRIVATE string_calls.c)
target_compile_definitions(unit_interp_step PRIVATE
	SOURCE_FILE="${CMAKE_CURRENT_SOURCE_DIR}/string_calls.c")
target_compile_options(unit_interp_step PRIVATE -fno-builtin)
# A step of the processor under ptrace costs some 12 us; a busy machine needs more.
set_tests_properties(unit.interp_step PROPERTIES TIMEOUT 300)
nvmemu_unit(interp_random)
target_sources(unit_interp_random PRIVATE lockstep.c tracee.c)
foreach(width sse avx)
	add_test(NAME unit.interp_random_${width} COMMAND unit_interp_random 7 60000 ${width})
	set_tests_properties(unit.interp_random_${width} PROPERTIES
		TIMEOUT 120 SKIP_RETURN_CODE 77 LABELS unit)
endforeach()
target_sources(unit_interp_step PRIVATE lockstep.c tracee.c)

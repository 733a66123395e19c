# What every target of the project shares: language, warnings, visibility, sanitizers.
function(nvmemu_common target)
	set_target_properties(${target} PROPERTIES
		C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS ON
		C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
	target_compile_definitions(${target} PRIVATE _GNU_SOURCE)
	target_compile_options(${target} PRIVATE -Wall -Wextra -Wshadow -Wstrict-prototypes
		-Wmissing-prototypes -Wvla -fno-common)
	target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/lib ${PROJECT_SOURCE_DIR}/include)
	if(NVMEMU_FUZZ)
		target_compile_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
		target_link_options(${target} PRIVATE -fsanitize=fuzzer-no-link)
	endif()
	if(NVMEMU_SANITIZE)
		list(JOIN NVMEMU_SANITIZE "," kinds)
		target_compile_options(${target} PRIVATE -fsanitize=${kinds} -fno-sanitize-recover=all
			-fno-omit-frame-pointer)
		target_link_options(${target} PRIVATE -fsanitize=${kinds})
	endif()
endfunction()

# Project-wide settings and the three ways to add a target. Sources are found by glob, so that a new
# kernel, pass or test is one file and touches no build list.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_ARCHIVE_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

# Contraction would make results depend on the instruction set a file is built for: multiply-add is
# fused only where an expression says fma.
add_compile_options(-Wall -Wextra -Wshadow -Wno-sign-compare -ffp-contract=off -ffunction-sections
                    -fdata-sections)
# Pragmas that only GCC has advise it on how to vectorise.
add_compile_options($<$<CXX_COMPILER_ID:Clang>:-Wno-unknown-pragmas>)
add_link_options(-Wl,--gc-sections)
# GCC sweeps its own memory whenever that has doubled from 128 MB, a tenth of the time of compiling files that
# are put together; most of them fit into a larger heap unswept. One and a half GB each where that is there.
cmake_host_system_information(RESULT AICF_MEMORY_MB QUERY TOTAL_PHYSICAL_MEMORY)
if(AICF_MEMORY_MB GREATER 8000)
  add_compile_options("$<$<CXX_COMPILER_ID:GNU>:SHELL:--param ggc-min-heapsize=1048576>")
endif()
if(AICF_WARNINGS_AS_ERRORS)
  add_compile_options(-Werror)
  # What these say depends on inlining, so they change with the optimisation level, and GCC 12 is often
  # wrong about unions and std::string: they warn and do not stop a build. Clang has no such warnings.
  foreach(flow maybe-uninitialized array-bounds stringop-overflow stringop-overread restrict)
    add_compile_options($<$<CXX_COMPILER_ID:GNU>:-Wno-error=${flow}>)
  endforeach()
endif()
if(AICF_SANITIZE)
  add_link_options(-fsanitize=${AICF_SANITIZE})
endif()
# libFuzzer comes with Clang: edges and comparisons are counted in what aicf_sanitized instruments, and the
# program of tests/fuzz alone links the fuzzer itself.
if(AICF_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "AICF_FUZZ needs Clang, whose libFuzzer it uses; CMAKE_CXX_COMPILER is ${CMAKE_CXX_COMPILER}")
  endif()
  set(AICF_COVERAGE -fsanitize=fuzzer-no-link)
endif()

# aicf_sanitized(target): its own sources are checked by the sanitizers of this build, if there are any.
# Libraries and programs are; tests are not, and vector kernels, whose loops take minutes to compile with
# checks: those objects are the same in every build folder, and the compiler's cache has them. For threads all
# of a program is, but for kernels of AVX: what is not would hide how threads wait for each other.
function(aicf_sanitized target)
  if(AICF_SANITIZE)
    # Not checked, for half the compile time: a null pointer faults by itself, and AddressSanitizer sees
    # what the object-size check would.
    target_compile_options(${target} PRIVATE -fsanitize=${AICF_SANITIZE} -fno-sanitize=null,object-size,vptr
                                             -fno-sanitize-recover=all -fno-omit-frame-pointer ${AICF_COVERAGE})
  endif()
endfunction()

# aicf_sanitizer_options(program): it brings the options that AddressSanitizer needs (asan_options.cc).
function(aicf_sanitizer_options program)
  if(AICF_SANITIZE MATCHES "address")
    set(options ${CMAKE_SOURCE_DIR}/cmake/asan_options.cc)
    target_sources(${program} PRIVATE ${options})
    set_source_files_properties(${options} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# A precompiled header can be cached only when the compiler keeps its preprocessed text, and when the cache
# is told that macros of time and of precompiled headers do not matter here. Paths count from the source
# folder, so that build folders share what they have in common.
find_program(AICF_CCACHE ccache)
if(AICF_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros
                                  CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${AICF_CCACHE})
  add_compile_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>
                      "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()

# aicf_precompile(target [header...]): the standard library's headers, and these, are parsed once a target,
# not once a file; that is a third of the time of a clean build.
set(AICF_STANDARD_HEADERS <algorithm> <array> <cmath> <cstdint> <cstring> <functional> <map> <memory>
                          <optional> <set> <span> <string> <string_view> <unordered_map> <utility>
                          <variant> <vector>)
function(aicf_precompile target)
  target_precompile_headers(${target} PRIVATE ${AICF_STANDARD_HEADERS} ${ARGN})
endfunction()

# aicf_together(target): its files are compiled two dozen at a time, which saves two thirds of the time of a
# clean build, because most of a small file's time goes into the headers it includes. Names in anonymous
# namespaces are therefore unique in a target.
option(AICF_UNITY_BUILD "Compile source files two dozen at a time" ON)
function(aicf_together target)
  if(AICF_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 24)
  endif()
endfunction()

find_package(Threads REQUIRED)
if(AICF_BUILD_TESTS)
  find_package(GTest REQUIRED)
  include(GoogleTest)
  enable_testing()
endif()

# The C++ runtime is linked statically into the programs, so that they run on other distributions.
set(AICF_STATIC_RUNTIME -static-libstdc++ -static-libgcc)

# Of the libraries that decode and verify artifacts: loading consists of short loops over axes, operands and
# names, and -O3 takes a fifteenth off verification.
set(AICF_VERIFIER_OPTIONS $<$<CONFIG:Release>:-O3>)

# aicf_glob(OUT pattern...): sources matching the patterns, without unit tests.
function(aicf_glob out)
  file(GLOB_RECURSE found CONFIGURE_DEPENDS ${ARGN})
  list(FILTER found EXCLUDE REGEX "_test\\.cc$")
  set(${out} ${found} PARENT_SCOPE)
endfunction()

# aicf_library(name SOURCES ... DEPS ...): a static library whose headers are named from the root.
function(aicf_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR}/generated)
  target_link_libraries(${name} PUBLIC ${ARG_DEPS})
  aicf_precompile(${name})
  aicf_together(${name})
  aicf_sanitized(${name})
endfunction()

# aicf_unit_tests(name DIR dir DEPS ... [APART part filter]): one program with every *_test.cc under dir.
# A GPU test is in a suite whose name (after a prefix, if parameterised) starts with Gpu; ctest gives it the
# label gpu. What the filter matches is a test name_part of its own for ctest, so that it runs beside the rest.
function(aicf_unit_tests name)
  if(NOT AICF_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "DIR" "DEPS;APART" ${ARGN})
  file(GLOB_RECURSE tests CONFIGURE_DEPENDS ${ARG_DIR}/*_test.cc)
  if(NOT tests)
    return()
  endif()
  add_executable(${name} ${tests})
  aicf_precompile(${name} <gtest/gtest.h>)
  aicf_together(${name})
  if(AICF_SANITIZE MATCHES "thread")
    aicf_sanitized(${name})
  endif()
  aicf_sanitizer_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS} GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE AICF_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
  set(elsewhere "Gpu*:*/Gpu*")
  if(ARG_APART)
    list(GET ARG_APART 0 part)
    list(GET ARG_APART 1 filter)
    add_test(NAME ${name}_${part} COMMAND ${name} --gtest_filter=${filter})
    set_tests_properties(${name}_${part} PROPERTIES TIMEOUT 900)
    string(APPEND elsewhere ":${filter}")
  endif()
  add_test(NAME ${name} COMMAND ${name} --gtest_filter=-${elsewhere})
  set_tests_properties(${name} PROPERTIES TIMEOUT 900)
  add_test(NAME ${name}_gpu COMMAND ${name} --gtest_filter=Gpu*:*/Gpu*)
  set_tests_properties(${name}_gpu PROPERTIES LABELS gpu TIMEOUT 900 SKIP_RETURN_CODE 77)
endfunction()

# aicf_program(name SOURCES ... DEPS ...): a tool in build/PRESET/bin.
function(aicf_program name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  aicf_precompile(${name})
  aicf_together(${name})
  aicf_sanitized(${name})
  aicf_sanitizer_options(${name})
  target_link_libraries(${name} PRIVATE ${ARG_DEPS})
  target_link_options(${name} PRIVATE ${AICF_STATIC_RUNTIME})
endfunction()

# SPDX-License-Identifier: Apache-2.0
# nudge_library(NAME sim DEPENDS ... ALONE ... SOURCES ... COLD ...): one static library per top-level folder, with the project's flags and
# precompiled headers (NudgePrecompiled.cmake). ALONE: sources that are never united (nudge_unite), loops that a step waits for. COLD: sources that no step waits for, optimised less (-O1 is built in two thirds of the time). They hold no arithmetic
# on arrays: of an inline function that several objects hold the linker takes any copy, for the hot ones too.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

include(CheckCXXSourceRuns)
if(NUDGE_ARCH)
  set(CMAKE_REQUIRED_FLAGS "-march=${NUDGE_ARCH}")
  check_cxx_source_runs("
    #include <vector>
    int main(int n, char**) { std::vector<float> x(64, 1.0f); float s = 0;
      for (float& v : x) { v = v * static_cast<float>(n) + 1.0f; s += v; } return s > 0 ? 0 : 1; }"
    NUDGE_ARCH_RUNS)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT NUDGE_ARCH_RUNS)
    message(WARNING "this machine cannot run -march=${NUDGE_ARCH}: building for the compiler's default target")
  endif()
endif()

add_library(nudge_flags INTERFACE)
# Who links the installed libraries takes the architecture (Eigen's alignment follows it) and leaves the warnings.
target_compile_options(nudge_flags INTERFACE
  "$<BUILD_INTERFACE:-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wold-style-cast;-Wnon-virtual-dtor;-Wdouble-promotion>"
  -fno-math-errno -fno-semantic-interposition
  $<BUILD_INTERFACE:$<$<BOOL:${NUDGE_WARNINGS_AS_ERRORS}>:-Werror>>
  $<$<BOOL:${NUDGE_ARCH_RUNS}>:-march=${NUDGE_ARCH}>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  # clang forgets the pragmas in precompiled headers with which std::stable_sort uses what its own library deprecates.
  target_compile_options(nudge_flags INTERFACE $<BUILD_INTERFACE:-Wno-deprecated-declarations>)
endif()
if(NUDGE_SANITIZE)
  target_compile_options(nudge_flags INTERFACE -fsanitize=${NUDGE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(nudge_flags INTERFACE -fsanitize=${NUDGE_SANITIZE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # gcc 12 with sanitizers warns inside std::regex and std::function (GCC bug 105562); release builds keep the warning.
    target_compile_options(nudge_flags INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
target_compile_definitions(nudge_flags INTERFACE
  EIGEN_DONT_PARALLELIZE
  # Packing space of a product up to 1 MiB lies on the stack (Eigen's default is 128 KiB, beyond it takes the heap): nothing
  # is allocated inside a phase. Stacks of threads have 8 MiB.
  EIGEN_STACK_ALLOCATION_LIMIT=1048576
  $<$<BOOL:${NUDGE_CONTRACTS}>:NUDGE_CONTRACTS=1>)
target_include_directories(nudge_flags INTERFACE $<BUILD_INTERFACE:${CMAKE_SOURCE_DIR}>
                           $<INSTALL_INTERFACE:include/nudge>)

if(NUDGE_TIDY)
  find_program(NUDGE_CLANG_TIDY NAMES clang-tidy-19 clang-tidy REQUIRED)
  set(CMAKE_CXX_CLANG_TIDY "${NUDGE_CLANG_TIDY}")
endif()

# Six sources at a time as one: headers and templates are read and made once for all of them. Names in anonymous namespaces
# must then differ between neighbours; nudge_alone(SOURCE ...) leaves sources out. The loops that a step waits for stay alone: gcc inlines
# less in what it thinks a large source (a Hopfield step took a sixth longer with those in).
function(nudge_unite target)
  if(NOT NUDGE_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 6)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # Of a lambda that captures what its source keeps to itself.
    target_compile_options(${target} PRIVATE -Wno-subobject-linkage)
  endif()
endfunction()

macro(nudge_alone)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endmacro()

function(nudge_library)
  cmake_parse_arguments(ARG "" "NAME" "ALONE;SOURCES;COLD;DEPENDS;LINK" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND nudge_)
  set(links nudge_flags Eigen3::Eigen fmt::fmt OpenMP::OpenMP_CXX ${ARG_DEPENDS} ${ARG_LINK})
  set(target nudge_${ARG_NAME})
  add_library(${target} STATIC ${ARG_ALONE} ${ARG_SOURCES})
  target_link_libraries(${target} PUBLIC ${links})
  if(ARG_ALONE OR ARG_SOURCES)
    nudge_unite(${target})
    if(ARG_ALONE)
      nudge_alone(${ARG_ALONE})
    endif()
    target_precompile_headers(${target} REUSE_FROM nudge_pch)
  endif()
  if(ARG_COLD)
    add_library(${target}_cold OBJECT ${ARG_COLD})
    target_link_libraries(${target}_cold PRIVATE ${links})
    nudge_unite(${target}_cold)
    target_precompile_headers(${target}_cold REUSE_FROM nudge_cold_pch)
    target_compile_options(${target}_cold PRIVATE ${NUDGE_COLD_OPTIONS})
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:${target}_cold>)
    set_target_properties(${target}_cold PROPERTIES POSITION_INDEPENDENT_CODE ON)
    set_target_properties(${target} PROPERTIES LINKER_LANGUAGE CXX)
  endif()
  # The Python module (python/) is a shared library made of the same objects as the program: one build serves both.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE ON)
endfunction()

# SPDX-License-Identifier: Apache-2.0
# Precompiled headers: what nearly every source includes of the standard library, Eigen and fmt takes 2 to 4 s to read, as much
# as the rest of a typical source. nudge_pch is for the libraries. CLI11 stays out: all of its code would be compiled again for
# every source that reads it (measured: 8 s each).
# gcc keeps the level of optimisation in a precompiled header, whatever its users ask for: each level has its own.
# Sources still include what they use: the tidy preset builds without (CMAKE_DISABLE_PRECOMPILE_HEADERS).
set(NUDGE_COMMON_HEADERS
  <algorithm> <array> <chrono> <cmath> <cstdint> <cstring> <filesystem> <fstream> <functional> <limits> <map> <memory>
  <numeric> <optional> <span> <stdexcept> <string> <string_view> <utility> <vector>
  <Eigen/Dense> <fmt/format.h> <omp.h>)

# nudge_precompiled(NAME HEADERS ... LINK ...): a target that holds nothing but the precompiled headers.
function(nudge_precompiled NAME)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK" ${ARGN})
  file(CONFIGURE OUTPUT ${NAME}.cpp CONTENT "// Holds the precompiled headers.\n")
  add_library(${NAME} OBJECT "${CMAKE_CURRENT_BINARY_DIR}/${NAME}.cpp")
  target_link_libraries(${NAME} PRIVATE nudge_flags Eigen3::Eigen fmt::fmt OpenMP::OpenMP_CXX ${ARG_LINK})
  target_precompile_headers(${NAME} PRIVATE ${NUDGE_COMMON_HEADERS} ${ARG_HEADERS})
endfunction()

nudge_precompiled(nudge_pch)
nudge_precompiled(nudge_cold_pch)
set(NUDGE_COLD_OPTIONS $<$<CONFIG:Release>:-O1>)
if(NUDGE_FUZZ)
  # What reads input is cold. Counting the branches of arithmetic too, `spec` runs at 127 instead of 349 inputs a second.
  set(NUDGE_FUZZ_OPTIONS -fsanitize=fuzzer-no-link -fno-sanitize-coverage=trace-cmp)  # operands cost more time than they find
  list(APPEND NUDGE_COLD_OPTIONS ${NUDGE_FUZZ_OPTIONS})
endif()
target_compile_options(nudge_cold_pch PRIVATE ${NUDGE_COLD_OPTIONS})
set_target_properties(nudge_pch nudge_cold_pch PROPERTIES POSITION_INDEPENDENT_CODE ON)  # as the libraries that use them

# SPDX-License-Identifier: Apache-2.0
# nudge_revision(VARIABLE): `git describe` of the sources when this is their own checkout; empty in a tarball, inside
# another repository, or without git.
function(nudge_revision VARIABLE)
  set(${VARIABLE} "" PARENT_SCOPE)
  find_program(NUDGE_GIT git)
  if(NOT NUDGE_GIT)
    return()
  endif()
  execute_process(COMMAND "${NUDGE_GIT}" -C "${CMAKE_SOURCE_DIR}" rev-parse --show-prefix
                  OUTPUT_VARIABLE prefix OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed OR NOT prefix STREQUAL "")
    return()
  endif()
  execute_process(COMMAND "${NUDGE_GIT}" -C "${CMAKE_SOURCE_DIR}" describe --always --tags --dirty
                  OUTPUT_VARIABLE revision OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(${VARIABLE} "${revision}" PARENT_SCOPE)
  endif()
endfunction()

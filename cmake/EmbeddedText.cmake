# SPDX-License-Identifier: Apache-2.0
# nudge_embedded_text(SOURCE TEMPLATE OUTPUT): compiles a text file into the program as adjacent raw string literals (one
# literal may hold 64 KiB only), in place of @NUDGE_EMBEDDED_LITERALS@ in the template.
function(nudge_embedded_text SOURCE TEMPLATE OUTPUT)
  get_filename_component(source "${SOURCE}" ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${source}")
  file(READ "${source}" text)
  string(LENGTH "${text}" length)
  set(literals "")
  set(at 0)
  while(at LESS length)
    string(SUBSTRING "${text}" ${at} 12000 piece)
    string(APPEND literals "    R\"~~nudge~~(${piece})~~nudge~~\"\n")
    math(EXPR at "${at} + 12000")
  endwhile()
  set(NUDGE_EMBEDDED_LITERALS "${literals}")
  configure_file("${TEMPLATE}" "${OUTPUT}" @ONLY)
endfunction()

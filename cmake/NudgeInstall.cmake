# SPDX-License-Identifier: Apache-2.0
# cmake --install build/release --prefix DIR: the program, the libraries with their headers, and a package file, so that another
# project says find_package(nudge) and links nudge::training, or nudge::apps for a program with parts of its own
# (examples/out_of_tree).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(NUDGE_PACKAGE_DIR "${CMAKE_INSTALL_LIBDIR}/cmake/nudge")
foreach(library flags sim devices netlist circuits mixers training reference apps)
  set_target_properties(nudge_${library} PROPERTIES EXPORT_NAME ${library})
  install(TARGETS nudge_${library} EXPORT nudge ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}/nudge")
endforeach()
install(TARGETS nudge RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
install(DIRECTORY sim devices netlist circuits mixers training DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/nudge"
        FILES_MATCHING PATTERN "*.hpp")
install(FILES apps/commands.hpp apps/program.hpp apps/streams.hpp DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/nudge/apps")
install(EXPORT nudge NAMESPACE nudge:: DESTINATION "${NUDGE_PACKAGE_DIR}")
configure_package_config_file(cmake/nudge-config.cmake.in "${CMAKE_CURRENT_BINARY_DIR}/nudge-config.cmake"
                              INSTALL_DESTINATION "${NUDGE_PACKAGE_DIR}")
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/nudge-config-version.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/nudge-config.cmake" "${CMAKE_CURRENT_BINARY_DIR}/nudge-config-version.cmake"
        DESTINATION "${NUDGE_PACKAGE_DIR}")

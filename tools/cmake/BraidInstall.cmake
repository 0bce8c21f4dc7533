# What `make install` puts where, and the package for find_package(Braid).
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

get_property(BRAID_LIBRARIES GLOBAL PROPERTY BRAID_LIBRARIES)
get_property(BRAID_PURE_LIBRARIES GLOBAL PROPERTY BRAID_PURE_LIBRARIES)
get_property(BRAID_SCHEDULE_LIBRARIES GLOBAL PROPERTY BRAID_SCHEDULE_LIBRARIES)
list(APPEND BRAID_LIBRARIES ${BRAID_PURE_LIBRARIES})
list(REMOVE_ITEM BRAID_LIBRARIES ${BRAID_SCHEDULE_LIBRARIES})
get_property(BRAID_TOOLS GLOBAL PROPERTY BRAID_TOOLS)
set(BRAID_PLUGINS ${BRAID_TOOLS})
list(FILTER BRAID_PLUGINS INCLUDE REGEX "Plugin$")
list(REMOVE_ITEM BRAID_TOOLS ${BRAID_PLUGINS})

# Tools find the runtime beside them, wherever the folder is moved to, and LLVM
# where it is: Debian's stands where the loader does not look.
set_target_properties(${BRAID_LIBRARIES} ${BRAID_TOOLS} ${BRAID_PLUGINS} PROPERTIES
  INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}"
  INSTALL_RPATH_USE_LINK_PATH ON)

install(TARGETS ${BRAID_LIBRARIES} ${BRAID_TOOLS} EXPORT BraidTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")
# The component of what knows no MLIR; a full installation has it, too.
install(TARGETS ${BRAID_SCHEDULE_LIBRARIES} EXPORT BraidScheduleTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT schedule)
install(TARGETS BraidScheduleC EXPORT BraidScheduleTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT schedule)
install(DIRECTORY "${BRAID_INCLUDE_DIR}/braid-c"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT schedule)
foreach(folder Schedule Support)
  install(DIRECTORY "${BRAID_INCLUDE_DIR}/braid/${folder}"
    DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/braid" COMPONENT schedule
    FILES_MATCHING PATTERN "*.h" PATTERN IR EXCLUDE)
endforeach()
install(TARGETS ${BRAID_PLUGINS} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
install(DIRECTORY "${BRAID_INCLUDE_DIR}/" "${BRAID_GENERATED_INCLUDE_DIR}/"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}"
  FILES_MATCHING REGEX "\\.(def|h|td|inc)$"
  PATTERN CMakeFiles EXCLUDE)
install(FILES LICENSE README.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# What a bundle has of it (tools/dev/bundle.sh): the launcher, a runtime without
# OpenBLAS, and the engine for GPUs.
set(bundled braid-calibrate braid-run braid_rt_bundle)
if(TARGET braid_rt_cuda)
  list(APPEND bundled braid_rt_cuda)
endif()
set_target_properties(braid_rt_bundle PROPERTIES INSTALL_RPATH "$ORIGIN")
add_custom_target(braid-bundle ALL DEPENDS ${bundled})
install(TARGETS ${bundled}
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT bundle EXCLUDE_FROM_ALL
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT bundle EXCLUDE_FROM_ALL)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Braid")
install(EXPORT BraidTargets DESTINATION "${package}")
install(EXPORT BraidScheduleTargets DESTINATION "${package}" COMPONENT schedule)
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/BraidConfig.cmake.in"
  "${CMAKE_BINARY_DIR}/cmake/BraidConfig.cmake" INSTALL_DESTINATION "${package}")
write_basic_package_version_file("${CMAKE_BINARY_DIR}/cmake/BraidConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_BINARY_DIR}/cmake/BraidConfig.cmake"
              "${CMAKE_BINARY_DIR}/cmake/BraidConfigVersion.cmake"
  DESTINATION "${package}" COMPONENT schedule)
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT schedule)

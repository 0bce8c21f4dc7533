# What `make install` puts where, and the package for find_package(Braid).
include(CMakePackageConfigHelpers)

get_property(BRAID_LIBRARIES GLOBAL PROPERTY BRAID_LIBRARIES)
get_property(BRAID_PURE_LIBRARIES GLOBAL PROPERTY BRAID_PURE_LIBRARIES)
get_property(BRAID_SCHEDULE_LIBRARIES GLOBAL PROPERTY BRAID_SCHEDULE_LIBRARIES)
list(APPEND BRAID_LIBRARIES ${BRAID_PURE_LIBRARIES})
list(REMOVE_ITEM BRAID_LIBRARIES ${BRAID_SCHEDULE_LIBRARIES})
set(BRAID_RUNTIME_LIBRARIES ${BRAID_LIBRARIES})
list(FILTER BRAID_RUNTIME_LIBRARIES INCLUDE REGEX "^braid_rt")
list(REMOVE_ITEM BRAID_LIBRARIES ${BRAID_RUNTIME_LIBRARIES})
get_property(BRAID_TOOLS GLOBAL PROPERTY BRAID_TOOLS)
set(BRAID_PLUGINS ${BRAID_TOOLS})
list(FILTER BRAID_PLUGINS INCLUDE REGEX "Plugin$")
list(REMOVE_ITEM BRAID_TOOLS ${BRAID_PLUGINS})

install(TARGETS ${BRAID_LIBRARIES} ${BRAID_TOOLS} EXPORT BraidTargets
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}"
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}"
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}")

# The components of what knows no MLIR; a full installation has them, too. What
# belongs to several is installed with each.
#
# braid_install_parts(COMPONENTS components... INSTALL arguments...)
function(braid_install_parts)
  cmake_parse_arguments(ARG "" "" "COMPONENTS;INSTALL" ${ARGN})
  foreach(component ${ARG_COMPONENTS})
    install(${ARG_INSTALL} COMPONENT ${component})
  endforeach()
endfunction()
# braid_install_pkgconfig(name description components...): for compilers without CMake.
function(braid_install_pkgconfig name description)
  configure_file("${PROJECT_SOURCE_DIR}/tools/cmake/pkgconfig.pc.in"
    "${PROJECT_BINARY_DIR}/cmake/${name}.pc" @ONLY)
  braid_install_parts(COMPONENTS ${ARGN} INSTALL
    FILES "${PROJECT_BINARY_DIR}/cmake/${name}.pc"
    DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
endfunction()
file(RELATIVE_PATH BRAID_PREFIX_OF_PKGCONFIG "/prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig" "/prefix")

install(TARGETS ${BRAID_SCHEDULE_LIBRARIES} EXPORT BraidScheduleTargets
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT schedule)
install(TARGETS BraidScheduleC EXPORT BraidScheduleCTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT schedule-c)
install(TARGETS BraidScheduleC
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT schedule)
braid_install_parts(COMPONENTS schedule schedule-c INSTALL
  FILES "${BRAID_INCLUDE_DIR}/braid-c/Schedule.h"
        "${BRAID_GENERATED_INCLUDE_DIR}/braid-c/Version.h"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/braid-c")
braid_install_pkgconfig(braid-schedule-c "Schedules of communication and compute" schedule schedule-c)
install(TARGETS ${BRAID_RUNTIME_LIBRARIES} EXPORT BraidRuntimeTargets
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT runtime)
install(DIRECTORY "${BRAID_INCLUDE_DIR}/braid-rt"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT runtime)
braid_install_pkgconfig(braid_rt "The runtime of programs that Braid compiles" runtime)
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
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# The pages, whose links lead to what is installed, and the examples.
install(CODE "
  set(root \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
  execute_process(COMMAND \"${BRAID_PYTHON}\" \"${PROJECT_SOURCE_DIR}/docs/install.py\"
    \"${PROJECT_SOURCE_DIR}\" \"\${root}/${CMAKE_INSTALL_DOCDIR}\"
    \"\${root}/${CMAKE_INSTALL_INCLUDEDIR}\"
    COMMAND_ERROR_IS_FATAL ANY)")

# What a bundle has of it (tools/dev/bundle.sh): the launcher, a runtime without
# OpenBLAS, and the engine for GPUs.
set(bundled braid-calibrate braid-run braid_rt_bundle)
foreach(library braid_rt_cuda braid_jax)
  if(TARGET ${library})
    list(APPEND bundled ${library})
  endif()
endforeach()
set_target_properties(braid_rt_bundle PROPERTIES BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "$ORIGIN")
add_custom_target(braid-bundle ALL DEPENDS ${bundled})
install(TARGETS ${bundled}
  RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}" COMPONENT bundle EXCLUDE_FROM_ALL
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT bundle EXCLUDE_FROM_ALL)

set(package "${CMAKE_INSTALL_LIBDIR}/cmake/Braid")
install(EXPORT BraidTargets DESTINATION "${package}")
install(EXPORT BraidScheduleTargets DESTINATION "${package}" COMPONENT schedule)
install(EXPORT BraidRuntimeTargets DESTINATION "${package}" COMPONENT runtime)
braid_install_parts(COMPONENTS schedule schedule-c INSTALL
  EXPORT BraidScheduleCTargets DESTINATION "${package}")
configure_package_config_file("${CMAKE_CURRENT_LIST_DIR}/BraidConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/cmake/BraidConfig.cmake" INSTALL_DESTINATION "${package}"
  PATH_VARS CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file("${PROJECT_BINARY_DIR}/cmake/BraidConfigVersion.cmake"
  VERSION ${PROJECT_VERSION} COMPATIBILITY SameMinorVersion)
braid_install_parts(COMPONENTS schedule schedule-c runtime INSTALL
  FILES "${PROJECT_BINARY_DIR}/cmake/BraidConfig.cmake"
        "${PROJECT_BINARY_DIR}/cmake/BraidConfigVersion.cmake"
  DESTINATION "${package}")
braid_install_parts(COMPONENTS schedule schedule-c runtime INSTALL
  FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")

# Where the loader looks for the libraries of everything that Braid builds.
#
# Tools find the runtime beside them, wherever the folder is moved to, and LLVM
# where it is: Debian's stands where the loader does not look. The files of the build
# folder have the RUNPATH of the installed ones already: CMake makes room for a longer
# one with colons, and the loader reads an empty element as the working directory.
set(rpath "$ORIGIN/../lib")
if(CMAKE_INSTALL_LIBDIR AND NOT CMAKE_INSTALL_LIBDIR STREQUAL "lib")
  list(APPEND rpath "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
endif()
get_property(libraries GLOBAL PROPERTY BRAID_LIBRARIES)
get_property(pure GLOBAL PROPERTY BRAID_PURE_LIBRARIES)
get_property(tools GLOBAL PROPERTY BRAID_TOOLS)
set_target_properties(${libraries} ${pure} ${tools} PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "${rpath}"
  INSTALL_RPATH_USE_LINK_PATH ON)
# This library needs none of these.
set_target_properties(BraidScheduleC PROPERTIES
  BUILD_WITH_INSTALL_RPATH ON
  INSTALL_RPATH "")

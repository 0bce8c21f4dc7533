# The runtime's figures: `runtime-collectives` prints them.
add_executable(runtime-collectives
  ${CMAKE_CURRENT_LIST_DIR}/runtime-collectives.cpp)
target_include_directories(runtime-collectives SYSTEM PRIVATE
  ${BRAID_CBLAS_INCLUDE_DIR})
target_link_libraries(runtime-collectives PRIVATE braid_rt braid_options
  ${BRAID_OPENBLAS_LIBRARY})

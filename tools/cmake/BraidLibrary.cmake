get_filename_component(BRAID_LIB_DIR "${CMAKE_CURRENT_LIST_DIR}/../../lib" ABSOLUTE)
# What pure libraries link of LLVM: its shared library, or a part of it as an archive
# (python/CMakeLists.txt).
set(BRAID_PURE_LLVM LLVM CACHE STRING "What libraries without MLIR link of LLVM")
mark_as_advanced(BRAID_PURE_LLVM)

# Flags that every Braid target is compiled with; the runtime knows no LLVM and
# asks for these alone.
add_library(braid_options INTERFACE)
target_compile_options(braid_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wno-missing-field-initializers
  $<$<BOOL:${BRAID_ENABLE_WERROR}>:-Werror>)

# braid_llvm_flags(target): include directories and flags of code that uses LLVM.
# Its headers are system headers: their warnings are not ours.
function(braid_llvm_flags target)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${BRAID_INCLUDE_DIR}>
    $<BUILD_INTERFACE:${BRAID_GENERATED_INCLUDE_DIR}>
    $<INSTALL_INTERFACE:include>)
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${LLVM_INCLUDE_DIRS}>")
  separate_arguments(definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  target_compile_definitions(${target} PRIVATE ${definitions})
  if(NOT LLVM_ENABLE_EH)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  if(NOT LLVM_ENABLE_RTTI)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti>)
  endif()
  # Ranks decide alike on whatever machine they compile: no fused multiply-add
  # where one has it.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:braid_options>)
endfunction()

# A build takes half the time if the headers that most sources include are compiled
# once. Other builds show where an include is missing.
option(BRAID_PRECOMPILED_HEADERS "Compile common headers once" OFF)
mark_as_advanced(BRAID_PRECOMPILED_HEADERS)
# Sources of a library that share their headers' templates take a third of the time
# together. tools/dev/local_names.py keeps names apart that are local to their source.
option(BRAID_UNITY_BUILD "Compile up to 12 sources of a library as one" OFF)
mark_as_advanced(BRAID_UNITY_BUILD)
set(BRAID_PRECOMPILED_DIR "${CMAKE_CURRENT_LIST_DIR}/Precompiled")

# braid_precompile(target headers libraries...): compiles the target with the
# precompiled tools/cmake/Precompiled/<headers>.h. All targets of these headers must
# have the same flags: those that the function braid_<headers>_flags sets, or those of
# the libraries, if there is no such function.
function(braid_precompile target headers)
  set(owner BraidPrecompiled${headers})
  if(NOT BRAID_PRECOMPILED_HEADERS OR target STREQUAL owner)
    return()
  endif()
  if(NOT TARGET ${owner})
    add_library(${owner} OBJECT "${BRAID_PRECOMPILED_DIR}/Precompiled.cpp")
    string(TOLOWER "braid_${headers}_flags" flags)
    if(COMMAND ${flags})
      cmake_language(CALL ${flags} ${owner})
    endif()
    target_link_libraries(${owner} PRIVATE ${ARGN})
    target_precompile_headers(${owner} PRIVATE "${BRAID_PRECOMPILED_DIR}/${headers}.h")
  endif()
  target_precompile_headers(${target} REUSE_FROM ${owner})
  # -fPIE would be another kind of code than that of the headers.
  set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${target} PRIVATE -fPIC)
endfunction()

# braid_compiler_flags(target): the same of code that uses MLIR as well.
function(braid_compiler_flags target)
  braid_llvm_flags(${target})
  target_include_directories(${target} SYSTEM PUBLIC
    "$<BUILD_INTERFACE:${MLIR_INCLUDE_DIRS}>")
  # Without optimization it compiles in half of the time, and its tests are short; those
  # of the interpreter take a million steps. Headers are the same with and without, but for
  # the macro __OPTIMIZE__, which clang compares.
  if(BRAID_SANITIZE AND target STREQUAL BraidInterpreter)
    if(BRAID_PRECOMPILED_HEADERS)
      target_compile_options(${target} PRIVATE "SHELL:-Xclang -fno-validate-pch")
    endif()
  elseif(BRAID_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
  braid_precompile(${target} MLIR)
endfunction()

function(braid_mlir_flags target)
  braid_compiler_flags(${target})
  # The headers of the dialect are among them.
  add_dependencies(${target} BraidCommIncGen)
endfunction()

# What both kinds of libraries have. Headers beside the sources of another room are
# named by their path in lib.
function(braid_define_library name)
  cmake_parse_arguments(ARG "" "" "DEPENDS;LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} PRIVATE "${BRAID_LIB_DIR}")
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
endfunction()

# braid_add_library(name sources... [DEPENDS targets...] [LINK_LIBS libraries...])
# A static library of the compiler, linked against the shared MLIR (mixing the
# shared and the static MLIR in one process duplicates its type ids).
function(braid_add_library name)
  braid_define_library(${name} ${ARGN})
  braid_compiler_flags(${name})
  target_link_libraries(${name} PUBLIC MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY BRAID_LIBRARIES ${name})
endfunction()

# braid_add_pure_library(name sources... [DEPENDS targets...] [LINK_LIBS libraries...])
# A static library that links LLVM without MLIR. A program of the whole library and
# of what it names as its libraries shows that it needs no more.
function(braid_add_pure_library name)
  braid_define_library(${name} ${ARGN})
  braid_llvm_flags(${name})
  braid_precompile(${name} LLVM)
  target_link_libraries(${name} PUBLIC ${BRAID_PURE_LLVM})
  set_property(GLOBAL APPEND PROPERTY BRAID_PURE_LIBRARIES ${name})
  if(BRAID_INCLUDE_TESTS)
    add_executable(${name}Alone "${PROJECT_SOURCE_DIR}/tools/cmake/Alone.cpp")
    set_target_properties(${name}Alone PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}")
    target_link_libraries(${name}Alone PRIVATE
      -Wl,--whole-archive ${name} -Wl,--no-whole-archive)
  endif()
endfunction()

# braid_add_tool(name sources... [LINK_LIBS libraries...])
function(braid_add_tool name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  braid_compiler_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} MLIR LLVM)
  set_property(GLOBAL APPEND PROPERTY BRAID_TOOLS ${name})
endfunction()

# braid_collect_targets(result directory regex): the targets of a directory, and
# of those below it, whose names match.
function(braid_collect_targets result directory regex)
  get_property(targets DIRECTORY "${directory}" PROPERTY BUILDSYSTEM_TARGETS)
  list(FILTER targets INCLUDE REGEX "${regex}")
  get_property(children DIRECTORY "${directory}" PROPERTY SUBDIRECTORIES)
  foreach(child ${children})
    braid_collect_targets(below "${child}" "${regex}")
    list(APPEND targets ${below})
  endforeach()
  set(${result} ${targets} PARENT_SCOPE)
endfunction()

# BRAID_SANITIZE=address compiles everything with the sanitizers for addresses and
# for undefined behaviour, BRAID_SANITIZE=thread with the one for races; both with
# assertions. Include this before any target is added.
set(BRAID_SANITIZE "" CACHE STRING "Compile with sanitizers: address, thread, or empty")
set_property(CACHE BRAID_SANITIZE PROPERTY STRINGS "" address thread)

# Without lines in reports of sanitizers, sources compile in five sixths of the time.
option(BRAID_SANITIZE_LINES "Reports of sanitizers name sources and lines" ON)

# LLVM is not instrumented and has no RTTI: its objects and function pointers
# cannot be checked for their types. Accesses by null pointers, by pointers that
# overflowed and behind objects end with a report of the sanitizer for addresses
# anyway; to check them twice takes a third of the time of a compile.
set(sanitizers_address -fsanitize=address,undefined
  -fno-sanitize=vptr,function,null,object-size,pointer-overflow,nonnull-attribute,returns-nonnull-attribute)
set(sanitizers_thread -fsanitize=thread)
if(BRAID_SANITIZE)
  if(NOT DEFINED sanitizers_${BRAID_SANITIZE})
    message(FATAL_ERROR "BRAID_SANITIZE is '${BRAID_SANITIZE}', expected address or thread")
  endif()
  # These come after the flags of the build type.
  add_compile_options(${sanitizers_${BRAID_SANITIZE}} -fno-sanitize-recover=all
    -fno-omit-frame-pointer -O1 $<$<BOOL:${BRAID_SANITIZE_LINES}>:-gline-tables-only> -UNDEBUG)
  add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${CMAKE_CURRENT_LIST_DIR}/SanitizeLLVM.h>")
  add_link_options(${sanitizers_${BRAID_SANITIZE}})
endif()

# cmake -P find.cmake PREFIX COMPONENT...: find_package alone, without a project
cmake_minimum_required(VERSION 3.20)
set(CMAKE_PREFIX_PATH "${CMAKE_ARGV3}")
set(components)
foreach(index RANGE 4 ${CMAKE_ARGC})
  list(APPEND components ${CMAKE_ARGV${index}})
endforeach()
find_package(Braid REQUIRED COMPONENTS ${components})

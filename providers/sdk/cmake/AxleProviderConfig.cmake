# find_package(AxleProvider): the header as AxleProvider::provider, and axle_add_provider().
# The same file serves the source tree, a copy of it inside a project, and an installation: it looks for
# the header where each of them has it.
foreach(candidate IN ITEMS ${CMAKE_CURRENT_LIST_DIR}/.. ${CMAKE_CURRENT_LIST_DIR}/../../../include)
  if(EXISTS ${candidate}/axle_provider.h)
    get_filename_component(AxleProvider_INCLUDE_DIR ${candidate} ABSOLUTE)
    break()
  endif()
endforeach()
unset(candidate)

if(NOT AxleProvider_INCLUDE_DIR)
  set(AxleProvider_FOUND FALSE)
  set(AxleProvider_NOT_FOUND_MESSAGE
    "axle_provider.h is neither beside ${CMAKE_CURRENT_LIST_DIR} nor in the prefix's include folder")
  return()
endif()

if(NOT TARGET AxleProvider::provider)
  add_library(AxleProvider::provider INTERFACE IMPORTED)
  set_target_properties(AxleProvider::provider PROPERTIES
    INTERFACE_INCLUDE_DIRECTORIES ${AxleProvider_INCLUDE_DIR})
endif()

include(${CMAKE_CURRENT_LIST_DIR}/AxleAddProvider.cmake)

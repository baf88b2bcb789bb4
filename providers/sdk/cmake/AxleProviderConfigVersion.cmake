# The package's version is the interface's: ABI version, revision. Another ABI version does not fit; a
# later revision fits who asks for an earlier one.
foreach(candidate IN ITEMS ${CMAKE_CURRENT_LIST_DIR}/.. ${CMAKE_CURRENT_LIST_DIR}/../../../include)
  if(EXISTS ${candidate}/axle_provider.h)
    file(STRINGS ${candidate}/axle_provider.h lines REGEX "^#define AXLE_PROVIDER_ABI_(VERSION|REVISION) [0-9]+$")
    string(REGEX REPLACE "[^0-9;]" "" numbers "${lines}")
    list(JOIN numbers "." PACKAGE_VERSION)
    break()
  endif()
endforeach()

if(PACKAGE_VERSION STREQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_EXACT TRUE)
endif()
string(REGEX MATCH "^[0-9]+" abi "${PACKAGE_VERSION}")
if(abi STREQUAL PACKAGE_FIND_VERSION_MAJOR AND PACKAGE_VERSION VERSION_GREATER_EQUAL PACKAGE_FIND_VERSION)
  set(PACKAGE_VERSION_COMPATIBLE TRUE)
endif()

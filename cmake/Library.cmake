# axle_library(NAME SOURCES <files> USES <public links> PRIVATE_USES <links that callers never see>)
# One static library a folder. Includes are written from the root of the project: "wheel/version.h".
function(axle_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;PRIVATE_USES")
  add_library(axle_${name} STATIC ${arg_SOURCES})
  add_library(axle::${name} ALIAS axle_${name})
  target_include_directories(axle_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(axle_${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE_USES})
  axle_configure(axle_${name})
endfunction()

# The settings that every target of ours shares.
function(axle_configure target)
  target_compile_features(${target} PUBLIC cxx_std_23)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(AXLE_DEVELOPER)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor
      -Woverloaded-virtual -Wundef ${AXLE_WERROR})
  endif()
endfunction()

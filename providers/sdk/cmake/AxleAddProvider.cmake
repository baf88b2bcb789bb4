# axle_add_provider(NAME SOURCES <files> [LIBRARIES <to link>] [NO_TEST])
#
# The provider NAME.so: a module that exports axle_provider_entry and nothing else, that carries its C++
# runtime itself where the toolchain has it as an archive, and that names no library it cannot find at
# link time. With testing on, and the program `variant` on the path (or AXLE_VARIANT set to it), `ctest`
# runs its conformance test as NAME.conformance.
function(axle_add_provider name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NO_TEST" "" "SOURCES;LIBRARIES")
  if(NOT arg_SOURCES)
    message(FATAL_ERROR "axle_add_provider(${name}): SOURCES is missing")
  endif()
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "axle_add_provider(${name}): ${arg_UNPARSED_ARGUMENTS} is not understood")
  endif()

  add_library(${name} MODULE ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE AxleProvider::provider ${arg_LIBRARIES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" SUFFIX ".so"
    C_VISIBILITY_PRESET hidden CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON)

  set(exports ${CMAKE_CURRENT_BINARY_DIR}/${name}.exports)
  file(WRITE ${exports} "{ global: axle_provider_entry; local: *; };\n")
  target_link_options(${name} PRIVATE LINKER:--version-script=${exports})
  # A sanitizer's functions are in the program that loads the module.
  if(NOT "${CMAKE_C_FLAGS} ${CMAKE_CXX_FLAGS}" MATCHES "-fsanitize")
    target_link_options(${name} PRIVATE LINKER:--no-undefined)
  endif()
  axle_carry_cxx_runtime(${name})

  if(BUILD_TESTING AND NOT arg_NO_TEST)
    axle_test_provider(${name})
  endif()
endfunction()

# A provider meets C++ runtimes older than the one it was built with.
function(axle_carry_cxx_runtime name)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "CXX" IN_LIST languages)
    return()
  endif()
  include(CheckLinkerFlag)
  check_linker_flag(CXX -static-libstdc++ AXLE_PROVIDER_STATIC_CXX)
  if(AXLE_PROVIDER_STATIC_CXX)
    target_link_options(${name} PRIVATE $<$<LINK_LANGUAGE:CXX>:-static-libstdc++> -static-libgcc)
  endif()
endfunction()

function(axle_test_provider name)
  find_program(AXLE_VARIANT variant DOC "The program whose conformance test `ctest` runs")
  if(AXLE_VARIANT)
    add_test(NAME ${name}.conformance COMMAND ${AXLE_VARIANT} providers check $<TARGET_FILE:${name}>)
  else()
    message(STATUS "`variant` is not on the path: ctest leaves ${name}.conformance out (set AXLE_VARIANT to it)")
  endif()
endfunction()

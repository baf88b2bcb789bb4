# Most of the time of a compiler goes into headers: groups of files take a third of it. A file must still
# compile by itself, which `./dev lint` checks.
option(AXLE_GROUPS "Compile the sources of a library in groups of ten" ON)

# axle_library(NAME SOURCES <files> USES <public links> PRIVATE_USES <links that callers never see> SEPARATE)
# SEPARATE: its files define the same local names on purpose, and are never compiled in groups.
# One static library a folder. Includes are written from the root of the project: "wheel/version.h".
function(axle_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SEPARATE" "" "SOURCES;USES;PRIVATE_USES")
  add_library(axle_${name} STATIC ${arg_SOURCES})
  add_library(axle::${name} ALIAS axle_${name})
  target_include_directories(axle_${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(axle_${name} PUBLIC ${arg_USES} PRIVATE ${arg_PRIVATE_USES})
  axle_configure(axle_${name})
  if(AXLE_GROUPS AND NOT arg_SEPARATE)
    set_target_properties(axle_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  endif()
endfunction()

# The settings that every target of ours shares.
function(axle_configure target)
  target_compile_features(${target} PUBLIC cxx_std_23)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE ON)
  if(AXLE_DEVELOPER)
    # In a group a local name may be that of another file's constant.
    set(shadow $<$<NOT:$<BOOL:${AXLE_GROUPS}>>:-Wshadow>)
    target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic ${shadow} -Wnon-virtual-dtor
      -Woverloaded-virtual -Wundef ${AXLE_WERROR})
  endif()
endfunction()

# `out` becomes a C++ source with the texts of FILES, which HEADER declares as `std::span<const TYPE> FUNCTION()` in NAMESPACE. A row is
# {name, text}: the file's name without its ending, or with its path below ROOT.
function(axle_embed_texts out)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "HEADER;NAMESPACE;TYPE;FUNCTION;ROOT" "FILES")
  set(script ${PROJECT_SOURCE_DIR}/cmake/embed_texts.cmake)
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DROOT=${arg_ROOT} "-DFILES=${arg_FILES}" -DHEADER=${arg_HEADER}
            -DNAMESPACE=${arg_NAMESPACE} -DTYPE=${arg_TYPE} -DFUNCTION=${arg_FUNCTION} -P ${script}
    DEPENDS ${arg_FILES} ${script}
    COMMENT "Compiling ${arg_FUNCTION}() in" VERBATIM)
endfunction()

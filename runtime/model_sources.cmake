# What lies above the kernels: the rooms files/, tokenizer/, model/ and tune/, for the libraries of this
# repository (their CMakeLists.txt) and for the library of a wheel (axle_runtime_models).

foreach(room IN ITEMS files tokenizer model tune)
  include(${CMAKE_CURRENT_LIST_DIR}/${room}/sources.cmake)
endforeach()

# axle_runtime_unicode_tables(TARGET): the tables of tokenizer/unicode.cpp, from Debian's unicode-data.
function(axle_runtime_unicode_tables target)
  # Data of the machine that builds, in a cross build too.
  find_path(AXLE_UNICODE_DATA UnicodeData.txt PATHS /usr/share/unicode REQUIRED NO_CMAKE_FIND_ROOT_PATH)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  set(tables ${CMAKE_CURRENT_BINARY_DIR}/unicode/unicode_tables.inc)
  set(script ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/tokenizer/make_unicode_tables.py)
  file(MAKE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/unicode)
  # When CMake runs, not when it builds: clang-tidy reads the sources of a tree that is never built.
  if(NOT EXISTS ${tables} OR ${script} IS_NEWER_THAN ${tables})
    execute_process(COMMAND ${Python3_EXECUTABLE} ${script} ${AXLE_UNICODE_DATA} ${tables}
      COMMAND_ERROR_IS_FATAL ANY)
  endif()
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${script})
  target_sources(${target} PRIVATE ${tables})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/unicode)
endfunction()

# axle_runtime_models(TARGET): adds all these rooms and the C interface of models. They use the C++
# library and nlohmann-json's headers.
function(axle_runtime_models target)
  find_package(nlohmann_json 3.11 CONFIG REQUIRED)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_sources(${target} PRIVATE ${root}/json_nesting.cpp ${root}/json_text.cpp ${root}/json_tree.cpp ${root}/result.cpp)
  foreach(room IN ITEMS files tokenizer model tune)
    list(TRANSFORM axle_runtime_${room}_sources PREPEND ${root}/${room}/ OUTPUT_VARIABLE sources)
    target_sources(${target} PRIVATE ${sources})
    # One compilation a room: most of the time goes into headers.
    set_source_files_properties(${sources} TARGET_DIRECTORY ${target} PROPERTIES UNITY_GROUP ${room})
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  axle_runtime_unicode_tables(${target})
  axle_runtime_kernel_sources(${target})
  target_link_libraries(${target} PRIVATE nlohmann_json::nlohmann_json)
endfunction()

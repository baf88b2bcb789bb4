include(doctest)

# axle_test(NAME SOURCES <files> USES <libraries>): one test program a room, `<room>_test`, every
# doctest case a ctest test of its own. tests/support/main.cpp fails a filter that matches nothing.
function(axle_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES")
  if(NOT TARGET axle_test_main)  # doctest's runner is a third of a small test's time: it is compiled once
    add_library(axle_test_main OBJECT ${PROJECT_SOURCE_DIR}/tests/support/main.cpp)
    target_link_libraries(axle_test_main PRIVATE doctest::doctest)
    axle_configure(axle_test_main)
    target_compile_options(axle_test_main PRIVATE -O0)
  endif()
  add_executable(${name}_test ${arg_SOURCES} $<TARGET_OBJECTS:axle_test_main>)
  target_include_directories(${name}_test PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name}_test PRIVATE ${arg_USES} doctest::doctest)
  axle_configure(${name}_test)
  # What is tested is built as it ships; the tests themselves only have to compile quickly.
  target_compile_options(${name}_test PRIVATE -O0)
  doctest_discover_tests(${name}_test TEST_PREFIX "${name}: " PROPERTIES TIMEOUT 900)
endfunction()

# axle_fuzz(ROOM/NAME USES <libraries>): tests/fuzz/ROOM/NAME.cpp defines LLVMFuzzerTestOneInput.
# With AXLE_FUZZ a libFuzzer program `fuzz_<name>`; without it the seeds, tests/fuzz/corpus/ROOM/NAME and what
# tests/fuzz/make_seeds.py makes, are replayed as an ordinary test, so that every build exercises every parser.
function(axle_fuzz path)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "USES")
  get_filename_component(name ${path} NAME)
  set(corpus "")
  foreach(folder IN ITEMS ${PROJECT_SOURCE_DIR}/tests/fuzz/corpus ${PROJECT_BINARY_DIR}/tests/fuzz/seeds)
    if(EXISTS ${folder}/${path})
      list(APPEND corpus ${folder}/${path})
    endif()
  endforeach()
  if(NOT corpus)
    message(FATAL_ERROR "axle_fuzz(${path}): there are no seeds: add text files to "
      "tests/fuzz/corpus/${path}, or bytes to tests/fuzz/make_seeds.py")
  endif()
  if(AXLE_FUZZ)
    add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${path}.cpp)
    target_link_options(fuzz_${name} PRIVATE -fsanitize=fuzzer)
  else()
    if(NOT TARGET axle_fuzz_replay)
      add_library(axle_fuzz_replay OBJECT ${PROJECT_SOURCE_DIR}/tests/fuzz/replay.cpp)
      axle_configure(axle_fuzz_replay)
    endif()
    add_executable(fuzz_${name} ${PROJECT_SOURCE_DIR}/tests/fuzz/${path}.cpp $<TARGET_OBJECTS:axle_fuzz_replay>)
    target_compile_options(fuzz_${name} PRIVATE -O0)
    add_test(NAME "fuzz corpus: ${name}" COMMAND fuzz_${name} ${corpus})
  endif()
  target_include_directories(fuzz_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(fuzz_${name} PRIVATE ${arg_USES})
  axle_configure(fuzz_${name})
  set_property(GLOBAL APPEND PROPERTY AXLE_FUZZ_TARGETS fuzz_${name})
endfunction()

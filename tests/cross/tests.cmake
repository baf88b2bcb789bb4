# The machine side for other architectures, and on older x86-64 CPUs: cross_test.py builds and asks.
if(CMAKE_CXX_FLAGS MATCHES "-fsanitize")
  message(STATUS "cross: sanitizers: other architectures are left to plain builds")
  return()
endif()
add_executable(detect_print_cpu ${CMAKE_CURRENT_LIST_DIR}/print_cpu.cpp)
target_link_libraries(detect_print_cpu PRIVATE axle::detect)
axle_configure(detect_print_cpu)

find_program(AXLE_PYTHON NAMES python3 HINTS /usr/bin NO_CMAKE_ENVIRONMENT_PATH REQUIRED)
foreach(arch aarch64 ppc64le riscv64 s390x x86_64)
  add_test(NAME "cross: ${arch}"
    COMMAND ${AXLE_PYTHON} ${CMAKE_CURRENT_LIST_DIR}/cross_test.py ${arch}
      --build ${PROJECT_BINARY_DIR}/cross/${arch} --native $<TARGET_FILE:detect_print_cpu>)
  set_tests_properties("cross: ${arch}" PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT 1800 LABELS cross)
endforeach()
# Without costs of an earlier run ctest begins with the first; these build for minutes, one after the other.
foreach(arch aarch64 ppc64le riscv64 s390x)
  set_tests_properties("cross: ${arch}" PROPERTIES COST 100)
endforeach()

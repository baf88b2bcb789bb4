# The runtime's sources, for the library of this repository (CMakeLists.txt) and for the library of
# a wheel (wheel/CMakeLists.txt). AXLE_RUNTIME_KERNELS says which kernel sets it has; "baseline" is
# always one of them. Sets: runtime/kernel_table.cpp, in the order below.
set(AXLE_RUNTIME_ALL_KERNELS baseline)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64|amd64)$")
  set(AXLE_RUNTIME_ALL_KERNELS amx_int8 avx512_vnni avx_vnni avx512 avx2 baseline)
endif()
set(AXLE_RUNTIME_KERNELS "${AXLE_RUNTIME_ALL_KERNELS}" CACHE STRING "Kernel sets of the runtime")

# axle_runtime_sources(TARGET): adds the core (no C++ library at run time) and the chosen kernels.
function(axle_runtime_sources target)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  target_sources(${target} PRIVATE
    ${root}/activation_types.cpp ${root}/bench.cpp ${root}/c_api.cpp ${root}/engine.cpp
    ${root}/forward.cpp ${root}/kernel_table.cpp ${root}/linear.cpp ${root}/memory.cpp
    ${root}/selftest.cpp ${root}/thread_pool.cpp)
  if("amx_int8" IN_LIST AXLE_RUNTIME_ALL_KERNELS)
    target_sources(${target} PRIVATE ${root}/cpu_x86.cpp)
    set(kernel_sources ${root}/kernels/sse2.cpp)
  else()
    target_sources(${target} PRIVATE ${root}/cpu_other.cpp)
    set(kernel_sources ${root}/kernels/portable.cpp)
  endif()
  foreach(kernel IN LISTS AXLE_RUNTIME_KERNELS)
    if(NOT kernel IN_LIST AXLE_RUNTIME_ALL_KERNELS)
      message(FATAL_ERROR "AXLE_RUNTIME_KERNELS: no kernel set '${kernel}' for "
        "${CMAKE_SYSTEM_PROCESSOR}; there are: ${AXLE_RUNTIME_ALL_KERNELS}")
    endif()
    if(NOT kernel STREQUAL "baseline")
      list(APPEND kernel_sources ${root}/kernels/${kernel}.cpp)
      string(TOUPPER "AXLE_KERNEL_${kernel}" definition)
      target_compile_definitions(${target} PRIVATE ${definition})
    endif()
  endforeach()
  target_sources(${target} PRIVATE ${kernel_sources})
  # No fused multiply-add: every kernel set returns the same bytes. No exceptions, no guards of
  # static variables: the core needs nothing of the C++ library.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  target_compile_definitions(${target} PRIVATE AXLE_RUNTIME_VERSION="0.1.0")
  # Never -m<isa>: each function of a kernel carries its own target attribute. -O3 unrolls the
  # register blocks; GCC 12's AVX-512 headers warn falsely of uninitialised values.
  set(kernel_options -O3)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND kernel_options -Wno-uninitialized -Wno-maybe-uninitialized)
  endif()
  set_source_files_properties(${kernel_sources} TARGET_DIRECTORY ${target}
    PROPERTIES COMPILE_OPTIONS "${kernel_options}")
endfunction()

# axle_runtime_shared(TARGET): libaxle_runtime.so as it goes into a wheel. It links the C library
# only: the core is compiled without exceptions and linked as C.
function(axle_runtime_shared target)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  add_library(${target} SHARED ${root}/../detect/capability.cpp)
  axle_runtime_sources(${target})
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_include_directories(${target} PRIVATE ${root}/..)
  target_compile_definitions(${target} PRIVATE AXLE_OLD_GLIBC)
  target_compile_options(${target} PRIVATE -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  target_link_options(${target} PRIVATE -Wl,--as-needed -Wl,-z,defs -Wl,-z,relro -Wl,-z,now)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME axle_runtime CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON LINKER_LANGUAGE C)
endfunction()

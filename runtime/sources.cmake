# The runtime's sources, for the library of this repository (CMakeLists.txt) and for the library of
# a wheel (wheel/CMakeLists.txt). AXLE_RUNTIME_KERNELS says which of the kernel sets of
# kernels/kernel_sets.inc it has; "baseline" is always one of them.

# axle_runtime_architecture(OUT PROCESSOR): the architecture as the table of kernel sets calls it.
function(axle_runtime_architecture out processor)
  set(architecture ${processor})
  if(processor MATCHES "^(x86_64|AMD64|amd64)$")
    set(architecture x86_64)
  elseif(processor MATCHES "^(aarch64|arm64|ARM64)$")
    set(architecture aarch64)
  endif()
  set(${out} ${architecture} PARENT_SCOPE)
endfunction()

# axle_runtime_read_table(TABLE ARCHITECTURE): AXLE_RUNTIME_TABLE_FILES, the file of each row;
# AXLE_RUNTIME_ALL_KERNELS, the names that the architecture has, best first; and for each of them
# its file, AXLE_RUNTIME_FILE_<name>.
function(axle_runtime_read_table table architecture)
  file(STRINGS ${table} rows REGEX "^AXLE_KERNEL_SET")
  set(files "")
  set(names "")
  foreach(row IN LISTS rows)
    if(NOT row MATCHES "^AXLE_KERNEL_SET\\(([a-z0-9_]+), ([a-z0-9_]+), ([a-z0-9_]+), ")
      message(FATAL_ERROR "${table}: this row has not the columns file, name, architecture: ${row}")
    endif()
    set(file ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2})
    set(of ${CMAKE_MATCH_3})
    list(APPEND files ${file})
    if((of STREQUAL architecture OR of STREQUAL "any") AND NOT name IN_LIST names)
      list(APPEND names ${name})
      set(AXLE_RUNTIME_FILE_${name} ${file} PARENT_SCOPE)
    endif()
  endforeach()
  set(AXLE_RUNTIME_TABLE_FILES "${files}" PARENT_SCOPE)
  set(AXLE_RUNTIME_ALL_KERNELS "${names}" PARENT_SCOPE)
endfunction()

set(axle_runtime_table ${CMAKE_CURRENT_LIST_DIR}/kernels/kernel_sets.inc)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${axle_runtime_table})
axle_runtime_architecture(AXLE_RUNTIME_ARCHITECTURE "${CMAKE_SYSTEM_PROCESSOR}")
axle_runtime_read_table(${axle_runtime_table} "${AXLE_RUNTIME_ARCHITECTURE}")
set(AXLE_RUNTIME_KERNELS "" CACHE STRING "Kernel sets of the runtime; empty: all of the table")

# axle_runtime_kernels(TARGET OUT): the chosen sets' files, and for C++ what becomes of each row.
function(axle_runtime_kernels target out)
  set(chosen "${AXLE_RUNTIME_KERNELS}")
  if(chosen STREQUAL "")
    set(chosen "${AXLE_RUNTIME_ALL_KERNELS}")
  endif()
  foreach(kernel IN LISTS chosen)
    if(NOT kernel IN_LIST AXLE_RUNTIME_ALL_KERNELS)
      message(FATAL_ERROR "AXLE_RUNTIME_KERNELS: no kernel set '${kernel}' for "
        "${AXLE_RUNTIME_ARCHITECTURE}; there are: ${AXLE_RUNTIME_ALL_KERNELS}")
    endif()
  endforeach()
  foreach(file IN LISTS AXLE_RUNTIME_TABLE_FILES)
    set(state_${file} foreign)
  endforeach()
  set(sources "")
  foreach(kernel IN LISTS AXLE_RUNTIME_ALL_KERNELS)
    set(file ${AXLE_RUNTIME_FILE_${kernel}})
    set(state_${file} left_out)
    if(kernel IN_LIST chosen OR kernel STREQUAL "baseline")
      set(state_${file} built)
      list(APPEND sources ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernels/${file}.cpp)
    endif()
  endforeach()
  # Of the table alone: all other objects of two variants are the same, and a compiler cache has them.
  set(states "")
  foreach(file IN LISTS AXLE_RUNTIME_TABLE_FILES)
    list(APPEND states AXLE_KERNEL_${file}=${state_${file}})
  endforeach()
  set_source_files_properties(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/kernel_table.cpp
    TARGET_DIRECTORY ${target} PROPERTIES COMPILE_DEFINITIONS "${states}")
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

set(AXLE_RUNTIME_DEVICES "" CACHE STRING "Devices of the runtime beside the CPU: cuda, opencl; empty: none")
include(${CMAKE_CURRENT_LIST_DIR}/devices/sources.cmake)

# axle_runtime_sources(TARGET): adds the core (no C++ library at run time) and the chosen kernels.
function(axle_runtime_sources target)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(cpu ${root}/machine/cpu_${AXLE_RUNTIME_ARCHITECTURE}.cpp)
  if(NOT EXISTS ${cpu})
    set(cpu ${root}/machine/cpu_other.cpp)
  endif()
  axle_runtime_kernels(${target} kernel_sources)
  axle_runtime_device_sources(${target} device_sources)
  set(core_sources
    ${root}/activation_types.cpp ${root}/bench.cpp ${root}/c_api.cpp ${cpu} ${root}/engine.cpp ${root}/error_message.cpp
    ${root}/forward/column_blocks.cpp ${root}/forward/forward.cpp ${root}/forward/quantised_rows.cpp
    ${root}/forward/row_source.cpp ${root}/kernel_table.cpp ${root}/layer_choices.cpp ${root}/linear.cpp
    ${root}/linear_options.cpp ${root}/machine/memory.cpp ${root}/machine/old_glibc.cpp
    ${root}/machine/thread_pool.cpp ${root}/pack_narrow.cpp ${root}/quantize/int4.cpp
    ${root}/quantize/int8.cpp ${root}/read_probe.cpp ${root}/selftest.cpp
    ${device_sources})
  target_sources(${target} PRIVATE ${core_sources} ${kernel_sources})
  # No fused multiply-add: every kernel set returns the same bytes.
  target_compile_options(${target} PRIVATE -ffp-contract=off)
  # The core needs nothing of the C++ library.
  set(core_options -fno-exceptions -fno-rtti -fno-threadsafe-statics)
  set_source_files_properties(${core_sources} TARGET_DIRECTORY ${target}
    PROPERTIES COMPILE_OPTIONS "${core_options}")
  target_compile_definitions(${target} PRIVATE AXLE_RUNTIME_VERSION="0.1.0")
  # Never -m<isa>: each function of a kernel carries its own target attribute. -O3 unrolls the
  # register blocks; a square root is an instruction, without errno; GCC 12's AVX-512 headers warn falsely of uninitialised values.
  set(kernel_options ${core_options} -O3 -fno-math-errno)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    list(APPEND kernel_options -Wno-uninitialized -Wno-maybe-uninitialized -fno-tree-pre
      -fno-tree-reassoc -fno-tree-ter)
  endif()
  set_source_files_properties(${kernel_sources} TARGET_DIRECTORY ${target}
    PROPERTIES COMPILE_OPTIONS "${kernel_options}")
endfunction()

include(${CMAKE_CURRENT_LIST_DIR}/model_sources.cmake)

# axle_runtime_shared(TARGET): libaxle_runtime.so as it goes into a wheel. It needs the C library, from
# glibc 2.17 on, and the compiler's unwinder (libgcc_s.so.1); the C++ library is linked in.
function(axle_runtime_shared target)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(exports ${root}/exports.map)
  set(AXLE_RUNTIME_IS_SHARED ON)
  add_library(${target} SHARED ${root}/../detect/capability.cpp)
  axle_runtime_sources(${target})
  axle_runtime_models(${target})
  target_compile_features(${target} PRIVATE cxx_std_23)
  target_include_directories(${target} PRIVATE ${root}/..)
  target_compile_definitions(${target} PRIVATE AXLE_OLD_GLIBC)
  target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--version-script=${exports}
    -Wl,--gc-sections -Wl,--as-needed -Wl,-z,defs -Wl,-z,relro -Wl,-z,now)
  set_target_properties(${target} PROPERTIES
    OUTPUT_NAME axle_runtime CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden
    VISIBILITY_INLINES_HIDDEN ON LINK_DEPENDS ${exports})
endfunction()

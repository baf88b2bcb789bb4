# cmake -DTABLE_READER=runtime/sources.cmake -DFOLDER=… -P kernel_table_test.cmake: which kernel sets
# an architecture gets by the table of this repository, and by one with a row more.
cmake_minimum_required(VERSION 3.25)
set(CMAKE_SYSTEM_PROCESSOR riscv64)
include(${TABLE_READER})

function(expect what is should)
  if(NOT "${is}" STREQUAL "${should}")
    message(SEND_ERROR "${what}: [${is}], expected [${should}]")
  endif()
endfunction()

expect("another architecture" "${AXLE_RUNTIME_ALL_KERNELS}" "baseline")
expect("its file" "${AXLE_RUNTIME_FILE_baseline}" "portable")

foreach(processor IN ITEMS AMD64 amd64 x86_64)
  axle_runtime_architecture(architecture ${processor})
  expect("${processor}" "${architecture}" "x86_64")
endforeach()
foreach(processor IN ITEMS arm64 aarch64)
  axle_runtime_architecture(architecture ${processor})
  expect("${processor}" "${architecture}" "aarch64")
endforeach()

axle_runtime_read_table(${axle_runtime_table} x86_64)
expect("x86_64" "${AXLE_RUNTIME_ALL_KERNELS}" "amx_int8;avx512_vnni;avx_vnni;avx512;avx2;baseline")
expect("its baseline" "${AXLE_RUNTIME_FILE_baseline}" "sse2")

# A set for another architecture, and one for all of them, are a row.
file(READ ${axle_runtime_table} table)
set(longer ${FOLDER}/longer_table.inc)
file(WRITE ${longer}
  "AXLE_KERNEL_SET(opencl, opencl, any, 64, opencl_device)\n"
  "AXLE_KERNEL_SET(neon_dot, neon_dot, aarch64, 1, nothing, arm_asimddp)\n"
  "AXLE_KERNEL_SET(neon, baseline, aarch64, 1, nothing)\n" "${table}")
axle_runtime_read_table(${longer} aarch64)
expect("aarch64" "${AXLE_RUNTIME_ALL_KERNELS}" "opencl;neon_dot;baseline")
expect("its baseline" "${AXLE_RUNTIME_FILE_baseline}" "neon")
expect("every file" "${AXLE_RUNTIME_TABLE_FILES}"
  "opencl;neon_dot;neon;amx_int8;avx512_vnni;avx_vnni;avx512;avx2;sse2;portable")
axle_runtime_read_table(${longer} x86_64)
expect("x86_64 with it" "${AXLE_RUNTIME_ALL_KERNELS}"
  "opencl;amx_int8;avx512_vnni;avx_vnni;avx512;avx2;baseline")
file(REMOVE ${longer})

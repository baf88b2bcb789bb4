# cmake -DTABLE_READER=runtime/sources.cmake -DFOLDER=… -P kernel_table_test.cmake: which kernel sets
# an architecture gets by the table of this repository, and by another one.
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
list(GET AXLE_RUNTIME_ALL_KERNELS -1 last)
expect("the last of x86_64" "${last}" "baseline")
expect("its file" "${AXLE_RUNTIME_FILE_baseline}" "sse2")
list(LENGTH AXLE_RUNTIME_ALL_KERNELS sets)
if(sets LESS 6)
  message(SEND_ERROR "x86_64 has only [${AXLE_RUNTIME_ALL_KERNELS}]")
endif()

axle_runtime_read_table(${axle_runtime_table} aarch64)
expect("aarch64" "${AXLE_RUNTIME_ALL_KERNELS}" "neon_i8mm;neon_dotprod;baseline")
expect("its baseline" "${AXLE_RUNTIME_FILE_baseline}" "neon")

# A set for another architecture, and one for all of them, are a row.
set(table ${FOLDER}/kernel_table.inc)
file(WRITE ${table}
  "AXLE_KERNEL_SET(opencl, opencl, any, 64, opencl_device)\n"
  "AXLE_KERNEL_SET(neon_dot, neon_dot, aarch64, 1, nothing, arm_asimddp)\n"
  "AXLE_KERNEL_SET(neon, baseline, aarch64, 1, nothing)\n"
  "AXLE_KERNEL_SET(avx2, avx2, x86_64, 1, nothing, avx2)\n"
  "AXLE_KERNEL_SET(sse2, baseline, x86_64, 1, nothing)\n"
  "AXLE_KERNEL_SET(portable, baseline, any, 1, nothing)\n")
axle_runtime_read_table(${table} aarch64)
expect("aarch64" "${AXLE_RUNTIME_ALL_KERNELS}" "opencl;neon_dot;baseline")
expect("its baseline" "${AXLE_RUNTIME_FILE_baseline}" "neon")
expect("every file" "${AXLE_RUNTIME_TABLE_FILES}" "opencl;neon_dot;neon;avx2;sse2;portable")
axle_runtime_read_table(${table} x86_64)
expect("x86_64" "${AXLE_RUNTIME_ALL_KERNELS}" "opencl;avx2;baseline")
expect("its baseline" "${AXLE_RUNTIME_FILE_baseline}" "sse2")
file(REMOVE ${table})

# The devices of the runtime beside the CPU: "cuda" and "opencl". Their drivers are loaded at run time; for CUDA a
# compiler (nvcc) makes the code that is in the library.

# What a build says for CMake's language CUDA, which is not used: it would bring the CUDA runtime in. In this repository the
# code is compiled where there is a compiler that has these targets and works, for the library that the tests of the
# package load (AXLE_RUNTIME_IS_SHARED), and not into the program; without it the tests run its model only.
set(AXLE_RUNTIME_NVCC "${CMAKE_CUDA_COMPILER}")
set(AXLE_RUNTIME_CUDA_ARCHITECTURES "${CMAKE_CUDA_ARCHITECTURES}")
if(AXLE_RUNTIME_CUDA_ARCHITECTURES STREQUAL "")
  set(AXLE_RUNTIME_CUDA_ARCHITECTURES 80-real 90-real 100-real)
endif()
if(AXLE_DEVELOPER AND NOT AXLE_RUNTIME_NVCC)
  find_program(AXLE_RUNTIME_FOUND_NVCC nvcc)
  if(AXLE_RUNTIME_FOUND_NVCC AND NOT DEFINED AXLE_RUNTIME_NVCC_STATUS)
    execute_process(COMMAND ${AXLE_RUNTIME_FOUND_NVCC} -arch=sm_100 -fatbin -x cu /dev/null -o /dev/null
      RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
    set(AXLE_RUNTIME_NVCC_STATUS "${status}" CACHE INTERNAL "Of a try with sm_100: 0 is good")
  endif()
  if(AXLE_RUNTIME_NVCC_STATUS STREQUAL "0")
    set(AXLE_RUNTIME_NVCC ${AXLE_RUNTIME_FOUND_NVCC})
  elseif(AXLE_RUNTIME_FOUND_NVCC)
    message(STATUS "runtime: ${AXLE_RUNTIME_FOUND_NVCC} does not compile for sm_100: no CUDA code is compiled")
  endif()
endif()

# axle_runtime_cuda_version(COMPILER OUT): 13000 of CUDA 13.0, as drivers count.
function(axle_runtime_cuda_version compiler out)
  execute_process(COMMAND ${compiler} --version OUTPUT_VARIABLE text COMMAND_ERROR_IS_FATAL ANY)
  if(NOT text MATCHES "release ([0-9]+)\\.([0-9]+)")
    message(FATAL_ERROR "${compiler} --version does not say its release: ${text}")
  endif()
  math(EXPR version "${CMAKE_MATCH_1} * 1000 + ${CMAKE_MATCH_2} * 10")
  set(${out} ${version} PARENT_SCOPE)
endfunction()

# axle_runtime_cuda_flags(ARCHITECTURES OUT_FLAGS OUT_NAMES): nvcc's flags for "80-real" and the like, as
# CMAKE_CUDA_ARCHITECTURES has them, and "8.0, 9.0" of the compiled ones.
function(axle_runtime_cuda_flags architectures out_flags out_names)
  set(flags "")
  set(names "")
  foreach(architecture IN LISTS architectures)
    if(NOT architecture MATCHES "^(([0-9]+)([0-9])[af]?)(-real|-virtual)?$")
      message(FATAL_ERROR "CMAKE_CUDA_ARCHITECTURES: '${architecture}' is not like 80-real, 90-virtual or 100")
    endif()
    set(number ${CMAKE_MATCH_1})
    set(name ${CMAKE_MATCH_2}.${CMAKE_MATCH_3})
    set(kind "${CMAKE_MATCH_4}")
    if(NOT kind STREQUAL "-virtual")
      list(APPEND flags --generate-code=arch=compute_${number},code=sm_${number})
      list(APPEND names ${name})
    endif()
    if(NOT kind STREQUAL "-real")
      list(APPEND flags --generate-code=arch=compute_${number},code=compute_${number})
    endif()
  endforeach()
  list(JOIN names ", " joined)
  set(${out_flags} "${flags}" PARENT_SCOPE)
  set(${out_names} "${joined}" PARENT_SCOPE)
endfunction()

# axle_runtime_cuda_code(TARGET COMPILER ARCHITECTURES): compiles code/linear.cu and has cuda_code.cpp take it in.
function(axle_runtime_cuda_code target compiler architectures)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  axle_runtime_cuda_version(${compiler} version)
  axle_runtime_cuda_flags("${architectures}" flags names)
  set(host "")
  if(CMAKE_CUDA_HOST_COMPILER)
    set(host -ccbin ${CMAKE_CUDA_HOST_COMPILER})
  endif()
  set(fatbin ${CMAKE_CURRENT_BINARY_DIR}/${target}_linear.fatbin)
  set(sources ${root}/code/linear.cu ${root}/code/cuda_dialect.h ${root}/code/linear_steps.h ${root}/code/matrix_steps.h)
  add_custom_command(OUTPUT ${fatbin}
    COMMAND ${compiler} -std=c++17 -O3 -fmad=false ${host} -I. -fatbin ${flags} -o ${fatbin} runtime/devices/code/linear.cu
    WORKING_DIRECTORY ${root}/../..
    DEPENDS ${sources}
    COMMENT "Compiling linear.cu for compute capability ${names}" VERBATIM)
  set_source_files_properties(${root}/cuda/cuda_code.cpp TARGET_DIRECTORY ${target} PROPERTIES
    OBJECT_DEPENDS ${fatbin}
    COMPILE_DEFINITIONS "AXLE_CUDA_FATBIN=\"${fatbin}\";AXLE_CUDA_TOOLKIT=${version};AXLE_CUDA_TARGETS=\"${names}\"")
endfunction()

# axle_runtime_device_sources(TARGET OUT): the sources of the devices that AXLE_RUNTIME_DEVICES names, to OUT. In this
# repository of all of them, so that they are tested.
function(axle_runtime_device_sources target out)
  set(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  set(sources ${root}/device.cpp ${root}/device_api.cpp ${root}/device_kernels.cpp
    ${root}/device_kinds.cpp ${root}/device_layer.cpp)
  set(kinds "")
  set(devices "${AXLE_RUNTIME_DEVICES}")
  if(AXLE_DEVELOPER AND devices STREQUAL "")
    set(devices cuda opencl)
  endif()
  foreach(device IN LISTS devices)
    if(device STREQUAL "cuda")
      list(APPEND sources ${root}/cuda/cuda_code.cpp ${root}/cuda/cuda_device.cpp ${root}/cuda/cuda_driver.cpp)
      list(APPEND kinds AXLE_DEVICES_CUDA)
      if(AXLE_RUNTIME_NVCC AND AXLE_RUNTIME_IS_SHARED)
        axle_runtime_cuda_code(${target} ${AXLE_RUNTIME_NVCC} "${AXLE_RUNTIME_CUDA_ARCHITECTURES}")
      elseif(NOT AXLE_DEVELOPER)
        message(FATAL_ERROR "AXLE_RUNTIME_DEVICES: cuda needs CMAKE_CUDA_COMPILER, which is nvcc")
      endif()
    elseif(device STREQUAL "opencl")
      list(APPEND sources ${root}/opencl/opencl_code.cpp ${root}/opencl/opencl_device.cpp
        ${root}/opencl/opencl_driver.cpp)
      list(APPEND kinds AXLE_DEVICES_OPENCL)
      set(dialect ${root}/code/opencl_dialect.h)
      set(steps ${root}/code/linear_steps.h)
      set_source_files_properties(${root}/opencl/opencl_code.cpp TARGET_DIRECTORY ${target} PROPERTIES
        OBJECT_DEPENDS "${dialect};${steps}"
        COMPILE_DEFINITIONS "AXLE_OPENCL_DIALECT=\"${dialect}\";AXLE_OPENCL_STEPS=\"${steps}\"")
    else()
      message(FATAL_ERROR "AXLE_RUNTIME_DEVICES: there is no device '${device}'; there are cuda and opencl")
    endif()
  endforeach()
  if(kinds)
    list(APPEND sources ${root}/shared_library.cpp)
  endif()
  set_source_files_properties(${root}/device_kinds.cpp TARGET_DIRECTORY ${target}
    PROPERTIES COMPILE_DEFINITIONS "${kinds}")
  set(${out} "${sources}" PARENT_SCOPE)
endfunction()

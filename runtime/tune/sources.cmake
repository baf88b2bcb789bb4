set(axle_runtime_tune_sources
  machine_signature.cpp model_speed.cpp search.cpp tune_api.cpp tuner.cpp tuning_table.cpp)

# axle_runtime_kernel_sources(TARGET): what a tuning table was measured with, as a hash of all that a layer's speed
# depends on. Not of the object files: the program and the library of a wheel share a machine's table.
function(axle_runtime_kernel_sources target)
  get_filename_component(root ${CMAKE_CURRENT_FUNCTION_LIST_DIR} DIRECTORY)
  file(GLOB files CONFIGURE_DEPENDS ${root}/forward/* ${root}/kernels/*)
  list(APPEND files ${root}/kernel.h ${root}/linear.cpp ${root}/pack_narrow.cpp ${root}/machine/thread_pool.cpp)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${files})
  list(SORT files)
  set(hashes "")
  foreach(file IN LISTS files)
    file(SHA256 ${file} hash)
    string(APPEND hashes ${hash})
  endforeach()
  string(SHA256 hash "${hashes}")
  string(SUBSTRING ${hash} 0 16 hash)
  set_source_files_properties(${CMAKE_CURRENT_FUNCTION_LIST_DIR}/machine_signature.cpp TARGET_DIRECTORY ${target}
    PROPERTIES COMPILE_DEFINITIONS AXLE_RUNTIME_KERNEL_SOURCES="${hash}")
endfunction()

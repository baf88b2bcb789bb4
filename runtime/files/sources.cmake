set(axle_runtime_files_sources
  gguf.cpp mapped_file.cpp quantised_blocks.cpp safetensors.cpp tensor.cpp tensor_source.cpp)

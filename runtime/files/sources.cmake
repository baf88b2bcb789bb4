set(axle_runtime_files_sources
  atomic_file.cpp atomic_folder.cpp gguf.cpp gguf_reader.cpp gguf_types.cpp json_events.cpp model_file.cpp quantised_blocks.cpp
  safetensors.cpp safetensors_header.cpp safetensors_layout.cpp safetensors_writer.cpp shard_index.cpp tensor.cpp tensor_source.cpp)

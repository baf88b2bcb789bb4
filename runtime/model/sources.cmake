set(axle_runtime_model_sources
  attention.cpp config_json.cpp decoder.cpp decoder_load.cpp elementary.cpp encoder.cpp encoder_load.cpp folder_files.cpp generation.cpp gguf_shape.cpp
    key_value_cache.cpp model.cpp model_api.cpp model_shape.cpp projection.cpp required_tensors.cpp rotary.cpp sampler.cpp tensor_names.cpp weight_rows.cpp)

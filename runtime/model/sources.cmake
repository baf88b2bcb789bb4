set(axle_runtime_model_sources
  decoder.cpp decoder_load.cpp encoder.cpp encoder_load.cpp generation.cpp generation_api.cpp model.cpp model_api.cpp model_selftest.cpp perplexity.cpp sampler.cpp
  # What a model is, as its files say it.
  description/config_json.cpp description/folder_files.cpp description/gguf_shape.cpp description/model_shape.cpp
    description/required_tensors.cpp description/tensor_names.cpp
  # What decoders and encoders are made of.
  layers/attention.cpp layers/elementary.cpp layers/key_value_cache.cpp layers/projection.cpp layers/rotary.cpp layers/score_head.cpp layers/stored_rows.cpp
    layers/weight_rows.cpp
  # Models into folders whose linear layers are quantised.
  quantization/awq.cpp quantization/calibration.cpp quantization/encoder_calibration.cpp
    quantization/factor_search.cpp quantization/kept_tensor.cpp quantization/linear_list.cpp
    quantization/model_files.cpp quantization/quantize.cpp quantization/scheme.cpp)

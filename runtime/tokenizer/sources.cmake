set(axle_runtime_tokenizer_sources
  added_tokens.cpp byte_pairs.cpp chat_template.cpp text_split.cpp tokenizer.cpp tokenizer_gguf.cpp
    tokenizer_json.cpp tokenizer_reader.cpp unicode.cpp word_pieces.cpp)

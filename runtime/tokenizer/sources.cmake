set(axle_runtime_tokenizer_sources
  added_tokens.cpp byte_pairs.cpp chat_template.cpp gguf_vocabulary.cpp jinja_text.cpp text_split.cpp token_texts.cpp
    tokenizer.cpp tokenizer_gguf.cpp tokenizer_json.cpp tokenizer_json_writer.cpp unicode.cpp utf8.cpp vocabulary.cpp word_pieces.cpp)

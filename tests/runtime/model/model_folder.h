#pragma once
// Folders of small models, and what opens them through the C interface.

#include <cstdint>
#include <string>
#include <vector>

#include "runtime/axle_runtime.h"
#include "tests/runtime/c_handles.h"
#include "tests/runtime/files/made_file.h"
#include "tests/runtime/model/tiny_model.h"

namespace axle::runtime::testing {

/// config.json of make_decoder("llama", …), of make_encoder and of make_reranker.
extern const char* const decoder_config;
extern const char* const encoder_config;
extern const char* const reranker_config;

/// With a byte-level tokenizer of some tokens.
void write_model(const Folder& folder, const char* config, const TinyModel& model);

RuntimePtr open_runtime(std::int32_t threads = 0);
ModelPtr open_model(axle_runtime& runtime, const std::string& path, const char* mode);

/// The likeliest tokens, at most `most`; `tokens` stays.
axle_prompt prompt_of(const std::vector<std::int32_t>& tokens, std::size_t most);

}  // namespace axle::runtime::testing

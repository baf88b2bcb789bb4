// The tokenizer of a GGUF file as Hugging Face's tokenizer.json.
#include <algorithm>

#include <nlohmann/json.hpp>

#include "runtime/tokenizer/gguf_vocabulary.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

using nlohmann::ordered_json;

ordered_json splitter_of(const NamedSplit& split) {
  ordered_json parts = ordered_json::array();
  bool by_gpt2 = false;  // ByteLevel's own
  for (std::size_t i = 0; i < split.count; ++i) {
    if (split.rules[i] == SplitRule::gpt2) {
      by_gpt2 = true;
    } else if (split.rules[i] == SplitRule::digits) {
      parts.push_back({{"type", "Digits"}, {"individual_digits", true}});
    } else {
      parts.push_back({{"type", "Split"},
                       {"pattern", {{"Regex", std::string(pattern_of(split.rules[i]))}}},
                       {"behavior", "Isolated"},
                       {"invert", false}});
    }
  }
  parts.push_back({{"type", "ByteLevel"},
                   {"add_prefix_space", false},
                   {"trim_offsets", true},
                   {"use_regex", by_gpt2}});
  return {{"type", "Sequence"}, {"pretokenizers", std::move(parts)}};
}

class Writer {
 public:
  Writer(const GgufVocabulary& gguf, const std::string& where) : gguf_(gguf), where_(where) {}

  Result<std::string> write() {
    const NamedSplit* const split = find_split(gguf_.split);
    if (gguf_.model != "gpt2" || split == nullptr)
      return failure(AXLE_UNSUPPORTED,
                     "%s: only a tokenizer of byte pairs (\"gpt2\") can be written as "
                     "tokenizer.json, not one of model \"%s\"",
                     where_.c_str(), std::string(gguf_.model).c_str());
    ordered_json vocabulary = ordered_json::object();
    ordered_json added = ordered_json::array();
    const Result<void> listed = list_tokens(vocabulary, added);
    if (!listed) return std::unexpected(listed.error());
    ordered_json merges = ordered_json::array();
    for (const std::string_view merge : gguf_.merges) {
      if (!is_utf8(merge)) return no_utf8("a merge", merge);
      merges.push_back(std::string(merge));
    }
    ordered_json document{
        {"version", "1.0"},
        {"truncation", nullptr},
        {"padding", nullptr},
        {"added_tokens", std::move(added)},
        {"normalizer", split->compose ? ordered_json{{"type", "NFC"}} : ordered_json()},
        {"pre_tokenizer", splitter_of(*split)},
        {"post_processor", around()},
        {"decoder",
         {{"type", "ByteLevel"},
          {"add_prefix_space", true},
          {"trim_offsets", true},
          {"use_regex", true}}},
        {"model",
         {{"type", "BPE"},
          {"dropout", nullptr},
          {"unk_token", nullptr},
          {"fuse_unk", false},
          {"byte_fallback", false},
          {"ignore_merges", split->whole_words},
          {"vocab", std::move(vocabulary)},
          {"merges", std::move(merges)}}}};
    return document.dump();
  }

 private:
  [[nodiscard]] std::unexpected<Failure> no_utf8(const char* what, std::string_view text) const {
    return failure(AXLE_UNSUPPORTED,
                   "%s: %s of the tokenizer, \"%s\", is no UTF-8; tokenizer.json cannot hold it",
                   where_.c_str(), what, std::string(text).c_str());
  }

  /// Through a list of members: looking each one up among those before would take for ever.
  Result<void> list_tokens(ordered_json& vocabulary, ordered_json& added) {
    auto& members = vocabulary.get_ref<ordered_json::object_t&>();
    std::vector<std::string_view> texts(gguf_.tokens);
    std::sort(texts.begin(), texts.end());
    const auto twice = std::adjacent_find(texts.begin(), texts.end());
    if (twice != texts.end())
      return failure(AXLE_UNSUPPORTED,
                     "%s: two tokens have the text \"%s\"; tokenizer.json cannot hold them",
                     where_.c_str(), std::string(*twice).c_str());
    for (std::size_t i = 0; i < gguf_.tokens.size(); ++i) {
      const std::string_view text = gguf_.tokens[i];
      if (!is_utf8(text)) return no_utf8("a token", text);
      members.emplace_back(std::string(text), i);
      const std::int64_t type = gguf_.types.empty() ? gguf_token::normal : gguf_.types[i];
      if (type != gguf_token::control && type != gguf_token::unknown &&
          type != gguf_token::user_defined)
        continue;
      added.push_back({{"id", i},
                       {"content", std::string(text)},
                       {"single_word", false},
                       {"lstrip", false},
                       {"rstrip", false},
                       {"normalized", false},
                       {"special", type != gguf_token::user_defined}});
    }
    return {};
  }

  /// What stands before and after every text; ids were checked when the model was opened.
  [[nodiscard]] ordered_json around() const {
    ordered_json single = ordered_json::array();
    ordered_json special = ordered_json::object();
    const auto add = [&](bool wanted, std::optional<std::int32_t> id) {
      if (!wanted || !id) return;
      const std::string text(gguf_.tokens[static_cast<std::size_t>(*id)]);
      single.push_back({{"SpecialToken", {{"id", text}, {"type_id", 0}}}});
      special[text] = {{"id", text},
                       {"ids", ordered_json::array({*id})},
                       {"tokens", ordered_json::array({text})}};
    };
    add(gguf_.add_begin, gguf_.begin);
    single.push_back({{"Sequence", {{"id", "A"}, {"type_id", 0}}}});
    add(gguf_.add_end, gguf_.end);
    if (special.empty()) return {};
    return {{"type", "TemplateProcessing"},
            {"single", std::move(single)},
            {"pair", ordered_json::array()},
            {"special_tokens", std::move(special)}};
  }

  const GgufVocabulary& gguf_;
  const std::string& where_;
};

}  // namespace

Result<std::string> tokenizer_json(const GgufVocabulary& vocabulary, const std::string& where) {
  return Writer(vocabulary, where).write();
}

}  // namespace axle::runtime

// The tokenizer of a GGUF file as Hugging Face's tokenizer.json.
#include <algorithm>

#include "runtime/json_text.h"
#include "runtime/tokenizer/gguf_vocabulary.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

/// The document, piece by piece.
class Text {
 public:
  Text& raw(std::string_view json) {
    text_ += json;
    return *this;
  }
  Text& string(std::string_view value) {
    append_json_string(text_, value);
    return *this;
  }
  Text& number(std::size_t value) {
    text_ += std::to_string(value);
    return *this;
  }
  Text& flag(bool value) { return raw(value ? "true" : "false"); }
  /// Behind the first element of a list or object.
  Text& comma(bool is_first) { return raw(is_first ? "" : ","); }

  [[nodiscard]] std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

void write_splitter(const NamedSplit& split, Text& to) {
  to.raw(R"({"type":"Sequence","pretokenizers":[)");
  bool by_gpt2 = false;  // ByteLevel's own
  for (std::size_t i = 0; i < split.count; ++i) {
    if (split.rules[i] == SplitRule::gpt2) {
      by_gpt2 = true;
    } else if (split.rules[i] == SplitRule::digits) {
      to.raw(R"({"type":"Digits","individual_digits":true},)");
    } else {
      to.raw(R"({"type":"Split","pattern":{"Regex":)")
          .string(pattern_of(split.rules[i]))
          .raw(R"(},"behavior":"Isolated","invert":false},)");
    }
  }
  to.raw(R"({"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":)")
      .flag(by_gpt2)
      .raw("}]}");
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
    const Result<void> checked = check();
    if (!checked) return std::unexpected(checked.error());
    Text to;
    to.raw(R"({"version":"1.0","truncation":null,"padding":null,"added_tokens":[)");
    write_added(to);
    to.raw(R"(],"normalizer":)").raw(split->compose ? R"({"type":"NFC"})" : "null");
    to.raw(R"(,"pre_tokenizer":)");
    write_splitter(*split, to);
    to.raw(R"(,"post_processor":)");
    write_around(to);
    to.raw(R"(,"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,)")
        .raw(R"("use_regex":true},"model":{"type":"BPE","dropout":null,"unk_token":null,)")
        .raw(R"("fuse_unk":false,"byte_fallback":false,"ignore_merges":)")
        .flag(split->whole_words)
        .raw(R"(,"vocab":{)");
    for (std::size_t i = 0; i < gguf_.tokens.size(); ++i)
      to.comma(i == 0).string(gguf_.tokens[i]).raw(":").number(i);
    to.raw(R"(},"merges":[)");
    for (std::size_t i = 0; i < gguf_.merges.size(); ++i) to.comma(i == 0).string(gguf_.merges[i]);
    to.raw("]}}");
    return to.take();
  }

 private:
  [[nodiscard]] std::unexpected<Failure> no_utf8(const char* what, std::string_view text) const {
    return failure(AXLE_UNSUPPORTED,
                   "%s: %s of the tokenizer, \"%s\", is no UTF-8; tokenizer.json cannot hold it",
                   where_.c_str(), what, std::string(text).c_str());
  }

  /// Whether JSON can say it.
  [[nodiscard]] Result<void> check() const {
    std::vector<std::string_view> texts(gguf_.tokens);
    std::sort(texts.begin(), texts.end());
    const auto twice = std::adjacent_find(texts.begin(), texts.end());
    if (twice != texts.end())
      return failure(AXLE_UNSUPPORTED,
                     "%s: two tokens have the text \"%s\"; tokenizer.json cannot hold them",
                     where_.c_str(), std::string(*twice).c_str());
    for (const std::string_view token : gguf_.tokens) {
      if (!is_utf8(token)) return no_utf8("a token", token);
    }
    for (const std::string_view merge : gguf_.merges) {
      if (!is_utf8(merge)) return no_utf8("a merge", merge);
    }
    return {};
  }

  void write_added(Text& to) const {
    bool is_first = true;
    for (std::size_t i = 0; i < gguf_.tokens.size(); ++i) {
      const std::int64_t type = gguf_.types.empty() ? gguf_token::normal : gguf_.types[i];
      if (type != gguf_token::control && type != gguf_token::unknown &&
          type != gguf_token::user_defined)
        continue;
      to.comma(is_first).raw(R"({"id":)").number(i).raw(R"(,"content":)").string(gguf_.tokens[i]);
      to.raw(R"(,"single_word":false,"lstrip":false,"rstrip":false,"normalized":false,"special":)")
          .flag(type != gguf_token::user_defined)
          .raw("}");
      is_first = false;
    }
  }

  /// What stands before and after every text; ids were checked when the model was opened.
  void write_around(Text& to) const {
    struct Around {
      std::size_t id;
      bool is_before;
    };
    std::vector<Around> tokens;
    const auto add = [&](bool wanted, const std::optional<std::int32_t>& id, bool is_before) {
      if (wanted && id) tokens.push_back({static_cast<std::size_t>(*id), is_before});
    };
    add(gguf_.add_begin, gguf_.begin, true);
    add(gguf_.add_end, gguf_.end, false);
    if (tokens.empty()) {
      to.raw("null");
      return;
    }
    to.raw(R"({"type":"TemplateProcessing","single":[)");
    const std::string_view text = R"({"Sequence":{"id":"A","type_id":0}})";
    if (!tokens.front().is_before) to.raw(text);
    for (const Around& token : tokens) {
      if (!token.is_before) to.raw(",");
      to.raw(R"({"SpecialToken":{"id":)").string(gguf_.tokens[token.id]).raw(R"(,"type_id":0}})");
      if (token.is_before) to.raw(",").raw(text);
    }
    to.raw(R"(],"pair":[],"special_tokens":{)");
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const std::size_t id = tokens[i].id;
      if (i == 1 && id == tokens[0].id) break;
      const std::string_view name = gguf_.tokens[id];
      to.comma(i == 0).string(name).raw(R"(:{"id":)").string(name).raw(R"(,"ids":[)").number(id);
      to.raw(R"(],"tokens":[)").string(name).raw("]}");
    }
    to.raw("}}");
  }

  const GgufVocabulary& gguf_;
  const std::string& where_;
};

}  // namespace

Result<std::string> tokenizer_json(const GgufVocabulary& vocabulary, const std::string& where) {
  return Writer(vocabulary, where).write();
}

}  // namespace axle::runtime

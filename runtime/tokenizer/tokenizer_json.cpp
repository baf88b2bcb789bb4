// Hugging Face's tokenizer.json: the components that byte-level and BERT tokenizers are made of.
#include <unordered_set>

#include <nlohmann/json.hpp>

#include "runtime/json_nesting.h"
#include "runtime/tokenizer/tokenizer_reader.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

const json nothing;

/// A component of the file with its place, "pre_tokenizer.pretokenizers[0]".
struct Component {
  const json& value;
  std::string place;

  [[nodiscard]] const json& operator[](const char* key) const {
    const auto found = value.is_object() ? value.find(key) : value.end();
    return found == value.end() ? nothing : *found;
  }
  [[nodiscard]] Component member(const char* key) const {
    return {(*this)[key], place.empty() ? key : place + "." + key};
  }
  [[nodiscard]] std::string type() const {
    const json& own = (*this)["type"];
    return own.is_string() ? own.get<std::string>() : "";
  }
  [[nodiscard]] bool flag(const char* key, bool fallback) const {
    const json& own = (*this)[key];
    return own.is_boolean() ? own.get<bool>() : fallback;
  }
  [[nodiscard]] std::string text(const char* key) const {
    const json& own = (*this)[key];
    return own.is_string() ? own.get<std::string>() : "";
  }
};

class JsonReader : TokenizerReader {
 public:
  using TokenizerReader::TokenizerReader;

  Result<Tokenizer> read(const json& document) {
    const Component file{document, ""};
    const Component model = file.member("model");
    Result<void> done = read_added(file.member("added_tokens"));
    // Old files do not name the model's type.
    const std::string type =
        model.type().empty() && model["merges"].is_array() ? "BPE" : model.type();
    if (!done) return std::unexpected(done.error());
    if (type == "BPE") {
      done = read_byte_pairs(file, model);
    } else if (type == "WordPiece") {
      done = read_word_pieces(file, model);
    } else {
      return refuse(model, "a model of type \"" + type + "\"; there are BPE and WordPiece");
    }
    if (done) done = read_post_processor(file.member("post_processor"));
    if (!done) return std::unexpected(done.error());
    return std::move(tokenizer_);
  }

 private:
  std::unexpected<Failure> refuse(const Component& at, const std::string& what) const {
    return failure(AXLE_UNSUPPORTED, "%s: %s: %s is not supported", where_.c_str(),
                   at.place.c_str(), what.c_str());
  }
  std::unexpected<Failure> complain(const Component& at, const char* what) const {
    return failure(AXLE_MALFORMED, "%s: %s %s", where_.c_str(), at.place.c_str(), what);
  }

  Result<void> read_added(const Component& list) {
    if (list.value.is_null()) return {};
    if (!list.value.is_array()) return complain(list, "is not a list");
    for (const json& entry : list.value) {
      const Component token{entry, list.place};
      const json& id = token["id"];
      if (!id.is_number_integer() || !token["content"].is_string())
        return complain(list, "holds an entry without \"id\" and \"content\"");
      const std::string text = token.text("content");
      const bool special = token.flag("special", false);
      const Result<void> added_text = add_text(id.get<std::int64_t>(), text, special);
      if (!added_text) return added_text;
      added_ids_.insert(id.get<std::int64_t>());
      added().add({.id = id.get<std::int32_t>(),
                   .text = decode_utf8(text),
                   .special = special,
                   .normalised = token.flag("normalized", false),
                   .single_word = token.flag("single_word", false),
                   .strip_left = token.flag("lstrip", false),
                   .strip_right = token.flag("rstrip", false)});
    }
    return {};
  }

  /// Calls `add` with each token of "vocab" that is not an added one.
  template <class Add>
  Result<void> read_vocabulary(const Component& model, bool bytes, Add add) {
    const Component vocabulary = model.member("vocab");
    if (!vocabulary.value.is_object()) return complain(vocabulary, "is not an object");
    for (const auto& [written, id] : vocabulary.value.items()) {
      if (!id.is_number_integer())
        return complain(vocabulary, "holds an id that is no whole number");
      if (added_ids_.contains(id.template get<std::int64_t>())) continue;
      std::string text = bytes ? bytes_of_token(written) : written;
      const Result<void> added_text = add_text(id.template get<std::int64_t>(), text, false);
      if (!added_text) return added_text;
      add(std::move(text), id.template get<std::int32_t>());
    }
    return {};
  }

  Result<void> read_byte_pairs(const Component& file, const Component& model) {
    if (model.flag("byte_fallback", false))
      return refuse(model, "byte_fallback, as SentencePiece has it,");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model.text(affix).empty()) return refuse(model, std::string("a ") + affix);
    }
    ByteLevelModel& bytes = use_bytes();
    Result<void> done = read_vocabulary(model, true, [&](std::string text, std::int32_t id) {
      bytes.pairs.add_token(std::move(text), id);
    });
    if (done && model["unk_token"].is_string()) {
      const std::optional<std::int32_t> unknown = tokenizer_.find(model.text("unk_token"));
      if (unknown) bytes.pairs.set_unknown(*unknown);
    }
    if (model.flag("ignore_merges", false)) bytes.pairs.take_whole_words();
    bytes.pairs.finish();
    if (done) done = read_merges(model.member("merges"), bytes.pairs);
    if (done) done = read_composition(file.member("normalizer"), bytes);
    if (done) done = read_splits(file.member("pre_tokenizer"), bytes);
    if (done && !byte_level_)
      return refuse(file.member("pre_tokenizer"), "byte pair encoding that is not ByteLevel");
    return done;
  }

  Result<void> read_merges(const Component& merges, BytePairs& pairs) const {
    if (!merges.value.is_array()) return complain(merges, "is not a list");
    for (const json& merge : merges.value) {
      std::string left;
      std::string right;
      if (merge.is_string()) {
        const std::string both = merge.get<std::string>();
        const std::size_t space = both.find(' ', 1);
        if (space == std::string::npos) return complain(merges, "holds a pair without a space");
        left = both.substr(0, space);
        right = both.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        return complain(merges, "holds something else than pairs of tokens");
      }
      const Result<void> added_merge = pairs.add_merge(left, right, where_ + ": " + merges.place);
      if (!added_merge) return added_merge;
    }
    return {};
  }

  Result<void> read_composition(const Component& normaliser, ByteLevelModel& bytes) const {
    if (normaliser.value.is_null()) return {};
    if (normaliser.type() == "NFC") {
      bytes.compose = true;
      return {};
    }
    if (normaliser.type() != "Sequence") return refuse(normaliser, "\"" + normaliser.type() + "\"");
    return each(normaliser, "normalizers",
                [&](const Component& one) { return read_composition(one, bytes); });
  }

  template <class Read>
  Result<void> each(const Component& sequence, const char* key, Read read) const {
    const Component list = sequence.member(key);
    if (!list.value.is_array()) return complain(list, "is not a list");
    for (std::size_t i = 0; i < list.value.size(); ++i) {
      const Result<void> done =
          read(Component{list.value[i], list.place + "[" + std::to_string(i) + "]"});
      if (!done) return done;
    }
    return {};
  }

  Result<void> read_splits(const Component& splitter, ByteLevelModel& bytes) {
    const std::string type = splitter.type();
    if (type == "Sequence")
      return each(splitter, "pretokenizers",
                  [&](const Component& one) { return read_splits(one, bytes); });
    if (type == "ByteLevel") {
      byte_level_ = true;
      bytes.prefix_space = splitter.flag("add_prefix_space", true);
      if (splitter.flag("use_regex", true)) bytes.rules.push_back(SplitRule::gpt2);
      return {};
    }
    if (type == "Digits") {
      if (!splitter.flag("individual_digits", false)) return refuse(splitter, "Digits in groups");
      bytes.rules.push_back(SplitRule::digits);
      return {};
    }
    if (type != "Split") return refuse(splitter, "\"" + type + "\"");
    const std::string pattern = splitter.member("pattern").text("Regex");
    const SplitRule rule = rule_of_pattern(pattern);
    if (rule == SplitRule::none)
      return refuse(splitter, "the regular expression \"" + pattern + "\"");
    if (splitter.text("behavior") != "Isolated" || splitter.flag("invert", false))
      return refuse(splitter, "a split that is not \"Isolated\"");
    bytes.rules.push_back(rule);
    return {};
  }

  Result<void> read_word_pieces(const Component& file, const Component& model) {
    WordPieceModel& words = use_words();
    Result<void> done = read_vocabulary(model, false, [&](std::string text, std::int32_t id) {
      words.pieces.add_token(std::move(text), id);
    });
    if (!done) return done;
    const std::optional<std::int32_t> unknown = tokenizer_.find(model.text("unk_token"));
    if (!unknown) return complain(model.member("unk_token"), "is no token");
    words.pieces.unknown = *unknown;
    const json& prefix = model["continuing_subword_prefix"];
    if (prefix.is_string()) words.pieces.continuation = prefix.get<std::string>();
    const json& longest = model["max_input_chars_per_word"];
    if (longest.is_number_unsigned()) words.pieces.longest_word = longest.get<std::size_t>();
    const Component normaliser = file.member("normalizer");
    if (normaliser.type() != "BertNormalizer")
      return refuse(normaliser, "\"" + normaliser.type() + "\" with WordPiece");
    words.cleaning.clean_text = normaliser.flag("clean_text", true);
    words.cleaning.separate_chinese = normaliser.flag("handle_chinese_chars", true);
    words.cleaning.lower_case = normaliser.flag("lowercase", true);
    words.cleaning.strip_accents = normaliser.flag("strip_accents", words.cleaning.lower_case);
    const Component splitter = file.member("pre_tokenizer");
    if (splitter.type() != "BertPreTokenizer")
      return refuse(splitter, "\"" + splitter.type() + "\" with WordPiece");
    return {};
  }

  Result<void> read_post_processor(const Component& processor) {
    const std::string type = processor.type();
    if (processor.value.is_null() || type == "ByteLevel") return {};
    if (type == "Sequence")
      return each(processor, "processors",
                  [&](const Component& one) { return read_post_processor(one); });
    if (type == "BertProcessing" || type == "RobertaProcessing") {
      for (const auto& [key, to] : {std::pair("cls", &prefix()), std::pair("sep", &suffix())}) {
        const json& pair = processor[key];
        if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_integer())
          return complain(processor.member(key), "is no pair of a token and its id");
        to->push_back(pair[1].get<std::int32_t>());
      }
      return {};
    }
    if (type == "TemplateProcessing") return read_template(processor);
    return refuse(processor, "\"" + type + "\"");
  }

  Result<void> read_template(const Component& processor) {
    const Component single = processor.member("single");
    if (!single.value.is_array()) return complain(single, "is not a list");
    std::vector<std::int32_t>* to = &prefix();
    for (const json& entry : single.value) {
      if (entry.is_object() && entry.contains("Sequence")) {
        to = &suffix();
        continue;
      }
      const Component piece{entry, single.place};
      const std::string name = piece.member("SpecialToken").text("id");
      const Component tokens = processor.member("special_tokens").member(name.c_str());
      const json& ids = tokens["ids"];
      if (!ids.is_array()) return complain(tokens, "has no \"ids\"");
      for (const json& id : ids) {
        if (!id.is_number_integer()) return complain(tokens, "has an id that is no whole number");
        to->push_back(id.get<std::int32_t>());
      }
    }
    return {};
  }

  std::unordered_set<std::int64_t> added_ids_;
  bool byte_level_ = false;
};

}  // namespace

Result<Tokenizer> Tokenizer::parse_json(std::string_view text, const std::string& where) {
  const Result<void> nesting = check_json_nesting(text, where);
  if (!nesting) return std::unexpected(nesting.error());
  const json document = json::parse(text, nullptr, false);
  if (document.is_discarded() || !document.is_object())
    return failure(AXLE_MALFORMED, "%s: not a JSON object", where.c_str());
  return JsonReader(where).read(document);
}

}  // namespace axle::runtime

// Hugging Face's tokenizer.json: the components that byte pair and BERT tokenizers are made of.
#include <map>

#include <nlohmann/json.hpp>

#include "runtime/json_tree.h"
#include "runtime/tokenizer/tokenizer.h"
#include "runtime/tokenizer/unicode.h"

namespace axle::runtime {
namespace {

using nlohmann::json;

constexpr int deepest = 16;  // components in components

const json nothing;

/// The first error of a file. What is read after it does not matter.
struct Report {
  std::string where;
  std::optional<Failure> first;

  void say(axle_status status, const std::string& place, const std::string& what) {
    if (!first)
      first = failure(status, "%s: %s %s", where.c_str(), place.c_str(), what.c_str()).error();
  }
};

/// A value of the file with its place, "pre_tokenizer.pretokenizers[0]".
class Component {
 public:
  Component(const json& value, std::string place, Report& report)
      : value_(&value), place_(std::move(place)), report_(&report) {}

  [[nodiscard]] const json& value() const { return *value_; }
  [[nodiscard]] bool is_absent() const { return value_->is_null(); }

  void malformed(const std::string& what) const { report_->say(AXLE_MALFORMED, place_, what); }
  void unsupported(const std::string& what) const {
    report_->say(AXLE_UNSUPPORTED, place_, "is " + what + ", which is not supported");
  }

  [[nodiscard]] Component member(const std::string& key) const {
    const auto found = value_->is_object() ? value_->find(key) : value_->end();
    return {found == value_->end() ? nothing : *found, place_.empty() ? key : place_ + "." + key,
            *report_};
  }
  [[nodiscard]] Component element(std::size_t i) const {
    return {(*value_)[i], place_ + "[" + std::to_string(i) + "]", *report_};
  }

  /// Elements of a list; none, and an error, if it is something else.
  [[nodiscard]] std::size_t count() const {
    if (value_->is_array()) return value_->size();
    malformed("is not a list");
    return 0;
  }
  [[nodiscard]] std::string text() const {
    if (value_->is_string()) return value_->get<std::string>();
    malformed("is not a text");
    return "";
  }
  [[nodiscard]] std::int64_t id() const {
    if (value_->is_number_unsigned() && value_->get<std::uint64_t>() < INT32_MAX)
      return value_->get<std::int64_t>();
    malformed("is not the id of a token");
    return 0;
  }

  [[nodiscard]] bool flag(const char* key, bool fallback) const {
    const Component own = member(key);
    if (own.is_absent()) return fallback;
    if (own.value().is_boolean()) return own.value().get<bool>();
    own.malformed("is neither true nor false");
    return fallback;
  }
  [[nodiscard]] std::string text_of(const char* key, const char* fallback = "") const {
    const Component own = member(key);
    return own.is_absent() ? fallback : own.text();
  }
  [[nodiscard]] std::string type() const { return text_of("type"); }

 private:
  const json* value_;
  std::string place_;
  Report* report_;
};

std::string in_quotes(const std::string& text) { return "\"" + text + "\""; }

class JsonReader {
 public:
  JsonReader(const json& document, const std::string& where)
      : report_{where, std::nullopt}, file_(document, "", report_) {}

  Result<Tokenizer> read() {
    const Component model = file_.member("model");
    const Component added = file_.member("added_tokens");
    read_added(added);
    // Old files do not name the model's type.
    const std::string type =
        model.type().empty() && model.member("merges").value().is_array() ? "BPE" : model.type();
    if (type == "BPE") {
      read_byte_pairs(model);
    } else if (type == "WordPiece") {
      read_word_pieces(model);
    } else {
      model.unsupported("of type " + in_quotes(type) + " (there are BPE and WordPiece)");
    }
    read_post_processor(file_.member("post_processor"), 0);
    if (report_.first) return std::unexpected(*report_.first);
    return Tokenizer(std::move(parts_));
  }

 private:
  /// An added token by its id.
  struct Known {
    std::string text;
    bool special;
  };

  void read_added(const Component& list) {
    if (list.is_absent()) return;
    const std::size_t count = list.count();
    for (std::size_t i = 0; i < count && !report_.first; ++i) {
      const Component token = list.element(i);
      const bool special = token.flag("special", false);
      AddedToken added{.id = static_cast<std::int32_t>(token.member("id").id()),
                       .text = token.member("content").text(),
                       .special = special,
                       .single_word = token.flag("single_word", false),
                       .strip_left = token.flag("lstrip", false),
                       .strip_right = token.flag("rstrip", false)};
      if (!added_ids_.emplace(added.id, Known{added.text, special}).second)
        token.member("id").malformed("is the id of another added token as well");
      // Control tokens are found in the text as it is, whatever "normalized" says: only there it is
      // known who wrote them.
      const bool normalised = token.flag("normalized", !special) && !special;
      (normalised ? parts_.added_normalised : parts_.added).push_back(std::move(added));
    }
  }

  /// The model's tokens; `bytes`: as ByteLevel writes them.
  void read_vocabulary(const Component& model, bool bytes) {
    const Component list = model.member("vocab");
    if (!list.value().is_object()) return list.malformed("is not an object");
    parts_.vocabulary = Vocabulary(list.value().size());
    for (const auto& [written, id_value] : list.value().items()) {
      const Component entry(id_value, "model.vocab[" + in_quotes(written) + "]", report_);
      const std::int64_t id = entry.id();
      const auto added = added_ids_.find(id);
      if (added != added_ids_.end() && added->second.text != written)
        entry.malformed("is also the added token " + in_quotes(added->second.text));
      // A user's text must not become a control token by way of the merges.
      const bool hidden = bytes && added != added_ids_.end() && added->second.special;
      if (!hidden) add(entry, id, bytes ? bytes_of_token(written) : written);
      if (report_.first) return;
    }
  }

  void add(const Component& entry, std::int64_t id, std::string_view text) {
    switch (parts_.vocabulary.add(id, text)) {
      case Vocabulary::Added::taken:
        return entry.malformed("has the id of another token");
      case Vocabulary::Added::too_high:
        return entry.malformed("has an id out of all proportion to the number of tokens");
      case Vocabulary::Added::yes:
        break;
    }
  }

  /// The id of a token by the text that the file has for it; an error if there is none.
  std::optional<std::int32_t> id_of(const Component& name) const {
    const std::string text = name.text();
    for (const auto& [id, added] : added_ids_) {
      if (added.text == text) return static_cast<std::int32_t>(id);
    }
    const std::int32_t found = parts_.vocabulary.find(text);
    if (found != Vocabulary::none) return found;
    name.malformed("is no token");
    return std::nullopt;
  }

  void read_byte_pairs(const Component& model) {
    BytePairModel& pairs = parts_.model.emplace<BytePairModel>();
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"}) {
      if (!model.text_of(affix).empty()) model.member(affix).unsupported("not empty");
    }
    const Component dropout = model.member("dropout");
    if (!dropout.is_absent() && dropout.value() != 0) dropout.unsupported("not 0");
    read_normaliser(file_.member("normalizer"), pairs, 0);
    const Component splitter = file_.member("pre_tokenizer");
    if (!splitter.is_absent()) read_splitter(splitter, pairs, 0);
    if (!byte_level_ && !pairs.spaces && !report_.first)
      splitter.unsupported("neither ByteLevel nor Metaspace");
    if (byte_level_ && pairs.spaces) splitter.unsupported("ByteLevel together with Metaspace");
    pairs.pairs.alphabet = {.characters = !byte_level_,
                            .byte_fallback = model.flag("byte_fallback", false),
                            .fuse_unknown = model.flag("fuse_unk", false)};
    read_vocabulary(model, byte_level_);
    const Component unknown = model.member("unk_token");
    if (!unknown.is_absent()) parts_.unknown = id_of(unknown);
    pairs.pairs.alphabet.unknown = parts_.unknown.value_or(Vocabulary::none);
    pairs.pairs.whole_words = model.flag("ignore_merges", false);
    if (!report_.first) read_merges(model.member("merges"), pairs.pairs);
    if (pairs.spaces) read_decoder(file_.member("decoder"), *pairs.spaces, 0);
  }

  void read_merges(const Component& merges, BytePairs& pairs) {
    const std::size_t count = merges.count();
    pairs.begin(parts_.vocabulary, count);
    for (std::size_t i = 0; i < count && !report_.first; ++i) {
      const json& merge = merges.value()[i];
      std::string left;
      std::string right;
      if (merge.is_string()) {
        const std::string& both = merge.get_ref<const std::string&>();
        const std::size_t space = both.find(' ', 1);
        if (space == std::string::npos) return merges.element(i).malformed("has no space");
        left = both.substr(0, space);
        right = both.substr(space + 1);
      } else if (merge.is_array() && merge.size() == 2 && merge[0].is_string() &&
                 merge[1].is_string()) {
        left = merge[0].get<std::string>();
        right = merge[1].get<std::string>();
      } else {
        return merges.element(i).malformed("is not a pair of tokens");
      }
      if (byte_level_) {
        left = bytes_of_token(left);
        right = bytes_of_token(right);
      }
      const Result<void> done =
          pairs.add_merge(parts_.vocabulary, left, right, report_.where + ": model.merges");
      if (!done && !report_.first) report_.first = done.error();
    }
  }

  /// Calls `read` with each element of the list.
  template <class Read>
  void each(const Component& list, int depth, Read read) {
    if (depth > deepest) return list.unsupported("nested too deeply");
    const std::size_t count = list.count();
    for (std::size_t i = 0; i < count && !report_.first; ++i) read(list.element(i));
  }

  void read_normaliser(const Component& normaliser, BytePairModel& model, int depth) {
    if (normaliser.is_absent()) return;
    const std::string type = normaliser.type();
    if (type == "Sequence") {
      each(normaliser.member("normalizers"), depth,
           [&](const Component& one) { read_normaliser(one, model, depth + 1); });
    } else if (type == "NFC") {
      model.compose = true;
    } else if (type == "Prepend" && normaliser.text_of("prepend") == visible_space) {
      if (!model.spaces) model.spaces.emplace();
      model.spaces->before = VisibleSpaces::Before::each_always;
    } else if (type == "Replace" && normaliser.member("pattern").text_of("String") == " " &&
               normaliser.text_of("content") == visible_space) {
      if (!model.spaces) model.spaces.emplace();
    } else {
      normaliser.unsupported("the normalizer " + in_quotes(type));
    }
  }

  void read_splitter(const Component& splitter, BytePairModel& model, int depth) {
    const std::string type = splitter.type();
    if (type == "Sequence") {
      each(splitter.member("pretokenizers"), depth,
           [&](const Component& one) { read_splitter(one, model, depth + 1); });
    } else if (type == "ByteLevel") {
      byte_level_ = true;
      if (splitter.flag("add_prefix_space", true)) model.rules.push_back(SplitRule::space_before);
      if (splitter.flag("use_regex", true)) model.rules.push_back(SplitRule::gpt2);
    } else if (type == "Digits") {
      if (!splitter.flag("individual_digits", false)) splitter.unsupported("Digits in groups");
      model.rules.push_back(SplitRule::digits);
    } else if (type == "Split") {
      read_split(splitter, model);
    } else if (type == "Metaspace") {
      read_metaspace(splitter, model);
    } else {
      splitter.unsupported("the pre-tokenizer " + in_quotes(type));
    }
    if (model.rules.size() > deepest) splitter.unsupported("one of too many");
  }

  static void read_split(const Component& splitter, BytePairModel& model) {
    const std::string pattern = splitter.member("pattern").text_of("Regex");
    SplitRule rule{};
    if (!find_rule(pattern, rule))
      return splitter.member("pattern").unsupported("the regular expression " + in_quotes(pattern));
    // "Removed" with "invert" is what old files say for the same.
    const std::string behavior = splitter.text_of("behavior");
    const bool inverted = splitter.flag("invert", false);
    if ((behavior != "Isolated" || inverted) && (behavior != "Removed" || !inverted))
      return splitter.unsupported("a split that is not \"Isolated\"");
    model.rules.push_back(rule);
  }

  static void read_metaspace(const Component& splitter, BytePairModel& model) {
    using Before = VisibleSpaces::Before;
    if (model.spaces)
      return splitter.unsupported("Metaspace behind a normalizer that does the same");
    if (splitter.text_of("replacement") != visible_space)
      return splitter.unsupported("a Metaspace with another character than U+2581");
    VisibleSpaces& spaces = model.spaces.emplace();
    const bool older = splitter.flag("add_prefix_space", true);
    const std::string scheme = splitter.text_of("prepend_scheme", older ? "always" : "never");
    spaces.split = splitter.flag("split", true);
    if (scheme == "always") {
      spaces.before = Before::each;
    } else if (scheme == "first") {
      spaces.before = Before::first;
    } else if (scheme != "never") {
      splitter.unsupported("of the prepend_scheme " + in_quotes(scheme));
    }
  }

  /// Only whether a text's first space is given out; the rest follows from the model.
  void read_decoder(const Component& decoder, VisibleSpaces& spaces, int depth) {
    if (decoder.is_absent()) return;
    const std::string type = decoder.type();
    if (type == "Sequence") {
      each(decoder.member("decoders"), depth,
           [&](const Component& one) { read_decoder(one, spaces, depth + 1); });
    } else if (type == "Strip") {
      spaces.strip_first = decoder.member("start").value() == 1;
    } else if (type == "Metaspace") {
      spaces.strip_first = decoder.text_of("prepend_scheme", "always") != "never";
    } else if (type != "Replace" && type != "ByteFallback" && type != "Fuse") {
      decoder.unsupported("the decoder " + in_quotes(type));
    }
  }

  void read_word_pieces(const Component& model) {
    WordPieceModel& words = parts_.model.emplace<WordPieceModel>();
    read_vocabulary(model, false);
    parts_.unknown = id_of(model.member("unk_token"));
    words.pieces.unknown = parts_.unknown.value_or(0);
    words.pieces.continuation = model.text_of("continuing_subword_prefix", "##");
    const Component longest = model.member("max_input_chars_per_word");
    if (!longest.is_absent()) words.pieces.longest_word = static_cast<std::size_t>(longest.id());
    const Component normaliser = file_.member("normalizer");
    if (normaliser.type() != "BertNormalizer")
      normaliser.unsupported(in_quotes(normaliser.type()) + " with WordPiece");
    words.cleaning.clean_text = normaliser.flag("clean_text", true);
    words.cleaning.separate_chinese = normaliser.flag("handle_chinese_chars", true);
    words.cleaning.lower_case = normaliser.flag("lowercase", true);
    words.cleaning.strip_accents = normaliser.flag("strip_accents", words.cleaning.lower_case);
    const Component splitter = file_.member("pre_tokenizer");
    if (splitter.type() != "BertPreTokenizer")
      splitter.unsupported(in_quotes(splitter.type()) + " with WordPiece");
    words.clean_up = file_.member("decoder").flag("cleanup", true);
  }

  void read_post_processor(const Component& processor, int depth) {
    const std::string type = processor.type();
    if (processor.is_absent() || type == "ByteLevel") return;
    if (type == "Sequence") {
      each(processor.member("processors"), depth,
           [&](const Component& one) { read_post_processor(one, depth + 1); });
    } else if (type == "BertProcessing" || type == "RobertaProcessing") {
      read_pair(processor.member("cls"), parts_.prefix);
      read_pair(processor.member("sep"), parts_.suffix);
      if (type == "BertProcessing") add_bert_pair();
    } else if (type == "TemplateProcessing") {
      read_template(processor);
    } else {
      processor.unsupported("the post-processor " + in_quotes(type));
    }
  }

  /// `["[CLS]", 101]`
  void read_pair(const Component& pair, std::vector<std::int32_t>& to) {
    if (!pair.value().is_array() || pair.value().size() != 2)
      return pair.malformed("is not a token and its id");
    add_around(pair.element(1), to);
  }

  void add_around(const Component& id, std::vector<std::int32_t>& to) {
    const std::int64_t own = id.id();
    const bool known =
        added_ids_.contains(own) || !parts_.vocabulary.text(static_cast<std::int32_t>(own)).empty();
    if (!known) return id.malformed("is the id of no token");
    to.push_back(static_cast<std::int32_t>(own));
  }

  void read_template(const Component& processor) {
    std::vector<std::int32_t>* to = &parts_.prefix;
    each(processor.member("single"), 0, [&](const Component& piece) {
      if (!is_sequence(piece)) return add_special(processor, piece, *to);
      if (to == &parts_.suffix) piece.unsupported("the text a second time");
      to = &parts_.suffix;
    });
    const Component pair = processor.member("pair");
    if (!pair.is_absent()) read_pair_template(processor, pair);
  }

  /// [CLS] A [SEP] B [SEP]
  void add_bert_pair() {
    const auto add = [&](const std::vector<std::int32_t>& tokens, bool second) {
      for (const std::int32_t token : tokens)
        parts_.pair.push_back({PairPiece::Kind::token, token, second});
    };
    add(parts_.prefix, false);
    parts_.pair.push_back({PairPiece::Kind::first_text, 0, false});
    add(parts_.suffix, false);
    parts_.pair.push_back({PairPiece::Kind::second_text, 0, true});
    add(parts_.suffix, true);
  }

  static bool is_sequence(const Component& piece) {
    return piece.value().is_object() && piece.value().contains("Sequence");
  }

  /// A token of a template, `{"SpecialToken": {"id": "[CLS]", "type_id": 0}}`.
  void add_special(const Component& processor, const Component& piece,
                   std::vector<std::int32_t>& to) {
    const std::string name = piece.member("SpecialToken").member("id").text();
    each(processor.member("special_tokens").member(name).member("ids"), 0,
         [&](const Component& id) { add_around(id, to); });
  }

  /// A template of another form than A and then B, in segments 0 and then 1, is left out: texts
  /// alone can be read.
  void read_pair_template(const Component& processor, const Component& list) {
    std::vector<PairPiece> pair;
    std::size_t texts = 0;
    std::int64_t segment = 0;
    bool is_known = true;
    each(list, 0, [&](const Component& piece) {
      const bool is_text = is_sequence(piece);
      const Component own = piece.member(is_text ? "Sequence" : "SpecialToken");
      const std::int64_t before = segment;
      segment = own.member("type_id").id();
      is_known = is_known && segment >= before && segment <= 1;
      const bool second = segment == 1;
      if (is_text) {
        is_known = is_known && texts < 2 && own.member("id").text() == (texts == 0 ? "A" : "B");
        const bool is_first = texts++ == 0;
        pair.push_back(
            {is_first ? PairPiece::Kind::first_text : PairPiece::Kind::second_text, 0, second});
      } else {
        std::vector<std::int32_t> tokens;
        add_special(processor, piece, tokens);
        for (const std::int32_t token : tokens)
          pair.push_back({PairPiece::Kind::token, token, second});
      }
    });
    if (is_known && texts == 2) parts_.pair = std::move(pair);
  }

  Report report_;
  Component file_;
  TokenizerParts parts_;
  std::map<std::int64_t, Known> added_ids_;
  bool byte_level_ = false;
};

}  // namespace

Result<Tokenizer> Tokenizer::parse_json(std::string_view text, const std::string& where) {
  const Result<JsonTree> tree = JsonTree::parse(text, where);
  if (!tree) return std::unexpected(tree.error());
  const json& document = tree->root();
  if (document.is_discarded() || !document.is_object())
    return failure(AXLE_MALFORMED, "%s: not a JSON object", where.c_str());
  return JsonReader(document, where).read();
}

}  // namespace axle::runtime

#pragma once
// Reading a JSON document against its rules: the first thing wrong is kept, with its place. Private
// to the reader of variant metadata.

#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/documents/json_tree.h"
#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::wheel {

/// A place in the document: rendered only when something is wrong there.
struct Place {
  const Place* parent = nullptr;
  std::string_view key = {};
  std::size_t index = 0;  // of an array item, when `key` is empty
};

/// "providers.x86_64.requires[0]"; empty for the whole document.
[[nodiscard]] std::string render_place(const Place& place);

[[nodiscard]] bool is_plain_text(std::string_view text);

/// Every check returns false after a complaint; `error` then says what and where.
class DocumentReader {
 public:
  using Check = bool (*)(std::string_view);
  using Keys = std::initializer_list<std::string_view>;

  DocumentReader(std::string_view where, Report& report) : where_(where), report_(report) {}

  /// Always false.
  bool complain(const Place& place, std::string_view problem, std::string hint = {});
  void note(const Place& place, std::string_view remark);
  [[nodiscard]] const Error& error() const { return error_; }
  [[nodiscard]] std::string_view where() const { return where_; }

  bool expect(const documents::JsonNode& node, documents::JsonNode::Kind kind, const Place& place);
  /// The member `key` of that kind; nullptr after a complaint.
  const documents::JsonNode* require(const documents::JsonNode& object, std::string_view key,
                                     documents::JsonNode::Kind kind, const Place& place);
  /// No other keys than `known`; with `tolerant` others are only noted.
  bool check_keys(const documents::JsonNode& object, Keys known, bool tolerant, const Place& place);
  bool check_namespace(std::string_view ns, const Place& place);

  /// Optional members: left alone when absent.
  bool read_flag(const documents::JsonNode& table, std::string_view key, const Place& place,
                 bool& flag);
  bool read_text(const documents::JsonNode& table, std::string_view key, const Place& place,
                 Check check, std::string_view what, std::string& text);

  /// A list of different strings that pass `check`, named `what` in complaints.
  bool read_list(const documents::JsonNode& node, const Place& place, Check check,
                 std::string_view what, bool may_be_empty, std::vector<std::string>& list);
  /// {feature: [value, …]} in document order.
  bool read_features(const documents::JsonNode& node, const Place& place, bool may_be_empty,
                     std::vector<FeatureValues>& features);

 private:
  std::string_view where_;
  Report& report_;
  Error error_{ErrorKind::malformed, {}, {}};
};

}  // namespace axle::wheel

#pragma once
// A kept answer as it lies in the cache: sealed fields (installer/sealed_fields.h).

#include <optional>
#include <string>
#include <string_view>

namespace axle::session {

struct KeptAnswer {
  std::string text;    ///< on stdout
  std::string note;    ///< what is said besides; may be empty
  std::string folder;  ///< of the environment

  bool operator==(const KeptAnswer&) const = default;
};

struct AnswerRecord {
  std::string key;    ///< the hash of what it depends on besides the machine and files
  std::string facts;  ///< of the machine; empty where they do not count
  KeptAnswer answer;
  bool seen_twice = false;  ///< two runs saw the same states: it may be given
  std::string states;       ///< of the files at `paths` (installer::PathStates)
  std::string paths;        ///< one field each

  bool operator==(const AnswerRecord&) const = default;
};

[[nodiscard]] std::string render_answer_record(const AnswerRecord& record);

/// nullopt: damaged, or of another version. `where`: the file, for messages.
[[nodiscard]] std::optional<AnswerRecord> parse_answer_record(std::string_view text,
                                                              std::string_view where);

}  // namespace axle::session

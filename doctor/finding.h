#pragma once
// The result of `variant doctor` and `variant audit`: findings with a code each, and what was not
// examined.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/fact.h"

namespace axle::doctor {

enum class FindingLevel : std::uint8_t { error, warning, info };

/// A file, a section of it, and a statement about it; a fact of the machine has neither file nor
/// section.
struct Evidence {
  std::string file;
  std::string section;
  std::string fact;
};

/// How to fix a finding: in words, with commands, or both; empty if there is nothing to do.
struct Hint {
  std::string words;
  /// Complete lines for a shell, to be run one after the other in one session.
  std::vector<std::string> commands;
  bool apart = false;  ///< each command is worth it, even if one before it fails

  Hint() = default;
  // NOLINTNEXTLINE(google-explicit-constructor): most are words alone
  Hint(std::string text) : words(std::move(text)) {}
  Hint(const char* text) : words(text) {}
  Hint(std::string text, std::vector<std::string> lines)
      : words(std::move(text)), commands(std::move(lines)) {}

  [[nodiscard]] bool empty() const { return words.empty() && commands.empty(); }
};

/// Limits lists, of files for instance: a finding shows this many, and the total number.
inline constexpr std::size_t most_examples = 5;

struct Finding {
  std::string code;  ///< of a row of finding_codes()
  FindingLevel level = FindingLevel::info;
  std::string subject;  ///< its subject: "torch 2.9.0", "GPU 0000:65:00.0", "driver"
  std::string message;
  Facts facts;  ///< why, as data, where a provider says it; empty: `message` and `evidence` say all
  std::vector<Evidence> evidence;
  Hint hint;
};

/// One code: its meaning and its fix, for docs/doctor.md and docs/audit.md.
struct FindingCode {
  std::string_view code;
  FindingLevel level;  ///< the usual level
  std::string_view meaning;
  std::string_view hint;
};

/// Those of `variant doctor`, in the order in which findings are shown within one level.
[[nodiscard]] std::span<const FindingCode> finding_codes();

class Findings {
 public:
  /// `codes` outlive it.
  explicit Findings(std::span<const FindingCode> codes = finding_codes()) : codes_(codes) {}

  /// With the code's usual level.
  Finding& add(std::string_view code, std::string subject, std::string message);
  void not_looked_at(std::string what) { unseen_.push_back(std::move(what)); }

  /// Errors first, then warnings; within one level in the order of the codes.
  void sort();
  [[nodiscard]] bool has_error() const;
  /// Errors or warnings.
  [[nodiscard]] bool has_fault() const;
  [[nodiscard]] const std::vector<Finding>& all() const { return findings_; }
  [[nodiscard]] std::span<Finding> each() { return findings_; }
  [[nodiscard]] const std::vector<std::string>& unseen() const { return unseen_; }

 private:
  [[nodiscard]] std::size_t place_of(std::string_view code) const;

  std::span<const FindingCode> codes_;
  std::vector<Finding> findings_;
  std::vector<std::string> unseen_;
};

/// "words: command && command"
[[nodiscard]] std::string render_hint(const Hint& hint);
[[nodiscard]] std::string_view render_level(FindingLevel level);

}  // namespace axle::doctor

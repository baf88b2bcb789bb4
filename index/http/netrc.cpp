#include "index/http/netrc.h"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "index/http/local_files.h"

namespace axle::index {
namespace {

constexpr std::uint64_t max_netrc_bytes = 1U << 20;
constexpr std::string_view netrc_blanks = " \t\r\n";

/// Words as in Python's netrc: a quoted one may contain netrc_blanks, a backslash escapes the next
/// character.
class NetrcWords {
 public:
  explicit NetrcWords(std::string_view text) : rest_(text) {}

  /// `keyword`: where a keyword is allowed, "#" begins a comment.
  std::optional<std::string> next(bool keyword) {
    for (;;) {
      skip(std::min(rest_.find_first_not_of(netrc_blanks), rest_.size()));
      if (rest_.empty()) return std::nullopt;
      if (!keyword || rest_.front() != '#') break;
      skip(std::min(rest_.find('\n'), rest_.size()));
    }
    const bool quoted = rest_.front() == '"';
    if (quoted) skip(1);
    std::string word;
    while (!rest_.empty()) {
      if (quoted ? rest_.front() == '"' : netrc_blanks.contains(rest_.front())) break;
      if (rest_.front() == '\\' && rest_.size() > 1) skip(1);
      word += rest_.front();
      skip(1);
    }
    if (quoted && !rest_.empty()) skip(1);
    return word;
  }

  /// A macro ends at an empty line.
  void skip_macro() {
    std::size_t end = rest_.find("\n\n");
    if (const std::size_t other = rest_.find("\n\r\n"); other < end) end = other;
    skip(std::min(end, rest_.size()));
  }

  [[nodiscard]] unsigned line() const { return line_; }

 private:
  void skip(std::size_t count) {
    line_ += static_cast<unsigned>(std::ranges::count(rest_.substr(0, count), '\n'));
    rest_.remove_prefix(count);
  }

  std::string_view rest_;
  unsigned line_ = 1;
};

}  // namespace

Result<std::vector<NetrcEntry>> parse_netrc(std::string_view text, const std::string& where) {
  std::vector<NetrcEntry> entries;
  NetrcWords words(text);
  const auto broken = [&](unsigned line, std::string_view what) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where, line, what),
                "a netrc file has entries like `machine HOST login USER password SECRET`");
  };
  bool in_entry = false;
  while (const std::optional<std::string> keyword = words.next(true)) {
    const unsigned line = words.line();
    if (*keyword == "default") {
      entries.emplace_back();
      in_entry = true;
      continue;
    }
    // A word that is not a keyword may be a secret: it is not shown.
    if (*keyword != "machine" && *keyword != "macdef" && *keyword != "login" &&
        *keyword != "user" && *keyword != "account" && *keyword != "password") {
      return broken(line, "an unknown keyword");
    }
    std::optional<std::string> value = words.next(false);
    if (!value) return broken(line, fmt::format("`{}` without a value", *keyword));
    if (*keyword == "macdef") {
      words.skip_macro();
    } else if (*keyword == "machine") {
      entries.push_back({std::move(*value), {}, {}});
      in_entry = true;
    } else if (!in_entry) {
      return broken(line, fmt::format("`{}` before any machine", *keyword));
    } else if (*keyword == "password") {
      entries.back().password = std::move(*value);
    } else if (*keyword != "account") {
      entries.back().login = std::move(*value);
    }
  }
  std::erase_if(entries, [](const NetrcEntry& entry) { return entry.password.empty(); });
  return entries;
}

Result<std::vector<NetrcEntry>> read_netrc(const std::string& path) {
  auto text = read_local_file(path, max_netrc_bytes);
  if (!text) return std::unexpected(std::move(text).error());
  return parse_netrc(*text, path);
}

}  // namespace axle::index

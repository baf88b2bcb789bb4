#include "wheel/bundle/bundle_list.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/quote.h"
#include "wheel/zip/member_name.h"

namespace axle::wheel {
namespace {

constexpr std::size_t hash_digits = 64;
constexpr std::string_view size_begin = "# ";
constexpr std::string_view size_end = " bytes";
constexpr std::string_view between = "  ";  // of a hash and a path: the file is read as bytes

/// The lines of a text, each with its end.
class Lines {
 public:
  explicit Lines(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool at_end() const { return rest_.empty(); }
  [[nodiscard]] std::size_t number() const { return number_; }
  /// Without its end; nullopt: there is none, or it does not end.
  std::optional<std::string_view> next() {
    ++number_;
    const std::size_t end = rest_.find('\n');
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view line = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return line;
  }

 private:
  std::string_view rest_;
  std::size_t number_ = 0;
};

std::optional<std::uint64_t> parse_size(std::string_view line) {
  if (!line.starts_with(size_begin) || !line.ends_with(size_end) ||
      line.size() < size_begin.size() + size_end.size())
    return std::nullopt;
  const std::string_view digits =
      line.substr(size_begin.size(), line.size() - size_begin.size() - size_end.size());
  std::uint64_t size = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), size);
  const bool whole = error == std::errc() && end == digits.data() + digits.size();
  if (!whole || size > INT64_MAX || (digits.size() > 1 && digits.front() == '0'))
    return std::nullopt;
  return size;
}

bool is_hash(std::string_view text) {
  return text.size() == hash_digits && std::ranges::all_of(text, [](char c) {
           return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
         });
}

/// Why a bundle has no file there, as the end of a sentence; empty: it may.
std::string path_problem(std::string_view path) {
  if (std::string problem = member_name_problem(path); !problem.empty()) return problem;
  if (path.ends_with('/')) return "is a folder";
  if (path == bundle_list_name || path == bundle_signature_name) return "is of the list itself";
  return {};
}

}  // namespace

std::string render_bundle_list(const std::vector<BundleMember>& members) {
  std::string text = std::string(bundle_list_title) + '\n';
  for (const BundleMember& member : members) {
    text += fmt::format("{}{}{}\n{}{}{}\n", size_begin, member.size, size_end, member.sha256,
                        between, member.path);
  }
  return text;
}

Result<std::vector<BundleMember>> parse_bundle_list(std::string_view text,
                                                    const std::string& where) {
  Lines lines(text);
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorKind::malformed, fmt::format("{}:{}: {}", where, lines.number(), why),
                "the bundle is damaged, or made by something else: make it again");
  };
  if (lines.next() != bundle_list_title)
    return refuse(fmt::format("the list of a bundle begins with the line {}",
                              text::quote(bundle_list_title)));
  std::vector<BundleMember> members;
  while (!lines.at_end()) {
    const auto size_line = lines.next();
    const auto size = size_line ? parse_size(*size_line) : std::nullopt;
    if (!size) return refuse("this is not the size of a file: \"# N bytes\"");
    const auto line = lines.next();
    const bool cut = !line || line->size() <= hash_digits + between.size();
    if (cut || !is_hash(line->substr(0, hash_digits)) ||
        line->substr(hash_digits, between.size()) != between)
      return refuse("this is not the sha256 of a file, and its path");
    const std::string_view path = line->substr(hash_digits + between.size());
    if (const std::string problem = path_problem(path); !problem.empty())
      return refuse(fmt::format("the path {} {}", text::quote(path), problem));
    if (!members.empty() && members.back().path >= path)
      return refuse(fmt::format("the path {} is not behind the one before it", text::quote(path)));
    members.push_back({std::string(path), std::string(line->substr(0, hash_digits)), *size});
  }
  return members;
}

}  // namespace axle::wheel

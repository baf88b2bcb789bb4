#include "wheel/tag.h"

#include <algorithm>
#include <array>
#include <functional>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "foundation/text/quote.h"
#include "wheel/linux_platform.h"

namespace axle::wheel {
namespace {

/// Real wheels stand for a few dozen at most.
constexpr std::size_t kMaxTags = 1'000;

std::unexpected<Error> not_tags(std::string_view triple, std::string_view why) {
  return fail(ErrorKind::malformed,
              fmt::format("{} is not a wheel tag: {}", text::quote(triple), why),
              "tags look like cp311-cp311-manylinux_2_28_x86_64 (PEP 425)");
}

constexpr bool is_identifier(std::string_view text) {
  return !text::is_ascii_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return text::is_ascii_alnum(c) || c == '_'; });
}

constexpr bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }

/// What no file name and no path may hide in a tag.
constexpr bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c > ' ' && c < 0x7F && c != '/' && c != '\\'; });
}

/// One of the three compressed sets, "py2.py3", without copies.
class TagSet {
 public:
  explicit TagSet(std::string_view text) : text_(text) {}

  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::ranges::count(text_, '.')) + 1;
  }
  /// Calls `use` with every part, first to last, while it returns true; whether all were used.
  template <class Use>
  bool each(const Use& use) const {
    std::string_view rest = text_;
    while (true) {
      const std::size_t dot = rest.find('.');
      if (!use(rest.substr(0, dot))) return false;
      if (dot == std::string_view::npos) return true;
      rest.remove_prefix(dot + 1);
    }
  }

 private:
  std::string_view text_;
};

/// Why one set is not a set of tags; nullptr when it is.
const char* set_problem(const TagSet& set, std::string_view text, bool python) {
  if (!is_plain(text)) return "an invalid character";
  if (!set.each([](std::string_view part) { return !part.empty(); })) return "a part is empty";
  if (python && !set.each(is_identifier)) return "a Python tag starts with a letter";
  return nullptr;
}

std::vector<Tag> expand(const std::array<TagSet, 3>& sets, std::size_t count) {
  std::vector<Tag> tags;
  tags.reserve(count);
  sets[0].each([&](std::string_view python) {
    return sets[1].each([&](std::string_view abi) {
      return sets[2].each([&](std::string_view platform) {
        Tag tag{text::ascii_lower(python), text::ascii_lower(abi), text::ascii_lower(platform)};
        if (std::ranges::find(tags, tag) == tags.end()) tags.push_back(std::move(tag));
        return true;
      });
    });
  });
  return tags;
}

}  // namespace

Result<std::vector<Tag>> parse_tags(std::string_view triple) {
  const std::size_t first = triple.find('-');
  const std::size_t second = triple.find('-', first == std::string_view::npos ? first : first + 1);
  if (second == std::string_view::npos || triple.find('-', second + 1) != std::string_view::npos) {
    return not_tags(triple, "it must have three parts between dashes");
  }
  const std::array<std::string_view, 3> texts = {triple.substr(0, first),
                                                 triple.substr(first + 1, second - first - 1),
                                                 triple.substr(second + 1)};
  const std::array<TagSet, 3> sets = {TagSet(texts[0]), TagSet(texts[1]), TagSet(texts[2])};
  std::size_t count = 1;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (const char* why = set_problem(sets[i], texts[i], i == 0)) return not_tags(triple, why);
    count *= std::min(sets[i].size(), kMaxTags + 1);
    if (count > kMaxTags) {
      return not_tags(triple, fmt::format("it expands to more than {} tags", kMaxTags));
    }
  }
  return expand(sets, count);
}

std::string architecture_of(const std::vector<Tag>& tags) {
  constexpr std::pair<std::string_view, std::string_view> endings[] = {
      {"_x86_64", "x86_64"}, {"_amd64", "x86_64"}, {"_aarch64", "aarch64"}, {"_arm64", "aarch64"}};
  std::string common;
  for (const Tag& tag : tags) {
    std::string own;
    for (const auto& [ending, architecture] : endings) {
      if (tag.platform.ends_with(ending)) own = architecture;
    }
    if (const auto other = parse_linux_platform(tag.platform); own.empty() && other)
      own = other->architecture;
    if (own.empty() || (!common.empty() && common != own)) return {};
    common = std::move(own);
  }
  return common;
}

std::string render_tag(const Tag& tag) {
  return fmt::format("{}-{}-{}", tag.python, tag.abi, tag.platform);
}

struct SupportedTags::Lists {
  struct Hash {
    std::size_t operator()(const Tag& tag) const {
      constexpr std::hash<std::string_view> kHash;
      std::size_t hash = kHash(tag.python);
      for (const std::string* part : {&tag.abi, &tag.platform}) {
        hash ^= kHash(*part) + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
      }
      return hash;
    }
  };

  std::function<std::vector<Tag>()> make;
  std::once_flag made;
  std::vector<Tag> best_first;
  std::unordered_map<Tag, std::size_t, Hash> index;
  std::array<std::vector<std::string>, 3> parts;  ///< sorted: pythons, abis, platforms

  void fill() {
    best_first = make();
    index.reserve(best_first.size());
    for (std::size_t i = 0; i < best_first.size(); ++i) index.try_emplace(best_first[i], i);
    constexpr std::array part_of = {&Tag::python, &Tag::abi, &Tag::platform};
    for (std::size_t i = 0; i < parts.size(); ++i) {
      std::vector<std::string_view> all;
      all.reserve(best_first.size());
      for (const Tag& tag : best_first) {
        // Tags of one interpreter stand together.
        if (all.empty() || all.back() != tag.*part_of[i]) all.emplace_back(tag.*part_of[i]);
      }
      std::ranges::sort(all);
      const auto repeated = std::ranges::unique(all);
      parts[i].assign(all.begin(), repeated.begin());
    }
  }
};

SupportedTags::SupportedTags(std::function<std::vector<Tag>()> best_first)
    : lists_(std::make_shared<Lists>(std::move(best_first))) {}

SupportedTags::SupportedTags(std::vector<Tag> best_first)
    : SupportedTags([tags = std::move(best_first)] { return tags; }) {}

const SupportedTags::Lists& SupportedTags::lists() const {
  std::call_once(lists_->made, [this] { lists_->fill(); });
  return *lists_;
}

const std::vector<Tag>& SupportedTags::best_first() const { return lists().best_first; }

std::size_t SupportedTags::best_index(const std::vector<Tag>& tags) const {
  const auto& index = lists().index;
  std::size_t best = npos;
  for (const Tag& tag : tags) {
    if (const auto found = index.find(tag); found != index.end()) {
      best = std::min(best, found->second);
    }
  }
  return best;
}

bool SupportedTags::may_fit(std::string_view wheel_name) const {
  constexpr std::string_view extension = ".whl";
  if (!wheel_name.ends_with(extension)) return true;
  wheel_name.remove_suffix(extension.size());
  const auto& parts = lists().parts;
  bool fits = true;
  for (std::size_t i = parts.size(); i-- > 0;) {
    const std::size_t dash = wheel_name.rfind('-');
    if (dash == std::string_view::npos) return true;
    const TagSet set(wheel_name.substr(dash + 1));
    wheel_name = wheel_name.substr(0, dash);
    fits = fits && !set.each([&](std::string_view part) {
      return !std::ranges::binary_search(parts[i], part, std::less<>()) &&
             std::ranges::none_of(part, is_upper);
    });
  }
  // With a build tag or a label it is not seen at once which parts the tags are.
  const bool usual = std::ranges::count(wheel_name, '-') == 1;
  return fits || !usual;
}

}  // namespace axle::wheel

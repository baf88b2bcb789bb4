#include "wheel/tag.h"

#include <algorithm>
#include <array>
#include <functional>

#include <fmt/format.h>

#include "wheel/ascii.h"
#include "wheel/quote.h"

namespace axle::wheel {
namespace {

constexpr std::size_t kMaxTags = 10'000;

std::unexpected<Error> not_tags(std::string_view triple, std::string_view why) {
  return fail(ErrorKind::malformed, fmt::format("{} is not a wheel tag: {}", quote(triple), why),
              "tags look like cp311-cp311-manylinux_2_28_x86_64 (PEP 425)");
}

constexpr bool is_identifier(std::string_view text) {
  return !is_ascii_digit(text.front()) &&
         std::ranges::all_of(text, [](char c) { return is_ascii_alnum(c) || c == '_'; });
}

/// What no file name and no path may hide in a tag.
constexpr bool is_plain(std::string_view text) {
  return std::ranges::all_of(text,
                             [](char c) { return c > ' ' && c < 0x7F && c != '/' && c != '\\'; });
}

/// "py2.py3" as ["py2", "py3"]; empty when a part is.
std::vector<std::string> split_set(std::string_view set) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t dot = set.find('.');
    const std::string_view part = set.substr(0, dot);
    if (part.empty()) return {};
    std::string lowered = ascii_lower(part);
    if (std::ranges::find(parts, lowered) == parts.end()) parts.push_back(std::move(lowered));
    if (dot == std::string_view::npos) return parts;
    set.remove_prefix(dot + 1);
  }
}

}  // namespace

Result<std::vector<Tag>> parse_tags(std::string_view triple) {
  std::array<std::vector<std::string>, 3> sets;
  std::string_view rest = triple;
  std::size_t product = 1;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    const std::size_t dash = rest.find('-');
    if ((dash == std::string_view::npos) != (i == 2)) {
      return not_tags(triple, "it must have three parts between dashes");
    }
    const std::string_view set = rest.substr(0, dash);
    if (!is_plain(set)) return not_tags(triple, "a character that does not belong there");
    if (static_cast<std::size_t>(std::ranges::count(set, '.')) >= kMaxTags) {
      return not_tags(triple, fmt::format("it stands for more than {} tags", kMaxTags));
    }
    sets[i] = split_set(set);
    if (sets[i].empty()) return not_tags(triple, "a part is empty");
    product *= sets[i].size();
    if (product > kMaxTags) {
      return not_tags(triple, fmt::format("it stands for more than {} tags", kMaxTags));
    }
    if (i < 2) rest.remove_prefix(dash + 1);
  }
  if (const auto bad = std::ranges::find_if_not(sets[0], is_identifier); bad != sets[0].end()) {
    return not_tags(triple, fmt::format("{} cannot be a Python tag", quote(*bad)));
  }
  std::vector<Tag> tags;
  tags.reserve(product);
  for (const std::string& python : sets[0]) {
    for (const std::string& abi : sets[1]) {
      for (const std::string& platform : sets[2]) tags.push_back({python, abi, platform});
    }
  }
  return tags;
}

std::string render_tag(const Tag& tag) {
  return fmt::format("{}-{}-{}", tag.python, tag.abi, tag.platform);
}

std::size_t TagHash::operator()(const Tag& tag) const {
  constexpr std::hash<std::string_view> kHash;
  std::size_t hash = kHash(tag.python);
  for (const std::string* part : {&tag.abi, &tag.platform}) {
    hash ^= kHash(*part) + 0x9E3779B97F4A7C15ULL + (hash << 6U) + (hash >> 2U);
  }
  return hash;
}

SupportedTags::SupportedTags(std::vector<Tag> best_first) : best_first_(std::move(best_first)) {
  index_.reserve(best_first_.size());
  for (std::size_t i = 0; i < best_first_.size(); ++i) index_.try_emplace(best_first_[i], i);
}

std::size_t SupportedTags::best_index(const std::vector<Tag>& tags) const {
  std::size_t best = npos;
  for (const Tag& tag : tags) {
    if (const auto found = index_.find(tag); found != index_.end()) {
      best = std::min(best, found->second);
    }
  }
  return best;
}

}  // namespace axle::wheel

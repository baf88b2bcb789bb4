#include "session/settings/formats.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>
#include <string_view>

#include "foundation/text/ascii.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

using FormatWords = std::vector<FormatWord>;

/// Names with commas between them, normalised.
FormatWords words_of(WeighedLayers& layers, std::string_view key, const Stated& list) {
  FormatWords words;
  std::string_view rest = list.value;
  while (!rest.empty()) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view name = text::trim_ascii(rest.substr(0, comma));
    rest.remove_prefix(std::min(rest.size(), comma + 1));
    if (name.empty()) continue;
    const bool is_word = name == ":all:" || name == ":none:";
    if (!is_word && !wheel::is_valid_name(name))
      layers.refuse({std::string(name), list.origin}, key, "is not a valid name of a package");
    words.push_back({key == "no-binary", is_word ? std::string(name) : wheel::normalize_name(name),
                     list.origin});
  }
  return words;
}

/// As they were said.
FormatWords words_of(WeighedLayers& layers, const SettingsLayer& layer) {
  std::multimap<unsigned, FormatWord> said;
  for (const std::string_view key : {"no-binary", "only-binary"}) {
    const auto found = layer.values.find(key);
    if (found == layer.values.end()) continue;
    for (const Stated& list : found->second) {
      for (FormatWord& word : words_of(layers, key, list)) said.emplace(list.turn, std::move(word));
    }
  }
  FormatWords words;
  for (auto& [turn, word] : said) words.push_back(std::move(word));
  return words;
}

/// What is left of one of uv's lists: `:all:` alone, or names.
FormatWords list_of_uv(const FormatWords& words, bool forbids) {
  FormatWords left;
  for (const FormatWord& word : words) {
    if (word.forbids != forbids) continue;
    if (word.name == ":all:" || word.name == ":none:") left.clear();
    const bool has_all = !left.empty() && left.front().name == ":all:";
    if (word.name != ":none:" && !has_all) left.push_back(word);
  }
  return left;
}

FormatWords in_uv_s_order(const FormatWords& words) {
  FormatWords ordered;
  for (const bool all : {true, false}) {
    for (const bool forbids : {false, true}) {
      std::ranges::copy_if(list_of_uv(words, forbids), std::back_inserter(ordered),
                           [&](const FormatWord& word) { return (word.name == ":all:") == all; });
    }
  }
  return ordered;
}

}  // namespace

FormatWords take_formats(WeighedLayers& layers) {
  FormatWords words;
  for (const SettingsLayer& layer : std::views::reverse(layers.each())) {
    FormatWords own = words_of(layers, layer);
    if (layer.of_uv) own = in_uv_s_order(own);
    std::ranges::move(own, std::back_inserter(words));
  }
  return words;
}

}  // namespace axle::session

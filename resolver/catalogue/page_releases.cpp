#include "resolver/catalogue/page_releases.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "wheel/requirement.h"
#include "wheel/version.h"

namespace axle::resolver {
namespace {

constexpr std::string_view variants_ending = "-variants.json";

enum class FileKind { wheel, sdist, variants, other };

/// Looks texts up without making strings of them.
struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>{}(text);
  }
};

/// A file name split as far as grouping needs it.
struct SplitName {
  FileKind kind = FileKind::other;
  std::string_view version;
};

std::optional<std::string_view> without_ending(std::string_view text, std::string_view ending) {
  if (!text.ends_with(ending)) return std::nullopt;
  return text.substr(0, text.size() - ending.size());
}

/// "name-version" where the name itself may hold hyphens, as old sdists have them: the part behind
/// the first hyphen before which the name is complete.
std::string_view version_behind(std::string_view stem, std::string_view name) {
  for (std::size_t hyphen = stem.find('-'); hyphen != std::string_view::npos;
       hyphen = stem.find('-', hyphen + 1)) {
    if (wheel::normalize_name(stem.substr(0, hyphen)) == name) return stem.substr(hyphen + 1);
  }
  return {};
}

SplitName split_file_name(std::string_view file, std::string_view name) {
  if (const auto stem = without_ending(file, ".whl")) {
    const std::size_t first = stem->find('-');
    if (first == std::string_view::npos) return {};
    const std::string_view own = stem->substr(0, first);
    if (own != name && wheel::normalize_name(own) != name) return {};
    const std::size_t second = stem->find('-', first + 1);
    if (second == std::string_view::npos) return {};
    return {FileKind::wheel, stem->substr(first + 1, second - first - 1)};
  }
  if (const auto stem = without_ending(file, variants_ending)) {
    return {FileKind::variants, version_behind(*stem, name)};
  }
  for (const std::string_view ending : {".tar.gz", ".zip", ".tar.bz2", ".tgz"}) {
    if (const auto stem = without_ending(file, ending)) {
      return {FileKind::sdist, version_behind(*stem, name)};
    }
  }
  return {};
}

/// The release has a file of a family, with this version, local part and all.
void note_label(Release& release, const index::Family* family, std::string_view full_version) {
  release.family = family;
  if (!full_version.contains('+')) return;
  auto version = wheel::parse_version(full_version);
  if (!version) return;
  release.local_versions.push_back(std::move(*version));
}

}  // namespace

std::vector<Release> group_releases(index::ProjectPage page, std::string_view name,
                                    std::string_view source, const index::Family* family) {
  std::vector<Release> releases;
  std::map<wheel::Version, std::size_t> by_version;
  // Pages list thousands of files of a few hundred versions: each spelling is parsed once.
  std::unordered_map<std::string, std::optional<std::size_t>, TextHash, std::equal_to<>> by_text;
  std::unordered_set<std::string, TextHash, std::equal_to<>> local_texts;
  for (index::PublishedFile& file : page.files) {
    SplitName split = split_file_name(file.filename, name);
    if (split.kind == FileKind::other || split.version.empty()) continue;
    const std::string_view full_version = split.version;
    if (!file.label.empty()) split.version = split.version.substr(0, split.version.find('+'));
    auto text = by_text.find(split.version);
    if (text == by_text.end()) {
      text = by_text.emplace(split.version, std::nullopt).first;
      if (Result<wheel::Version> version = wheel::parse_version(split.version)) {
        const auto [slot, added] = by_version.try_emplace(*version, releases.size());
        if (added) {
          Release& release = releases.emplace_back();
          release.version = std::move(*version);
          release.source = source;
        }
        text->second = slot->second;
      }
    }
    if (!text->second) continue;
    Release& release = releases[*text->second];
    if (!file.label.empty() && !local_texts.contains(full_version)) {
      local_texts.emplace(full_version);
      note_label(release, family, full_version);
    }
    if (split.kind == FileKind::variants) {
      release.variants_file = std::move(file);
    } else {
      (split.kind == FileKind::wheel ? release.wheels : release.sdists).push_back(std::move(file));
    }
  }
  std::erase_if(releases, [](const Release& r) { return r.wheels.empty() && r.sdists.empty(); });
  std::ranges::sort(releases, std::ranges::greater{}, &Release::version);
  return releases;
}

}  // namespace axle::resolver

#include "index/pages/release_groups.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "wheel/requirement.h"

namespace axle::index {
namespace {

constexpr std::string_view variants_ending = "-variants.json";

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

/// `spelling`: how a file before it wrote `name`.
SplitName split_file_name(std::string_view file, std::string_view name,
                          std::string_view& spelling) {
  if (const auto stem = without_ending(file, ".whl")) {
    const std::size_t first = stem->find('-');
    if (first == std::string_view::npos) return {};
    const std::string_view own = stem->substr(0, first);
    if (own != spelling) {
      if (wheel::normalize_name(own) != name) return {};
      spelling = own;
    }
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

/// Pages list thousands of files of a few hundred versions: each spelling is parsed once.
class Grouping {
 public:
  void add(const PublishedFile& file, std::size_t place, std::string_view name);
  [[nodiscard]] ReleaseGroups finish();

 private:
  [[nodiscard]] ReleaseGroup* release_of(std::string_view version);

  ReleaseGroups groups_;
  std::string_view spelling_;
  std::map<wheel::Version, std::size_t> by_version_;
  std::unordered_map<std::string, std::optional<std::size_t>, TextHash, std::equal_to<>> by_text_;
  std::unordered_set<std::string, TextHash, std::equal_to<>> local_texts_;
};

ReleaseGroup* Grouping::release_of(std::string_view version) {
  auto text = by_text_.find(version);
  if (text == by_text_.end()) {
    text = by_text_.emplace(version, std::nullopt).first;
    if (Result<wheel::Version> parsed = wheel::parse_version(version)) {
      const auto [slot, added] = by_version_.try_emplace(*parsed, groups_.releases.size());
      if (added)
        groups_.releases.push_back({std::move(*parsed), std::string(version), {}, false, {}});
      text->second = slot->second;
    }
  }
  return text->second ? &groups_.releases[*text->second] : nullptr;
}

void Grouping::add(const PublishedFile& file, std::size_t place, std::string_view name) {
  const SplitName split = split_file_name(file.filename, name, spelling_);
  std::string_view version = split.version;
  if (!file.label.empty()) version = version.substr(0, version.find('+'));
  ReleaseGroup* release =
      split.kind == FileKind::other || split.version.empty() ? nullptr : release_of(version);
  if (release == nullptr) {
    groups_.others.push_back(place);
    return;
  }
  release->files.push_back({place, split.kind});
  if (file.label.empty() || local_texts_.contains(split.version)) return;
  local_texts_.emplace(split.version);
  release->labelled = true;
  if (!split.version.contains('+')) return;
  if (auto local = wheel::parse_version(split.version))
    release->local_versions.push_back(std::move(*local));
}

ReleaseGroups Grouping::finish() {
  std::erase_if(groups_.releases, [&](const ReleaseGroup& release) {
    const bool only_variants = std::ranges::all_of(
        release.files, [](const GroupedFile& file) { return file.kind == FileKind::variants; });
    if (only_variants) {
      for (const GroupedFile& file : release.files) groups_.others.push_back(file.place);
    }
    return only_variants;
  });
  std::ranges::sort(groups_.releases, std::ranges::greater{}, &ReleaseGroup::version);
  std::ranges::sort(groups_.others);
  return std::move(groups_);
}

}  // namespace

void ReleaseFiles::add(FileKind kind, PublishedFile file) {
  if (kind == FileKind::variants) {
    variants_file = std::move(file);
  } else {
    (kind == FileKind::wheel ? wheels : sdists).push_back(std::move(file));
  }
}

ReleaseGroups group_by_release(const std::vector<PublishedFile>& files, std::string_view name) {
  Grouping grouping;
  for (std::size_t place = 0; place < files.size(); ++place)
    grouping.add(files[place], place, name);
  return grouping.finish();
}

}  // namespace axle::index

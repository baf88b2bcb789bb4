#include "index/family/family.h"

#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "wheel/wheel_name.h"

namespace axle::index {
namespace {

bool starts_with(const wheel::ReleaseNumbers& release, const wheel::ReleaseNumbers& prefix) {
  for (std::size_t i = 0; i < prefix.size(); ++i) {
    if ((i < release.size() ? release[i] : 0) != prefix[i]) return false;
  }
  return true;
}

const FamilyRelease* longest_prefix(const Family& family, const wheel::Version& version) {
  const FamilyRelease* best = nullptr;
  for (const FamilyRelease& release : family.releases) {
    if (!starts_with(version.release, release.prefix)) continue;
    if (best == nullptr || release.prefix.size() > best->prefix.size()) best = &release;
  }
  return best;
}

/// The local version in a file name with its plus, "torch-2.8.0+cu128-cp312-…" -> "+cu128".
std::string_view local_in_name(std::string_view filename) {
  const std::size_t plus = filename.find('+');
  const std::size_t end = filename.find('-', plus == std::string_view::npos ? 0 : plus);
  if (plus == std::string_view::npos || end == std::string_view::npos) return {};
  return filename.substr(plus, end - plus);
}

bool is_letter(char c) { return c >= 'a' && c <= 'z'; }
bool is_digit(char c) { return c >= '0' && c <= '9'; }

/// "pt213cu130" has the words pt213 and cu130, and "cu12torch2.8" has cu12.
bool has_word(std::string_view text, std::string_view word) {
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const std::string_view rest = text.substr(at + word.size());
    const bool begins = at == 0 || !is_letter(text[at - 1]) || !is_letter(word.front());
    const bool ends =
        rest.empty() || !(is_digit(word.back()) ? is_digit(rest.front()) : is_letter(rest.front()));
    if (begins && ends) return true;
  }
  return false;
}

/// "+CU128" -> "cu128"; empty if it is not a valid label.
std::string label_of_local(const Family& family, std::string_view local, bool known_only) {
  const auto version = wheel::parse_version("0" + std::string(local));
  std::string label = version ? local_label(*version) : std::string();
  const bool counts =
      wheel::is_valid_label(label) && (!known_only || family.label(label) != nullptr);
  return counts ? label : std::string();
}

}  // namespace

bool Family::has_member(std::string_view project) const {
  return std::ranges::find(members, project) != members.end();
}

bool Family::has_project(std::string_view project) const {
  return has_member(project) || std::ranges::find(unlabelled, project) != unlabelled.end();
}

const FamilyLabel* Family::label(std::string_view wanted) const {
  const auto found = std::ranges::find_if(labels, [&](const FamilyLabel& label) {
    return label_in == LabelPlace::built_for ? has_word(wanted, label.name) : label.name == wanted;
  });
  return found == labels.end() ? nullptr : &*found;
}

bool Family::is_fallback(std::string_view wanted) const {
  return std::ranges::find(fallback, wanted) != fallback.end();
}

bool Family::is_by_release() const { return url.contains(version_mark); }

std::string local_label(const wheel::Version& version) {
  std::string text = wheel::render_version(version);
  const std::size_t plus = text.find('+');
  return plus == std::string::npos ? std::string() : text.substr(plus + 1);
}

std::string_view render_label_place(LabelPlace place) {
  switch (place) {
    case LabelPlace::folder:
      return "folder";
    case LabelPlace::built_for:
      return "built-for";
    case LabelPlace::version:
      break;
  }
  return "version";
}

std::string_view render_confidence(Confidence confidence) {
  switch (confidence) {
    case Confidence::measured:
      return "measured";
    case Confidence::high:
      return "confidence high";
    case Confidence::medium:
      return "confidence medium";
    case Confidence::low:
      return "confidence low";
    case Confidence::unknown:
      break;
  }
  return "confidence unknown";
}

std::string render_sources(const Family& family, const std::vector<std::string>& keys) {
  std::string text;
  for (const std::string& key : keys) {
    const auto source = family.sources.find(key);
    text += (text.empty() ? "" : "; ") + (source == family.sources.end() ? key : source->second);
  }
  return text;
}

const FamilyRelease* find_release(const Family& family, std::string_view member,
                                  const wheel::Version& version) {
  if (member == family.anchor()) return longest_prefix(family, version);
  const wheel::Version plain = version.public_version();
  const FamilyRelease* every = nullptr;
  for (const FamilyRelease& release : family.releases) {
    const auto specifiers = release.goes_with.find(member);
    if (specifiers != release.goes_with.end() && specifiers->second.contains(plain))
      return &release;
    if (release.prefix.empty()) every = &release;
  }
  return every;
}

void label_files(const Family& family, ProjectPage& page, bool known_only) {
  if (family.label_in != LabelPlace::version) return;
  std::map<std::string, std::string, std::less<>>
      labels;  // a page has hundreds of files with few different ones
  for (PublishedFile& file : page.files) {
    if (!file.filename.ends_with(".whl")) continue;
    const std::string_view local = local_in_name(file.filename);
    if (local.empty()) continue;
    auto known = labels.find(local);
    if (known == labels.end())
      known = labels.emplace(local, label_of_local(family, local, known_only)).first;
    if (!known->second.empty()) file.label = known->second;
  }
}

std::string family_platform(std::string_view tags_text) {
  const std::string_view platform = tags_text.substr(tags_text.rfind('-') + 1);
  if (platform.contains("linux")) {
    if (platform.ends_with("x86_64")) return "linux_x86_64";
    if (platform.ends_with("aarch64")) return "linux_aarch64";
  }
  if (platform == "win_amd64") return "windows_amd64";
  if (platform == "win_arm64") return "windows_arm64";
  if (platform.starts_with("macosx") && platform.ends_with("arm64")) return "macos_arm64";
  return {};
}

}  // namespace axle::index

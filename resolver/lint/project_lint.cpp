#include "resolver/lint/project_lint.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/parallel.h"
#include "index/publish/wheel_scan.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t longest_label = 16;  ///< PEP 825, for linters

void note(std::vector<LintFinding>& found, std::string code, const std::string& project,
          std::string subject, std::string message, std::string hint) {
  found.push_back(
      {std::move(code), project, std::move(subject), std::move(message), std::move(hint)});
}

void lint_label(const std::string& project, const LintedWheel& wheel,
                std::vector<LintFinding>& found) {
  const std::string& label = wheel.name.label;
  if (label.size() <= longest_label && !label.starts_with('.')) return;
  note(found, "unusual_label", project, wheel.file->filename,
       fmt::format("{}: the label {} {}", wheel.file->filename, label,
                   label.starts_with('.') ? "begins with a dot" : "has more than 16 characters"),
       "give it another one: tools of the first generation of variants refuse it");
}

/// The variants file of a release, and what does not match in it.
void read_variants(const std::string& project, const index::PublishedProject& page,
                   LintedRelease& release, index::IndexPlace& place, Report& report,
                   std::vector<LintFinding>& found) {
  const std::string version = wheel::render_version(release.version);
  std::set<std::string> labels;
  for (const LintedWheel& wheel : release.wheels) {
    if (wheel.name.is_variant()) labels.insert(wheel.name.label);
  }
  const std::string file =
      wheel::variants_file_name(release.wheels.front().name.distribution, release.version);
  const auto listed = std::ranges::find(page.variants, file, &index::ListedFile::filename);
  if (labels.empty() && listed == page.variants.end()) return;
  if (listed == page.variants.end()) {
    return note(found, "missing_variants_file", project, version,
                fmt::format("{} {} has variants, but the page lists no {}", project, version, file),
                "publish its wheels again: `variant index build` writes it");
  }
  if (!listed->url.empty()) return;  // its content is elsewhere
  auto metadata = place.read_variants(page, file, report);
  if (!metadata) {
    // Wheels that a storage has already leave the variants file there as it is.
    return note(found, "unreadable_variants_file", project, file, metadata.error().message,
                std::string("installers pass over all variants of the release, uv over the whole "
                            "release: ") +
                    (place.folder().empty()
                         ? "remove it with `variant index remove`, and publish its wheels again"
                         : "publish its wheels again"));
  }
  for (const std::string& label : labels) {
    if (metadata->variants.contains(label)) continue;
    note(found, "unlisted_variant", project, version + ' ' + label,
         fmt::format("{} {}: {} does not say what the variant {} needs, so nobody gets it", project,
                     version, file, label),
         "publish its wheels again");
  }
  for (const auto& [label, properties] : metadata->variants) {
    if (labels.contains(label)) continue;
    note(found, "variant_without_wheel", project, version + ' ' + label,
         fmt::format("{} {}: {} lists the variant {}, of which there is no wheel", project, version,
                     file, label),
         "publish its wheels again");
  }
  release.variants = std::move(*metadata);
}

void lint_hash(const std::string& name, const index::ListedFile& file, const std::string& path,
               const std::string& sha256, std::string hint, std::vector<LintFinding>& found) {
  if (sha256 == file.sha256) return;
  note(found, "wrong_hash", name, file.filename,
       fmt::format("{} has the sha256 {}, but its page lists {}", path, sha256, file.sha256),
       std::move(hint));
}

void lint_wheel(const std::string& name, const index::ListedFile& file, const std::string& path,
                Report& report, std::vector<LintFinding>& found) {
  const auto read = index::read_published_wheel(path, {}, report);
  if (!read) {
    return note(found, "damaged_file", name, file.filename, read.error().message,
                "remove it, and publish it again");
  }
  lint_hash(name, file, path, read->sha256,
            "somebody replaced the file: publish the wheel that the page means again", found);
}

void lint_variants_file(const std::string& name, const index::ListedFile& file,
                        const std::string& path, std::vector<LintFinding>& found) {
  const auto read = index::hash_file(path);
  if (!read)
    return note(found, "damaged_file", name, file.filename, read.error().message,
                "check the permissions of the file");
  lint_hash(name, file, path, read->sha256,
            "installers refuse it: `variant index build` with the wheels of the release writes it "
            "anew",
            found);
}

}  // namespace

std::vector<LintedRelease> read_releases(const std::string& name,
                                         const index::PublishedProject& project,
                                         index::IndexPlace& place, Report& report,
                                         std::vector<LintFinding>& found) {
  std::map<wheel::Version, LintedRelease> by_version;
  for (const index::ListedFile& file : project.wheels) {
    auto parsed = wheel::parse_wheel_name(file.filename);
    if (!parsed) {
      note(found, "invalid_name", name, file.filename, parsed.error().message,
           "rename the wheel: installers pass over it");
      continue;
    }
    if (wheel::normalize_name(parsed->distribution) != name) {
      note(found, "invalid_name", name, file.filename,
           fmt::format("{} is on the page of {}, whose name it does not have", file.filename, name),
           "move it to the page of its own project");
      continue;
    }
    LintedRelease& release = by_version[parsed->version];
    release.version = parsed->version;
    release.wheels.push_back({&file, std::move(*parsed)});
    lint_label(name, release.wheels.back(), found);
    if (file.metadata_sha256.empty()) {
      note(found, "missing_metadata_hash", name, file.filename,
           fmt::format("{}: the page lists no hash of its METADATA, so that installers read the "
                       "wheel to know what it requires",
                       file.filename),
           "publish it again");
    }
  }
  std::vector<LintedRelease> releases;
  for (auto& [version, release] : by_version) {
    read_variants(name, project, release, place, report, found);
    releases.push_back(std::move(release));
  }
  return releases;
}

void lint_files(const std::string& name, const index::PublishedProject& project,
                const std::string& folder, bool deep, Report& report,
                std::vector<LintFinding>& found) {
  const std::set<std::string, std::less<>> there(project.files.begin(), project.files.end());
  const auto check = [&](const index::ListedFile& file, bool is_wheel) {
    if (!file.url.empty()) return;
    const std::string path = fmt::format("{}/simple/{}/{}", folder, name, file.filename);
    std::error_code error;
    if (!there.contains(file.filename)) {
      return note(found, "missing_file", name, file.filename,
                  fmt::format("{} is listed, but not there", path),
                  "put it back, or remove it with `variant index remove`");
    }
    const std::uint64_t size = fs::file_size(path, error);
    if (error || size != file.size) {
      return note(found, "wrong_size", name, file.filename,
                  fmt::format("{} has {} bytes, but its page lists {}", path, size, file.size),
                  "remove it, and publish it again");
    }
    if (is_wheel && !file.metadata_sha256.empty() && !there.contains(file.filename + ".metadata"))
      note(found, "missing_file", name, file.filename + ".metadata",
           fmt::format("{}.metadata is listed, but not there", path), "publish the wheel again");
    if (deep && is_wheel) lint_wheel(name, file, path, report, found);
    if (deep && !is_wheel) lint_variants_file(name, file, path, found);
  };
  for (const index::ListedFile& file : project.wheels) check(file, true);
  for (const index::ListedFile& file : project.variants) check(file, false);
}

void lint_stored_files(const std::string& name, const index::PublishedProject& project,
                       index::IndexPlace& place, std::vector<LintFinding>& found) {
  constexpr unsigned questions_at_once = 8;
  struct Question {
    std::string file;
    std::optional<std::uint64_t> size;  ///< that the page lists
    std::string sha256;
  };
  std::vector<Question> questions;
  for (const auto* files : {&project.wheels, &project.variants}) {
    for (const index::ListedFile& file : *files) {
      if (!file.url.empty()) continue;
      questions.push_back({file.filename, file.size, file.sha256});
      if (!file.metadata_sha256.empty()) questions.push_back({file.filename + ".metadata", {}, {}});
    }
  }
  std::vector<std::optional<Result<std::optional<index::StoredObject>>>> answers(questions.size());
  system::for_each_at_once(questions.size(), questions_at_once, [&](std::size_t i) {
    answers[i].emplace(place.look_at(name, questions[i].file));
  });
  for (std::size_t i = 0; i < questions.size(); ++i) {
    const auto& [file, size, sha256] = questions[i];
    const std::string path = fmt::format("{}/simple/{}/{}", place.name(), name, file);
    const auto& answer = *answers[i];
    if (!answer) {
      note(found, "unreadable_file", name, file, answer.error().message, answer.error().hint);
    } else if (!*answer) {
      note(found, "missing_file", name, file, fmt::format("{} is listed, but not there", path),
           "put it back, or remove it with `variant index remove`");
    } else if (size && *size != (*answer)->size) {
      note(found, "wrong_size", name, file,
           fmt::format("{} has {} bytes, but its page lists {}", path, (*answer)->size, *size),
           "remove it, and publish it again");
    } else if (!sha256.empty() && !(*answer)->sha256.empty() && (*answer)->sha256 != sha256) {
      note(found, "wrong_hash", name, file,
           fmt::format("{} has the sha256 {}, but its page lists {}", path, (*answer)->sha256,
                       sha256),
           "somebody replaced the file: publish the one that the page means again");
    }
  }
}

const index::PublishedProject* KnownProjects::find(const std::string& name) {
  auto found = known_.find(name);
  if (found == known_.end()) {
    if (known_.size() >= most) known_.clear();
    auto read = place_.read_project(name);
    found = known_.emplace(name, read ? std::move(*read) : std::nullopt).first;
  }
  return found->second ? &*found->second : nullptr;
}

}  // namespace axle::resolver

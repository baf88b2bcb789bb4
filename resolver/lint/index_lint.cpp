#include "resolver/lint/index_lint.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "index/publish/change_journal.h"
#include "index/publish/folder_lock.h"
#include "index/publish/index_edit.h"
#include "resolver/lint/project_lint.h"

namespace axle::resolver {
namespace {

constexpr const char* rewrite_hint = "`variant index update` writes the pages anew";

class IndexLint {
 public:
  IndexLint(index::IndexPlace& place, LintOptions options, Report& report)
      : place_(place),
        corpus_(std::move(options.machines)),
        are_all_(options.are_all),
        deep_(options.deep),
        known_(place),
        report_(report) {}

  Result<LintResult> run();

 private:
  /// Of the pages of the index and of folders that are there.
  [[nodiscard]] Result<std::vector<std::string>> names();
  void lint_project(const std::string& name);
  void lint_releases(const std::string& name, const std::vector<LintedRelease>& releases);

  index::IndexPlace& place_;
  MachineCorpus corpus_;
  bool are_all_;
  bool deep_;
  KnownProjects known_;
  Report& report_;
  LintResult result_;
};

Result<std::vector<std::string>> IndexLint::names() {
  std::error_code error;
  const std::string folder = place_.folder();
  // What is half done while somebody publishes is no fault. One that takes too long, or a file
  // system without locks, is not waited for.
  const auto held =
      folder.empty() ? Result<system::Descriptor>() : index::lock_index_folder(folder);
  if (!folder.empty() &&
      std::filesystem::exists(fmt::format("{}/{}", folder, index::change_folder_name), error)) {
    result_.found.push_back({"unfinished_change", "", "",
                             folder + " has a change that a command did not complete",
                             "the next command that changes the index completes it, or drops it; "
                             "`variant index update` does"});
  }
  auto listed = place_.read_names();
  if (!listed) {
    if (listed.error().kind != ErrorKind::io || folder.empty())
      return std::unexpected(std::move(listed.error()));
    result_.found.push_back(
        {"unreadable_page", "", "index.json", listed.error().message, rewrite_hint});
  }
  std::vector<std::string> names =
      listed ? std::move(*listed).value_or(std::vector<std::string>()) : std::vector<std::string>();
  if (folder.empty()) return names;
  auto folders = index::list_project_folders(folder);
  if (!folders) {
    result_.found.push_back({"foreign_file", "", "", folders.error().message,
                             "move it away: commands that change the index refuse to work"});
    return names;
  }
  for (const std::string& name : *folders) {
    if (std::ranges::binary_search(names, name)) continue;
    result_.found.push_back({"unlisted_project", name, "",
                             fmt::format("{} has a folder, but the page of the index does not "
                                         "name it",
                                         name),
                             rewrite_hint});
  }
  for (const std::string& name : names) {
    if (std::ranges::binary_search(*folders, name)) continue;
    result_.found.push_back(
        {"missing_project", name, "",
         fmt::format("the page of the index names {}, which has no folder", name), rewrite_hint});
  }
  return folders;
}

void IndexLint::lint_releases(const std::string& name, const std::vector<LintedRelease>& releases) {
  const LintedRelease* before = nullptr;
  Choices before_choices;
  for (std::size_t i = 0; i < releases.size(); ++i) {
    const LintedRelease& release = releases[i];
    const bool among_newest = i + 2 >= releases.size();
    if (!release.variants && !among_newest) continue;
    Choices choices = choose_for_all(release, corpus_);
    if (are_all_) lint_labels(name, release, choices, corpus_, result_.found);
    lint_gaps(name, release, choices, corpus_, result_.found);
    lint_for_peers(name, release, place_, result_.found);
    const bool newest = i + 1 == releases.size();
    if (newest && before != nullptr)
      lint_successor(name, *before, before_choices, release, choices, corpus_, result_.found);
    if (newest && release.variants)
      lint_dependencies(name, release, choices, corpus_, place_, known_, result_.found);
    before = &release;
    before_choices = std::move(choices);
  }
}

void IndexLint::lint_project(const std::string& name) {
  const auto project = place_.read_project(name);
  if (!project) {
    const bool hash = project.error().kind == ErrorKind::mismatch;
    result_.found.push_back({hash ? "missing_hash" : "unreadable_page", name, "index.json",
                             project.error().message, project.error().hint});
    return;
  }
  if (!*project) return;
  result_.files += (*project)->listed.size();
  if (place_.folder().empty()) {
    lint_stored_files(name, **project, place_, result_.found);
  } else {
    lint_files(name, **project, place_.folder(), deep_, report_, result_.found);
  }
  std::vector<LintedRelease> releases =
      read_releases(name, **project, place_, report_, result_.found);
  // What is withdrawn, or not final, is no promise to a machine.
  std::erase_if(releases, [](const LintedRelease& release) {
    return release.version.is_prerelease() ||
           std::ranges::all_of(release.wheels, [](const LintedWheel& wheel) {
             return wheel.file->yanked.has_value();
           });
  });
  lint_releases(name, releases);
}

Result<LintResult> IndexLint::run() {
  const auto all = names();
  if (!all) return std::unexpected(all.error());
  for (const std::string& name : *all) {
    report_.progress({"reading projects", result_.projects++, all->size()});
    lint_project(name);
  }
  return std::move(result_);
}

}  // namespace

Result<LintResult> lint_index(index::IndexPlace& place, LintOptions options, Report& report) {
  if (auto there = index::require_index(place); !there)
    return std::unexpected(std::move(there.error()));
  return IndexLint(place, std::move(options), report).run();
}

}  // namespace axle::resolver

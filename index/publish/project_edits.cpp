#include "index/publish/project_edits.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "index/browse/people_pages.h"
#include "index/publish/index_pages.h"

namespace axle::index {

Result<ProjectEdit*> ProjectEdits::open(const std::string& name) {
  if (const auto found = edits_.find(name); found != edits_.end()) return &found->second;
  auto edit = ProjectEdit::open(name, place_);
  if (!edit) return std::unexpected(std::move(edit.error()));
  return &edits_.emplace(name, std::move(*edit)).first->second;
}

Result<void> ProjectEdits::write_roots(IndexDraft& out) {
  // A storage has no journal: a command that was killed may have written the page of a project
  // alone.
  const bool may_lack_names = place_.folder().empty();
  const bool changes = std::ranges::any_of(
      edits_, [](const auto& entry) { return entry.second.is_new() != entry.second.is_empty(); });
  if (!changes && !may_lack_names) return renew_people_pages(place_, out);
  auto names = place_.read_names();
  if (!names) return std::unexpected(std::move(names.error()));
  const bool is_first = !*names;
  std::vector<std::string> all = std::move(*names).value_or(std::vector<std::string>());
  const std::vector<std::string> before = all;
  for (const auto& [name, edit] : edits_) {
    const auto at = std::ranges::lower_bound(all, name);
    const bool there = at != all.end() && *at == name;
    if (there && edit.is_empty()) all.erase(at);
    if (!there && !edit.is_empty()) all.insert(at, name);
  }
  const bool is_same = all == before && !is_first;
  if (is_same && !place_.may_lack_html()) return renew_people_pages(place_, out);
  if (Result<void> done = out.write("simple/index.json", render_root_json(all)); !done) return done;
  if (auto done = out.write("simple/index.html", render_root_html(all)); !done) return done;
  return change_people_pages(before, all, place_, out);
}

Result<void> ProjectEdits::write(IndexDraft& out, Report& report) {
  for (auto& [name, edit] : edits_) {
    if (Result<void> done = edit.write(out, report); !done) return done;
  }
  return write_roots(out);
}

}  // namespace axle::index

#include "index/family/family_book.h"

#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/text/nearest.h"
#include "index/family/quoted_texts.h"
#include "index/family/shipped_families.h"
#include "index/http/redaction.h"

namespace axle::index {
namespace {

/// A project that belongs to both; empty: none.
std::string shared_project(const Family& one, const Family& other) {
  for (const auto* projects : {&one.members, &one.unlabelled}) {
    for (const std::string& project : *projects) {
      if (other.has_project(project)) return project;
    }
  }
  return {};
}

}  // namespace

void FamilyBook::add_shipped() {
  for (const ShippedFamily& shipped : shipped_families()) {
    entries_[std::string(shipped.name)].shipped = shipped.toml;
  }
}

Result<void> FamilyBook::add_file(std::string_view toml, std::string where) {
  auto family = parse_family(toml, std::move(where));
  if (!family) return std::unexpected(std::move(family).error());
  for (const auto& [name, entry] : entries_) {
    if (name == family->name || !entry.shipped.empty()) continue;
    const std::string shared = shared_project(*family, *entry.family);
    if (shared.empty()) continue;
    return fail(
        ErrorKind::malformed,
        fmt::format("{}: {} already belongs to the family {} ({})", family->where, shared, name,
                    entry.family->where),
        fmt::format("remove it from one of them, or rename this family to {} to replace that one",
                    name));
  }
  ListedFamily& entry = entries_[family->name];
  entry = {};
  of_project_.clear();
  entry.family = std::make_unique<Family>(std::move(*family));
  return {};
}

Result<void> FamilyBook::set_url(std::string_view name, std::string url) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) {
    std::vector<std::string> names;
    for (const auto& [known, entry] : entries_) names.push_back(known);
    return fail(ErrorKind::not_found, fmt::format("unknown index family {}", name),
                text::suggest(name, names,
                              fmt::format("known families: {}; see `variant index families`",
                                          fmt::join(names, ", "))));
  }
  while (url.ends_with('/')) url.pop_back();
  auto family = parsed(found->first, found->second);
  if (!family) return std::unexpected(std::move(family).error());
  if ((*family)->label_in == LabelPlace::folder && !url.contains(label_mark)) {
    return fail(ErrorKind::malformed,
                fmt::format("the labels of family {} are folders, but {} has no {{label}}", name,
                            redact_url(url)),
                fmt::format("for example --family {}={}/{{label}}", name, redact_url(url)));
  }
  if (const auto fault = fault_of_family_url(**family, url))
    return fail(ErrorKind::malformed,
                fmt::format("--family {}={}: {}", name, redact_url(url), *fault));
  (*family)->url = std::move(url);
  // A mirror has all labels.
  for (FamilyLabel& label : (*family)->labels) label.url.clear();
  return {};
}

Result<Family*> FamilyBook::parsed(const std::string& name, ListedFamily& entry) {
  if (entry.family == nullptr) {
    auto family = parse_family(entry.shipped, fmt::format("the bundled family {}", name));
    if (!family) return std::unexpected(std::move(family).error());
    entry.family = std::make_unique<Family>(std::move(*family));
  }
  return entry.family.get();
}

Result<std::vector<const Family*>> FamilyBook::all() {
  std::vector<const Family*> families;
  for (auto& [name, entry] : entries_) {
    auto family = parsed(name, entry);
    if (!family) return std::unexpected(std::move(family).error());
    families.push_back(*family);
  }
  return families;
}

Result<const Family*> FamilyBook::of_project(std::string_view project) {
  if (const auto known = of_project_.find(project); known != of_project_.end())
    return known->second;
  auto family = find_project(project);
  if (family) of_project_.emplace(project, *family);
  return family;
}

Result<const Family*> FamilyBook::find_project(std::string_view project) {
  for (auto& [name, entry] : entries_) {
    if (entry.shipped.empty() && entry.family->has_project(project)) return entry.family.get();
  }
  static const QuotedTexts named(shipped_families());
  if (!named.contains(project)) return nullptr;
  const std::string quoted = fmt::format("\"{}\"", project);
  for (auto& [name, entry] : entries_) {
    // Its projects are quoted in the file: a file without the name need not be parsed.
    if (!entry.shipped.contains(quoted)) continue;
    auto family = parsed(name, entry);
    if (!family) return std::unexpected(std::move(family).error());
    if ((*family)->has_project(project)) return *family;
  }
  return nullptr;
}

Result<const Family*> FamilyBook::named(std::string_view name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return nullptr;
  return parsed(found->first, found->second);
}

FamilySource& FamilyBook::source(const Family& family) {
  ListedFamily& entry = entries_.find(family.name)->second;
  if (entry.source == nullptr) entry.source = make_family_source(family, transport_, report_);
  return *entry.source;
}

}  // namespace axle::index

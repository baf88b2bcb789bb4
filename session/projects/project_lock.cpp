#include "session/projects/project_lock.h"

#include <algorithm>
#include <set>
#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/system/whole_file.h"
#include "installer/file_access.h"
#include "session/version.h"

namespace axle::session {

namespace {

constexpr std::uint64_t largest_lock = std::uint64_t{64} << 20;

/// "2.8.0+cpu, 2.8.0+cu128" by name.
std::map<std::string, std::string, std::less<>> versions_of(const plan::Lock* lock) {
  std::map<std::string, std::string, std::less<>> versions;
  if (lock == nullptr) return versions;
  for (const plan::LockedPackage& package : lock->packages) {
    std::string one = wheel::render_version(package.version);
    if (package.variant && package.family.empty()) one += fmt::format(" ({})", *package.variant);
    std::string& all = versions[package.name];
    if (!all.empty()) one = all + ", " + one;
    all = std::move(one);
  }
  return versions;
}

}  // namespace

Outcome<std::optional<plan::Lock>> read_lock(const Project& project) {
  const std::string path = project.lock_path();
  auto text = installer::read_file(path, largest_lock);
  if (!text) {
    if (text.error().kind == ErrorKind::not_found) return std::optional<plan::Lock>();
    return failed(std::move(text).error());
  }
  auto lock = plan::parse_lock(*text, path);
  if (!lock) return failed(std::move(lock).error());
  return std::optional(*std::move(lock));
}

Outcome<std::string> lock_inputs(const Project& project) {
  const auto document = documents::parse_toml(project.text, project.file);
  if (!document) return misconfigured(document.error());
  toml::table counting;
  const auto take = [&](std::string_view table, std::string_view key) {
    if (const toml::node* node = (*document)[table][key].node())
      counting.insert(fmt::format("{}.{}", table, key), *node);
  };
  for (const char* key : {"name", "requires-python", "dependencies", "optional-dependencies"})
    take("project", key);
  take("tool", "axle");
  take("tool", "uv");
  if (const toml::node* groups = document->get("dependency-groups"))
    counting.insert("dependency-groups", *groups);
  std::ostringstream text;
  text << toml::json_formatter{counting};
  return wheel::sha256_hex(text.str());
}

Outcome<bool> is_current(const Project& project, const plan::Lock& lock) {
  const auto inputs = lock_inputs(project);
  if (!inputs) return std::unexpected(inputs.error());
  return *inputs == lock.inputs;
}

Outcome<void> write_lock(const Project& project, const plan::Lock& lock) {
  const std::string path = project.lock_path();
  if (const std::error_code error = system::write_whole_file(path, plan::render_lock(lock)))
    return failed({ErrorKind::io, fmt::format("{} cannot be written: {}", path, error.message()),
                   "the old one, if any, is whole"});
  return {};
}

std::vector<LockedChange> compare_locks(const plan::Lock* before, const plan::Lock& after) {
  const auto old = versions_of(before);
  const auto now = versions_of(&after);
  std::set<std::string> names;
  for (const auto& [name, versions] : old) names.insert(name);
  for (const auto& [name, versions] : now) names.insert(name);
  std::vector<LockedChange> changes;
  for (const std::string& name : names) {
    LockedChange change{.name = name};
    if (const auto was = old.find(name); was != old.end()) change.before = was->second;
    if (const auto is = now.find(name); is != now.end()) change.after = is->second;
    if (change.before != change.after) changes.push_back(std::move(change));
  }
  return changes;
}

}  // namespace axle::session

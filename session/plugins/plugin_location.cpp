#include "session/plugins/plugin_location.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <span>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <unistd.h>

#include "foundation/documents/toml_reader.h"
#include "session/input_file.h"
#include "session/plugins/plugin_environments.h"
#include "session/variables.h"
#include "session/workspace.h"
#include "wheel/entry_points.h"
#include "wheel/wheel_file.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;
using plugins::Plugin;
using plugins::PluginKind;
using wheel::PluginEntry;

constexpr std::uint64_t max_entry_points_bytes = 1U << 20;
constexpr const char* how_to_offer =
    "a package declares a plugin with an entry point: [project.entry-points.variant_plugins] "
    "NAMESPACE = \"module\"";

std::string chosen_namespace(Session& session) { return session.arguments().value(Opt::ns); }

bool is_shared_object(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.ends_with(".so") || name.find(".so.") != std::string::npos;
}

/// The entry point for `--namespace`, or the only one.
Outcome<PluginEntry> choose(Session& session, const std::vector<PluginEntry>& entries,
                            const std::string& where) {
  if (entries.empty()) {
    return failed(
        {ErrorKind::not_found, fmt::format("{}: has no provider plugin", where), how_to_offer});
  }
  const std::string asked = chosen_namespace(session);
  std::string known;
  for (const PluginEntry& entry : entries) {
    if (entry.ns == asked || (asked.empty() && entries.size() == 1)) return entry;
    known += (known.empty() ? "" : ", ") + entry.ns;
  }
  if (asked.empty())
    return misused(fmt::format("{}: has several plugins: {}", where, known), "--namespace NS");
  return misused(fmt::format("{}: has no plugin for {}", where, asked),
                 fmt::format("it has {}", known));
}

Outcome<Plugin> python_plugin(Session& session, std::string ns, std::string plugin_api,
                              std::string package) {
  auto environment = open_environment(session, true);
  if (!environment) return std::unexpected(environment.error());
  Plugin plugin{std::move(ns), PluginKind::python, std::move(package), environment->python};
  plugin.plugin_api = std::move(plugin_api);
  plugin.folders = readable_folders(environment->prefix, *environment);
  plugin.folders.insert(plugin.folders.end(), environment->outer_sites.begin(),
                        environment->outer_sites.end());
  return plugin;
}

Result<void> unpack_entry(const wheel::WheelFile& wheel, const wheel::ZipEntry& entry,
                          const fs::path& folder) {
  const fs::path target = folder / entry.name;
  std::error_code error;
  if (entry.directory) {
    fs::create_directories(target, error);
    return {};
  }
  fs::create_directories(target.parent_path(), error);
  std::ofstream file(target, std::ios::binary);
  const auto read = wheel.archive.read(entry, [&](std::span<const std::byte> bytes) {
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    return Result<void>();
  });
  if (!read) return read;
  file.close();
  if (!file) return fail(ErrorKind::io, fmt::format("{}: cannot be written", target.string()));
  return {};
}

Outcome<LocatedPlugin> locate_wheel(Session& session, const std::string& path) {
  auto source = wheel::open_file_source(path);
  if (!source) return failed(source.error());
  const std::string name = fs::path(path).filename().string();
  const auto wheel = wheel::open_wheel(std::move(*source), name, path, session.report());
  if (!wheel) return failed(wheel.error());
  std::string text;
  if (const auto* entry = wheel->archive.find(wheel->dist_info + "/entry_points.txt")) {
    auto content = wheel->archive.read_text(*entry, max_entry_points_bytes);
    if (!content) return failed(content.error());
    text = std::move(*content);
  }
  const auto entries =
      wheel::parse_plugin_entry_points(text, path + ": " + wheel->dist_info + "/entry_points.txt");
  if (!entries) return failed(entries.error());
  const auto entry = choose(session, *entries, path);
  if (!entry) return std::unexpected(entry.error());
  const std::string temporary = variable("TMPDIR");
  auto unpacked = std::make_unique<TemporaryFolder>(temporary.empty() ? "/tmp" : temporary);
  if (unpacked->path().empty())
    return failed(
        {ErrorKind::io, "cannot create a temporary folder", "check that TMPDIR is writable"});
  for (const wheel::ZipEntry& file : wheel->archive.entries()) {
    const auto written = unpack_entry(*wheel, file, unpacked->path());
    if (!written) return failed(written.error());
  }
  auto plugin = python_plugin(session, entry->ns, entry->plugin_api, wheel->metadata.name);
  if (!plugin) return std::unexpected(plugin.error());
  plugin->import_folders = {unpacked->path()};
  return LocatedPlugin{std::move(*plugin), std::move(unpacked)};
}

/// [project.entry-points.variant_plugins] of a pyproject.toml, as lines of entry_points.txt.
Outcome<std::string> entry_points_of_project(const std::string& path) {
  const auto content = read_input(path);
  if (!content) return failed(content.error());
  const auto project = documents::parse_toml(*content, path);
  if (!project) return failed(project.error());
  std::string text = "[variant_plugins]\n";
  if (const toml::table* entries =
          (*project)["project"]["entry-points"]["variant_plugins"].as_table()) {
    for (const auto& [name, reference] : *entries)
      text += fmt::format("{} = {}\n", name.str(), reference.value_or(std::string()));
  }
  return text;
}

Outcome<LocatedPlugin> locate_project(Session& session, const fs::path& folder) {
  const std::string file = (folder / "pyproject.toml").string();
  std::error_code error;
  if (!fs::exists(file, error)) {
    return failed({ErrorKind::not_found, fmt::format("{}: no such file", file),
                   "specify a shared object, a program, a wheel or a Python project's folder"});
  }
  const auto text = entry_points_of_project(file);
  if (!text) return std::unexpected(text.error());
  const auto entries = wheel::parse_plugin_entry_points(*text, file);
  if (!entries) return failed(entries.error());
  const auto entry = choose(session, *entries, file);
  if (!entry) return std::unexpected(entry.error());
  auto plugin = python_plugin(session, entry->ns, entry->plugin_api, folder.string());
  if (!plugin) return std::unexpected(plugin.error());
  if (fs::is_directory(folder / "src", error))
    plugin->import_folders.push_back((folder / "src").string());
  plugin->import_folders.push_back(folder.string());
  return LocatedPlugin{std::move(*plugin), nullptr};
}

/// Sets `ns`: the value of `--namespace`, else what the plugin reports. It stays empty for a
/// program or shared object that does not report one.
Outcome<LocatedPlugin> with_namespace(Session& session, Plugin plugin, const std::string& word) {
  plugin.ns = chosen_namespace(session);
  if (plugin.ns.empty()) plugin.ns = ask_namespace(plugin, {}).value_or("");
  if (plugin.ns.empty() && plugin.kind == PluginKind::python) {
    return misused(fmt::format("{}: a module does not declare its namespace", word),
                   "--namespace NS");
  }
  return LocatedPlugin{std::move(plugin), nullptr};
}

}  // namespace

TemporaryFolder::TemporaryFolder(const std::string& parent) {
  std::string pattern = parent + "/axle-plugin-XXXXXX";
  if (::mkdtemp(pattern.data()) != nullptr) path_ = std::move(pattern);
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code error;
  if (!path_.empty()) fs::remove_all(path_, error);
}

Outcome<LocatedPlugin> locate_plugin(Session& session, const std::string& word) {
  std::error_code error;
  const fs::path path = fs::canonical(word, error);
  if (error && wheel::is_plugin_api(word)) {
    auto plugin = python_plugin(session, "", word, word);
    if (!plugin) return std::unexpected(plugin.error());
    return with_namespace(session, std::move(*plugin), word);
  }
  if (error) {
    return failed({ErrorKind::not_found, fmt::format("{}: no such file or module", word),
                   "specify a shared object, a program, a wheel, a Python project's folder or a "
                   "`module:object`"});
  }
  if (fs::is_directory(path, error)) return locate_project(session, path);
  if (!fs::is_regular_file(path, error))  // opening a pipe would block
    return failed({ErrorKind::malformed, fmt::format("{}: not a file", word)});
  if (word.ends_with(".whl")) return locate_wheel(session, word);
  Plugin plugin{"", PluginKind::executable, path.string(), path.string()};
  if (is_shared_object(path)) {
    plugin.kind = PluginKind::shared_object;
  } else if (::access(path.c_str(), X_OK) != 0) {
    return failed({ErrorKind::malformed,
                   fmt::format("{}: is neither a shared object nor a program", word),
                   "make a program executable: chmod +x"});
  }
  return with_namespace(session, std::move(plugin), word);
}

}  // namespace axle::session

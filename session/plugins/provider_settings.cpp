#include "session/plugins/provider_settings.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include "foundation/documents/toml_reader.h"
#include "foundation/system/file_lock.h"
#include "foundation/system/whole_file.h"
#include "providers/plugins/answer.h"
#include "providers/plugins/grants.h"
#include "providers/provider.h"
#include "session/input_file.h"
#include "session/sole_owner.h"
#include "session/variables.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t newest_schema = 1;
constexpr std::size_t most_settings_bytes = 1U << 20;
constexpr std::int64_t longest_time = 600;
constexpr std::int64_t least_memory = 64;
constexpr std::int64_t most_memory = 1 << 20;

bool is_sha256(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

std::optional<std::int64_t> whole_number(documents::TomlTable& table, std::string_view key,
                                         std::int64_t least, std::int64_t most) {
  const toml::node* node = table.find(key);
  if (node == nullptr) return std::nullopt;
  const auto* number = node->as_integer();
  if (number == nullptr || number->get() < least || number->get() > most) {
    table.refuse(key, fmt::format("expected a whole number from {} to {}", least, most));
    return std::nullopt;
  }
  return number->get();
}

std::set<std::string, std::less<>> namespaces(documents::TomlTable& table, std::string_view key) {
  std::set<std::string, std::less<>> names;
  for (const std::string& name : table.texts(key)) {
    if (!is_namespace(name)) table.refuse(key, fmt::format("`{}` is not a valid namespace", name));
    names.insert(name);
  }
  return names;
}

void read_trusted(documents::TomlTable& table, ProviderSettings& settings) {
  const auto package = table.text("package");
  const auto path = table.text("path");
  const std::string ns = table.text("namespace").value_or("");
  if (package.has_value() == path.has_value())
    return table.refuse("package", "exactly one of `package` and `path` is expected");
  if (!ns.empty() && !is_namespace(ns))
    table.refuse("namespace", fmt::format("`{}` is not a valid namespace", ns));
  std::vector<std::string> devices = table.texts("devices");
  for (const std::string& device : devices) {
    if (!plugins::is_device_pattern(device))
      table.refuse("devices", fmt::format("`{}` does not name device nodes", device));
  }
  if (package) {
    if (!wheel::is_valid_name(*package))
      table.refuse("package", fmt::format("`{}` is not a valid package name", *package));
    settings.packages.push_back({wheel::normalize_name(*package), ns, std::move(devices)});
    return table.finish();
  }
  TrustedFile file{*path, ns, plugins::PluginKind::executable, table.required_text("sha256"),
                   std::move(devices)};
  const std::string kind = table.required_text("kind");
  if (kind == plugins::render_kind(plugins::PluginKind::shared_object)) {
    file.kind = plugins::PluginKind::shared_object;
  } else if (kind != plugins::render_kind(plugins::PluginKind::executable)) {
    table.refuse("kind", "expected \"executable\" or \"shared_object\"");
  }
  if (!path->starts_with('/')) table.refuse("path", "expected an absolute path");
  if (ns.empty()) table.refuse("namespace", "the key is missing");
  if (!is_sha256(file.sha256)) table.refuse("sha256", "expected 64 hex digits");
  settings.files.push_back(std::move(file));
  table.finish();
}

/// A TOML basic string.
std::string quote(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
      out += fmt::format("\\u{:04X}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + "\"";
}

template <class Names>
std::string render_list(std::string_view key, const Names& names) {
  if (names.empty()) return {};
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + quote(name);
  return fmt::format("{} = [{}]\n", key, out);
}

Result<std::string> read_whole(std::FILE* file, const std::string& path) {
  std::string text(most_settings_bytes + 1, '\0');
  text.resize(std::fread(text.data(), 1, text.size(), file));
  if (std::ferror(file) != 0) return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  if (text.size() > most_settings_bytes)
    return fail(ErrorKind::malformed, fmt::format("{}: too large", path));
  return text;
}

Result<void> replace_file(const std::string& path, const std::string& text) {
  const std::error_code error = system::write_whole_file(path, text, {.mode = 0600});
  if (!error) return {};
  const bool refused =
      error == std::errc::permission_denied || error == std::errc::read_only_file_system;
  return fail(ErrorKind::io, fmt::format("{}: cannot be written: {}", path, error.message()),
              refused ? "check that the folder is writable" : "");
}

/// The target of a link, whether it exists or not.
Result<std::string> behind_links(fs::path path) {
  const std::string name = path.string();
  constexpr int most_links = 40;  // as in the kernel
  for (int followed = 0; followed < most_links; ++followed) {
    std::error_code error;
    const fs::path target = fs::read_symlink(path, error);
    if (error) return path.string();
    path = path.parent_path() / target;
  }
  return fail(ErrorKind::io, fmt::format("{}: {}", name, std::strerror(ELOOP)));
}

Outcome<ProviderSettings> read_from(const std::string& path) {
  std::error_code error;
  if (path.empty()) return ProviderSettings{};
  note_looked_at(path);
  const bool there = fs::exists(path, error);
  if (error) return misconfigured({ErrorKind::io, fmt::format("{}: {}", path, error.message())});
  if (!there) return ProviderSettings{};
  const auto file = open_own_file(path);
  if (!file) return failed(file.error());
  const auto text = read_whole(file->get(), path);
  if (!text) return failed(text.error());
  auto settings = parse_provider_settings(*text, path);
  if (!settings) return misconfigured(settings.error());
  return std::move(*settings);
}

}  // namespace

bool ProviderSettings::trusts(std::string_view package, std::string_view ns) const {
  return std::ranges::any_of(packages, [&](const TrustedPackage& one) {
    return one.name == package && (one.ns.empty() || one.ns == ns);
  });
}

bool is_namespace(std::string_view text) {
  return !text.empty() && text.size() <= plugins::max_name && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  });
}

std::string namespace_named(const std::string& name) {
  for (const providers::Provider& provider : providers::builtin_providers()) {
    if (wheel::normalize_name(name) == provider.package) return std::string(provider.ns);
  }
  return name;
}

std::string provider_settings_path() {
  const std::string home = config_home();
  return home.empty() ? home : home + "/axle/providers.toml";
}

Result<ProviderSettings> parse_provider_settings(std::string_view text, const std::string& where) {
  const auto document = documents::parse_toml(text, where);
  if (!document) return std::unexpected(document.error());
  documents::TomlReading reading(where);
  documents::TomlTable root(*document, "", reading);
  ProviderSettings settings;
  const auto schema = whole_number(root, "schema", 1, 1 << 20);
  if (!schema) root.refuse("schema", "the key is missing", "write `schema = 1`");
  if (schema && *schema != newest_schema) {
    root.refuse("schema",
                fmt::format("schema {} is not supported, only {}", *schema, newest_schema),
                "a newer version of Axle may read the file", ErrorKind::unsupported);
  }
  settings.enabled = namespaces(root, "enabled");
  settings.disabled = namespaces(root, "disabled");
  settings.time_limit = whole_number(root, "time-limit", 1, longest_time);
  settings.memory_limit = whole_number(root, "memory-limit", least_memory, most_memory);
  for (documents::TomlTable& table : root.tables("trusted")) read_trusted(table, settings);
  root.finish();
  if (reading.error()) return std::unexpected(*reading.error());
  return settings;
}

std::string render_provider_settings(const ProviderSettings& settings) {
  std::string out =
      "# Which provider plugins may run here: `variant providers trust` writes this file.\n";
  out += fmt::format("schema = {}\n", newest_schema);
  out += render_list("enabled", settings.enabled);
  out += render_list("disabled", settings.disabled);
  if (settings.time_limit) out += fmt::format("time-limit = {}  # seconds\n", *settings.time_limit);
  if (settings.memory_limit)
    out += fmt::format("memory-limit = {}  # MiB\n", *settings.memory_limit);
  for (const TrustedPackage& package : settings.packages) {
    out += fmt::format("\n[[trusted]]\npackage = {}\n", quote(package.name));
    if (!package.ns.empty()) out += fmt::format("namespace = {}\n", quote(package.ns));
    out += render_list("devices", package.devices);
  }
  for (const TrustedFile& file : settings.files) {
    out +=
        fmt::format("\n[[trusted]]\npath = {}\nkind = \"{}\"\nnamespace = {}\nsha256 = \"{}\"\n",
                    quote(file.path), plugins::render_kind(file.kind), quote(file.ns), file.sha256);
    out += render_list("devices", file.devices);
  }
  return out;
}

Outcome<ProviderSettings> read_provider_settings() { return read_from(provider_settings_path()); }

Outcome<void> change_provider_settings(
    const std::function<Outcome<void>(ProviderSettings&)>& change) {
  const std::string name = provider_settings_path();
  if (name.empty()) {
    return failed({ErrorKind::io, "no folder for provider settings is available",
                   "set HOME or XDG_CONFIG_HOME"});
  }
  // A link is kept: its target is replaced.
  const auto file = behind_links(name);
  if (!file) return failed(file.error());
  const std::string& path = *file;
  const fs::path folder = fs::path(path).parent_path();
  // 0700 whatever the umask is, as the XDG base directory specification requires.
  std::error_code error;
  fs::create_directories(folder.parent_path(), error);
  if (::mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST)
    error = {errno, std::generic_category()};
  if (error)
    return failed({ErrorKind::io, fmt::format("{}: {}", folder.string(), error.message())});
  // Locks the file while it is changed, if the file system supports locks.
  const system::Descriptor lock(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (lock) (void)system::wait_for_lock(lock);
  auto settings = read_from(path);
  if (!settings) return std::unexpected(settings.error());
  if (const auto changed = change(*settings); !changed) return changed;
  const std::string text = render_provider_settings(*settings);
  // A file that cannot be read again would stop every later command.
  if (const auto again = parse_provider_settings(text, path); !again)
    return failed({ErrorKind::malformed, "this cannot be stored: " + again.error().message, {}});
  if (const auto written = replace_file(path, text); !written) return failed(written.error());
  return {};
}

Outcome<resolver::ProviderPolicy> provider_policy(const ProviderSettings& settings,
                                                  const Arguments& arguments) {
  resolver::ProviderPolicy policy;
  policy.enabled = settings.enabled;
  policy.disabled = settings.disabled;
  const auto check = [](std::string_view option, const std::string& ns) -> Outcome<void> {
    if (is_namespace(ns)) return {};
    return misused(fmt::format("{} {}: that is not a valid namespace", option, ns),
                   "a namespace consists of a-z, 0-9 and _");
  };
  for (const std::string& ns : arguments.values(Opt::enable_provider)) {
    if (const auto sound = check("--enable-provider", ns); !sound)
      return std::unexpected(sound.error());
    policy.enabled.insert(ns);
    policy.disabled.erase(ns);
  }
  for (const std::string& ns : arguments.values(Opt::disable_provider)) {
    if (const auto sound = check("--disable-provider", ns); !sound)
      return std::unexpected(sound.error());
    policy.disabled.insert(ns);
  }
  return policy;
}

Outcome<std::vector<std::string>> device_option(const Arguments& arguments) {
  std::vector<std::string> devices = arguments.values(Opt::device);
  for (const std::string& device : devices) {
    if (plugins::is_device_pattern(device)) continue;
    return misused(fmt::format("--device {}: that does not name device nodes", device),
                   "for example --device /dev/acme0 or --device '/dev/acme*'");
  }
  return devices;
}

Result<std::string> sha256_of(const std::string& path) {
  // It is started by this name.
  std::error_code error;
  if (const fs::path leads_to = fs::canonical(path, error); !error && leads_to != path) {
    return fail(ErrorKind::unsupported, fmt::format("{} now points to {}", path, leads_to.string()),
                "trust that file instead if it is the intended one");
  }
  const auto file = open_own_file(path);
  if (!file) return std::unexpected(file.error());
  wheel::Sha256 hash;
  std::string buffer(1U << 16, '\0');
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), file->get()))
    hash.update(std::as_bytes(std::span(buffer.data(), got)));
  if (std::ferror(file->get()) != 0)
    return fail(ErrorKind::io, fmt::format("{}: cannot be read", path));
  return wheel::render_hex(hash.finish());
}

}  // namespace axle::session

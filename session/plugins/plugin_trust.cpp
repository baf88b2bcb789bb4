#include "session/plugins/plugin_trust.h"

#include <filesystem>
#include <system_error>

#include <fmt/core.h>

#include "foundation/text/utf8.h"
#include "session/plugins/trusted_plugins.h"
#include "wheel/requirement.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// The namespace of a file: --namespace, else what the file reports.
Outcome<std::string> namespace_of(const TrustedFile& file, const std::string& asked_for) {
  if (!asked_for.empty()) return asked_for;
  const auto said = plugins::ask_namespace(plugin_of(file), ask_options({}));
  if (said) return *said;
  return failed({ErrorKind::malformed, fmt::format("{}: {}", file.path, said.error().message),
                 said.error().hint});
}

Outcome<TrustedFile> trusted_file(const std::string& name, const TrustTerms& terms) {
  std::error_code error;
  TrustedFile file;
  file.path = fs::canonical(name, error).string();
  if (error) return failed({ErrorKind::not_found, fmt::format("{}: no such file", name)});
  if (!text::is_valid_utf8(file.path)) {
    return failed({ErrorKind::unsupported,
                   fmt::format("{}: its path is not UTF-8", text::repair_utf8(file.path)),
                   "the settings are a TOML file: rename it, or its folder"});
  }
  if (file.path.ends_with(".so") || file.path.contains(".so."))
    file.kind = plugins::PluginKind::shared_object;
  auto sha256 = sha256_of(file.path);
  if (!sha256) return failed(sha256.error());
  file.sha256 = std::move(*sha256);
  file.devices = terms.devices;
  auto found = namespace_of(file, terms.ns);
  if (!found) return std::unexpected(found.error());
  file.ns = std::move(*found);
  return file;
}

}  // namespace

Outcome<TrustedFile> trust_file(const std::string& path, const TrustTerms& terms,
                                ProviderSettings& settings) {
  auto file = trusted_file(path, terms);
  if (!file) return file;
  std::erase_if(settings.files, [&](const TrustedFile& old) {
    return old.path == file->path || old.ns == file->ns;
  });
  settings.files.push_back(*file);
  return file;
}

Outcome<TrustedPackage> trust_package(const std::string& name, const TrustTerms& terms,
                                      ProviderSettings& settings) {
  if (!wheel::is_valid_name(name)) {
    return misused(fmt::format("`{}` is not a valid package name", name),
                   "to specify a file, use a path with a slash: ./provider");
  }
  TrustedPackage package{wheel::normalize_name(name), terms.ns, terms.devices};
  std::erase_if(settings.packages, [&](const TrustedPackage& old) {
    return old.name == package.name && (old.ns == package.ns || package.ns.empty());
  });
  settings.packages.push_back(package);
  return package;
}

bool end_trust(const std::string& name, ProviderSettings& settings) {
  std::error_code error;
  const std::string path = fs::weakly_canonical(name, error).string();
  const std::string package = wheel::normalize_name(name);
  const auto files = std::erase_if(settings.files, [&](const TrustedFile& file) {
    return file.path == name || file.path == path;
  });
  const auto packages = std::erase_if(
      settings.packages, [&](const TrustedPackage& one) { return one.name == package; });
  return files + packages > 0;
}

}  // namespace axle::session

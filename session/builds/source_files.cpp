#include "session/builds/source_files.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/http/url.h"
#include "index/pages/page.h"

namespace axle::session {

namespace fs = std::filesystem;

plan::ResolvedPackage as_package(const resolver::Sdist& sdist) {
  plan::ResolvedPackage package;
  package.name = sdist.name;
  package.version = sdist.version;
  package.filename = sdist.file.filename;
  package.url = sdist.file.url;
  package.hash = sdist.file.hash;
  package.listed_hashes = sdist.listed;
  package.size = sdist.file.size;
  package.source = sdist.source;
  package.provenance = sdist.file.provenance;
  return package;
}

Result<plan::ResolvedPackage> as_package(const resolver::NamedSource& named) {
  plan::ResolvedPackage package;
  package.name = named.name;
  package.direct = true;
  package.url = index::without_fragment(named.url);
  package.filename = index::url_file_name(package.url);
  package.source = index::redact_url(package.url);
  package.listed_hashes = named.listed;
  const std::size_t fragment = named.url.find('#');
  if (fragment == std::string::npos) return package;
  if (!index::note_fragment_hashes(package.hash, std::string_view(named.url).substr(fragment + 1)))
    return fail(ErrorKind::malformed, fmt::format("{}: its sha256 is not 64 hexadecimal digits",
                                                  index::redact_url(named.url)));
  package.hash.source = wheel::HashSource::url;
  return package;
}

std::string known_sha256(const plan::ResolvedPackage& package) {
  if (const std::string_view own = package.hash.sha256(); !own.empty()) return std::string(own);
  const bool one =
      package.listed_hashes.size() == 1 && package.listed_hashes.front().algorithm == "sha256";
  return one ? package.listed_hashes.front().digits : std::string();
}

Result<std::string> project_in(const std::string& folder, const std::string& subdirectory,
                               const std::string& shown) {
  std::error_code error;
  const fs::path whole = fs::canonical(folder, error);
  const fs::path project = error ? fs::path() : fs::canonical(whole / subdirectory, error);
  const bool inside =
      !error && (project == whole || project.string().starts_with(whole.string() + "/"));
  if (!inside || !fs::is_directory(project, error))
    return fail(ErrorKind::not_found,
                subdirectory.empty() ? fmt::format("folder {} does not exist", shown)
                                     : fmt::format("{} has no folder {}", shown, subdirectory));
  if (!fs::exists(project / "pyproject.toml", error) && !fs::exists(project / "setup.py", error))
    return fail(ErrorKind::malformed,
                fmt::format("{} is no Python project: it has neither pyproject.toml nor setup.py",
                            subdirectory.empty() ? shown : shown + ", folder " + subdirectory),
                subdirectory.empty() ? "#subdirectory=FOLDER names the folder of the project" : "");
  return project.string();
}

std::string last_part(std::string_view url) {
  std::string path = index::percent_decode(index::split_url(url).path);
  while (path.ends_with('/')) path.pop_back();
  std::string name = path.substr(path.rfind('/') + 1);
  if (name.ends_with(".git")) name.resize(name.size() - 4);
  return name;
}

bool is_sound_name(const std::string& filename) {
  return !filename.empty() && !filename.contains('/') && !filename.starts_with('.') &&
         !filename.starts_with('-');
}

}  // namespace axle::session

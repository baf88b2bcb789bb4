#include "session/requests/package_place.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "resolver/request/source_url.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_scheme = "file:";

bool names_url(std::string_view place) {
  const std::size_t scheme = index::split_url(place).scheme.size();
  return (scheme > 0 && place.substr(scheme).starts_with("://")) ||
         place.starts_with(file_scheme) || resolver::names_repository(place);
}

/// As with pip, only a word with a separator is a folder: a checkout of torch may be in the folder
/// where torch is installed from.
bool looks_like_path(std::string_view text) { return text.contains('/') || text.starts_with('.'); }

bool is_file_name(std::string_view place) {
  return place.ends_with(".whl") || resolver::is_archive_name(place);
}

/// Where users look for a file, and whether it may be absent: what has a marker may be for another
/// machine.
struct Search {
  const std::string& folder;  ///< as of requirement_at
  bool may_be_absent = false;
};

/// Whether what such a path names is there: a file with the name of one, else a folder.
bool is_there(const fs::path& path) {
  std::error_code error;
  return is_file_name(path.string()) ? fs::is_regular_file(path, error)
                                     : fs::is_directory(path, error);
}

Result<std::string> url_of_file(const std::string& path, const Search& search) {
  std::error_code error;
  fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();
  if (!error && (search.may_be_absent || is_there(absolute)))
    return index::file_url(absolute.string());
  const fs::path beside = (fs::path(search.folder) / path).lexically_normal();
  std::string hint = "check the path; it counts from the working folder";
  if (path.contains(".whl;")) {
    hint = "write a space before the `;` of a marker";
  } else if (!search.folder.empty() && is_there(beside)) {
    hint = fmt::format("paths count from the working folder, as in pip and uv: write {}",
                       beside.string());
  }
  const std::string_view kind = path.contains(".whl")             ? "wheel file"
                                : resolver::is_archive_name(path) ? "file"
                                                                  : "folder";
  return fail(ErrorKind::not_found, fmt::format("{} {} does not exist", kind, path),
              std::move(hint));
}

/// What the URL names; a folder is a project of Python's.
Result<resolver::SourceUrl> named_source(const std::string& url, const Search& search) {
  auto source = resolver::parse_source_url(url);
  const bool folder = source && source->kind == resolver::SourceUrl::Kind::folder;
  if (!folder || search.may_be_absent) return source;
  const auto path = index::file_path(source->url);
  if (!path) return std::unexpected(path.error());
  fs::path project = *path;
  if (!source->subdirectory.empty()) project /= source->subdirectory;
  std::error_code error;
  if (!fs::is_directory(project, error))
    return fail(ErrorKind::not_found, fmt::format("folder {} does not exist", project.string()),
                "check the path");
  if (fs::exists(project / "pyproject.toml", error) || fs::exists(project / "setup.py", error))
    return source;
  return fail(ErrorKind::malformed,
              fmt::format("folder {} is no Python project: it has neither pyproject.toml nor "
                          "setup.py",
                          project.string()),
              "name the folder that has one");
}

Result<std::string> sound_url(const std::string& url) {
  const auto is_unfit = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; };
  if (std::ranges::none_of(url, is_unfit)) return url;
  return fail(
      ErrorKind::malformed,
      fmt::format("the URL {} contains a space or a control character", index::redact_url(url)),
      "write a space as %20");
}

/// `url` as it is, or that of what "file:PATH" names.
Result<std::string> absolute_url(const std::string& url, const Search& search) {
  if (!url.starts_with(file_scheme) || url.starts_with("file:/")) return sound_url(url);
  const std::string path = index::percent_decode(index::split_url(url).path);
  if (path.contains('\0')) return sound_url(path);
  auto absolute = url_of_file(path, search);
  if (!absolute || !url.contains('#')) return absolute;
  return sound_url(*absolute + url.substr(url.find('#')));
}

/// "NAME [extras] @ URL", with spaces or without: a path may have an @, too.
bool is_named(std::string_view text) {
  if (text.contains(" @ ")) return true;
  const std::size_t at = text.find('@');
  if (at == text.npos || index::split_url(text.substr(at + 1)).scheme.empty()) return false;
  const std::string_view name = text.substr(0, std::min(at, text.find('[')));
  return wheel::is_valid_name(text::trim_ascii(name));
}

}  // namespace

std::optional<PackagePlace> parse_package_place(std::string_view text) {
  if (is_named(text)) return std::nullopt;
  const bool url = names_url(text);
  // A URL may contain a semicolon, so there the marker's semicolon must be followed by a space.
  std::string_view place = text::trim_ascii(text.substr(0, text.find(url ? "; " : ";")));
  // What stands in brackets behind a repository belongs to its URL.
  const bool may_have_extras = !resolver::names_repository(place);
  if (may_have_extras && place.ends_with(']') && place.contains('['))
    place = place.substr(0, place.rfind('['));
  if (!url && !is_file_name(place) && !looks_like_path(place)) return std::nullopt;
  const auto behind = static_cast<std::size_t>(place.data() + place.size() - text.data());
  return PackagePlace{std::string(place), std::string(text.substr(behind))};
}

Result<wheel::Requirement> requirement_at(const PackagePlace& package, const std::string& folder) {
  auto requirement = wheel::parse_extras_and_marker(package.tail);
  if (!requirement) return requirement;
  const Search search{folder, requirement->marker.has_value()};
  auto url = names_url(package.place) ? absolute_url(package.place, search)
                                      : url_of_file(package.place, search);
  if (!url) return std::unexpected(std::move(url).error());
  auto source = named_source(*url, search);
  if (!source) return std::unexpected(std::move(source).error());
  requirement->url = resolver::without_egg(*url);
  if (source->kind != resolver::SourceUrl::Kind::wheel) {
    requirement->name = std::move(source->name);
    return requirement;
  }
  const auto name = wheel::parse_wheel_name(index::url_file_name(*url));
  if (!name) return std::unexpected(name.error());
  if (!wheel::is_valid_name(name->distribution)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: `{}` is not a valid name of a package",
                            index::redact_url(package.place), name->distribution),
                "names begin and end with a letter or a digit");
  }
  requirement->name = wheel::normalize_name(name->distribution);
  return requirement;
}

Result<void> make_absolute(wheel::Requirement& requirement, const std::string& folder) {
  const std::string& url = requirement.url;
  const index::UrlParts parts = index::split_url(url);
  const Search search{folder, requirement.marker.has_value()};
  const bool is_path = !url.empty() && parts.scheme.empty() && !parts.has_authority;
  if (is_path && !search.may_be_absent) {
    return fail(
        ErrorKind::malformed,
        fmt::format("`{}` is a path, but `{} @` is followed by a URL", url, requirement.name),
        fmt::format("write it as `{} @ file:{}`", requirement.name, url));
  }
  if (index::is_file_url(url) && !parts.authority.empty() && parts.authority != "localhost") {
    return fail(ErrorKind::malformed,
                fmt::format("the file URL {} names a host", index::redact_url(url)),
                "write file:PATH, which counts from the working folder, or file:///PATH");
  }
  if (url.empty()) return {};
  auto absolute = absolute_url(url, search);
  if (!absolute) return std::unexpected(std::move(absolute).error());
  if (const auto source = named_source(*absolute, search); !source && !search.may_be_absent)
    return std::unexpected(source.error());
  requirement.url = resolver::without_egg(*absolute);
  return {};
}

}  // namespace axle::session

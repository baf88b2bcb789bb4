#include "session/requests/wheel_place.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view file_scheme = "file:";

bool names_url(std::string_view place) {
  return place.contains("://") || place.starts_with(file_scheme);
}

/// Where users look for a file, and whether it may be absent: what has a marker may be for another
/// machine.
struct Search {
  const std::string& folder;  ///< as of requirement_at
  bool may_be_absent = false;
};

Result<std::string> url_of_file(const std::string& path, const Search& search) {
  std::error_code error;
  const fs::path absolute = fs::absolute(path, error).lexically_normal();
  if (!error && (search.may_be_absent || fs::is_regular_file(absolute, error)))
    return index::file_url(absolute.string());
  const fs::path beside = (fs::path(search.folder) / path).lexically_normal();
  std::string hint = "check the path; it counts from the working folder";
  if (path.contains(".whl;")) {
    hint = "write a space before the `;` of a marker";
  } else if (!search.folder.empty() && fs::is_regular_file(beside, error)) {
    hint = fmt::format("paths count from the working folder, as in pip and uv: write {}",
                       beside.string());
  }
  return fail(ErrorKind::not_found, fmt::format("wheel file {} does not exist", path),
              std::move(hint));
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

std::optional<WheelPlace> parse_wheel_place(std::string_view text) {
  if (is_named(text)) return std::nullopt;
  // A URL may contain a semicolon, so there the marker's semicolon must be followed by a space.
  std::string_view place =
      text::trim_ascii(text.substr(0, text.find(names_url(text) ? "; " : ";")));
  if (place.ends_with(']') && place.contains('[')) place = place.substr(0, place.rfind('['));
  const std::size_t end = names_url(text) ? place.find_first_of("#?") : place.npos;
  if (!place.substr(0, end).ends_with(".whl")) return std::nullopt;
  const auto behind = static_cast<std::size_t>(place.data() + place.size() - text.data());
  return WheelPlace{std::string(place), std::string(text.substr(behind))};
}

Result<wheel::Requirement> requirement_at(const WheelPlace& wheel, const std::string& folder) {
  auto requirement = wheel::parse_extras_and_marker(wheel.tail);
  if (!requirement) return requirement;
  const Search search{folder, requirement->marker.has_value()};
  auto url =
      names_url(wheel.place) ? absolute_url(wheel.place, search) : url_of_file(wheel.place, search);
  if (!url) return std::unexpected(std::move(url).error());
  const auto name = wheel::parse_wheel_name(index::url_file_name(*url));
  if (!name) return std::unexpected(name.error());
  if (!wheel::is_valid_name(name->distribution)) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: `{}` is not a valid name of a package",
                            index::redact_url(wheel.place), name->distribution),
                "names begin and end with a letter or a digit");
  }
  requirement->name = wheel::normalize_name(name->distribution);
  requirement->url = std::move(*url);
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
  auto absolute = absolute_url(url, search);
  if (!absolute) return std::unexpected(std::move(absolute).error());
  requirement.url = std::move(*absolute);
  return {};
}

}  // namespace axle::session

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

bool names_url(std::string_view place) { return place.contains("://"); }

/// The URL of an existing wheel file.
Result<std::string> url_of_file(const std::string& path, const std::string& folder) {
  std::error_code error;
  const fs::path absolute = fs::absolute(fs::path(folder) / path, error).lexically_normal();
  if (error || !fs::is_regular_file(absolute, error)) {
    return fail(ErrorKind::not_found, fmt::format("wheel file {} does not exist", path),
                "check the path");
  }
  return index::file_url(absolute.string());
}

Result<std::string> sound_url(const std::string& url) {
  const auto is_unfit = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; };
  if (std::ranges::none_of(url, is_unfit)) return url;
  return fail(
      ErrorKind::malformed,
      fmt::format("the URL {} contains a space or a control character", index::redact_url(url)),
      "write a space as %20");
}

}  // namespace

std::optional<WheelPlace> parse_wheel_place(std::string_view text) {
  if (text.contains(" @ ")) return std::nullopt;
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
  const std::string path =
      names_url(wheel.place)
          ? index::percent_decode(wheel.place.substr(0, wheel.place.find_first_of("#?")))
          : wheel.place;
  auto url = names_url(wheel.place) ? sound_url(wheel.place) : url_of_file(wheel.place, folder);
  if (!url) return std::unexpected(std::move(url).error());
  const auto name = wheel::parse_wheel_name(fs::path(path).filename().string());
  if (!name) return std::unexpected(name.error());
  auto requirement = wheel::parse_extras_and_marker(wheel.tail);
  if (!requirement) return requirement;
  requirement->name = wheel::normalize_name(name->distribution);
  requirement->url = std::move(*url);
  return requirement;
}

}  // namespace axle::session

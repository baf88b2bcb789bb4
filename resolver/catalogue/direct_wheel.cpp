#include "resolver/catalogue/direct_wheel.h"

#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::resolver {
namespace {

/// The file behind a URL, its hash taken from the fragment as pip writes it (`#sha256=…`).
Result<index::PublishedFile> file_at(std::string_view url) {
  index::PublishedFile file;
  const std::size_t hash = url.find('#');
  if (hash != std::string_view::npos) {
    if (!index::note_fragment_hashes(file.hash, url.substr(hash + 1))) {
      return fail(ErrorKind::malformed, fmt::format("{}: its sha256 is not 64 hexadecimal digits",
                                                    index::redact_url(url)));
    }
    file.hash.source = wheel::HashSource::url;
    url = url.substr(0, hash);
  }
  file.url = url;
  const std::string_view path = url.substr(0, url.find('?'));
  file.filename = index::percent_decode(path.substr(path.rfind('/') + 1));
  if (const auto local = index::file_path(file.url)) {
    std::error_code error;
    const std::uintmax_t size = std::filesystem::file_size(*local, error);
    if (!error) file.size = size;
  }
  return file;
}

}  // namespace

Result<Release> direct_release(std::string_view name, const std::vector<std::string>& urls) {
  Release release;
  release.direct = true;
  for (const std::string& url : urls) {
    auto found = file_at(url);
    if (!found) return std::unexpected(std::move(found).error());
    index::PublishedFile& file = *found;
    const std::string shown = index::redact_url(url);
    if (!file.filename.ends_with(".whl")) {
      return fail(
          ErrorKind::unsupported, fmt::format("{} is not a wheel", shown),
          fmt::format("let pip build a wheel: `pip wheel --no-deps --wheel-dir wheels {}`, then "
                      "install it: `variant install --find-links wheels {}`",
                      shell_word(fmt::format("{} @ {}", name, shown)), name));
    }
    const auto parsed = wheel::parse_wheel_name(file.filename);
    if (!parsed) return std::unexpected(within(shown, parsed.error()));
    if (wheel::normalize_name(parsed->distribution) != name) {
      return fail(ErrorKind::mismatch,
                  fmt::format("{} is a wheel of {}, not of {}", shown, parsed->distribution, name));
    }
    if (!release.wheels().empty() && release.version != parsed->version) {
      return fail(ErrorKind::conflict,
                  fmt::format("two versions of {} are requested: {} and {}", name,
                              index::redact_url(urls.front()), shown),
                  "request only one of them");
    }
    release.version = parsed->version;
    for (const index::PublishedFile& other : release.wheels()) {
      // One name for two files: which of them is meant, nobody can say.
      const bool same = file.url == other.url ||
                        (!file.hash.sha256().empty() && file.hash.sha256() == other.hash.sha256());
      if (other.filename != file.filename || same) continue;
      return fail(ErrorKind::conflict,
                  fmt::format("{} is requested from two places: {} and {}", file.filename,
                              index::redact_url(other.url), shown),
                  "request only one of them");
    }
    release.changed_files().wheels.push_back(std::move(file));
  }
  return release;
}

}  // namespace axle::resolver

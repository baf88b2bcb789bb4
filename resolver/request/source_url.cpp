#include "resolver/request/source_url.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>

#include <fmt/format.h>

#include "foundation/text/ascii.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "wheel/requirement.h"

namespace axle::resolver {
namespace {

/// pip's list; what tarfile(3) and zipfile(3) read.
constexpr std::array archive_suffixes = {".tar.gz",  ".zip",    ".tgz",     ".tar",
                                         ".tar.bz2", ".tbz",    ".txz",     ".tar.xz",
                                         ".tlz",     ".tar.lz", ".tar.lzma"};
constexpr std::array repository_kinds = {"git+", "hg+", "svn+", "bzr+"};
/// What git itself reaches without a program of the user's choice ("ext::sh -c …").
constexpr std::array git_schemes = {"https", "http", "ssh", "git", "file"};

bool is_hexadecimal(std::string_view text) {
  return text.find_first_not_of("0123456789abcdef") == text.npos;
}

/// Calls `take` with the parts of a fragment: "egg=demo", "sha256=…".
void each_part(std::string_view fragment, const std::function<void(std::string_view)>& take) {
  while (!fragment.empty()) {
    const std::size_t end = std::min(fragment.find('&'), fragment.size());
    take(fragment.substr(0, end));
    fragment.remove_prefix(std::min(end + 1, fragment.size()));
  }
}

std::unexpected<Error> bad(std::string_view url, std::string_view what, std::string hint = {}) {
  return fail(ErrorKind::malformed, fmt::format("{}: {}", index::redact_url(url), what),
              std::move(hint));
}

Result<std::string> sound_subdirectory(std::string_view url, std::string_view written) {
  const std::string text = index::percent_decode(written);
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; };
  const std::filesystem::path path = std::filesystem::path(text).lexically_normal();
  const bool leaves = path.is_absolute() || (!path.empty() && *path.begin() == "..");
  if (leaves || std::ranges::any_of(text, is_control))
    return bad(url, fmt::format("the subdirectory `{}` is not one of the sources", written),
               "write it relative to them: #subdirectory=folder/project");
  std::string normal = path.generic_string();
  while (normal.ends_with('/')) normal.pop_back();
  return normal == "." ? std::string() : normal;
}

Result<void> read_fragment(std::string_view url, std::string_view fragment, SourceUrl& source) {
  Result<void> done;
  each_part(fragment, [&](std::string_view part) {
    const std::size_t equals = std::min(part.find('='), part.size());
    const std::string_view key = part.substr(0, equals);
    const std::string_view value = part.substr(std::min(equals + 1, part.size()));
    if (key == "subdirectory") {
      auto sound = sound_subdirectory(url, value);
      if (sound) {
        source.subdirectory = std::move(*sound);
      } else if (done) {
        done = std::unexpected(std::move(sound).error());
      }
    } else if (key == "egg") {
      if (!wheel::is_valid_name(value) && done) {
        done = bad(url, fmt::format("`{}` after #egg= is not the name of a package", value),
                   "write `NAME[extra] @ URL` for a name with extras");
      }
      source.name = wheel::normalize_name(value);
    }
  });
  return done;
}

/// "git+https://host/path@revision" without its fragment.
Result<void> read_repository(std::string_view url, SourceUrl& source) {
  if (!url.starts_with("git+")) {
    return fail(ErrorKind::malformed,
                fmt::format("{} is no repository of git", index::redact_url(url)),
                "let pip make a wheel of it with `pip wheel --no-deps`, and install that");
  }
  const std::string_view place = url.substr(4);
  const index::UrlParts parts = index::split_url(place);
  const std::string scheme = text::ascii_lower(parts.scheme);
  if (std::ranges::find(git_schemes, scheme) == git_schemes.end() || !parts.has_authority) {
    return fail(ErrorKind::malformed,
                fmt::format("{}: git is not asked for such a URL", index::redact_url(url)),
                "write git+https://HOST/PATH, git+ssh://git@HOST/PATH or git+file:///PATH");
  }
  const index::Authority authority = index::split_authority(parts.authority);
  const bool has_host = !authority.host.empty() && !authority.host.starts_with('-');
  if ((scheme != "file" && !has_host) || authority.user_info.starts_with('-') ||
      (scheme == "file" && !parts.authority.empty() && parts.authority != "localhost"))
    return bad(url, "its host is not valid", "write git+https://HOST/PATH or git+file:///PATH");
  source.url = place;
  const std::size_t at = parts.path.rfind('@');
  if (at == parts.path.npos) return {};
  source.revision = parts.path.substr(at + 1);
  source.url = std::string(place.substr(0, parts.path.data() + at - place.data()));
  const auto is_unfit = [](char c) { return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F; };
  if (source.revision.empty() || source.revision.starts_with('-') ||
      std::ranges::any_of(source.revision, is_unfit))
    return bad(url, fmt::format("`{}` is not a revision", source.revision),
               "after the @ stands a branch, a tag or a commit");
  return {};
}

/// What a URL names that is no repository.
Result<void> read_file(std::string_view url, SourceUrl& source) {
  source.url = url;
  const std::string name = index::url_file_name(url);
  if (name.ends_with(".whl")) {
    source.kind = SourceUrl::Kind::wheel;
  } else if (is_archive_name(name)) {
    source.kind = SourceUrl::Kind::archive;
  } else if (index::is_file_url(url)) {
    source.kind = SourceUrl::Kind::folder;
  } else {
    return fail(ErrorKind::malformed,
                fmt::format("{} is neither a wheel nor an archive of sources, by its name",
                            index::redact_url(url)),
                "a repository of git is named by git+https://…");
  }
  return {};
}

}  // namespace

bool is_archive_name(std::string_view name) {
  const std::string lower = text::ascii_lower(name);
  return std::ranges::any_of(archive_suffixes,
                             [&](std::string_view suffix) { return lower.ends_with(suffix); });
}

bool names_repository(std::string_view url) {
  return std::ranges::any_of(repository_kinds,
                             [&](std::string_view kind) { return url.starts_with(kind); });
}

bool is_commit(std::string_view revision) {
  return (revision.size() == 40 || revision.size() == 64) && is_hexadecimal(revision);
}

Result<SourceUrl> parse_source_url(std::string_view url) {
  SourceUrl source;
  const std::size_t hash = std::min(url.find('#'), url.size());
  const std::string_view place = url.substr(0, hash);
  if (hash < url.size()) {
    if (auto read = read_fragment(url, url.substr(hash + 1), source); !read)
      return std::unexpected(std::move(read).error());
  }
  const bool repository = names_repository(place);
  if (repository) source.kind = SourceUrl::Kind::repository;
  if (auto read = repository ? read_repository(place, source) : read_file(place, source); !read)
    return std::unexpected(std::move(read).error());
  return source;
}

std::string without_egg(std::string_view url) {
  const std::size_t hash = std::min(url.find('#'), url.size());
  std::string kept;
  each_part(url.substr(std::min(hash + 1, url.size())), [&](std::string_view part) {
    if (part.empty() || part.starts_with("egg=")) return;
    kept += kept.empty() ? '#' : '&';
    kept += part;
  });
  return std::string(url.substr(0, hash)) + kept;
}

std::string without_login(std::string_view url) {
  std::string stored = index::redact_url(url);
  const bool by_git = index::split_authority(index::split_url(url).authority).user_info == "git";
  if (by_git) stored.insert(stored.find("://") + 3, "git@");
  return stored;
}

}  // namespace axle::resolver

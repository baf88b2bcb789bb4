#include "resolver/catalogue/direct_release.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "foundation/system/shell_command.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "resolver/catalogue/listed_files.h"
#include "resolver/request/source_url.h"
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

bool contains(const std::vector<std::string>& urls, const std::string& url) {
  return std::ranges::find(urls, url) != urls.end();
}

/// A hash of it can be compared before anything of it runs.
bool has_hash(std::string_view url, const NamedPlaces& places) {
  const auto source = parse_source_url(url);
  if (!source || !source->is_file()) return false;
  wheel::ExpectedHash hash;
  const std::size_t fragment = std::min(url.find('#'), url.size());
  const bool stated = fragment < url.size() &&
                      index::note_fragment_hashes(hash, url.substr(fragment + 1)) &&
                      !hash.as_listed().empty();
  return stated || !places.listed.empty();
}

Error may_not_be_built(std::string_view name, const std::string& url, std::string why,
                       std::string hint) {
  return {ErrorKind::conflict,
          fmt::format("{} is not built from {}: {}", name, index::redact_url(url), why),
          std::move(hint)};
}

/// Why the sources at `url` are not built; nullopt: they are.
std::optional<Error> refusal(std::string_view name, const std::string& url,
                             const NamedPlaces& places, const Options& options) {
  if (options.builds.builder == nullptr)
    return may_not_be_built(name, url, "a build is for this machine, not for another one (--for)",
                            "name a wheel for that machine");
  const std::string* who = options.builds.metadata_alone ? nullptr : options.refuses_build(name);
  if (who != nullptr) return may_not_be_built(name, url, *who, "unset it, or name a wheel");
  if (places.hash_required && !has_hash(url, places))
    return may_not_be_built(name, url, "hashes are required, and none is listed for it",
                            "add --hash=sha256:… to a requirement that names it");
  if (contains(places.consented, url) || options.builds.covers(name)) return std::nullopt;
  const std::string word = shell_word(fmt::format("{} @ {}", name, index::redact_url(url)));
  return may_not_be_built(
      name, url, "the metadata of another package names it, and a build runs its code",
      fmt::format("consent with `--build={}`, or name it yourself: {}", name, word));
}

Result<Release> built_release(std::string_view name, const NamedPlaces& places,
                              const Options& options, const wheel::SupportedTags& tags) {
  const std::string& url = places.urls.front();
  if (places.urls.size() > 1) {
    return fail(ErrorKind::conflict,
                fmt::format("{} is requested from two places: {} and {}", name,
                            index::redact_url(url), index::redact_url(places.urls.back())),
                "request only one of them");
  }
  if (auto refused = refusal(name, url, places, options)) return std::unexpected(*refused);
  auto built = options.builds.builder->build(
      NamedSource{std::string(name), url, places.listed, options.builds.editable.contains(url)});
  if (!built) return std::unexpected(std::move(built).error());
  Release release;
  release.direct = true;
  note_build(release, std::move(*built), tags);
  if (release.candidates.empty())
    return fail(ErrorKind::malformed, fmt::format("{} made no wheel", index::redact_url(url)));
  release.version = release.candidates.front().name.version;
  return release;
}

Result<void> add_wheel(std::string_view name, const std::vector<std::string>& urls,
                       const std::string& url, Release& release) {
  auto found = file_at(url);
  if (!found) return std::unexpected(std::move(found).error());
  index::PublishedFile& file = *found;
  const std::string shown = index::redact_url(url);
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
  return {};
}

}  // namespace

Result<NamedPlaces> named_places(std::string_view name, const std::vector<const Want*>& wants,
                                 const std::string& assigned,
                                 const std::vector<std::string>& more) {
  NamedPlaces places;
  places.urls = direct_urls(wants);
  for (const Want* want : wants) {
    if (want->by.empty()) places.consented.push_back(want->requirement.url);
  }
  const auto add = [&](const std::string& url) {
    if (!url.empty() && !contains(places.urls, url)) places.urls.push_back(url);
  };
  add(assigned);
  places.consented.push_back(assigned);
  for (const std::string& url : more) add(url);
  auto listed = listed_hashes(name, wants);
  if (!listed) return std::unexpected(std::move(listed).error());
  places.listed = std::move(*listed);
  return places;
}

Result<Release> direct_release(std::string_view name, const NamedPlaces& places,
                               const Options& options, const wheel::SupportedTags& tags) {
  for (const std::string& url : places.urls) {
    const auto source = parse_source_url(url);
    if (!source) return std::unexpected(source.error());
    if (source->kind != SourceUrl::Kind::wheel) return built_release(name, places, options, tags);
  }
  Release release;
  release.direct = true;
  for (const std::string& url : places.urls) {
    if (auto added = add_wheel(name, places.urls, url, release); !added)
      return std::unexpected(std::move(added).error());
  }
  return release;
}

}  // namespace axle::resolver

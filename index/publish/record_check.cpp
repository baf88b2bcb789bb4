#include "index/publish/record_check.h"

#include <optional>

#include <fmt/format.h>

#include "index/publish/removal_command.h"
#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

std::string path_of(const ListedFile& file, const std::string& project, const IndexPlace& place) {
  return fmt::format("{}/simple/{}/{}", place.name(), project, file.filename);
}

std::string removal_of(const ListedFile& file, const std::string& path) {
  return file.filename.ends_with(".whl")
             ? removal_command(path)
             : std::string("`variant index remove` with the wheels of its release");
}

std::string bytes_and_hash(std::uint64_t size, std::string_view sha256) {
  return fmt::format("{} bytes with the sha256 {}", size, sha256);
}

std::unexpected<Error> differs(const ListedFile& record, const std::string& path,
                               std::uint64_t size, std::string_view sha256) {
  return fail(
      ErrorKind::mismatch,
      fmt::format("the record of {} is of {}, but {} has {}", record.filename,
                  bytes_and_hash(record.size, record.sha256), path, bytes_and_hash(size, sha256)),
      fmt::format("correct the record; if the file is another one now, give it a new "
                  "version or build number, or remove the published one first: {}",
                  removal_of(record, path)));
}

std::unexpected<Error> not_beside(std::string_view what, const std::string& path) {
  return fail(
      ErrorKind::not_found,
      fmt::format("a record says that {} is beside its page, but {} is not there", what, path),
      "put it there first, or let `url` say where it is");
}

/// What belongs to a wheel beside its page.
Result<void> check_companions(const ListedFile& record, const std::string& project,
                              IndexPlace& place, const std::string& path) {
  if (!record.metadata_sha256.empty()) {
    const auto text = place.read_metadata(project, record.filename);
    if (!text && text.error().kind != ErrorKind::not_found) return std::unexpected(text.error());
    if (!text) return not_beside("METADATA of " + record.filename, path + ".metadata");
    if (const auto is = wheel::render_hex(wheel::sha256(*text)); is != record.metadata_sha256) {
      return fail(ErrorKind::mismatch,
                  fmt::format("the record of {} says that its METADATA has the sha256 {}, but that "
                              "of {}.metadata is {}",
                              record.filename, record.metadata_sha256, path, is),
                  "correct the record");
    }
  }
  if (!record.has_provenance || !record.provenance_url.empty()) return {};
  const auto there = place.look_at(project, provenance_name(record.filename));
  if (!there) return std::unexpected(there.error());
  if (*there) return {};
  return not_beside("the attestations of " + record.filename, provenance_name(path));
}

Result<void> check_beside(const ListedFile& record, const ListedFile* listed,
                          const std::string& project, IndexPlace& place) {
  const std::string path = path_of(record, project, place);
  const bool known = listed != nullptr && listed->url.empty() && listed->sha256 == record.sha256 &&
                     listed->size == record.size;
  if (!known) {
    const auto there = place.look_at(project, record.filename);
    if (!there) return std::unexpected(there.error());
    if (!*there) return not_beside(record.filename, path);
    const std::string& is = (*there)->sha256.empty() ? record.sha256 : (*there)->sha256;
    if ((*there)->size != record.size || is != record.sha256)
      return differs(record, path, (*there)->size, is);
  }
  if (known && listed->metadata_sha256 == record.metadata_sha256 &&
      listed->has_provenance == record.has_provenance)
    return {};
  return check_companions(record, project, place, path);
}

}  // namespace

Result<void> check_record(const ListedFile& record, const ListedFile* listed,
                          const std::string& project, IndexPlace& place) {
  const bool may_become_another = !record.filename.ends_with(".whl");
  if (listed != nullptr && listed->url.empty() && !record.url.empty()) {
    const std::string path = path_of(record, project, place);
    return fail(ErrorKind::mismatch,
                fmt::format("a record says that {} is elsewhere, but it is published at {}",
                            record.filename, path),
                fmt::format("remove that one first: {}", removal_of(record, path)));
  }
  const bool same =
      listed == nullptr || (listed->sha256 == record.sha256 && listed->size == record.size);
  if (!same && !may_become_another) {
    return differs(record, listed->url.empty() ? path_of(record, project, place) : listed->url,
                   listed->size, listed->sha256);
  }
  return record.url.empty() ? check_beside(record, listed, project, place) : Result<void>();
}

std::unexpected<Error> other_spelling(const std::string& filename, const std::string& published) {
  return fail(ErrorKind::mismatch,
              fmt::format("the record of {} is of the same wheel as {}, by another spelling of its "
                          "name",
                          filename, published),
              "an index lists a wheel once: correct the record, or remove the published one first");
}

std::unexpected<Error> differing_records(const std::string& filename) {
  return fail(ErrorKind::mismatch, fmt::format("two records of {} have different hashes", filename),
              "record a file once");
}

}  // namespace axle::index

#include "resolver/catalogue/release_metadata.h"

#include <cstdint>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/pages/remote_wheel.h"

namespace axle::resolver {
namespace {

constexpr std::uint64_t max_variants_file = 4ULL << 20;
/// Without a variants file each label costs a request: real releases have some ten.
constexpr std::size_t most_labels_to_look_at = 200;
constexpr const char* own_metadata = "the wheels' own metadata";

/// What stays usable although the metadata is not: said once, here.
void ignore_variants(ReleaseMetadata& result, std::string why, Report& report) {
  result.document.reset();
  result.broken = std::move(why);
  report.warn(fmt::format("the variant wheels are ignored: {}", result.broken),
              "the package's publisher has to fix its variant metadata");
}

Result<ReleaseMetadata> from_variants_file(const index::PublishedFile& file,
                                           index::Transport& transport, Report& report) {
  ReleaseMetadata result;
  result.source = index::redact_url(file.url);
  const auto text = index::fetch_listed(file, transport, max_variants_file);
  if (!text) {
    if (text.error().kind != ErrorKind::not_found) return std::unexpected(text.error());
    ignore_variants(result, text.error().message, report);
    return result;
  }
  auto document = wheel::parse_variant_metadata(*text, result.source, report);
  if (document) {
    result.document = std::move(*document);
  } else {
    ignore_variants(result, document.error().message, report);
  }
  return result;
}

Result<ReleaseMetadata> from_wheels(const Release& release,
                                    const std::vector<const CandidateWheel*>& variant_wheels,
                                    index::Transport& transport, Report& report) {
  ReleaseMetadata result;
  result.source = own_metadata;
  std::set<std::string_view> seen;
  std::string first;
  for (const CandidateWheel* candidate : variant_wheels) {
    if (!seen.insert(candidate->label).second) continue;
    if (seen.size() > most_labels_to_look_at) {
      ignore_variants(result,
                      fmt::format("there are more than {} labels, and no variants file that "
                                  "describes them",
                                  most_labels_to_look_at),
                      report);
      return result;
    }
    const std::string& file = candidate->file->filename;
    auto document = index::fetch_own_variant(*candidate->file, candidate->name, transport, report);
    if (!document) {
      if (release.direct || document.error().kind == ErrorKind::io) {
        return std::unexpected(std::move(document).error());
      }
      report.warn(fmt::format("{} is ignored: {}", file, document.error().message));
      result.skipped.push_back({file, plan::SkipCode::metadata, document.error().message});
      continue;
    }
    if (!result.document) {
      result.document = std::move(*document);
      first = file;
      continue;
    }
    auto merged = wheel::merge_variant_metadata(*result.document, first, *document, file);
    if (!merged) {
      ignore_variants(result, merged.error().message, report);
      return result;
    }
    result.document = std::move(*merged);
  }
  return result;
}

ReleaseMetadata from_family(std::string_view name, std::string_view platform,
                            const Release& release,
                            const std::vector<const CandidateWheel*>& labelled_wheels) {
  std::set<std::string, std::less<>> labels;
  for (const CandidateWheel* wheel : labelled_wheels) labels.insert(wheel->label);
  index::FamilyVariants variants =
      index::family_variants(*release.family, name, release.version, platform, labels);
  ReleaseMetadata result;
  result.source = fmt::format("family {} ({}, {})", release.family->name, release.family->where,
                              release.family->date);
  result.document = std::move(variants.document);
  result.fallback = std::move(variants.fallback);
  result.unknown = std::move(variants.unknown);
  result.evidence = std::move(variants.evidence);
  return result;
}

}  // namespace

void expect_release_metadata(const Release& release, index::Transport& transport) {
  if (release.family == nullptr && release.variants_file())
    index::prefetch_listed(*release.variants_file(), transport, max_variants_file);
}

Result<ReleaseMetadata> read_release_metadata(
    std::string_view name, std::string_view platform, const Release& release,
    const std::vector<const CandidateWheel*>& variant_wheels, index::Transport& transport,
    Report& report) {
  if (release.family != nullptr) return from_family(name, platform, release, variant_wheels);
  if (release.variants_file())
    return from_variants_file(*release.variants_file(), transport, report);
  return from_wheels(release, variant_wheels, transport, report);
}

}  // namespace axle::resolver

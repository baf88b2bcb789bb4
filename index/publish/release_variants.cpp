#include "index/publish/release_variants.h"

#include <utility>
#include <vector>

#include "wheel/hash/sha256.h"

namespace axle::index {
namespace {

constexpr const char* conflict_hint =
    "rebuild one of the two so that they match, or publish them as different releases";

/// `wheel` contradicts the earlier ones combined; finds the first of them that it contradicts
/// directly.
Error name_conflict(std::span<const ScannedWheel* const> earlier, const ScannedWheel& wheel,
                    Error error) {
  for (const ScannedWheel* other : earlier) {
    auto pair =
        wheel::merge_variant_metadata(*other->variant, other->path, *wheel.variant, wheel.path);
    if (!pair) {
      error = std::move(pair.error());
      break;
    }
  }
  if (error.hint.empty()) error.hint = conflict_hint;
  return error;
}

}  // namespace

Result<std::optional<VariantsFile>> combine_variants(std::span<const ScannedWheel* const> wheels) {
  std::optional<wheel::VariantMetadata> combined;
  std::vector<const ScannedWheel*> merged;
  for (const ScannedWheel* wheel : wheels) {
    if (!wheel->variant) continue;
    if (!combined) {
      combined = *wheel->variant;
    } else {
      auto both = wheel::merge_variant_metadata(*combined, merged.front()->path, *wheel->variant,
                                                wheel->path);
      if (!both) {
        return std::unexpected(name_conflict(merged, *wheel, std::move(both.error())));
      }
      combined = std::move(*both);
    }
    merged.push_back(wheel);
  }
  if (!combined) return std::nullopt;
  const ScannedWheel& first = *merged.front();
  VariantsFile file;
  file.filename = wheel::variants_file_name(first.name.distribution, first.name.version);
  // In the generation that the wheels are of, where the newer one cannot say it.
  Result<std::string> text = wheel::render_variant_metadata(*combined);
  if (!text && text.error().kind == ErrorKind::unsupported) {
    if (auto draft = wheel::render_draft_metadata(*combined)) text = std::move(*draft);
  }
  if (!text) return std::unexpected(within(file.filename, std::move(text.error())));
  file.text = std::move(*text);
  file.sha256 = wheel::render_hex(wheel::sha256(file.text));
  return file;
}

}  // namespace axle::index

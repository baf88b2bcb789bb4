#pragma once
// Writes the pages for people beside those for installers, as a part of the same change.

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/browse/project_page.h"
#include "index/publish/index_pages.h"
#include "index/publish/index_place.h"

namespace axle::index {

using WritePage = std::function<Result<void>(std::string_view path, std::string_view text)>;

/// The list pages and what all pages share. A first page that somebody else made is left alone, as
/// by what follows.
[[nodiscard]] Result<void> write_people_pages(std::span<const std::string> projects,
                                              IndexPlace& place, const WritePage& write);

/// The same in an index that had the projects `before`: what is not needed any more goes.
[[nodiscard]] Result<void> rewrite_people_pages(std::span<const std::string> before,
                                                std::span<const std::string> after,
                                                IndexPlace& place, IndexDraft& out);

/// Only list pages with other names than before, unless all are missing or of another version.
[[nodiscard]] Result<void> change_people_pages(std::span<const std::string> before,
                                               std::span<const std::string> after,
                                               IndexPlace& place, IndexDraft& out);

/// Of an index whose projects stay: nothing, unless they are missing or of another version.
[[nodiscard]] Result<void> renew_people_pages(IndexPlace& place, IndexDraft& out);

/// Of a text that was just made; nullopt: it is none.
[[nodiscard]] std::optional<wheel::VariantMetadata> read_document(std::string_view text,
                                                                  std::string_view where);

/// Reads what a page lists beside it. `published` and `place` must outlive it.
[[nodiscard]] ReadVariants published_variants_of(const PublishedProject& published,
                                                 IndexPlace& place);

}  // namespace axle::index

#pragma once
// The page of a project for people: its releases, files and variants, and what a script needs to
// say which of them a machine gets. A reader without scripts sees all but the latter.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "index/browse/page_machines.h"
#include "index/publish/index_pages.h"
#include "wheel/variant/variant_metadata.h"

namespace axle::index {

/// Beside index.html of a project; no project and no wheel has this name.
inline constexpr std::string_view project_page_name = "page.html";

/// Of how many releases with variants, the newest, a page says what the variants need. All others
/// name their variants file: a page and its making stay small, however long a history is.
inline constexpr std::size_t most_described_releases = 40;

/// The documents of variants files, in their order; nullopt: it cannot be read here.
using ReadVariants = std::function<std::vector<std::optional<wheel::VariantMetadata>>(
    const std::vector<const ListedFile*>&)>;

/// `files`: as the other pages list them, releases in ascending order.
[[nodiscard]] std::string render_project_page(std::string_view project,
                                              const std::vector<ListedFile>& files,
                                              const ReadVariants& read,
                                              const PageMachines& machines);

}  // namespace axle::index

#pragma once
// Reads back what `variant index build` has written into a folder: strictly, so that adding to it
// keeps everything, and no other files are changed.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "foundation/report/error.h"
#include "index/pages/page.h"
#include "index/publish/index_pages.h"

namespace axle::index {

/// All of it from its page.
using PublishedWheel = ListedFile;

struct PublishedProject {
  std::string folder;                  ///< absolute
  std::vector<PublishedWheel> wheels;  ///< in page order
  std::vector<ListedFile> variants;    ///< the variants files, in page order
  std::vector<std::string> listed;     ///< file names on the page, wheels and variants files
  std::vector<std::string> files;      ///< everything in the folder, pages included, sorted
};

/// What a page says of a file, as ours are written; `page_url` is where it was read.
[[nodiscard]] ListedFile listed_file(const PublishedFile& file, std::string_view page_url);

/// By normalised name.
using PublishedIndex = std::map<std::string, PublishedProject>;

/// `folder` is absolute; one that does not exist or is empty has no projects. Errors: io if it
/// contains something that an index build did not write (with its name: a file, link or folder that
/// no page lists, an entry of a page that it would not write). The wheels are not opened.
[[nodiscard]] Result<PublishedIndex> read_published_index(const std::string& folder);

/// The same of the project whose folder that is; nullopt: it is not there. Files named in `laid`
/// may be there that no page lists yet; if there is nothing else, nothing is published either.
[[nodiscard]] Result<std::optional<PublishedProject>> read_published_project(
    const std::string& folder, const std::set<std::string>& laid = {});

/// The projects that have a folder, sorted, whatever the first page says; a folder without an index
/// has none.
[[nodiscard]] Result<std::vector<std::string>> list_project_folders(const std::string& folder);

/// The projects that the first page of the index in `folder` names; nullopt: there is no index, and
/// nothing else. Errors: io, as above.
[[nodiscard]] Result<std::optional<std::vector<std::string>>> read_published_names(
    const std::string& folder);

/// The same of one project, from its page index.json alone: `text` is read, `where` its place for
/// messages, `url` where it was read. `files` is what the page says that there is.
[[nodiscard]] Result<PublishedProject> parse_published_page(std::string text,
                                                            const std::string& where,
                                                            std::string_view url);

/// The projects that the page simple/index.json names. Error: io, if it is not an index build's.
[[nodiscard]] Result<std::vector<std::string>> parse_published_root(std::string_view text,
                                                                    const std::string& where);

}  // namespace axle::index

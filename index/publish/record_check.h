#pragma once
// Whether the record of a file agrees with what is published: a page that says something else of a
// file than it was, or names one that is not there, makes every installer fail.

#include <string>

#include "foundation/report/error.h"
#include "index/publish/index_pages.h"
#include "index/publish/index_place.h"

namespace axle::index {

/// `listed`: what is said of a file of that name already, by the page of `project` or by a record
/// before; nullptr: nothing. A variants file that is elsewhere may become another one. Errors:
/// mismatch (another size or hash; it is beside the page and should be elsewhere), not_found (it
/// should be beside the page), io.
[[nodiscard]] Result<void> check_record(const ListedFile& record, const ListedFile* listed,
                                        const std::string& project, IndexPlace& place);

/// Of a wheel whose record says the same as a published one by another spelling of its name.
[[nodiscard]] std::unexpected<Error> other_spelling(const std::string& filename,
                                                    const std::string& published);

/// Of a variants file with two records that say different things.
[[nodiscard]] std::unexpected<Error> differing_records(const std::string& filename);

}  // namespace axle::index

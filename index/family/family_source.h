#pragma once
// What the pages of a family list.

#include <memory>
#include <string_view>

#include "foundation/report/error.h"
#include "foundation/report/report.h"
#include "index/family/family.h"
#include "index/http/transport.h"
#include "index/pages/page.h"
#include "index/pages/source.h"
#include "wheel/version.h"

namespace axle::index {

/// The index of a family, with labelled files; those of LabelPlace::built_for have none, because
/// each of their local versions is a release. Where each release has a page of its own
/// (Family::is_by_release), `project` lists nothing.
class FamilySource : public Source {
 public:
  /// The files of one release, of a family that is by release. Pages that are missing have none.
  [[nodiscard]] virtual Result<ProjectPage> release(std::string_view name,
                                                    const wheel::Version& version) = 0;
  /// A hint: `release` will probably be called.
  virtual void prefetch_release(std::string_view name, const wheel::Version& version) = 0;
};

/// If a page cannot be read, the error names it and the workaround.
[[nodiscard]] std::unique_ptr<FamilySource> make_family_source(const Family& family,
                                                               Transport& transport,
                                                               Report& report);

}  // namespace axle::index

#include "resolver/catalogue/release.h"

#include <utility>

namespace axle::resolver {

void parse_wheels(Release& release, const wheel::SupportedTags& tags) {
  if (release.parsed) return;
  release.parsed = true;
  for (const index::PublishedFile& file : release.wheels) {
    Result<wheel::WheelName> name = wheel::parse_wheel_name(file.filename);
    if (!name) {
      release.unreadable.push_back({file.filename, plan::SkipCode::name, name.error().message});
      continue;
    }
    const std::size_t tag_index = tags.best_index(name->tags);
    std::string label = file.label.empty() ? name->label : file.label;
    release.candidates.push_back({&file, std::move(*name), std::move(label), tag_index});
  }
}

}  // namespace axle::resolver

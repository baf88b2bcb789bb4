#include "resolver/catalogue/release.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace axle::resolver {

Release::Release(const index::ListedProject& listed, std::size_t place)
    : listed_(&listed), place_(place) {}

Release::Opened& Release::opened() const {
  if (opened_ == nullptr) opened_ = std::make_unique<Opened>();
  return *opened_;
}

index::ReleaseFiles& Release::own_files() const {
  std::optional<index::ReleaseFiles>& files = opened().files;
  if (!files) files = listed_ != nullptr ? listed_->files(place_) : index::ReleaseFiles();
  return *files;
}

index::ReleaseFiles& Release::files() const {
  index::ReleaseFiles& files = own_files();
  if (opened_->read_more) {
    auto more = std::exchange(opened_->read_more, nullptr)();
    if (more) {
      std::ranges::move(*more, std::back_inserter(files.wheels));
    } else {
      opened_->trouble = std::move(more).error();
    }
  }
  return files;
}

index::ReleaseSummary Release::summary() const {
  auto summary = listed_ != nullptr ? listed_->summary(place_) : index::summarize(own_files());
  if (opened_ != nullptr) summary.maybe_labelled += opened_->more_builds;
  return summary;
}

index::ReleaseFiles& Release::changed_files() {
  index::ReleaseFiles& own = own_files();
  listed_ = nullptr;
  return own;
}

void Release::expect_more(std::function<Result<std::vector<index::PublishedFile>>()> read,
                          std::uint32_t builds) {
  opened().read_more = std::move(read);
  opened().more_builds = builds;
}

bool Release::may_be_labelled() const {
  return (opened_ != nullptr && opened_->read_more) ||
         std::ranges::any_of(wheels(),
                             [](const index::PublishedFile& file) { return !file.label.empty(); });
}

namespace {

void add_wheel(Release& release, const index::PublishedFile& file,
               const wheel::SupportedTags& tags) {
  Result<wheel::WheelName> name = wheel::parse_wheel_name(file.filename);
  if (!name) {
    release.unreadable.push_back({file.filename, plan::SkipCode::name, name.error().message});
    return;
  }
  const std::size_t tag_index = tags.best_index(name->tags);
  std::string label = file.label.empty() ? name->label : file.label;
  release.candidates.push_back({&file, std::move(*name), std::move(label), tag_index});
}

}  // namespace

void parse_wheels(Release& release, const wheel::SupportedTags& tags) {
  if (release.parsed) return;
  release.parsed = true;
  for (const index::PublishedFile& file : release.wheels()) add_wheel(release, file, tags);
}

void note_build(Release& release, Result<BuiltWheel> built, const wheel::SupportedTags& tags) {
  parse_wheels(release, tags);
  release.built = std::make_unique<const Result<BuiltWheel>>(std::move(built));
  if (release.built->has_value()) add_wheel(release, (*release.built)->file, tags);
}

}  // namespace axle::resolver

#include "resolver/catalogue/release.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace axle::resolver {
namespace {

void add_unlike_last(std::vector<std::string>& texts, std::string_view text) {
  if (texts.empty() || texts.back() != text) texts.emplace_back(text);
}

}  // namespace

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

const index::ReleaseFiles& Release::all_but_wheels() const {
  const bool known = opened_ != nullptr && !opened_->files && opened_->fitting;
  return known ? *opened_->fitting : files();
}

const std::vector<index::PublishedFile>* Release::fitting_wheels(
    const wheel::SupportedTags& tags) const {
  // A label may be hidden in the name of any wheel.
  const bool can_be_told =
      listed_ != nullptr && !opened().files && !opened().read_more && summary().maybe_labelled == 0;
  if (!can_be_told) return nullptr;
  std::optional<index::ReleaseFiles>& fitting = opened().fitting;
  if (!fitting) {
    fitting = listed_->files(place_, [&](std::string_view name, std::string_view python) {
      add_unlike_last(opened_->pythons, python);
      return tags.may_fit(name);
    });
  }
  return &fitting->wheels;
}

std::vector<std::string> Release::pythons() const {
  if (opened_ != nullptr && !opened_->pythons.empty()) return opened_->pythons;
  const index::ReleaseFiles& all = files();
  std::vector<std::string> pythons;
  for (const index::PublishedFile& file : all.wheels.empty() ? all.sdists : all.wheels)
    add_unlike_last(pythons, file.requires_python);
  return pythons;
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
  if (opened_ != nullptr && opened_->fitting) return false;
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
  const Release::Parsed before = std::exchange(release.parsed, Release::Parsed::all);
  if (before == Release::Parsed::all) return;
  for (const index::PublishedFile& file : release.wheels()) {
    const bool known = before == Release::Parsed::fitting && tags.may_fit(file.filename);
    if (!known) add_wheel(release, file, tags);
  }
}

void parse_fitting_wheels(Release& release, const wheel::SupportedTags& tags) {
  if (release.parsed != Release::Parsed::none) return;
  const std::vector<index::PublishedFile>* const fitting = release.fitting_wheels(tags);
  if (fitting == nullptr) return parse_wheels(release, tags);
  release.parsed = Release::Parsed::fitting;
  for (const index::PublishedFile& file : *fitting) add_wheel(release, file, tags);
}

void note_build(Release& release, Result<BuiltWheel> built, const wheel::SupportedTags& tags) {
  parse_wheels(release, tags);
  release.built = std::make_unique<const Result<BuiltWheel>>(std::move(built));
  if (release.built->has_value()) add_wheel(release, (*release.built)->file, tags);
}

}  // namespace axle::resolver

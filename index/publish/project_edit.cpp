#include "index/publish/project_edit.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "index/browse/people_pages.h"
#include "index/publish/record_check.h"
#include "index/publish/release_variants.h"
#include "index/publish/removal_command.h"

namespace axle::index {
namespace {

/// The files beside it that go and come with `file`.
std::vector<std::string> companions(const ListedFile& file) {
  if (!file.url.empty()) return {};
  std::vector<std::string> names = {file.filename, file.filename + ".metadata"};
  if (file.has_provenance && file.provenance_url.empty())
    names.push_back(provenance_name(file.filename));
  return names;
}

}  // namespace

Result<ProjectEdit> ProjectEdit::open(const std::string& name, IndexPlace& place) {
  ProjectEdit edit(name, place);
  auto published = place.read_project(name);
  if (!published) return std::unexpected(std::move(published.error()));
  edit.published_.folder = fmt::format("{}/simple/{}", place.name(), name);
  if (!*published) return edit;
  edit.is_new_ = false;
  edit.published_ = std::move(**published);
  for (const PublishedWheel& wheel : edit.published_.wheels) {
    if (Result<void> taken = edit.take(wheel, true); !taken) return std::unexpected(taken.error());
  }
  for (const ListedFile& file : edit.published_.variants) edit.variants_[file.filename] = file;
  return edit;
}

Result<void> ProjectEdit::take(ListedFile file, bool is_published) {
  auto name = wheel::parse_wheel_name(file.filename);
  if (!name) {
    return std::unexpected(within(published_.folder + "/index.json", std::move(name.error())));
  }
  std::string filename = file.filename;
  wheels_.insert_or_assign(std::move(filename),
                           Wheel{std::move(file), std::move(*name), is_published});
  return {};
}

ProjectEdit::Meaning ProjectEdit::meaning_of(const wheel::WheelName& name) {
  std::vector<wheel::Tag> tags = name.tags;
  std::ranges::sort(tags);
  return {name.version, name.build, std::move(tags), name.label};
}

void ProjectEdit::find_meanings() {
  if (!filenames_.empty()) return;
  for (const auto& [filename, one] : wheels_)
    filenames_.try_emplace(meaning_of(one.name), filename);
}

Result<void> ProjectEdit::add(const ScannedWheel& wheel, std::optional<std::int64_t> uploaded) {
  find_meanings();
  const std::string same =
      wheels_.contains(wheel.filename)
          ? wheel.filename
          : filenames_.try_emplace(meaning_of(wheel.name), wheel.filename).first->second;
  const auto found = wheels_.find(same);
  if (found != wheels_.end() && found->second.listed.sha256 != wheel.sha256) {
    const std::string path =
        found->second.fresh != nullptr ? found->second.fresh->path : published_.folder + '/' + same;
    return fail(
        ErrorKind::mismatch,
        fmt::format("{} differs from {}, which is published under that name", wheel.path, path),
        fmt::format("give it a new version or build number, since installers store "
                    "hashes; or remove the published one first: {}",
                    removal_command(path)));
  }
  if (found != wheels_.end()) {
    // What a page lists may be missing in a storage: there it is sent again.
    if (same == wheel.filename && found->second.listed.url.empty() && place_->folder().empty())
      found->second.fresh = &wheel;
    return {};
  }
  ListedFile listed{wheel.filename,        wheel.sha256,          wheel.size,
                    wheel.requires_python, wheel.metadata_sha256, wheel.has_provenance};
  listed.uploaded = uploaded;
  wheels_.emplace(wheel.filename, Wheel{std::move(listed), wheel.name, false, &wheel});
  is_changed_ = true;
  touched_.insert(wheel.name.version);
  return {};
}

Result<void> ProjectEdit::add_record(ListedFile file) {
  is_changed_ = true;
  std::string filename = file.filename;
  const bool is_wheel = filename.ends_with(".whl");
  const auto wheel = wheels_.find(filename);
  const auto variants = variants_.find(filename);
  const ListedFile* listed = wheel != wheels_.end()        ? &wheel->second.listed
                             : variants != variants_.end() ? &variants->second
                                                           : nullptr;
  if (auto agrees = check_record(file, listed, name_, *place_); !agrees) return agrees;
  if (is_wheel && listed != nullptr) {
    wheel->second.listed = std::move(file);
    return {};
  }
  if (is_wheel) {
    find_meanings();
    if (auto taken = take(std::move(file), false); !taken) return taken;
    const std::string& first =
        filenames_.try_emplace(meaning_of(wheels_.at(filename).name), filename).first->second;
    return first == filename ? Result<void>() : other_spelling(filename, first);
  }
  // One file of records says one thing of a name.
  if (!recorded_.insert(filename).second && listed->sha256 != file.sha256)
    return differing_records(filename);
  variants_.insert_or_assign(std::move(filename), std::move(file));
  return {};
}

Result<void> ProjectEdit::check_records() const {
  if (recorded_.empty()) return {};
  std::set<std::string> known;
  for (const auto& [version, release] : releases()) known.insert(release.variants_file);
  for (const std::string& filename : recorded_) {
    if (known.contains(filename)) continue;
    return fail(
        ErrorKind::malformed,
        fmt::format("there is a record of {}, but no wheel of that version of {}", filename, name_),
        "the variants file of a release is named NAME-VERSION-variants.json; record its "
        "wheels with it");
  }
  return {};
}

void ProjectEdit::remove(const std::string& filename) {
  const auto found = wheels_.find(filename);
  if (found == wheels_.end()) return;
  const wheel::WheelName& name = found->second.name;
  touched_.insert(name.version);
  if (name.is_variant()) removed_labels_.emplace(name.version, name.label);
  is_changed_ = true;
  wheels_.erase(found);
}

void ProjectEdit::yank(const std::string& filename, const std::optional<std::string>& reason) {
  const auto found = wheels_.find(filename);
  if (found == wheels_.end() || found->second.listed.yanked == reason) return;
  found->second.listed.yanked = reason;
  is_changed_ = true;
}

std::map<wheel::Version, ProjectEdit::Release> ProjectEdit::releases() const {
  std::map<wheel::Version, Release> releases;
  for (const auto& [filename, one] : wheels_) releases[one.name.version].wheels.push_back(&one);
  for (auto& [version, release] : releases) {
    release.variants_file =
        wheel::variants_file_name(release.wheels.front()->name.distribution, version);
  }
  return releases;
}

Result<std::vector<ScannedWheel>> ProjectEdit::published_variants(const Release& release,
                                                                  Report& report) {
  std::map<std::string, const Wheel*> labels;
  for (const Wheel* one : release.wheels) {
    if (one->name.is_variant() && one->is_published) labels.emplace(one->name.label, one);
  }
  // In a storage, another publisher may have written the file, and not yet the page.
  const bool shared = place_->folder().empty();
  if (labels.empty() && !shared) return std::vector<ScannedWheel>();
  const auto metadata = place_->read_variants(published_, release.variants_file, report);
  const bool absent = !metadata && metadata.error().kind == ErrorKind::not_found;
  if (absent && labels.empty()) return std::vector<ScannedWheel>();
  if (!metadata) return std::unexpected(metadata.error());
  if (shared) {
    for (const auto& [label, properties] : metadata->variants) {
      if (!removed_labels_.contains({release.wheels.front()->name.version, label}))
        labels.emplace(label, nullptr);
    }
  }
  std::vector<ScannedWheel> known;
  for (const auto& [label, one] : labels) {
    ScannedWheel wheel;
    wheel.is_here = false;
    wheel.name = one != nullptr ? one->name : release.wheels.front()->name;
    wheel.filename = one != nullptr ? one->listed.filename : release.variants_file;
    wheel.path = published_.folder + '/' + wheel.filename;
    auto own = wheel::only_variant(*metadata, label);
    if (!own) return std::unexpected(within(wheel.path, std::move(own.error())));
    wheel.variant = std::move(*own);
    known.push_back(std::move(wheel));
  }
  return known;
}

Result<void> ProjectEdit::combine(const Release& release, IndexDraft& out, Report& report) {
  const auto known = published_variants(release, report);
  if (!known) return std::unexpected(known.error());
  std::vector<const ScannedWheel*> wheels;
  for (const ScannedWheel& wheel : *known) wheels.push_back(&wheel);
  for (const Wheel* one : release.wheels) {
    if (one->fresh != nullptr) wheels.push_back(one->fresh);
  }
  const auto combined = combine_variants(wheels);
  if (!combined) return std::unexpected(combined.error());
  const auto old = variants_.find(release.variants_file);
  if (!*combined) {
    if (old != variants_.end()) variants_.erase(old);
    return {};
  }
  const VariantsFile& file = **combined;
  if (old != variants_.end() && old->second.sha256 == file.sha256 && old->second.url.empty())
    return {};
  ListedFile listed;
  listed.filename = file.filename;
  listed.sha256 = file.sha256;
  listed.size = file.text.size();
  variants_.insert_or_assign(file.filename, std::move(listed));
  written_variants_[file.filename] = file.text;
  return out.write(folder() + file.filename, file.text);
}

Result<void> ProjectEdit::write_files(IndexDraft& out) const {
  for (const auto& [filename, one] : wheels_) {
    if (one.fresh == nullptr) continue;
    const ScannedWheel& wheel = *one.fresh;
    const std::string path = folder() + filename;
    if (Result<void> done = out.copy(wheel.path, path, wheel.sha256); !done) return done;
    if (auto done = out.write(path + ".metadata", wheel.metadata_text); !done) return done;
    if (wheel.provenance.empty() || !one.listed.has_provenance) continue;
    if (auto done = out.write(provenance_name(path), wheel.provenance); !done) return done;
  }
  return {};
}

void ProjectEdit::leave_out_files(IndexDraft& out) const {
  for (const PublishedWheel& wheel : published_.wheels) {
    if (wheels_.contains(wheel.filename)) continue;
    for (const std::string& name : companions(wheel)) out.leave_out(folder() + name);
  }
  for (const ListedFile& file : published_.variants) {
    if (file.url.empty() && !variants_.contains(file.filename))
      out.leave_out(folder() + file.filename);
  }
}

Result<void> ProjectEdit::write_pages(IndexDraft& out) const {
  std::vector<std::string> versions;
  std::vector<ListedFile> files;
  std::set<std::string> listed;
  for (const auto& [version, release] : releases()) {
    versions.push_back(wheel::render_version(version));
    for (const Wheel* one : release.wheels) files.push_back(one->listed);
    const auto variants = variants_.find(release.variants_file);
    if (variants == variants_.end()) continue;
    listed.insert(variants->first);
    files.push_back(variants->second);
  }
  // Of records: with a name that is spelled otherwise.
  for (const auto& [filename, file] : variants_) {
    if (!listed.contains(filename)) files.push_back(file);
  }
  const std::string json = render_project_json(name_, versions, files);
  if (Result<void> done = out.write(folder() + "index.json", json); !done) return done;
  if (Result<void> done = out.write(folder() + "index.html", render_project_html(name_, files));
      !done)
    return done;
  return write_project_page(files, out);
}

Result<void> ProjectEdit::write_project_page(const std::vector<ListedFile>& files,
                                             IndexDraft& out) const {
  const PageMachines* machines = place_->machines();
  if (machines == nullptr) return {};
  const ReadVariants published = published_variants_of(published_, *place_);
  const ReadVariants read = [&](const std::vector<const ListedFile*>& asked) {
    std::vector<const ListedFile*> there;
    for (const ListedFile* file : asked) {
      if (!written_variants_.contains(file->filename)) there.push_back(file);
    }
    auto documents = published(there);
    for (std::size_t i = 0; i < asked.size(); ++i) {
      const auto written = written_variants_.find(asked[i]->filename);
      if (written == written_variants_.end()) continue;
      documents.insert(documents.begin() + static_cast<std::ptrdiff_t>(i),
                       read_document(written->second, asked[i]->filename));
    }
    return documents;
  };
  return out.write(folder() + std::string(project_page_name),
                   render_project_page(name_, files, read, *machines));
}

Result<void> ProjectEdit::write(IndexDraft& out, Report& report) {
  // Of a release without wheels the variants file goes, too.
  auto now = releases();
  for (const wheel::Version& version : touched_) {
    const auto left = now.find(version);
    if (left == now.end()) {
      std::erase_if(variants_, [&](const auto& entry) {
        const auto& wheels = published_.wheels;
        return std::ranges::any_of(wheels, [&](const PublishedWheel& wheel) {
          const auto name = wheel::parse_wheel_name(wheel.filename);
          return name && name->version == version &&
                 entry.first == wheel::variants_file_name(name->distribution, version);
        });
      });
    } else if (Result<void> done = combine(left->second, out, report); !done) {
      return done;
    }
  }
  if (Result<void> done = write_files(out); !done) return done;
  const bool sends =
      std::ranges::any_of(wheels_, [](const auto& entry) { return entry.second.fresh != nullptr; });
  if (!is_changed_ && !sends && !place_->may_lack_html()) return {};
  leave_out_files(out);
  if (!wheels_.empty()) return write_pages(out);
  if (is_new_) return {};
  out.leave_out(folder() + "index.json");
  out.leave_out(folder() + "index.html");
  if (place_->machines() != nullptr) out.leave_out(folder() + std::string(project_page_name));
  return {};
}

IndexedProject ProjectEdit::summary() const {
  IndexedProject summary;
  summary.name = name_;
  std::set<std::string> labels;
  for (const auto& [version, release] : releases()) {
    for (const Wheel* one : release.wheels) {
      summary.files.push_back(one->listed.filename);
      if (one->name.is_variant()) labels.insert(one->name.label);
      if (!one->is_published) summary.added.push_back(one->listed.filename);
    }
    if (variants_.contains(release.variants_file)) summary.files.push_back(release.variants_file);
  }
  summary.labels.assign(labels.begin(), labels.end());
  return summary;
}

std::vector<std::string> ProjectEdit::gone() const {
  std::vector<std::string> gone;
  for (const std::string& file : published_.listed) {
    if (!wheels_.contains(file) && !variants_.contains(file)) gone.push_back(file);
  }
  return gone;
}

}  // namespace axle::index

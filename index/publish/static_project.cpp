#include "index/publish/static_project.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "index/browse/people_pages.h"
#include "index/publish/removal_command.h"

namespace axle::index {
namespace {

Error damaged(const std::string& path, Error error) {
  error.hint = fmt::format("the published file is damaged: {}, then publish it again",
                           removal_command(path));
  return error;
}

Error elsewhere(const PublishedProject& published, const PublishedWheel& listed) {
  return {ErrorKind::unsupported,
          fmt::format("{}/index.json lists {}, which is not beside it: {}", published.folder,
                      listed.filename, listed.url),
          "add to this index with `variant index add`, which does not read what is published"};
}

}  // namespace

Result<ProjectWheels> ProjectWheels::read(const PublishedProject& published, Report& report) {
  ProjectWheels wheels;
  for (const PublishedWheel& listed : published.wheels) {
    const std::string path = published.folder + '/' + listed.filename;
    if (!listed.url.empty()) return std::unexpected(elsewhere(published, listed));
    Result<ScannedWheel> wheel = read_published_wheel(path, listed.sha256, report);
    if (wheel && wheel->size != listed.size) {
      wheel = fail(ErrorKind::mismatch, fmt::format("{} has {} bytes, but its page lists {}", path,
                                                    wheel->size, listed.size));
    }
    if (!wheel) return std::unexpected(damaged(path, std::move(wheel.error())));
    wheels.filenames_.try_emplace(meaning_of(*wheel), listed.filename);
    wheels.wheels_.emplace(listed.filename,
                           ListedWheel{std::move(*wheel), true, listed.uploaded, listed.yanked});
  }
  return wheels;
}

ProjectWheels::Meaning ProjectWheels::meaning_of(const ScannedWheel& wheel) {
  std::vector<wheel::Tag> tags = wheel.name.tags;
  std::ranges::sort(tags);
  return {wheel.name.version, wheel.name.build, std::move(tags), wheel.name.label};
}

Result<void> ProjectWheels::add(const ScannedWheel& wheel) {
  const std::string same =
      wheels_.contains(wheel.filename)
          ? wheel.filename
          : filenames_.try_emplace(meaning_of(wheel), wheel.filename).first->second;
  const auto [at, fresh] = wheels_.try_emplace(same, ListedWheel{wheel, false, {}, {}});
  if (fresh || at->second.wheel.sha256 == wheel.sha256) return {};
  const std::string& published = at->second.wheel.path;
  return fail(
      ErrorKind::mismatch,
      fmt::format("{} differs from {}, which is published under that name", wheel.path, published),
      fmt::format("give it a new version or build number, since installers store hashes; or remove "
                  "the published one first: {}",
                  removal_command(published)));
}

Result<StaticProject> StaticProject::describe(const std::string& name,
                                              const ProjectWheels& wheels) {
  StaticProject project;
  project.summary_.name = name;
  std::map<wheel::Version, std::vector<const ProjectWheels::ListedWheel*>> releases;
  for (const auto& [filename, member] : wheels.wheels_) {
    releases[member.wheel.name.version].push_back(&member);
    if (!member.published) project.summary_.added.push_back(filename);
  }
  std::set<std::string> labels;
  for (const auto& [version, members] : releases) {
    project.versions_.push_back(wheel::render_version(version));
    std::vector<const ScannedWheel*> scanned;
    for (const ProjectWheels::ListedWheel* member : members) {
      const ScannedWheel& wheel = member->wheel;
      ListedFile listed{wheel.filename,        wheel.sha256,          wheel.size,
                        wheel.requires_python, wheel.metadata_sha256, wheel.has_provenance};
      listed.uploaded = member->uploaded;
      listed.yanked = member->yanked;
      project.files_.push_back(std::move(listed));
      project.wheels_.push_back(member);
      scanned.push_back(&wheel);
      if (wheel.name.is_variant()) labels.insert(wheel.name.label);
    }
    Result<std::optional<VariantsFile>> variants = combine_variants(scanned);
    if (!variants) return std::unexpected(std::move(variants.error()));
    if (!*variants) continue;
    project.files_.push_back(
        ListedFile{(*variants)->filename, (*variants)->sha256, (*variants)->text.size(), {}, {}});
    project.variants_.push_back(std::move(**variants));
  }
  for (const ListedFile& file : project.files_) project.summary_.files.push_back(file.filename);
  project.summary_.labels.assign(labels.begin(), labels.end());
  return project;
}

Result<void> StaticProject::write(const PageMachines* machines, StagedFolder& out) const {
  const std::string folder = "simple/" + summary_.name + '/';
  for (const ProjectWheels::ListedWheel* member : wheels_) {
    const ScannedWheel& wheel = member->wheel;
    const std::string path = folder + wheel.filename;
    Result<void> done = member->published ? out.link(wheel.path, path) : out.copy(wheel.path, path);
    if (!done) return done;
    if (done = out.write(path + ".metadata", wheel.metadata_text); !done) return done;
    if (wheel.provenance.empty()) continue;
    if (done = out.write(provenance_name(path), wheel.provenance); !done) return done;
  }
  for (const VariantsFile& file : variants_) {
    if (Result<void> done = out.write(folder + file.filename, file.text); !done) return done;
  }
  const std::string json = render_project_json(summary_.name, versions_, files_);
  if (Result<void> done = out.write(folder + "index.json", json); !done) return done;
  if (auto done = out.write(folder + "index.html", render_project_html(summary_.name, files_));
      !done)
    return done;
  if (machines == nullptr) return {};
  const ReadVariants read = [&](const std::vector<const ListedFile*>& asked) {
    std::vector<std::optional<wheel::VariantMetadata>> documents;
    for (const ListedFile* file : asked) {
      const auto written = std::ranges::find(variants_, file->filename, &VariantsFile::filename);
      documents.push_back(read_document(written->text, file->filename));
    }
    return documents;
  };
  return out.write(folder + std::string(project_page_name),
                   render_project_page(summary_.name, files_, read, *machines));
}

IndexedProject summary_of(const std::string& name, const PublishedProject& project) {
  std::set<std::string> labels;
  for (const PublishedWheel& published : project.wheels) {
    const auto parsed = wheel::parse_wheel_name(published.filename);
    if (parsed && parsed->is_variant()) labels.insert(parsed->label);
  }
  return {name, project.listed, {labels.begin(), labels.end()}, {}};
}

Result<void> carry_over(const std::string& name, const PublishedProject& project, IndexPlace& place,
                        StagedFolder& out) {
  for (const std::string& file : project.files) {
    const std::string to = fmt::format("simple/{}/{}", name, file);
    if (Result<void> done = out.link(project.folder + '/' + file, to); !done) return done;
  }
  const std::string page = std::string(project_page_name);
  if (place.machines() == nullptr || std::ranges::binary_search(project.files, page)) return {};
  std::vector<ListedFile> files = project.wheels;
  files.insert(files.end(), project.variants.begin(), project.variants.end());
  return out.write(
      fmt::format("simple/{}/{}", name, page),
      render_project_page(name, files, published_variants_of(project, place), *place.machines()));
}

}  // namespace axle::index

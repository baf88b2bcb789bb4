#include "session/builds/source_builds.h"

#include <filesystem>
#include <functional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "index/http/first_download.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "installer/file_access.h"
#include "installer/store/download.h"
#include "resolver/request/options.h"
#include "session/builds/archive_contents.h"
#include "session/builds/build_limits.h"
#include "session/builds/git_checkout.h"
#include "session/builds/metadata_wheel.h"
#include "session/builds/source_files.h"
#include "session/builds/stand_in_project.h"
#include "session/builds/told_program.h"
#include "session/plugins/plugin_environments.h"
#include "session/sole_owner.h"
#include "session/this_machine.h"
#include "session/variables.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/wheel_name.h"

namespace axle::session {

namespace fs = std::filesystem;

using resolver::BuiltWheel;
using resolver::SourceUrl;

Result<std::string> SourceBuilds::folder() {
  if (!setup_.cache_folder.empty()) {
    auto cache = own_folder(setup_.cache_folder);
    auto kept = cache ? own_folder(*cache + "/builds") : cache;
    if (kept) return kept;
    setup_.report.detail("built wheels are not kept: " + kept.error().message);
  }
  if (!temporary_) {
    std::error_code error;
    const fs::path place = fs::temp_directory_path(error);
    auto made =
        error ? fail(ErrorKind::io, "no folder for temporary files is available", "set TMPDIR")
              : installer::WorkFolder::create(place.string(), "axle-builds-");
    if (!made) return std::unexpected(std::move(made).error());
    temporary_.emplace(std::move(*made));
  }
  return temporary_->path();
}

Result<const BuildTool*> SourceBuilds::tool() {
  if (!tool_) {
    auto found =
        find_build_tool({setup_.environment, setup_.settings, setup_.wheel_use, variable("PATH"),
                         variable("UV_CACHE_DIR"), !setup_.cache_folder.empty()});
    if (!found) return std::unexpected(std::move(found).error());
    tool_ = std::move(*found);
  }
  return &*tool_;
}

Result<void> SourceBuilds::find_tool() {
  const std::vector<Stated>& refused = setup_.settings.build_settings;
  if (!refused.empty()) {
    return fail(
        ErrorKind::conflict,
        fmt::format("{}: Axle does not pass this setting on to builds", refused.front().origin),
        "unset it; or let pip or uv build a wheel, and name that");
  }
  if (auto found = tool(); !found) return std::unexpected(std::move(found).error());
  return {};
}

Result<void> SourceBuilds::check_allowed(const std::string& name,
                                         const std::string& project) const {
  resolver::Options options;
  options.builds.refused = setup_.settings.no_build;
  options.wheel_use = setup_.wheel_use;
  const std::string* who = options.refuses_build(name);
  if (who == nullptr) return {};
  return fail(ErrorKind::conflict,
              fmt::format("what {} needs only its build backend says, which is not run: {}",
                          name.empty() ? project : name, *who),
              "unset it, state the metadata in [project], or name a wheel");
}

Result<void> SourceBuilds::prepare() {
  if (product_ == Product::wheel) {
    if (auto found = find_tool(); !found) return std::unexpected(std::move(found).error());
  }
  if (!folder_.empty()) return {};
  auto found = folder();
  if (!found) return std::unexpected(std::move(found).error());
  folder_ = std::move(*found);
  return {};
}

std::string SourceBuilds::place_of(const std::string& identity) const {
  std::error_code error;
  const fs::path python = fs::canonical(setup_.environment.python, error);
  // Which tool asks a backend for its metadata makes no difference.
  const std::string& maker = product_ == Product::metadata ? "metadata" : tool_->name;
  const std::string text = fmt::format("{}\n{}\n{}\n{}\n{}", identity, python.string(),
                                       wheel::render_version(setup_.environment.python_version),
                                       maker, build_settings_identity(setup_.settings));
  return folder_ + "/" + wheel::render_hex(wheel::sha256(text)).substr(0, 32);
}

BuiltWheel SourceBuilds::finished(const Build& build, index::PublishedFile wheel) const {
  BuiltWheel made{std::move(wheel), build.from};
  if (product_ == Product::wheel) made.from.builder = tool_->name;
  return made;
}

Result<std::optional<BuiltWheel>> SourceBuilds::kept(const Build& build,
                                                     const std::string& identity) const {
  // What the environment has is not part of the identity.
  auto wheel = setup_.settings.build_isolation ? find_kept(place_of(identity))
                                               : std::optional<index::PublishedFile>();
  if (!wheel) return std::nullopt;
  const auto name = wheel::parse_wheel_name(wheel->filename);
  if (!name) return std::nullopt;
  if (!build.awaited.name.empty() &&
      wheel::normalize_name(name->distribution) != build.awaited.name)
    return fail(ErrorKind::mismatch, fmt::format("{} makes a wheel of {}, not of {}", build.title,
                                                 name->distribution, build.awaited.name));
  return finished(build, std::move(*wheel));
}

Result<void> SourceBuilds::open_work(Build& build) {
  auto work = installer::WorkFolder::create(folder_);
  if (!work) return std::unexpected(std::move(work).error());
  build.work.emplace(std::move(*work));
  std::error_code error;
  for (const char* part : {"/file", "/made", "/store", "/tmp"})
    fs::create_directory(build.work->path() + part, error);
  if (!error) return {};
  return fail(ErrorKind::io, fmt::format("{}: {}", build.work->path(), error.message()));
}

Result<std::string> SourceBuilds::fetch(plan::ResolvedPackage package, const Build& build,
                                        std::string& file) {
  file = build.work->path() + "/file/" + package.filename;
  const bool is_known =
      package.direct || package.hash.is_checkable() || !package.listed_hashes.empty();
  if (!is_known) {
    if (auto first = index::first_sha256(package.url, setup_.transport))
      package.hash = wheel::expected_sha256(std::move(*first), wheel::HashSource::first_download);
  }
  auto mark = installer::download_file(package, setup_.transport, file, setup_.report);
  if (!mark) return std::unexpected(std::move(mark).error());
  if (auto remembered =
          installer::remember_download(package, *mark, setup_.transport, setup_.report);
      !remembered)
    return std::unexpected(std::move(remembered).error());
  return std::move(mark->sha256);
}

Result<void> SourceBuilds::check_attestations(const plan::ResolvedPackage& package,
                                              const std::string& sha256) {
  if (setup_.attestations == nullptr || !setup_.attestations->concerns(package.name)) return {};
  const auto verdict = setup_.attestations->check(
      ListedFile{package.name, package.filename, package.url, package.provenance, sha256});
  if (!verdict) return std::unexpected(verdict.error());
  return {};
}

Result<void> SourceBuilds::run(const Build& build, const std::string& place,
                               const std::string& wheels) {
  const std::string scratch = build.work->path() + "/tmp";
  const auto limited = limit_words(setup_.settings, *tool_, scratch);
  if (!limited) return std::unexpected(limited.error());
  system::Program program{tool_->command, scratch, tool_->variables, tool_->withheld};
  program.arguments.insert(program.arguments.end(), limited->begin(), limited->end());
  std::error_code error;
  const bool by_url = tool_->takes_urls && fs::is_directory(place, error);
  program.arguments.insert(program.arguments.end(),
                           {tool_->into, wheels, by_url ? index::file_url(place) : place});
  program.variables.emplace_back("TMPDIR", scratch);
  return run_told({std::move(program), tool_->name, setup_.time_limit},
                  fmt::format("{} could not be built from {}", build.title, build.from.filename),
                  setup_.report);
}

Result<BuiltWheel> SourceBuilds::make(const Build& build, const std::string& place,
                                      const std::string& identity) {
  const std::string& filename = build.from.filename;
  setup_.report.progress({"building " + filename, 0, 0});
  setup_.report.detail(fmt::format("building {} by {}", filename, tool_->name));
  const std::string made = build.work->path() + "/made";
  if (auto done = run(build, place, made); !done) return std::unexpected(done.error());
  return keep(build, identity);
}

Result<BuiltWheel> SourceBuilds::keep(const Build& build, const std::string& identity) {
  const std::string made = build.work->path() + "/made";
  auto sha256 = record_wheel(build.awaited, made, build.work->path() + "/store", setup_.transport,
                             setup_.report);
  if (!sha256) {
    Error bad = std::move(sha256).error();
    if (bad.kind == ErrorKind::io) return std::unexpected(std::move(bad));
    return fail(ErrorKind::malformed,
                fmt::format("{} could not be built from {}{}: {}", build.title, build.from.filename,
                            tool_ ? " by " + tool_->name : "", bad.message),
                "tell its maintainers, or request another version");
  }
  const std::string kept = place_of(
      identity.empty() || !setup_.settings.build_isolation ? "wheel " + *sha256 : identity);
  if (auto placed = place_environment(made, kept); !placed)
    return std::unexpected(std::move(placed).error());
  discard_unused(folder_);
  if (auto found = find_kept(kept)) return finished(build, std::move(*found));
  return fail(ErrorKind::io, fmt::format("{}: cannot be read", kept));
}

Result<std::string> SourceBuilds::unpack(const Build& build, const std::string& file,
                                         const std::string& subdirectory) {
  const std::string contents = build.work->path() + "/contents";
  const auto unpacked =
      unpack_archive(setup_.environment.python, file, contents, setup_.time_limit, setup_.report);
  if (!unpacked) return std::unexpected(unpacked.error());
  return project_in(*unpacked, subdirectory, build.from.filename);
}

Result<BuiltWheel> SourceBuilds::make_of_project(const Build& build, const std::string& project,
                                                 const std::string& identity) {
  std::optional<StandIn> kind;
  if (build.from.editable) kind = StandIn::editable;
  if (product_ == Product::metadata) {
    kind = build.from.editable ? StandIn::editable_metadata : StandIn::metadata;
    const bool is_packed = build.from.kind == plan::BuiltFrom::Kind::file;
    if (const auto metadata = stated_metadata(project, is_packed)) {
      const std::string& work = build.work->path();
      if (auto written = write_metadata_wheel(setup_.environment.python, *metadata, work + "/made",
                                              work + "/tmp", setup_.time_limit, setup_.report);
          !written)
        return std::unexpected(std::move(written).error());
      return keep(build, identity);
    }
    if (auto allowed = check_allowed(build.awaited.name, project); !allowed)
      return std::unexpected(std::move(allowed).error());
    if (auto found = find_tool(); !found) return std::unexpected(std::move(found).error());
  }
  if (!kind) return make(build, project, identity);
  const std::string stand_in = build.work->path() + "/stand-in";
  std::error_code error;
  fs::create_directory(stand_in, error);
  if (auto written = write_stand_in(*kind, project, stand_in); !written)
    return std::unexpected(std::move(written).error());
  return make(build, stand_in, identity);
}

Result<BuiltWheel> SourceBuilds::build(const resolver::Sdist& sdist) {
  const std::string& filename = sdist.file.filename;
  if (!is_sound_name(filename))
    return fail(ErrorKind::malformed, fmt::format("{} is not the name of a file", filename));
  if (auto ready = prepare(); !ready) return std::unexpected(std::move(ready).error());
  Build build{{sdist.name, sdist.version, setup_.environment.tag_target},
              fmt::format("{} {}", sdist.name, wheel::render_version(sdist.version))};
  build.from.filename = filename;
  build.from.url = index::redact_url(sdist.file.url);
  build.from.sha256 = sdist.file.hash.sha256();
  const plan::ResolvedPackage package = as_package(sdist);
  // What the page says is enough to find a wheel of it: nothing runs.
  if (const std::string& sha256 = build.from.sha256; !sha256.empty()) {
    if (auto good = check_attestations(package, sha256); !good)
      return std::unexpected(std::move(good).error());
    auto known = kept(build, sha256);
    if (!known) return std::unexpected(std::move(known).error());
    if (*known) return **std::move(known);
  }
  if (auto opened = open_work(build); !opened) return std::unexpected(opened.error());
  std::string file;
  auto sha256 = fetch(package, build, file);
  if (!sha256) return std::unexpected(std::move(sha256).error());
  if (build.from.sha256.empty()) {
    if (auto good = check_attestations(package, *sha256); !good)
      return std::unexpected(std::move(good).error());
  }
  build.from.sha256 = std::move(*sha256);
  auto known = kept(build, build.from.sha256);
  if (!known) return std::unexpected(std::move(known).error());
  if (*known) return **std::move(known);
  if (product_ == Product::wheel) return make(build, file, build.from.sha256);
  const auto project = unpack(build, file, {});
  if (!project) return std::unexpected(project.error());
  return make_of_project(build, *project, build.from.sha256);
}

Result<BuiltWheel> SourceBuilds::build_archive(const resolver::NamedSource& named,
                                               const SourceUrl& source, Build& build) {
  auto package = as_package(named);
  if (!package) return std::unexpected(std::move(package).error());
  if (!is_sound_name(package->filename))
    return fail(ErrorKind::malformed,
                fmt::format("{} is not the name of a file", package->filename));
  build.from.filename = package->filename;
  build.from.url = index::redact_url(package->url);
  build.from.hash_is_given = package->hash.is_checkable() || !package->listed_hashes.empty();
  const auto identity = [&](const std::string& sha256) {
    return sha256 + (source.subdirectory.empty() ? "" : "\n") + source.subdirectory;
  };
  build.from.sha256 = known_sha256(*package);
  if (!build.from.sha256.empty()) {
    if (auto good = check_attestations(*package, build.from.sha256); !good)
      return std::unexpected(std::move(good).error());
    auto known = kept(build, identity(build.from.sha256));
    if (!known) return std::unexpected(std::move(known).error());
    if (*known) return **std::move(known);
  }
  if (auto opened = open_work(build); !opened) return std::unexpected(opened.error());
  std::string file;
  auto sha256 = fetch(*package, build, file);
  if (!sha256) return std::unexpected(std::move(sha256).error());
  if (build.from.sha256.empty()) {
    if (auto good = check_attestations(*package, *sha256); !good)
      return std::unexpected(std::move(good).error());
  }
  build.from.sha256 = std::move(*sha256);
  auto known = kept(build, identity(build.from.sha256));
  if (!known) return std::unexpected(std::move(known).error());
  if (*known) return **std::move(known);
  const auto project = unpack(build, file, source.subdirectory);
  if (!project) return std::unexpected(project.error());
  return make_of_project(build, *project, identity(build.from.sha256));
}

Result<BuiltWheel> SourceBuilds::build_folder(const SourceUrl& source, bool editable,
                                              Build& build) {
  const auto path = index::file_path(source.url);
  if (!path) return std::unexpected(path.error());
  const auto project = project_in(*path, source.subdirectory, *path);
  if (!project) return std::unexpected(project.error());
  build.from.editable = editable;
  if (auto opened = open_work(build); !opened) return std::unexpected(opened.error());
  return make_of_project(build, *project, {});
}

Result<BuiltWheel> SourceBuilds::build_repository(const SourceUrl& source, Build& build) {
  build.from.url = resolver::without_login(source.url);
  build.from.revision = source.revision;
  const auto find = [&](const std::string& commit) {
    build.from.commit = commit;
    return kept(build, fmt::format("git {}\n{}\n{}", build.from.url, commit, source.subdirectory));
  };
  if (resolver::is_commit(source.revision)) {
    auto known = find(source.revision);
    if (!known) return std::unexpected(std::move(known).error());
    if (*known) return **std::move(known);
  }
  if (setup_.settings.offline && !index::is_file_url(source.url))
    return fail(ErrorKind::not_found,
                fmt::format("{} cannot be fetched offline, and no wheel of that commit is kept",
                            build.title),
                "leave out --offline");
  if (auto opened = open_work(build); !opened) return std::unexpected(opened.error());
  setup_.report.progress({"fetching " + build.title, 0, 0});
  const std::string tree = build.work->path() + "/repository";
  auto commit = check_out(source, tree, {setup_.settings, setup_.time_limit, setup_.report});
  if (!commit) return std::unexpected(std::move(commit).error());
  auto known = find(*commit);
  if (!known) return std::unexpected(std::move(known).error());
  if (*known) return **std::move(known);
  const auto project = project_in(tree, source.subdirectory, build.title);
  if (!project) return std::unexpected(project.error());
  return make_of_project(
      build, *project, fmt::format("git {}\n{}\n{}", build.from.url, *commit, source.subdirectory));
}

Result<BuiltWheel> SourceBuilds::build_named(const resolver::NamedSource& named,
                                             const SourceUrl& source) {
  if (auto ready = prepare(); !ready) return std::unexpected(std::move(ready).error());
  AwaitedWheel awaited{named.name, std::nullopt, setup_.environment.tag_target};
  Build build{std::move(awaited), named.name.empty() ? index::redact_url(named.url) : named.name};
  build.from.filename = last_part(source.url);
  build.from.url = source.url;
  build.from.subdirectory = source.subdirectory;
  if (source.kind == SourceUrl::Kind::folder) build.from.kind = plan::BuiltFrom::Kind::folder;
  if (source.kind == SourceUrl::Kind::repository)
    build.from.kind = plan::BuiltFrom::Kind::repository;
  if (setup_.attestations != nullptr) {
    if (auto allowed = setup_.attestations->allow_source(named.name, build.from); !allowed)
      return std::unexpected(std::move(allowed).error());
  }
  switch (source.kind) {
    case SourceUrl::Kind::archive:
      return build_archive(named, source, build);
    case SourceUrl::Kind::folder:
      return build_folder(source, named.editable, build);
    case SourceUrl::Kind::repository:
      return build_repository(source, build);
    case SourceUrl::Kind::wheel:
      break;
  }
  return fail(ErrorKind::malformed, build.title + " is a wheel, which is not built");
}

Result<BuiltWheel> SourceBuilds::build(const resolver::NamedSource& named) {
  if (const auto before = named_.find(named.url); before != named_.end()) {
    const auto name = wheel::parse_wheel_name(before->second.file.filename);
    if (named.name.empty() || wheel::normalize_name(name->distribution) == named.name)
      return before->second;
    return fail(ErrorKind::mismatch,
                fmt::format("{} makes a wheel of {}, not of {}", index::redact_url(named.url),
                            name->distribution, named.name));
  }
  const auto source = resolver::parse_source_url(named.url);
  if (!source) return std::unexpected(source.error());
  auto built = build_named(named, *source);
  if (built) {
    named_.emplace(named.url, *built);
  } else if (built.error().kind == ErrorKind::unsupported) {
    // There is no other version to try, and nothing is said of this machine.
    built.error().kind = ErrorKind::malformed;
  }
  return built;
}

std::chrono::milliseconds build_time_limit(Report& report) {
  constexpr std::chrono::hours usual{1};
  constexpr std::chrono::hours most{24};
  const std::string limit = variable("AXLE_BUILD_TIMEOUT");
  if (limit.empty()) return usual;
  if (const auto time = parse_time_limit(limit, most)) return *time;
  report.warn(fmt::format("AXLE_BUILD_TIMEOUT={} is ignored: it is not a valid duration", limit),
              "write seconds, such as 900, up to 24 hours");
  return usual;
}

}  // namespace axle::session

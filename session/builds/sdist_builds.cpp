#include "session/builds/sdist_builds.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "foundation/system/program_run.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/printable.h"
#include "index/http/first_download.h"
#include "index/http/redaction.h"
#include "index/http/url.h"
#include "installer/file_access.h"
#include "installer/file_hash.h"
#include "installer/store/download.h"
#include "installer/store/store.h"
#include "session/plugins/plugin_environments.h"
#include "session/sole_owner.h"
#include "session/this_machine.h"
#include "session/variables.h"
#include "wheel/hash/sha256.h"
#include "wheel/requirement.h"
#include "wheel/tag.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// What a build prints: each line is a detail, and an error shows the last ones.
class BuildOutput {
 public:
  BuildOutput(std::string tool, Report& report) : tool_(std::move(tool)), report_(report) {}

  void take(std::string_view piece) {
    for (const char c : piece) {
      if (c == '\n' || c == '\r') {
        end_line();
      } else if (line_.size() < longest_line) {
        line_ += c;
      }
    }
  }

  /// "its last lines: …"; empty: it printed nothing.
  [[nodiscard]] std::string last_lines() {
    end_line();
    if (last_.empty()) return {};
    return fmt::format("its output ends with\n    {}", fmt::join(last_, "\n    "));
  }

 private:
  void end_line() {
    const std::size_t end = line_.find_last_not_of(" \t");
    if (end != std::string::npos) {
      line_.resize(end + 1);
      std::string shown = text::printable(index::redact_url(line_));
      report_.detail(fmt::format("{}: {}", tool_, shown));
      last_.push_back(std::move(shown));
      if (last_.size() > most_lines) last_.pop_front();
    }
    line_.clear();
  }

  static constexpr std::size_t longest_line = 400;
  static constexpr std::size_t most_lines = 16;

  std::string tool_;
  Report& report_;
  std::string line_;
  std::deque<std::string> last_;
};

std::string title_of(const resolver::Sdist& sdist) {
  return fmt::format("{} {}", sdist.name, wheel::render_version(sdist.version));
}

/// As a file to download.
plan::ResolvedPackage as_package(const resolver::Sdist& sdist) {
  plan::ResolvedPackage package;
  package.name = sdist.name;
  package.version = sdist.version;
  package.filename = sdist.file.filename;
  package.url = sdist.file.url;
  package.hash = sdist.file.hash;
  package.listed_hashes = sdist.listed;
  package.size = sdist.file.size;
  package.source = sdist.source;
  return package;
}

/// The wheel in `folder`, which is the only one and a file.
Result<std::string> only_wheel(const std::string& folder) {
  std::vector<std::string> found;
  std::error_code error;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const bool regular = entry->symlink_status(error).type() == fs::file_type::regular;
    if (regular && entry->path().extension() == ".whl")
      found.push_back(entry->path().filename().string());
  }
  if (found.size() == 1) return std::move(found.front());
  return fail(ErrorKind::malformed,
              found.empty()
                  ? std::string("it made no wheel")
                  : fmt::format("it made {} wheels: {}", found.size(), fmt::join(found, ", ")));
}

/// What was kept: the wheel's name and its sha256, as sha256sum(1) writes them.
constexpr const char* record_name = "/sha256";

std::optional<resolver::BuiltWheel> find_kept(const std::string& place) {
  const auto record = installer::read_file(place + record_name, 4096);
  if (!record) return std::nullopt;
  const std::size_t gap = record->find("  ");
  if (gap != 64 || !record->ends_with('\n')) return std::nullopt;
  resolver::BuiltWheel kept;
  kept.file.filename = record->substr(gap + 2, record->size() - gap - 3);
  kept.file.url = index::file_url(place + "/" + kept.file.filename);
  kept.file.hash = wheel::expected_sha256(record->substr(0, gap));
  std::error_code error;
  kept.file.size = fs::file_size(place + "/" + kept.file.filename, error);
  if (error) return std::nullopt;
  fs::last_write_time(place, fs::file_time_type::clock::now(), error);
  return kept;
}

/// The wheel is of this package and version, for this interpreter, and sound: it is unpacked like
/// any other. Its sha256.
Result<std::string> check_wheel(const resolver::Sdist& sdist, const std::string& folder,
                                const std::string& filename, const wheel::TagTarget& target,
                                const std::string& store, index::Transport& transport,
                                Report& report) {
  auto name = wheel::parse_wheel_name(filename);
  if (!name) return std::unexpected(std::move(name).error());
  if (wheel::normalize_name(name->distribution) != sdist.name || name->version != sdist.version ||
      !name->label.empty())
    return fail(ErrorKind::malformed,
                fmt::format("{} is not a plain wheel of {}", filename, title_of(sdist)));
  if (wheel::supported_tags(target).best_index(name->tags) == wheel::SupportedTags::npos)
    return fail(ErrorKind::malformed,
                fmt::format("the tags of {} do not fit this interpreter and platform", filename));
  plan::ResolvedPackage package;
  package.name = sdist.name;
  package.version = sdist.version;
  package.filename = filename;
  package.wheel_name = std::move(*name);
  package.url = index::file_url(folder + "/" + filename);
  package.source = "the build";
  const installer::WheelCheck nothing_else = [](const auto&, std::string_view) -> Result<void> {
    return {};
  };
  const auto contents = installer::acquire_wheel(store, package, transport, nothing_else,
                                                 installer::EntryCheck::size_and_time, report);
  if (!contents) return std::unexpected(contents.error());
  return contents->sha256;
}

}  // namespace

Result<std::string> SdistBuilds::folder() {
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

Result<const BuildTool*> SdistBuilds::tool() {
  if (!tool_) {
    auto found =
        find_build_tool({setup_.environment, setup_.settings, setup_.wheel_use, variable("PATH"),
                         variable("UV_CACHE_DIR"), !setup_.cache_folder.empty()});
    if (!found) return std::unexpected(std::move(found).error());
    tool_ = std::move(*found);
  }
  return &*tool_;
}

std::string SdistBuilds::place_of(const std::string& kept, const std::string& sha256) const {
  std::error_code error;
  const fs::path python = fs::canonical(setup_.environment.python, error);
  const std::string text =
      fmt::format("{}\n{}\n{}\n{}\n", sha256, python.string(),
                  wheel::render_version(setup_.environment.python_version), tool_->name);
  return kept + "/" + wheel::render_hex(wheel::sha256(text)).substr(0, 32);
}

Result<std::string> SdistBuilds::fetch(const resolver::Sdist& sdist, const std::string& file) {
  plan::ResolvedPackage package = as_package(sdist);
  if (!package.hash.is_checkable() && package.listed_hashes.empty()) {
    if (auto first = index::first_sha256(package.url, setup_.transport))
      package.hash = wheel::expected_sha256(std::move(*first), wheel::HashSource::first_download);
  }
  auto mark = installer::download_file(package, setup_.transport, file, setup_.report);
  if (!mark) return std::unexpected(std::move(mark).error());
  if (auto kept = installer::remember_download(package, *mark, setup_.transport, setup_.report);
      !kept)
    return std::unexpected(std::move(kept).error());
  return std::move(mark->sha256);
}

Result<void> SdistBuilds::check_attestations(const resolver::Sdist& sdist,
                                             const std::string& sha256) {
  if (setup_.attestations == nullptr || !setup_.attestations->concerns(sdist.name)) return {};
  const index::PublishedFile& file = sdist.file;
  const auto verdict = setup_.attestations->check(
      ListedFile{sdist.name, file.filename, file.url, file.provenance, sha256});
  if (!verdict) return std::unexpected(verdict.error());
  return {};
}

Result<void> SdistBuilds::run(const resolver::Sdist& sdist, const std::string& file,
                              const std::string& wheels) {
  const std::string scratch = fs::path(wheels).parent_path().string() + "/tmp";
  std::error_code error;
  fs::create_directory(scratch, error);
  system::Program program{tool_->command, scratch, tool_->variables, tool_->withheld};
  program.arguments.insert(program.arguments.end(), {tool_->into, wheels, file});
  program.variables.emplace_back("TMPDIR", scratch);
  BuildOutput output(tool_->name, setup_.report);
  const auto ended = system::run_program(
      program, {.time_limit = setup_.time_limit,
                .errors = system::ErrorStream::with_output,
                .take_output = [&](std::string_view piece) { output.take(piece); },
                .kills_leftovers = true});
  if (!ended) {
    return std::unexpected(
        installer::system_error("start", program.arguments.front(), ended.error().value()));
  }
  if (!ended->timed_out && ended->exit_code == 0) return {};
  std::string why = ended->timed_out
                        ? fmt::format("{} did not end within {} seconds", tool_->name,
                                      std::chrono::duration<double>(setup_.time_limit).count())
                        : fmt::format("{} ended with exit code {}", tool_->name, ended->exit_code);
  std::string hint = output.last_lines();
  if (ended->timed_out)
    hint = "AXLE_BUILD_TIMEOUT sets another limit, in seconds" + (hint.empty() ? "" : "; " + hint);
  return fail(
      ErrorKind::unsupported,
      fmt::format("{} could not be built from {}: {}", title_of(sdist), sdist.file.filename, why),
      std::move(hint));
}

Result<resolver::BuiltWheel> SdistBuilds::build(const resolver::Sdist& sdist) {
  const std::string& filename = sdist.file.filename;
  if (filename.contains('/') || filename.starts_with('.') || filename.starts_with('-'))
    return fail(ErrorKind::malformed, fmt::format("{} is not the name of a file", filename));
  if (auto found = tool(); !found) return std::unexpected(std::move(found).error());
  const auto kept = folder();
  if (!kept) return std::unexpected(kept.error());
  const auto finished = [&](resolver::BuiltWheel wheel, std::string sha256) {
    wheel.from = {filename, index::redact_url(sdist.file.url), std::move(sha256), tool_->name};
    return wheel;
  };
  // What the page says is enough to find a wheel of it: nothing runs.
  if (const std::string sha256(sdist.file.hash.sha256()); !sha256.empty()) {
    if (auto good = check_attestations(sdist, sha256); !good) return std::unexpected(good.error());
    if (auto wheel = find_kept(place_of(*kept, sha256))) return finished(std::move(*wheel), sha256);
  }
  const auto work = installer::WorkFolder::create(*kept);
  if (!work) return std::unexpected(work.error());
  std::error_code error;
  for (const char* part : {"/sdist", "/made", "/store"})
    fs::create_directory(work->path() + part, error);
  const std::string file = work->path() + "/sdist/" + filename;
  auto sha256 = fetch(sdist, file);
  if (!sha256) return std::unexpected(std::move(sha256).error());
  if (sdist.file.hash.sha256().empty()) {
    if (auto good = check_attestations(sdist, *sha256); !good) return std::unexpected(good.error());
  }
  const std::string place = place_of(*kept, *sha256);
  if (auto wheel = find_kept(place)) return finished(std::move(*wheel), std::move(*sha256));

  setup_.report.progress("building " + filename, 0, 0);
  setup_.report.detail(fmt::format("building {} by {}", filename, tool_->name));
  const std::string made = work->path() + "/made";
  if (auto done = run(sdist, file, made); !done) return std::unexpected(done.error());
  const auto wheel = only_wheel(made);
  auto checked = wheel ? check_wheel(sdist, made, *wheel, setup_.environment.tag_target,
                                     work->path() + "/store", setup_.transport, setup_.report)
                       : wheel;
  if (!checked) {
    Error bad = std::move(checked).error();
    if (bad.kind == ErrorKind::io) return std::unexpected(std::move(bad));
    return fail(ErrorKind::malformed,
                fmt::format("{} could not be built from {} by {}: {}", title_of(sdist), filename,
                            tool_->name, bad.message),
                "tell its maintainers, or request another version");
  }
  const std::string record = fmt::format("{}  {}\n", *checked, *wheel);
  if (auto written = installer::create_file(AT_FDCWD, made + record_name, record, false); !written)
    return std::unexpected(std::move(written).error());
  if (auto placed = place_environment(made, place); !placed)
    return std::unexpected(std::move(placed).error());
  discard_unused(*kept);
  if (auto found = find_kept(place)) return finished(std::move(*found), std::move(*sha256));
  return fail(ErrorKind::io, fmt::format("{}: cannot be read", place));
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

#include "cli/saved_files.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/machine_report.h"
#include "cli/views/decision_view.h"
#include "foundation/text/byte_size.h"
#include "index/http/redaction.h"
#include "index/publish/static_index.h"
#include "resolver/browse/machines_of_pages.h"
#include "resolver/solver/solver.h"
#include "session/bundles/packed_bundle.h"
#include "session/workspace.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

/// One machine, and what it needs.
struct Client {
  const machines::NamedMachine& machine;
  resolver::Target target;
  plan::Resolution resolution = {};
  std::optional<session::CommandFailure> failure = {};
};

class Downloading {
 public:
  Downloading(session::Workspace& workspace, std::vector<Client>& clients, session::SavePlace place,
              session::OpenedIndex index, Output& output)
      : workspace_(workspace),
        clients_(clients),
        place_(std::move(place)),
        index_(std::move(index)),
        output_(output) {
    // A bundle is for installers alone.
    if (index_.place != nullptr && place_.bundle.empty())
      index_.place->show_machines(resolver::make_machines_of_pages());
  }

  int run(bool dry_run);

 private:
  [[nodiscard]] Result<void> check_attestations(plan::Resolution& resolution) const;
  [[nodiscard]] bool resolve_all();
  [[nodiscard]] Result<void> collect();
  [[nodiscard]] Result<void> look_what_is_there();
  [[nodiscard]] Result<void> bring();
  [[nodiscard]] Result<void> publish() const;
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] bool learn_metadata();
  void remove_unwanted(const std::vector<session::WantedFile>& before) const;
  void warn_of_other_choices();
  int report_failures();
  int answer(bool dry_run);
  [[nodiscard]] std::string render() const;
  [[nodiscard]] ordered_json files_json() const;
  [[nodiscard]] std::string machines_text(const session::WantedFile& file) const;

  session::Workspace& workspace_;
  std::vector<Client>& clients_;
  session::SavePlace place_;
  session::OpenedIndex index_;
  std::optional<installer::FileFolder> arriving_;
  std::string arrived_;  ///< its path
  Output& output_;
  std::vector<session::WantedFile> wanted_;
  std::vector<installer::SavedFile> saved_;  ///< of `wanted_`
  std::vector<std::string> fetched_;         ///< names, of all rounds
  std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

Result<void> Downloading::check_attestations(plan::Resolution& resolution) const {
  if (workspace_.attestations == nullptr) return {};
  return workspace_.attestations->check(resolution);
}

bool Downloading::resolve_all() {
  bool all = true;
  for (Client& client : clients_) {
    client.failure.reset();
    MachineReport named(client.machine.name, output_);
    if (clients_.size() > 1) output_.set_machine(client.machine.name);
    Report& report = clients_.size() > 1 ? static_cast<Report&>(named) : output_;
    auto resolution = resolver::resolve(workspace_.requests, client.target, {}, workspace_.sources,
                                        workspace_.options, report);
    auto attested = resolution ? check_attestations(*resolution) : Result<void>();
    if (!attested) {
      client.failure = session::failed(std::move(attested).error()).error();
      all = false;
    } else if (resolution) {
      warn_of_unusable_gpus(resolution->packages, client.machine.machine, report);
      client.resolution = *std::move(resolution);
    } else {
      client.failure = session::failed_to_resolve(resolution.error()).error();
      all = false;
    }
  }
  return all;
}

/// Of several, the first is the error of the command; the others are reported before.
int Downloading::report_failures() {
  std::optional<session::CommandFailure> first;
  ordered_json machines = ordered_json::array();
  int exit_code = 0;
  for (Client& client : clients_) {
    ordered_json row = {{"machine", client.machine.name}};
    if (client.failure) {
      if (clients_.size() > 1) output_.set_machine(client.machine.name);
      row["error"] = output_.error_json(*client.failure);
      exit_code = std::max(exit_code, client.failure->exit_code);
      if (clients_.size() > 1)
        client.failure->error.message = client.machine.name + ": " + client.failure->error.message;
      if (first) {
        output_.warn(client.failure->error.message, client.failure->error.hint);
      } else {
        first = client.failure;
      }
    }
    machines.push_back(std::move(row));
  }
  first->exit_code = exit_code;
  if (clients_.size() == 1) return output_.failure(*first);
  return output_.failure(*first, {.text = {}, .json = [&]() -> ordered_json {
                                    return {{"machines", std::move(machines)}};
                                  }});
}

Result<void> Downloading::collect() {
  wanted_.clear();
  for (const Client& client : clients_) {
    if (auto added = session::add_wanted(wanted_, client.resolution, client.machine.name); !added)
      return added;
  }
  // The index of a mirror writes its own, for the wheels that it has.
  if (place_.has_index()) {
    std::erase_if(wanted_, [](const session::WantedFile& file) { return file.is_variants_file; });
  }
  return {};
}

Result<void> Downloading::look_what_is_there() {
  for (const session::WantedFile& one : wanted_) {
    auto there = place_.has_index() ? installer::find_published(*index_.place, one.file)
                                    : installer::find_complete(place_.folder, one.file, output_);
    if (!there) return std::unexpected(there.error());
    saved_.push_back(std::move(*there).value_or(installer::SavedFile{}));
  }
  return {};
}

/// Of wheels that are not what they were chosen by, the next resolution knows it.
bool Downloading::learn_metadata() {
  bool any = false;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (!saved_[i].other_metadata) continue;
    const plan::ResolvedPackage& file = wanted_[i].file;
    output_.warn(fmt::format("{}: the metadata that {} gives is not the wheel's own, which is used",
                             file.filename, file.source));
    workspace_.sources.true_metadata.insert_or_assign(file.url, *saved_[i].other_metadata);
    any = true;
  }
  return any;
}

/// What this command fetched before it knew better.
void Downloading::remove_unwanted(const std::vector<session::WantedFile>& before) const {
  for (const session::WantedFile& old : before) {
    const std::string& name = old.file.filename;
    const auto is_it = [&](const session::WantedFile& one) { return one.file.filename == name; };
    if (std::ranges::any_of(wanted_, is_it) || std::ranges::find(fetched_, name) == fetched_.end())
      continue;
    std::error_code gone;
    std::filesystem::remove(arrived_ + "/" + name, gone);
    std::filesystem::remove(arrived_ + "/" + name + ".provenance", gone);
  }
}

/// Adds what was brought to the index.
Result<void> Downloading::publish() const {
  std::vector<std::string> arrived;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    if (!saved_[i].was_there) arrived.push_back(arrived_ + "/" + wanted_[i].file.filename);
  }
  if (arrived.empty()) return {};
  const auto built = index::add_to_static_index(arrived, *index_.place, output_);
  if (built) return {};
  // What is refused would be refused again.
  for (const std::string& path : arrived) {
    std::error_code gone;
    if (built.error().kind == ErrorKind::io) break;
    std::filesystem::remove(path, gone);
    std::filesystem::remove(path + ".provenance", gone);
  }
  return std::unexpected(built.error());
}

Result<void> Downloading::bring() {
  auto folder = place_.has_index() ? installer::FileFolder::open_hidden(place_.folder)
                                   : installer::FileFolder::open(place_.folder);
  if (!folder) return std::unexpected(folder.error());
  arriving_.emplace(*std::move(folder));
  arrived_ = arriving_->path();
  // A bundle has what this command wants, not what one that was killed wanted.
  std::error_code gone;
  if (!place_.bundle.empty()) std::filesystem::remove_all(place_.index, gone);
  while (true) {
    std::uint64_t bytes = 0;
    bool whole = true;
    for (const session::WantedFile& one : wanted_) {
      bytes += one.file.size.value_or(0);
      whole = whole && one.file.size;
    }
    output_.expect_downloads(wanted_.size(), whole ? bytes : 0);
    auto saved = session::bring_files(*arriving_, index_.place.get(), wanted_,
                                      *workspace_.transport, output_);
    if (!saved) return std::unexpected(saved.error());
    saved_ = *std::move(saved);
    for (std::size_t i = 0; i < wanted_.size(); ++i)
      if (!saved_[i].was_there) fetched_.push_back(wanted_[i].file.filename);
    if (!learn_metadata()) break;
    const std::vector<session::WantedFile> before = wanted_;
    if (!resolve_all()) return {};
    if (auto collected = collect(); !collected) return collected;
    remove_unwanted(before);
  }
  return place_.has_index() ? publish() : Result<void>();
}

Result<void> Downloading::finish() {
  warn_of_other_choices();
  if (!place_.bundle.empty()) {
    if (auto packed = session::pack_bundle(place_); !packed) return packed;
  }
  arriving_->close();
  return {};
}

void Downloading::warn_of_other_choices() {
  for (const Client& client : clients_) {
    const auto differs = session::differs_from_saved(workspace_, client.target, client.resolution,
                                                     place_, index_.url, *index_.transport);
    if (!differs) continue;
    output_.warn(fmt::format("from {} alone, {} {}", place_.named(), client.machine.name, *differs),
                 "ask for the exact version there, or download into a folder of its own for each "
                 "machine");
  }
}

std::string Downloading::machines_text(const session::WantedFile& file) const {
  if (clients_.size() == 1 || file.machines.size() == clients_.size()) return {};
  return fmt::format(" ({})", fmt::join(file.machines, ", "));
}

std::string Downloading::render() const {
  std::string text;
  if (output_.options().quiet) return text;
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const plan::ResolvedPackage& file = wanted_[i].file;
    const std::string from = file.built_from
                                 ? fmt::format(", built from {} by {}", file.built_from->filename,
                                               file.built_from->builder)
                                 : std::string();
    const std::string line = file.filename + from + machines_text(wanted_[i]);
    text += saved_[i].was_there ? "= " + line : output_.paint(Style::good, "+ " + line);
    text += "\n";
  }
  return text;
}

ordered_json Downloading::files_json() const {
  ordered_json files = ordered_json::array();
  for (std::size_t i = 0; i < wanted_.size(); ++i) {
    const auto& [file, is_variants_file, machines] = wanted_[i];
    const auto or_null = [](const std::string& text) {
      return text.empty() ? ordered_json(nullptr) : ordered_json(text);
    };
    const std::string& sha256 = saved_[i].sha256;
    ordered_json row = {
        {"file", file.filename},
        {"name", file.name},
        {"version", wheel::render_version(file.version)},
        {"kind", is_variants_file ? "variants" : "wheel"},
        {"variant", variant_json(file.variant)},
        {"url", index::redact_url(file.url)},
        {"sha256", or_null(sha256.empty() ? std::string(file.hash.sha256()) : sha256)},
        {"size", nullptr},
        {"built_from", built_from_json(file.built_from)},
        {"machines", machines},
        {"was_there", saved_[i].was_there}};
    if (!sha256.empty()) row["size"] = saved_[i].size;
    if (sha256.empty() && file.size) row["size"] = *file.size;
    if (file.attestation) row["attestation"] = attestation_json(*file.attestation);
    files.push_back(std::move(row));
  }
  return files;
}

int Downloading::answer(bool dry_run) {
  if (dry_run) {
    output_.note("dry run: nothing was downloaded");
  } else if (output_.options().progress == Progress::line && !fetched_.empty()) {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - began_;
    output_.note(fmt::format("{} file{} in {:.1f} s, {} downloaded", fetched_.size(),
                             fetched_.size() == 1 ? "" : "s", took.count(),
                             text::render_bytes(output_.downloads().complete_bytes())));
  }
  return output_.answer(
      {.text = [&] { return render(); },
       .json = [&]() -> ordered_json {
         return {{"dest", place_.named()}, {"files", files_json()}, {"dry_run", dry_run}};
       }});
}

int Downloading::run(bool dry_run) {
  if (!resolve_all()) return report_failures();
  if (const auto collected = collect(); !collected)
    return output_.failure(session::failed(collected.error()).error());
  const auto done = dry_run ? look_what_is_there() : bring();
  if (!done) return output_.failure(session::failed(done.error()).error());
  const bool failed = std::ranges::any_of(
      clients_, [](const Client& client) { return client.failure.has_value(); });
  if (failed) return report_failures();
  if (const auto finished = dry_run ? Result<void>() : finish(); !finished)
    return output_.failure(session::failed(finished.error()).error());
  return answer(dry_run);
}

}  // namespace

session::Outcome<void> check_something_is_named(const session::Arguments& given) {
  if (!given.positionals.empty() || given.has(session::Opt::requirement) ||
      given.has(session::Opt::group) || given.has(session::Opt::editable))
    return {};
  return session::misused("nothing to save", "name a package, a file, -r FILE or --group NAME");
}

int save_files(session::Session& session, const session::SavePlace& place, Output& output) {
  const session::Arguments& given = session.arguments();
  const auto machines = session.machines();
  if (!machines) return output.failure(machines.error());
  auto workspace = session::open_workspace(session, session::Purpose::save);
  if (!workspace) return output.failure(workspace.error());
  auto index = session::open_saved_index(place, **workspace);
  if (!index) return output.failure(index.error());
  output.set_progress(
      choose_progress((*workspace)->settings.progress, given.has(session::Opt::quiet)));
  std::vector<Client> clients;
  for (const machines::NamedMachine& machine : *machines) {
    clients.push_back(
        {machine, session::make_target((*workspace)->environment, (*workspace)->stated,
                                       machine.machine, session.elsewhere())});
  }
  return Downloading(**workspace, clients, place, std::move(*index), output)
      .run(given.has(session::Opt::dry_run));
}

}  // namespace axle::cli

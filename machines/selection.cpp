#include "machines/selection.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <optional>
#include <span>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "machines/cluster/cluster_nodes.h"
#include "machines/completion.h"
#include "machines/fact_words.h"
#include "machines/gpu_models.h"
#include "machines/inline_facts.h"
#include "machines/possible_facts.h"
#include "machines/profile.h"
#include "machines/profile_schema.h"
#include "machines/shipped_profiles.h"

namespace axle::machines {

namespace fs = std::filesystem;

namespace {

NamedMachine name_machine(std::string name, Profile&& profile) {
  return {std::move(name), replay_profile(profile), std::move(profile.recording),
          std::move(profile.origin)};
}

std::unexpected<Error> unreadable(const fs::path& path, std::string_view why) {
  return fail(
      ErrorKind::io, fmt::format("{}: cannot be read: {}", path.string(), why),
      "a machine profile is a JSON file: `variant detect --profile machine.json` writes one");
}

/// At most one byte more than a list of nodes may have. A named pipe is given up if nobody writes
/// to it.
Result<std::string> read_profile_text(const fs::path& path) {
  constexpr int patience_ms = 10'000;
  const int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (fd < 0) return unreadable(path, std::strerror(errno));
  std::string text;
  std::array<char, 1U << 14> block;
  ssize_t got = 1;
  int number = 0;
  bool written = true;
  while (got != 0 && number == 0 && written && text.size() <= largest_node_list) {
    pollfd ready{fd, POLLIN, 0};
    written = ::poll(&ready, 1, patience_ms) != 0;
    got = written ? ::read(fd, block.data(), block.size()) : 0;
    if (got > 0) text.append(block.data(), static_cast<std::size_t>(got));
    if (got < 0 && errno != EINTR && errno != EAGAIN) number = errno;
  }
  ::close(fd);
  if (!written) return unreadable(path, "nothing was written to this pipe");
  if (number != 0) return unreadable(path, std::strerror(number));
  return text;
}

Result<std::vector<NamedMachine>> name_nodes(const fs::path& path,
                                             Result<std::vector<NodeKind>> kinds) {
  if (!kinds) return std::unexpected(std::move(kinds).error());
  std::vector<NamedMachine> machines;
  for (NodeKind& kind : *kinds) {
    NamedMachine& named = machines.emplace_back();
    named.name = fmt::format("{}: {}", path.string(), kind.title());
    named.machine = std::move(kind.machine);
  }
  return machines;
}

/// A profile, or the nodes of a cluster.
Result<std::vector<NamedMachine>> read_machines(const fs::path& path) {
  const auto text = read_profile_text(path);
  if (!text) return std::unexpected(text.error());
  if (is_kubernetes_text(*text))
    return name_nodes(path, parse_kubernetes_nodes(*text, path.string()));
  if (is_slurm_text(*text)) return name_nodes(path, parse_slurm_nodes(*text, path.string()));
  auto profile = parse_profile(*text, path.string());
  if (!profile) return std::unexpected(profile.error());
  return std::vector{name_machine(path.string(), std::move(*profile))};
}

Result<std::vector<NamedMachine>> read_fleet(const fs::path& folder) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".json") files.push_back(it->path());
  }
  if (error) {
    return fail(ErrorKind::io, fmt::format("{}: {}", folder.string(), error.message()));
  }
  if (files.empty()) {
    return fail(ErrorKind::not_found,
                fmt::format("{}: the folder has no machine profile (*.json)", folder.string()),
                "record one there with `variant detect --profile machine.json`");
  }
  std::ranges::sort(files);
  std::vector<NamedMachine> machines;
  for (const fs::path& file : files) {
    auto of_file = read_machines(file);
    if (!of_file) return of_file;
    std::ranges::move(*of_file, std::back_inserter(machines));
  }
  return machines;
}

// A shipped profile, else a model of the GPU table.
Result<std::optional<NamedMachine>> find_shipped(const std::string& name) {
  for (const ShippedProfile& shipped : shipped_profiles()) {
    if (shipped.name != name) continue;
    auto profile = parse_profile(shipped.json, name);
    if (!profile) return std::unexpected(profile.error());
    return name_machine(name, std::move(*profile));
  }
  const GpuModel* model = find_gpu_model(name);
  if (model == nullptr) return std::nullopt;
  NamedMachine named{name, {}};
  named.machine.gpus.push_back(make_gpu(*model));
  return named;
}

std::unexpected<Error> unknown_name(std::string_view name) {
  const auto refuse = [&](std::string hint) {
    return fail(ErrorKind::not_found,
                fmt::format("no machine, file or folder is called \"{}\"", name), std::move(hint));
  };
  if (const auto fact = architecture_fact(name))
    return refuse(fmt::format("a GPU of that architecture is {}", *fact));
  std::vector<std::string> known = shipped_names();
  const auto bare = bare_facts();
  known.insert(known.end(), bare.begin(), bare.end());
  std::string meant;
  if (const GpuModel* model = find_gpu_model_in(name); model != nullptr)
    meant = fmt::format("did you mean {}?", model->name);
  if (meant.empty()) meant = text::did_you_mean(name, known);
  if (meant.empty())
    meant = fmt::format("nearest known names: {};", text::nearest_words(name, known));
  return refuse(
      fmt::format("{} `variant machines` lists the names; or state facts: "
                  "nvidia:sm=90,driver=570.26;x86_64:v4",
                  meant));
}

// The part before the first ";": a name, a file, a folder, or facts.
Result<std::vector<NamedMachine>> select_first(const std::string& first) {
  auto shipped = find_shipped(first);
  if (!shipped) return std::unexpected(shipped.error());
  if (*shipped) return std::vector{std::move(**shipped)};
  std::error_code error;
  const fs::file_status status = fs::status(first, error);
  if (fs::is_directory(status)) return read_fleet(first);
  if (fs::exists(status)) return read_machines(first);
  const auto bare = bare_facts();
  const bool facts =
      first.find(':') != std::string::npos || std::ranges::find(bare, first) != bare.end();
  if (!facts) return unknown_name(first);
  NamedMachine stated{first, {}};
  if (auto added = add_facts(stated.machine, first); !added) return std::unexpected(added.error());
  return std::vector{std::move(stated)};
}

Result<void> add_parts(detect::Machine& machine, std::string_view rest) {
  while (!rest.empty()) {
    const std::size_t end = rest.find(';');
    const std::string_view part = rest.substr(0, end);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
    if (const GpuModel* model = find_gpu_model(part); model != nullptr) {
      return fail(
          ErrorKind::not_found, fmt::format("\"{}\" after \";\" is not a fact", part),
          fmt::format("a second GPU is {}:gpu={}", detect::render_vendor(model->vendor), part));
    }
    if (auto added = add_facts(machine, part); !added) return added;
  }
  return {};
}

}  // namespace

std::vector<std::string> shipped_names() {
  std::vector<std::string> names;
  for (const ShippedProfile& shipped : shipped_profiles()) names.emplace_back(shipped.name);
  for (const GpuModel& model : gpu_models()) names.emplace_back(model.name);
  std::ranges::sort(names);
  const auto repeated = std::ranges::unique(names);
  names.erase(repeated.begin(), repeated.end());
  return names;
}

Result<std::vector<NamedMachine>> shipped_machines() {
  std::vector<NamedMachine> machines;
  for (const std::string& name : shipped_names()) {
    auto machine = find_shipped(name);
    if (!machine) return std::unexpected(std::move(machine).error());
    if (*machine) machines.push_back(std::move(**machine));
  }
  return machines;
}

Result<std::vector<NamedMachine>> select_machines(std::string_view what, Report& report,
                                                  const PlatformFacts* stated) {
  // A path may contain any character, so the whole text is first tried as a path.
  std::error_code error;
  const bool whole = fs::exists(fs::path(what), error);
  const std::size_t end = whole ? std::string_view::npos : what.find(';');
  auto machines = select_first(std::string(what.substr(0, end)));
  if (!machines) return machines;
  const std::string_view rest =
      end == std::string_view::npos ? std::string_view() : what.substr(end + 1);
  for (NamedMachine& named : *machines) {
    if (auto added = add_parts(named.machine, rest); !added) {
      return std::unexpected(added.error());
    }
    if (machines->size() == 1) named.name = what;
    if (!rest.empty()) {
      named.recording.reset();
      named.origin = {};
    }
    if (stated != nullptr) {
      if (const auto same = state_platform(named.machine, named.name, *stated); !same)
        return std::unexpected(same.error());
    }
    if (const auto contradiction = find_contradiction(named.machine)) {
      return fail(ErrorKind::not_found, fmt::format("{}: {}", named.name, contradiction->message),
                  "state facts that one machine can have");
    }
    complete_machine(named.machine, named.name, report);
  }
  return machines;
}

}  // namespace axle::machines

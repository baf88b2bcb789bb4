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

#include "detect/os/macos.h"
#include "foundation/system/shell_command.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "machines/cluster/cluster_nodes.h"
#include "machines/completion.h"
#include "machines/contradictions.h"
#include "machines/fact_words.h"
#include "machines/gpu_models.h"
#include "machines/inline_facts.h"
#include "machines/profile.h"
#include "machines/profile_schema.h"
#include "machines/shipped_profiles.h"
#include "machines/stated/near_names.h"
#include "machines/stated/stated_parts.h"

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
  if (name.contains('/') || name.ends_with(".json"))
    return refuse(fmt::format("run `variant detect --profile {}` on a machine to write its profile",
                              shell_word(name)));
  if (const auto fact = architecture_fact(name))
    return refuse(fmt::format("a GPU of that architecture is {}", *fact));
  std::vector<std::string> known = shipped_names();
  const auto bare = bare_facts();
  known.insert(known.end(), bare.begin(), bare.end());
  std::string meant;
  // "Windows-RTX5090" is first of all a name in capitals, and only then the name of a card.
  if (std::ranges::find(known, text::ascii_lower(name)) != known.end())
    meant = fmt::format("did you mean {}?", text::ascii_lower(name));
  if (meant.empty()) meant = hint_for_name(name);
  if (const GpuModel* model = find_gpu_model_in(name); meant.empty() && model != nullptr)
    meant = fmt::format("did you mean {}?", model->name);
  if (meant.empty()) meant = text::did_you_mean(name, known);
  if (meant.empty())
    meant = fmt::format("nearest known names: {};", text::nearest_words(name, known));
  return refuse(
      fmt::format("{} `variant machines` lists the names; or state facts: "
                  "nvidia:sm=90,driver=570.26;x86_64:v4",
                  meant));
}

bool is_fact(std::string_view part) {
  const auto bare = bare_facts();
  const std::string_view word = own_architecture_word(part);
  return part.contains(':') || std::ranges::find(bare, word) != bare.end();
}

/// A name, a file or a folder: what is before the first ";".
Result<std::vector<NamedMachine>> select_named(const std::string& name) {
  auto shipped = find_shipped(name);
  if (!shipped) return std::unexpected(shipped.error());
  if (*shipped) return std::vector{std::move(**shipped)};
  std::error_code error;
  const fs::file_status status = fs::status(name, error);
  if (fs::is_directory(status)) return read_fleet(name);
  if (fs::exists(status)) return read_machines(name);
  return unknown_name(name);
}

/// What `--for` names and the facts that it states beside.
struct Selected {
  std::vector<NamedMachine> machines;
  std::vector<std::string_view> facts;
};

Result<Selected> read_selection(std::string_view what) {
  // A path may contain any character, so the whole text is first tried as a path.
  std::error_code error;
  const std::size_t end =
      fs::exists(fs::path(what), error) ? std::string_view::npos : what.find(';');
  const std::string first(what.substr(0, end));
  const bool named = !is_fact(first) || fs::exists(fs::path(first), error);
  Selected selected;
  if (named) {
    auto machines = select_named(first);
    if (!machines) return std::unexpected(std::move(machines).error());
    selected.machines = *std::move(machines);
    if (end == std::string_view::npos) return selected;
    what.remove_prefix(end + 1);
  } else {
    selected.machines.push_back({first, {}});
  }
  selected.facts = parts_in_order(what);
  if (auto once = check_stated_once(selected.facts); !once) return std::unexpected(once.error());
  return selected;
}

Result<void> add_parts(detect::Machine& machine, const std::vector<std::string_view>& parts) {
  for (const std::string_view part : parts) {
    if (const GpuModel* model = find_gpu_model(part); model != nullptr) {
      return fail(
          ErrorKind::not_found, fmt::format("\"{}\" after \";\" is not a fact", part),
          fmt::format("a second GPU is {}:gpu={}", detect::render_vendor(model->vendor), part));
    }
    if (auto added = add_facts(machine, part); !added) return added;
  }
  return {};
}

std::optional<Contradiction> find_contradiction_with(
    const detect::Machine& machine, const std::optional<detect::MacosVersion>& own) {
  const auto version = detect::macos_version(machine.os);
  auto found = find_contradiction(machine);
  if (!found && own && version) found = find_older_macos(*own, *version);
  return found;
}

/// Adds the facts, the stated platform and what is assumed.
Result<void> complete(NamedMachine& named, const std::vector<std::string_view>& facts,
                      const PlatformFacts* stated, Report& report) {
  const auto own_macos = detect::macos_version(named.machine.os);
  // What was found on a machine is never refused, however strange it is.
  const bool found_there = named.recording || named.origin.kind == "captured";
  const bool strange = found_there && find_contradiction(named.machine);
  if (auto added = add_parts(named.machine, facts); !added) return added;
  if (!facts.empty()) {
    named.recording.reset();
    named.origin = {};
  }
  if (stated != nullptr) {
    if (auto same = state_platform(named.machine, named.name, *stated); !same) return same;
  }
  const auto found =
      find_contradiction_with(named.machine, facts.empty() ? std::nullopt : own_macos);
  if (found && !strange) {
    return fail(ErrorKind::not_found, fmt::format("{}: {}", named.name, found->message),
                render_nearest(*found));
  }
  complete_machine(named.machine, named.name, report);
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
  auto selected = read_selection(what);
  if (!selected) return std::unexpected(std::move(selected).error());
  std::vector<NamedMachine>& machines = selected->machines;
  if (machines.size() == 1) machines.front().name = what;
  for (NamedMachine& named : machines) {
    if (auto completed = complete(named, selected->facts, stated, report); !completed)
      return std::unexpected(std::move(completed).error());
  }
  return std::move(machines);
}

}  // namespace axle::machines

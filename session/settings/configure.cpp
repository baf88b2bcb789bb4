#include "session/settings/configure.h"

#include <algorithm>
#include <array>

#include "session/settings/places.h"
#include "session/settings/weighed_layers.h"

namespace axle::session {

namespace {

struct EarlySetting {
  std::string_view key;
  Opt id;
  bool takes_value = false;
};

constexpr std::array settings = {EarlySetting{"python", Opt::python, true},
                                 EarlySetting{"system", Opt::system},
                                 EarlySetting{"break-system-packages", Opt::break_system_packages},
                                 EarlySetting{"require-virtualenv", Opt::require_virtualenv},
                                 EarlySetting{"no-cache", Opt::no_cache},
                                 EarlySetting{"dry-run", Opt::dry_run},
                                 EarlySetting{"torch-backend", Opt::torch_backend, true}};

constexpr auto keys = [] {
  std::array<std::string_view, settings.size()> names;
  std::ranges::transform(settings, names.begin(), &EarlySetting::key);
  return names;
}();

/// pip's section for one of our commands; "": the command does not read pip's settings.
std::string_view pip_section(std::string_view command) {
  if (command == "resolve" || command == "explain" || command == "doctor") return "install";
  constexpr std::array<std::string_view, 6> same = {"install", "uninstall", "list",
                                                    "freeze",  "check",     "show"};
  return std::ranges::find(same, command) != same.end() ? command : std::string_view();
}

/// Both choose the environment: if one is on the command line, the other is ignored.
bool is_settled(Opt id, const Arguments& arguments) {
  if (id == Opt::python || id == Opt::system)
    return arguments.has(Opt::python) || arguments.has(Opt::system);
  return arguments.has(id);
}

}  // namespace

std::span<const std::string_view> early_settings() { return keys; }

Outcome<void> configure(std::string_view command, std::span<const Opt> options,
                        Arguments& arguments) {
  const std::string_view section = pip_section(command);
  if (section.empty()) return {};
  const auto read = read_layers(arguments, {"", section});
  if (!read) return std::unexpected(read.error());
  WeighedLayers layers(*read);
  for (const auto& [key, id, takes_value] : settings) {
    if (std::ranges::find(options, id) == options.end()) continue;
    if (is_settled(id, arguments)) continue;
    // pip's uninstall has no dry run: PIP_DRY_RUN only applies to install.
    if (id == Opt::dry_run && command == "uninstall") continue;
    const auto stated = layers.one(key);
    // UV_TORCH_BACKEND is read where the backend is chosen, and named in its errors.
    if (!stated || stated->value.empty() || stated->origin == "UV_TORCH_BACKEND") continue;
    if (takes_value) {
      arguments.add(id, stated->value);
    } else if (layers.truth(key).value_or(false)) {
      arguments.add(id, "");
    }
  }
  if (layers.problem()) return std::unexpected(*layers.problem());
  return {};
}

}  // namespace axle::session

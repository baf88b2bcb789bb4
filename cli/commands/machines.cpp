// machines: what --for knows by name.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/ascii.h"
#include "foundation/text/nearest.h"
#include "machines/description.h"
#include "machines/selection.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using machines::NamedMachine;
using nlohmann::ordered_json;

std::string describe(const NamedMachine& named) {
  const std::string cpu = machines::describe_cpu(named.machine.cpu);
  const std::string devices = machines::describe_devices(named.machine);
  if (cpu.empty() && devices.empty()) return "no GPU";
  return cpu + (cpu.empty() || devices.empty() ? "" : "; ") + devices;
}

bool mentions(const NamedMachine& named, std::string_view word) {
  return text::ascii_lower(named.name + "\n" + describe(named)).contains(text::ascii_lower(word));
}

std::string render(const std::vector<NamedMachine>& machines, const Output& output) {
  std::size_t width = 4;
  for (const NamedMachine& named : machines) width = std::max(width, named.name.size());
  std::string text = output.paint(Style::faint, fmt::format("{:<{}}  WHAT", "NAME", width)) + "\n";
  for (const NamedMachine& named : machines) {
    text += output.paint(Style::strong, fmt::format("{:<{}}", named.name, width)) + "  " +
            describe(named) + "\n";
  }
  return text;
}

ordered_json machine_json(const NamedMachine& named) {
  ordered_json gpus = ordered_json::array();
  for (const detect::Gpu& gpu : named.machine.gpus) {
    gpus.push_back(
        {{"vendor", detect::render_vendor(gpu.vendor)}, {"name", gpu.name}, {"arch", gpu.arch}});
  }
  // Of a GPU alone nothing else is known, and nobody recorded it.
  return {{"name", named.name},
          {"kind", named.origin.kind.empty() ? "gpu" : "machine"},
          {"origin", named.origin.kind},
          {"source", named.origin.source},
          {"cpu", machines::describe_cpu(named.machine.cpu)},
          {"devices", machines::describe_devices(named.machine)},
          {"gpus", std::move(gpus)}};
}

}  // namespace

int run_machines(session::Session& session, Output& output) {
  const std::vector<std::string>& words = session.arguments().positionals;
  auto all = machines::shipped_machines();
  if (!all) return output.failure(session::failed(all.error()).error());
  std::erase_if(*all, [&](const NamedMachine& named) {
    return !std::ranges::all_of(words, [&](const auto& word) { return mentions(named, word); });
  });
  if (all->empty()) {
    return output.failure(
        session::failed(
            {ErrorKind::not_found,
             fmt::format("no shipped machine mentions {}", fmt::join(words, " ")),
             text::suggest(fmt::format("{}", fmt::join(words, " ")), machines::shipped_names(),
                           "`variant machines` lists all of them")})
            .error());
  }
  return output.answer({.text = [&] { return render(*all, output); },
                        .json = [&]() -> ordered_json {
                          ordered_json rows = ordered_json::array();
                          for (const NamedMachine& named : *all)
                            rows.push_back(machine_json(named));
                          return {{"machines", std::move(rows)}};
                        }});
}

}  // namespace axle::cli

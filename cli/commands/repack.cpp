// repack: makes variants of wheels that exist.
#include "builder/repack/repack.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/command.h"
#include "foundation/text/byte_size.h"
#include "index/storage/storage_address.h"
#include "session/session.h"
#include "session/variables.h"
#include "wheel/wheel_name.h"

namespace axle::cli {

namespace {

using builder::KeptMachine;
using builder::RepackedWheel;
using builder::RepackedWheels;
using nlohmann::ordered_json;
using session::Opt;

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string share(std::uint64_t part, std::uint64_t whole) {
  if (whole == 0) return {};
  return fmt::format("{:.0f} %", 100.0 * static_cast<double>(part) / static_cast<double>(whole));
}

/// What is not as it was for the architecture itself; empty: all code is its own.
std::string remark_on(const RepackedWheel& wheel) {
  const binaries::CutCounts& counts = wheel.counts;
  std::vector<std::string> parts;
  const auto add = [&](std::size_t number, std::string_view what) {
    if (number != 0) parts.push_back(fmt::format("{} {}", number, what));
  };
  add(counts.fallback, "with older code that runs on it");
  add(counts.compiled_later, "with PTX alone");
  add(counts.none, "without code for it, as before");
  add(counts.fixed, "whole, because nothing points at them");
  if (parts.empty()) return {};
  return fmt::format("  of {} containers {}", counts.containers, fmt::join(parts, ", "));
}

std::string render_wheels(const RepackedWheels& made) {
  std::string text =
      fmt::format("{}  {}\n", file_name(made.source), text::render_bytes(made.source_size));
  for (const RepackedWheel& wheel : made.wheels) {
    text += fmt::format("  {}  {}  {}{}\n", file_name(wheel.file), text::render_bytes(wheel.size),
                        share(wheel.size, made.source_size), remark_on(wheel));
  }
  return text;
}

std::string render_machines(const RepackedWheels& made) {
  std::map<std::string, std::vector<std::string>> by_label;
  for (const KeptMachine& machine : made.machines) by_label[machine.label].push_back(machine.name);
  std::string text;
  for (const RepackedWheel& wheel : made.wheels) {
    const auto found = by_label.find(wheel.architecture.empty() ? "" : wheel.label);
    if (found == by_label.end() || found->first.empty()) continue;
    text += fmt::format("  {} keep: {}\n", wheel.label, fmt::join(found->second, ", "));
  }
  if (const auto lost = by_label.find(""); lost != by_label.end()) {
    text += fmt::format("  lose, unless {} is published as well: {}\n", file_name(made.source),
                        fmt::join(lost->second, ", "));
  }
  return text;
}

ordered_json counts_json(const binaries::CutCounts& counts) {
  return {{"containers", counts.containers},
          {"own", counts.own},
          {"fallback", counts.fallback},
          {"ptx_only", counts.compiled_later},
          {"none", counts.none},
          {"fixed", counts.fixed},
          {"kept", counts.kept},
          {"removed", counts.removed}};
}

void add_json(const RepackedWheels& made, ordered_json& wheels, ordered_json& machines) {
  for (const RepackedWheel& wheel : made.wheels) {
    ordered_json properties = ordered_json::array();
    for (const wheel::Property& property : wheel.properties)
      properties.push_back(wheel::render_property(property));
    ordered_json row = {{"file", wheel.file},
                        {"label", wheel.label},
                        {"sha256", wheel.sha256},
                        {"size", wheel.size},
                        {"source", made.source},
                        {"source_size", made.source_size},
                        {"properties", std::move(properties)}};
    row["architecture"] =
        wheel.architecture.empty() ? ordered_json() : ordered_json(wheel.architecture);
    row["code"] = wheel.architecture.empty() ? ordered_json() : counts_json(wheel.counts);
    wheels.push_back(std::move(row));
  }
  for (const KeptMachine& machine : made.machines) {
    machines.push_back(
        {{"source", made.source},
         {"machine", machine.name},
         {"gpu", machine.gpu},
         {"variant", machine.label.empty() ? ordered_json() : ordered_json(machine.label)}});
  }
}

/// "nvidia,x86_64"
session::Outcome<std::vector<std::string>> namespace_order(const session::Arguments& arguments) {
  std::vector<std::string> names;
  if (!arguments.has(Opt::namespace_order)) return names;
  const std::string text = arguments.value(Opt::namespace_order);
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(',', at), text.size());
    names.push_back(text.substr(at, end - at));
    if (names.back().empty())
      return session::misused(
          fmt::format("--namespace-order {}: expected names between the commas", text));
    at = end + 1;
  }
  return names;
}

session::Outcome<builder::RelabelOptions> relabel_options(const session::Arguments& arguments) {
  if (arguments.has(Opt::keep_ptx))
    return session::misused("--keep-ptx: --label takes over all code; it is for --split sm");
  builder::RelabelOptions options;
  options.label = arguments.value(Opt::label);
  auto order = namespace_order(arguments);
  if (!order) return std::unexpected(std::move(order.error()));
  options.namespaces = std::move(*order);
  for (const std::string& text : arguments.values(Opt::property)) {
    auto property = wheel::parse_property(text);
    if (!property) {
      return session::misused("--property: " + property.error().message,
                              "write it as 'NAMESPACE :: FEATURE :: VALUE', such as "
                              "'x86_64 :: level :: v3'");
    }
    options.properties.insert(std::move(*property));
  }
  return options;
}

session::Outcome<builder::SplitOptions> split_options(const session::Arguments& arguments) {
  const std::string by = arguments.value(Opt::split);
  if (by != "sm" && by != "gfx")
    return session::misused(fmt::format("--split {}: expected sm (NVIDIA) or gfx (AMD)", by));
  if (arguments.has(Opt::property))
    return session::misused("--property: --split makes the properties itself");
  if (by == "gfx" && arguments.has(Opt::keep_ptx))
    return session::misused("--keep-ptx: code for AMD GPUs has no PTX");
  auto order = namespace_order(arguments);
  if (!order) return std::unexpected(std::move(order.error()));
  return builder::SplitOptions{by == "sm" ? builder::SplitBy::sm : builder::SplitBy::gfx,
                               arguments.has(Opt::keep_ptx), std::move(*order)};
}

/// Two wheels that would be written under one name; nothing if there are none. `label`: that of
/// all; empty: they keep theirs as the beginning of what they get.
std::optional<std::pair<std::string, std::string>> same_name(const std::vector<std::string>& paths,
                                                             const std::string& label) {
  std::map<std::string, std::string> seen;
  for (const std::string& path : paths) {
    auto name = wheel::parse_wheel_name(file_name(path));
    if (!name) continue;  // opening it says so
    if (!label.empty()) name->label = label;
    const auto [before, is_new] = seen.emplace(wheel::render_wheel_name(*name), path);
    if (!is_new) return std::pair(before->second, path);
  }
  return std::nullopt;
}

/// Repacks all wheels with `one`.
template <class One>
int repack_all(session::Session& session, Output& output, const One& one) {
  const auto epoch = session::source_date_epoch();
  if (!epoch) return output.failure(epoch.error());
  const builder::RepackPlace place{session.arguments().value(Opt::out), epoch->value_or(0)};
  std::vector<RepackedWheels> all;
  for (const std::string& path : session.arguments().positionals) {
    auto made = one(path, place);
    if (!made) return output.failure(session::failed(made.error()).error());
    output.change_was_made();
    all.push_back(std::move(*made));
  }
  return output.answer({.text =
                            [&] {
                              std::string text;
                              for (const RepackedWheels& made : all)
                                text += render_wheels(made) + render_machines(made);
                              return text;
                            },
                        .json = [&]() -> ordered_json {
                          ordered_json wheels = ordered_json::array();
                          ordered_json machines = ordered_json::array();
                          for (const RepackedWheels& made : all) add_json(made, wheels, machines);
                          return {{"wheels", std::move(wheels)}, {"machines", std::move(machines)}};
                        }});
}

}  // namespace

int run_repack(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  if (arguments.positionals.empty())
    return output.failure(session::misused("repack: which wheels?").error());
  if (arguments.has(Opt::label) == arguments.has(Opt::split))
    return output.failure(
        session::misused("repack needs either --label LABEL or --split sm|gfx").error());
  if (index::is_stored_elsewhere(arguments.value(Opt::out))) {
    return output.failure(
        session::misused("--out: repack writes to a folder; `variant index add` takes its wheels "
                         "to a storage or a WebDAV server")
            .error());
  }
  if (const auto both = same_name(arguments.positionals, arguments.value(Opt::label))) {
    return output.failure(session::misused(fmt::format("{} and {} would be written under one name",
                                                       both->first, both->second))
                              .error());
  }
  if (arguments.has(Opt::split)) {
    const auto options = split_options(arguments);
    if (!options) return output.failure(options.error());
    return repack_all(session, output, [&](const std::string& path, const auto& place) {
      return builder::split_wheel(path, *options, place, output);
    });
  }
  const auto options = relabel_options(arguments);
  if (!options) return output.failure(options.error());
  return repack_all(session, output, [&](const std::string& path, const auto& place) {
    return builder::relabel_wheel(path, *options, place, output);
  });
}

}  // namespace axle::cli

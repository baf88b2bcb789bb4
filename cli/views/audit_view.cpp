#include "cli/views/audit_view.h"

#include <algorithm>
#include <set>

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "binaries/gpu_code_match.h"
#include "cli/views/findings_view.h"
#include "cli/views/text_lines.h"
#include "detect/gpu_vendors.h"
#include "doctor/audit/floors.h"
#include "doctor/audit/release_needs.h"
#include "foundation/text/byte_size.h"

namespace axle::cli {

namespace {

using doctor::Audited;
using nlohmann::ordered_json;

std::set<std::string> gpu_code(const Audited& audited, detect::GpuVendor vendor) {
  std::set<std::string> all;
  for (const doctor::AuditedLibrary& library : audited.libraries) {
    const auto names = binaries::code_names(library.facts, vendor);
    all.insert(names.begin(), names.end());
  }
  return all;
}

/// Instructions beyond the baseline, by whether their libraries check the CPU.
std::set<std::string> instructions(const Audited& audited, bool dispatched) {
  std::set<std::string> all;
  for (const doctor::AuditedLibrary& library : audited.libraries) {
    if (!library.code || library.is_dispatched() != dispatched) continue;
    for (const auto& [capability, count] : library.code->counts)
      all.emplace(detect::plain_name(detect::row(capability)));
  }
  return all;
}

std::string_view render_kind(doctor::AuditedKind kind) {
  switch (kind) {
    case doctor::AuditedKind::wheel:
      return "wheel";
    case doctor::AuditedKind::package:
      return "package";
    case doctor::AuditedKind::tree:
      return "tree";
    case doctor::AuditedKind::image:
      return "image";
  }
  return "";
}

void add_line(std::string& text, std::string_view title, const std::string& value) {
  constexpr unsigned indent = 13;
  if (!value.empty()) text += fmt::format("  {:<11}{}\n", title, wrap_text(value, indent));
}

std::string render_floor(const doctor::SystemFloor& floor) {
  std::vector<std::string> words;
  for (const auto& [family, newest] : floor.newest) words.push_back(newest.version);
  return fmt::format("{}", fmt::join(words, " "));
}

/// A block a package; of an environment only those with libraries.
std::string render_audited(const Audited& audited, const Output& output) {
  const doctor::SystemFloor floor = doctor::system_floor(audited);
  std::string text = output.paint(Style::strong, audited.title) + "\n";
  add_line(text, "contents",
           fmt::format("{} files, {} libraries, {}", audited.files.size(), audited.libraries.size(),
                       text::render_bytes(audited.size)));
  add_line(text, "needs", render_floor(floor));
  add_line(text, "platform", doctor::oldest_platform(floor, doctor::main_architecture(audited)));
  add_line(text, "always", fmt::format("{}", fmt::join(instructions(audited, false), " ")));
  add_line(text, "dispatched", fmt::format("{}", fmt::join(instructions(audited, true), " ")));
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors())
    add_line(text, vendor.title,
             fmt::format("{}", fmt::join(gpu_code(audited, vendor.vendor), " ")));
  if (audited.declaration) add_line(text, "to build", doctor::release_needs(audited).render());
  return text;
}

std::string_view render_reach(doctor::AbiReach reach) {
  switch (reach) {
    case doctor::AbiReach::none:
      return "any";
    case doctor::AbiReach::stable:
      return "stable";
    case doctor::AbiReach::each:
      return "each";
  }
  return "";
}

ordered_json release_json(const doctor::ReleaseNeeds& needs) {
  return {{"python", render_reach(needs.python)},
          {"oldest_python", needs.oldest_python},
          {"pythons", needs.pythons},
          {"torch", render_reach(needs.torch)},
          {"cuda", needs.cuda},
          {"rocm", needs.rocm},
          {"line", needs.render()}};
}

ordered_json floor_json(const Audited& audited) {
  const doctor::SystemFloor floor = doctor::system_floor(audited);
  ordered_json versions = ordered_json::object();
  for (const auto& [family, newest] : floor.newest)
    versions[family] = {{"version", newest.version.substr(family.size() + 1)},
                        {"file", newest.file}};
  return {{"platform", doctor::oldest_platform(floor, doctor::main_architecture(audited))},
          {"versions", std::move(versions)}};
}

ordered_json library_json(const doctor::AuditedLibrary& library) {
  ordered_json found = ordered_json::object();
  if (library.code) {
    for (const auto& [capability, count] : library.code->counts)
      found[std::string(detect::plain_name(detect::row(capability)))] = count;
  }
  return {{"path", library.path},
          {"architecture", library.facts.architecture},
          {"needs", library.facts.needed},
          {"run_path", library.facts.runpath.empty() ? library.facts.rpath : library.facts.runpath},
          {"instructions", std::move(found)},
          {"checks_cpu", library.is_dispatched()}};
}

ordered_json audited_json(const Audited& audited) {
  ordered_json out = {
      {"kind", render_kind(audited.kind)}, {"place", audited.place}, {"title", audited.title}};
  if (audited.declaration) {
    out["name"] = audited.declaration->name;
    out["version"] = audited.declaration->version;
    out["variant"] = audited.declaration->label.empty() ? ordered_json(nullptr)
                                                        : ordered_json(audited.declaration->label);
  }
  out["files"] = audited.files.size();
  out["size"] = audited.size;
  out["floor"] = floor_json(audited);
  ordered_json code = ordered_json::object();
  for (const detect::GpuVendorRow& vendor : detect::gpu_vendors()) {
    if (const auto names = gpu_code(audited, vendor.vendor); !names.empty())
      code[std::string(vendor.word)] = names;
  }
  out["gpu_code"] = std::move(code);
  if (audited.declaration) out["release"] = release_json(doctor::release_needs(audited));
  out["libraries"] = ordered_json::array();
  for (const doctor::AuditedLibrary& library : audited.libraries)
    out["libraries"].push_back(library_json(library));
  return out;
}

}  // namespace

std::string render_audit(const doctor::Audit& audit, const Output& output) {
  std::string text;
  std::size_t pure = 0;
  for (const Audited& one : audit.audited) {
    if (one.libraries.empty() && audit.audited.size() > 1) {
      ++pure;
    } else {
      text += render_audited(one, output) + "\n";
    }
  }
  if (pure > 0) text += fmt::format("{} more without libraries\n\n", pure);
  return text + render_findings(audit.findings, output);
}

ordered_json audit_json(const doctor::Audit& audit) {
  ordered_json all = ordered_json::array();
  for (const Audited& one : audit.audited) all.push_back(audited_json(one));
  return {{"audited", std::move(all)},
          {"machines", audit.machines},
          {"findings", findings_json(audit.findings)},
          {"not_looked_at", audit.findings.unseen()}};
}

}  // namespace axle::cli

#include "doctor/audit/audit.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "doctor/audit/audit_checks.h"
#include "doctor/audit/audit_codes.h"
#include "doctor/audit/folder_reading.h"
#include "doctor/audit/image/image_files.h"
#include "doctor/audit/image/image_reading.h"
#include "doctor/audit/wheel_reading.h"
#include "session/inventory.h"
#include "session/plugins/provider_settings.h"
#include "session/plugins/trusted_plugins.h"

namespace axle::doctor {
namespace {

namespace fs = std::filesystem;

/// What an environment is called as a target.
constexpr std::string_view installed_word = "installed";

/// A success that stands for nothing would be taken for one.
std::unexpected<session::CommandFailure> nothing_to_audit(std::string_view where,
                                                          std::string_view what) {
  return session::failed({ErrorKind::not_found,
                          fmt::format("{}: nothing to audit: there is no {}", where, what),
                          "a wheel, a folder, an image, or the word `installed`"});
}

/// A tree without a library, and without any that could not be read.
bool holds_nothing(const Audited& one) {
  return one.kind == AuditedKind::tree && one.libraries.empty() && one.unread.empty();
}

session::Outcome<void> read_installed(session::Session& session, Audit& audit) {
  auto inventory = session::take_inventory(session, session::MetadataDepth::essential);
  if (!inventory) return std::unexpected(inventory.error());
  for (Audited& one :
       read_audited_packages(inventory->distributions, audit.findings, session.report()))
    audit.audited.push_back(std::move(one));
  if (inventory->distributions.empty()) return nothing_to_audit("the environment", "package in it");
  return {};
}

session::Outcome<void> read_target(session::Session& session, const std::string& target,
                                   Audit& audit) {
  if (target == installed_word) return read_installed(session, audit);
  std::error_code error;
  const auto status = fs::status(target, error);
  if (status.type() == fs::file_type::not_found)
    return session::misused(fmt::format("{}: no such file or folder", target),
                            "a wheel, a folder, an image, or the word `installed`");
  const bool folder = status.type() == fs::file_type::directory;
  if (status.type() == fs::file_type::regular && is_library_file(target))
    return session::misused(fmt::format("{}: it is a library, which declares nothing", target),
                            "name its wheel, or the folder that it is in");
  if (folder || !target.ends_with(".whl")) {
    const bool image = !folder || is_image_folder(target);
    auto all = image ? read_audited_images(target, session.report())
                     : read_audited_folder(target, session.report());
    if (!all) return session::failed(all.error());
    if (std::ranges::all_of(*all, holds_nothing))
      return nothing_to_audit(target, "wheel, package or library in it");
    for (Audited& one : *all) audit.audited.push_back(std::move(one));
    return {};
  }
  auto one = read_audited_wheel(target, session.report());
  if (!one) return session::failed(one.error());
  audit.audited.push_back(std::move(*one));
  return {};
}

void check(const std::vector<Audited>& all, Findings& findings) {
  const Surroundings surroundings(all);
  for (const Audited& one : all) {
    check_validity(one, findings);
    if (one.kind == AuditedKind::image) {
      check_image(one, findings);
      continue;
    }
    check_platform(one, findings);
    check_links(one, surroundings, findings);
    check_loading(one, findings);
    check_abi(one, findings);
    check_declared_code(one, findings);
  }
}

/// Only the machines of --for: what is audited need not be for this one.
session::Outcome<void> check_fleet(session::Session& session, Audit& audit) {
  if (!session.elsewhere()) return {};
  auto machines = session.machines();
  if (!machines) return std::unexpected(machines.error());
  const auto gpus = session.gpu_policy();
  if (!gpus) return std::unexpected(gpus.error());
  for (const machines::NamedMachine& machine : *machines) {
    audit.machines.push_back(machine.name);
    const JudgedMachine judged{machine.machine, *gpus, {}};
    for (const Audited& one : audit.audited)
      check_on_machine(one, machine.name, judged, audit.findings);
  }
  return {};
}

}  // namespace

session::Outcome<Audit> audit(session::Session& session, const std::vector<std::string>& targets) {
  Audit audit{{}, {}, Findings(audit_codes())};
  for (const std::string& target : targets) {
    if (auto done = read_target(session, target, audit); !done)
      return std::unexpected(done.error());
  }
  check(audit.audited, audit.findings);
  if (auto done = check_fleet(session, audit); !done) return std::unexpected(done.error());
  audit.findings.sort();
  return audit;
}

}  // namespace axle::doctor

#include <algorithm>
#include <ctime>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <sys/types.h>

#include "cli/command.h"
#include "cli/views/machine_view.h"
#include "cli/views/properties_view.h"
#include "cli/views/why_view.h"
#include "foundation/system/descriptor.h"
#include "foundation/system/whole_file.h"
#include "machines/profile.h"
#include "session/session.h"
#include "session/version.h"

namespace axle::cli {

namespace {

namespace fs = std::filesystem;
using nlohmann::ordered_json;

/// Profiles are for others too, whatever the umask is.
constexpr mode_t readable = 0644;

std::string today() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  return fmt::format("{:04}-{:02}-{:02}", parts.tm_year + 1900, parts.tm_mon + 1, parts.tm_mday);
}

/// The machine as the user named it, without the folders of its file, which may name people.
std::string source_of(std::string name) {
  constexpr std::size_t longest = 200;
  name.erase(0, name.rfind('/', name.find(';')) + 1);
  if (name.size() > longest) name.resize(longest);
  std::ranges::replace_if(name, [](char c) { return c < ' ' || c > '~'; }, '?');
  return name;
}

/// What was recorded is written as it was; facts that were stated are from here.
machines::Profile make_profile(const machines::NamedMachine& named, bool elsewhere) {
  const std::string program = fmt::format("variant {}", session::version);
  machines::Profile profile{named.machine, named.origin, named.recording};
  if (!elsewhere) {
    profile.origin = {"captured", program, today()};
  } else if (profile.origin.kind.empty() || profile.origin.source.empty()) {
    profile.origin = {"synthesised", fmt::format("{}, --for {}", program, source_of(named.name)),
                      today()};
  }
  return profile;
}

session::Outcome<void> write_profile(const std::string& path, const machines::Profile& profile) {
  // A regular file is replaced whole; a device or a pipe is written to, as it is.
  std::error_code error;
  const fs::path resolved = fs::weakly_canonical(path, error);
  const std::string target = error ? path : resolved.string();
  const std::string text = machines::render_profile(profile);
  if (!fs::exists(target, error) || fs::is_regular_file(target, error)) {
    error = system::write_whole_file(target, text, {.flush = system::Flush::no, .mode = readable});
  } else {
    const system::Descriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
    error = file ? system::write_all(file.get(), text) : system::last_error();
  }
  if (!error) return {};
  return session::failed(
      {ErrorKind::io,
       fmt::format("{}: the profile could not be written: {}", path, error.message()),
       "name a file in a folder that is there and that you may write to"});
}

/// Said where another policy could give other properties.
void add_gpu_policy(ordered_json& body, const detect::Machine& machine,
                    const providers::GpuPolicy& gpus) {
  if (providers::policy_matters(machine, gpus))
    body["gpu_policy"] = providers::render_gpu_policy(gpus);
}

}  // namespace

int run_detect(session::Session& session, Output& output) {
  auto named = session.machine();
  if (!named) return output.failure(named.error());
  const detect::Machine& machine = named->machine;
  const auto gpus = session.gpu_policy();
  if (!gpus) return output.failure(gpus.error());
  if (session.arguments().has(session::Opt::profile)) {
    const std::string path = session.arguments().value(session::Opt::profile);
    if (path.empty()) return output.failure(session::misused("--profile names no file").error());
    const auto written = write_profile(path, make_profile(*named, session.elsewhere()));
    if (!written) return output.failure(written.error());
  }
  const auto facts = [&] { return ordered_json::parse(machines::render_facts(machine)); };
  if (session.arguments().has(session::Opt::why)) {
    const std::string ns = session.arguments().value(session::Opt::why);
    const auto why = explain_namespace(ns, *named, *gpus);
    if (!why) return output.failure(why.error());
    return output.answer({.text = [&] { return render_why(*why, output); },
                          .json =
                              [&] {
                                ordered_json body = facts();
                                add_why(body, *why);
                                return body;
                              }});
  }
  if (!session.arguments().has(session::Opt::properties))
    return output.answer({.text = [&] { return render_machine(machine, output); }, .json = facts});
  const auto lists = session::property_lists_of(session, machine, *gpus, {});
  if (!lists) return output.failure(lists.error());
  return output.answer(
      {.text = [&] { return render_machine(machine, output) + "\n" + render_properties(*lists); },
       .json =
           [&] {
             ordered_json body = facts();
             add_gpu_policy(body, machine, *gpus);
             body["properties"] = properties_json(*lists);
             return body;
           }});
}

int run_properties(session::Session& session, Output& output) {
  auto named = session.machine();
  if (!named) return output.failure(named.error());
  const auto gpus = session.gpu_policy();
  if (!gpus) return output.failure(gpus.error());
  const auto lists = session::property_lists_of(session, named->machine, *gpus,
                                                session.arguments().values(session::Opt::ns));
  if (!lists) return output.failure(lists.error());
  const bool as_static = session.arguments().has(session::Opt::static_lists);
  return output.answer(
      {.text = [&] { return as_static ? render_static_lists(*lists) : render_properties(*lists); },
       .json =
           [&] {
             ordered_json body = ordered_json::object();
             add_gpu_policy(body, named->machine, *gpus);
             if (as_static) {
               body["static"] = static_lists_json(*lists);
             } else {
               body["properties"] = properties_json(*lists);
             }
             return body;
           }});
}

}  // namespace axle::cli

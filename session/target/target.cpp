#include "session/target/target.h"

#include <utility>

#include "detect/os/macos.h"
#include "wheel/system_platform.h"

namespace axle::session {

namespace {

/// One that detection has no facts of is known by its name alone.
std::string architecture_of(const detect::Cpu& cpu) {
  const bool named = cpu.arch == detect::Arch::other && !cpu.machine.empty();
  return named ? cpu.machine : std::string(detect::render_arch(cpu.arch));
}

/// What runs on a machine of another system than Linux.
std::vector<std::string> platforms_of(const detect::Machine& machine) {
  const std::string architecture = architecture_of(machine.cpu);
  std::vector<std::string> platforms;
  if (machine.os.system == wheel::windows_system) {
    platforms = {wheel::windows_platform(architecture)};
  } else if (const auto version = detect::macos_version(machine.os)) {
    platforms =
        wheel::mac_platforms(*version, wheel::machine_name(wheel::mac_system, architecture));
  }
  std::erase(platforms, "");
  // Of one of which nothing is known, what needs no platform.
  if (platforms.empty()) platforms = {"any"};
  return platforms;
}

}  // namespace

Outcome<StatedTarget> read_stated_target(const Arguments& arguments) {
  auto interpreter = read_stated_interpreter(arguments);
  if (!interpreter) return std::unexpected(interpreter.error());
  auto platform = read_stated_platform(arguments);
  if (!platform) return std::unexpected(platform.error());
  return StatedTarget{*std::move(interpreter), *std::move(platform)};
}

std::string stated_by(const Arguments& arguments) {
  for (const Opt id :
       {Opt::python_version, Opt::implementation, Opt::abi, Opt::platform, Opt::python_platform}) {
    if (arguments.has(id)) return option_name(id) + " " + arguments.value(id);
  }
  return {};
}

void put_elsewhere(wheel::MarkerEnvironment& markers, const detect::Machine& machine) {
  wheel::put_system_markers(markers, machine.os.system, architecture_of(machine.cpu));
  markers.strings["platform_release"] = machine.os.kernel;
  markers.strings["platform_version"] = "";
}

wheel::TagTarget tags_elsewhere(wheel::TagTarget tags, const detect::Machine& machine) {
  tags.architecture = architecture_of(machine.cpu);
  if (!machine.libc.family.empty()) {
    tags.libc_family = machine.libc.family;
    tags.libc_major = machine.libc.major;
    tags.libc_minor = machine.libc.minor;
  }
  const std::string& system = machine.os.system;
  if (system == wheel::windows_system || system == wheel::mac_system) {
    tags.libc_family.clear();
    tags.platforms = platforms_of(machine);
  }
  return tags;
}

resolver::Target make_target(const installer::Environment& environment, const StatedTarget& stated,
                             const detect::Machine& machine, bool elsewhere) {
  wheel::TagTarget tags = environment.tag_target;
  wheel::MarkerEnvironment markers = environment.markers;
  wheel::Version python_version = environment.python_version;
  stated.interpreter.apply(tags, markers, python_version);
  if (elsewhere) {
    put_elsewhere(markers, machine);
    tags = tags_elsewhere(std::move(tags), machine);
  }
  if (stated.platform && !stated.platform->tags.empty()) tags.platforms = stated.platform->tags;
  resolver::Target target{&machine, wheel::supported_tags(tags), std::move(markers),
                          std::move(python_version)};
  if (stated.interpreter.is_stated()) target.interpreter_source = "stated";
  if (elsewhere) {
    const auto source = machine.os.sources.find("system");
    target.platform_source = source == machine.os.sources.end() ? "stated" : source->second;
  }
  if (stated.platform) target.platform_source = "stated";
  return target;
}

}  // namespace axle::session

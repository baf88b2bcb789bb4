#include "session/target/target.h"

#include <utility>

#include "foundation/text/ascii.h"

namespace axle::session {

namespace {

/// One that detection has no facts of is known by its name alone.
std::string architecture_of(const detect::Cpu& cpu) {
  const bool named = cpu.arch == detect::Arch::other && !cpu.machine.empty();
  return named ? cpu.machine : std::string(detect::render_arch(cpu.arch));
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
  const bool mac = machine.os.system == "Darwin";
  const bool arm_mac = mac && machine.cpu.arch == detect::Arch::aarch64;
  markers.strings["platform_machine"] = arm_mac ? "arm64" : architecture_of(machine.cpu);
  markers.strings["platform_system"] = mac ? "Darwin" : "Linux";
  markers.strings["sys_platform"] = text::ascii_lower(markers.strings["platform_system"]);
  markers.strings["os_name"] = "posix";
  markers.strings["platform_release"] = machine.os.kernel;
  markers.strings["platform_version"] = "";
}

resolver::Target make_target(const installer::Environment& environment, const StatedTarget& stated,
                             const detect::Machine& machine, bool elsewhere) {
  wheel::TagTarget tags = environment.tag_target;
  wheel::MarkerEnvironment markers = environment.markers;
  wheel::Version python_version = environment.python_version;
  stated.interpreter.apply(tags, markers, python_version);
  if (elsewhere) {
    tags.architecture = architecture_of(machine.cpu);
    if (!machine.libc.family.empty()) {
      tags.libc_family = machine.libc.family;
      tags.libc_major = machine.libc.major;
      tags.libc_minor = machine.libc.minor;
    }
    put_elsewhere(markers, machine);
  }
  if (stated.platform) tags.platforms = stated.platform->tags;
  wheel::SupportedTags supported = wheel::supported_tags(tags);
  if (elsewhere && markers.strings["sys_platform"] != "linux") {
    // A recorded Mac: only its wheels without a platform are known here.
    std::vector<wheel::Tag> portable = supported.best_first();
    std::erase_if(portable, [](const wheel::Tag& tag) { return tag.platform != "any"; });
    supported = wheel::SupportedTags(std::move(portable));
  }
  resolver::Target target{&machine, std::move(supported), std::move(markers),
                          std::move(python_version)};
  if (stated.interpreter.is_stated()) target.interpreter_source = "stated";
  if (stated.platform) target.platform_source = "stated";
  return target;
}

}  // namespace axle::session

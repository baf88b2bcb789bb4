#include "builder/packing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "builder/code_check.h"
#include "builder/platform_tag.h"
#include "wheel/linux_platform.h"
#include "wheel/wheel_file.h"

namespace axle::builder {

namespace {

using wheel::WheelMember;

std::string render_wheel_file(std::string_view generator, bool purelib,
                              const wheel::WheelName& name) {
  std::string text =
      fmt::format("Wheel-Version: 1.0\nGenerator: {}\nRoot-Is-Purelib: {}\n", generator, purelib);
  for (const wheel::Tag& tag : name.tags) text += fmt::format("Tag: {}\n", wheel::render_tag(tag));
  if (name.build) text += fmt::format("Build: {}{}\n", name.build->first, name.build->second);
  return text;
}

Result<void> add_variant_metadata(const PackJob& job, const std::string& dist_info,
                                  std::vector<WheelMember>& members) {
  if (job.row.label.empty()) return {};
  const auto own = wheel::only_variant(*job.project.variants, job.row.label);
  if (!own) return std::unexpected(own.error());
  auto text = wheel::render_variant_metadata(*own);
  if (!text) return std::unexpected(text.error());
  members.push_back({dist_info + "/variant.json", std::move(*text), false});
  return {};
}

// The result is read back as strictly as any other wheel.
Result<void> check_wheel(std::string_view bytes, const std::string& file_name, Report& report) {
  const auto opened = wheel::open_wheel(wheel::memory_source(bytes), file_name, file_name, report);
  if (!opened) return std::unexpected(opened.error());
  const auto record = wheel::read_checked_record(*opened);
  if (!record) return std::unexpected(record.error());
  return {};
}

Error nothing_in_it(const PackJob& job) {
  return {ErrorKind::not_found, fmt::format("{}: {} has no file", job.project.place, job.title),
          "list under [tool.axle] what goes into the wheels: packages = [\"src/name\"] for Python "
          "code, cmake.source = \".\" for a CMake project; or name the project's back end in "
          "[build-system]"};
}

Result<void> check_contents(const PackJob& job, const std::vector<WheelMember>& members,
                            Report& report) {
  const CodeDeclaration declared{job.title, job.project.properties_of(job.row),
                                 job.project.allowed_instructions};
  return check_code(members, declared, job.work_folder, report);
}

Result<TagChoice> tags_of(const PackJob& job, const std::vector<WheelMember>& members,
                          const std::string& requires_python, bool platform_only) {
  const auto tags = choose_tags(members, {job.project.python_tag, job.project.allowed_libraries,
                                          requires_python, platform_only});
  if (!tags) return std::unexpected(within(job.title, tags.error()));
  const bool other = !job.architecture.empty() && tags->platform != "any" &&
                     !tags->platform.ends_with("_" + job.architecture);
  if (!other) return *tags;
  return fail(ErrorKind::mismatch,
              fmt::format("{} is not written: its libraries are for {}, not for {}", job.title,
                          tags->platform, job.architecture),
              "the build did not use the compiler that it was given");
}

/// The N of "manylinux_2_N_x86_64", or of the first of several names; nullopt: it is no such tag.
std::optional<unsigned> glibc_minor_of(std::string_view platform) {
  const auto parsed = wheel::parse_linux_platform(platform.substr(0, platform.find('.')));
  if (!parsed || parsed->libc != "glibc" || parsed->version.first != 2) return std::nullopt;
  return parsed->version.second;
}

/// A plain wheel is for installers that know of no variants; some of these know old names alone.
std::string platform_name(const PackJob& job, const TagChoice& computed) {
  return job.row.label.empty() ? wheel::with_old_name(computed.platform) : computed.platform;
}

/// The platform part of the tags: what was computed, unless the wheel promises a newer one.
Result<std::string> platform_of(const PackJob& job, const WheelContents& contents,
                                const TagChoice& computed) {
  const std::string& tags = contents.name.tags_text;
  const std::string stated = tags.substr(tags.rfind('-') + 1);
  const auto stated_minor = glibc_minor_of(stated);
  const auto needed = glibc_minor_of(computed.platform);
  if (!stated_minor || !needed)
    return stated.starts_with("musllinux") ? stated : platform_name(job, computed);
  if (*stated_minor >= *needed) return stated;
  return fail(ErrorKind::mismatch,
              fmt::format("{} is not written: its wheel says {}, but its libraries need {}",
                          job.title, stated, computed.platform),
              "build it with an older toolchain, or let it say linux_*: the tag is computed");
}

Result<PackedWheel> write(const PackJob& job, const wheel::WheelName& name,
                          const std::string& dist_info, std::vector<WheelMember> members,
                          Report& report) {
  if (auto added = add_variant_metadata(job, dist_info, members); !added)
    return std::unexpected(added.error());
  auto bytes = wheel::write_wheel(std::move(members), dist_info, job.source_date_epoch);
  if (!bytes) return std::unexpected(bytes.error());
  PackedWheel packed{wheel::render_wheel_name(name), std::move(*bytes)};
  if (auto checked = check_wheel(packed.bytes, packed.file_name, report); !checked)
    return std::unexpected(checked.error());
  return packed;
}

}  // namespace

Result<PackedWheel> pack_files(const PackJob& job, std::vector<WheelMember> members,
                               Report& report) {
  if (members.empty()) return std::unexpected(nothing_in_it(job));
  if (auto checked = check_contents(job, members, report); !checked)
    return std::unexpected(checked.error());
  const auto tags = tags_of(job, members, job.project.metadata.requires_python, false);
  if (!tags) return std::unexpected(tags.error());
  wheel::WheelName name;
  name.distribution = wheel::wheel_distribution(job.project.metadata.name);
  name.version = job.project.metadata.version;
  name.tags_text = fmt::format("{}-{}-{}", tags->python, tags->abi, platform_name(job, *tags));
  name.label = job.row.label;
  auto expanded = wheel::parse_tags(name.tags_text);
  if (!expanded) return std::unexpected(expanded.error());
  name.tags = std::move(*expanded);
  const std::string dist_info =
      fmt::format("{}-{}.dist-info", name.distribution, wheel::render_version(name.version));
  auto info = render_dist_info(job.project.metadata, job.project_folder, dist_info);
  if (!info) return std::unexpected(info.error());
  std::ranges::move(*info, std::back_inserter(members));
  members.push_back(
      {dist_info + "/WHEEL", render_wheel_file("axle " AXLE_VERSION, tags->pure, name), false});
  return write(job, name, dist_info, std::move(members), report);
}

Result<PackedWheel> pack_wheel(const PackJob& job, WheelContents contents, Report& report) {
  if (!contents.label.empty() && contents.label != job.row.label) {
    return fail(ErrorKind::mismatch,
                fmt::format("{} is not written: its wheel is variant {} already", job.title,
                            contents.label),
                "use the wheel without a label");
  }
  if (auto checked = check_contents(job, contents.members, report); !checked)
    return std::unexpected(checked.error());
  const auto tags = tags_of(job, contents.members, contents.requires_python, true);
  if (!tags) return std::unexpected(tags.error());
  const auto platform = platform_of(job, contents, *tags);
  if (!platform) return std::unexpected(platform.error());
  wheel::WheelName name = contents.name;
  name.tags_text = name.tags_text.substr(0, name.tags_text.rfind('-') + 1) + *platform;
  name.label = job.row.label;
  auto expanded = wheel::parse_tags(name.tags_text);
  if (!expanded) return std::unexpected(expanded.error());
  name.tags = std::move(*expanded);
  const std::string generator = contents.generator.empty()
                                    ? "axle " AXLE_VERSION
                                    : fmt::format("{}, axle {}", contents.generator, AXLE_VERSION);
  contents.members.push_back({contents.dist_info + "/WHEEL",
                              render_wheel_file(generator, contents.purelib && tags->pure, name),
                              false});
  return write(job, name, contents.dist_info, std::move(contents.members), report);
}

}  // namespace axle::builder

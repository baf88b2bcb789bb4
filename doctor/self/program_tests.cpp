// What the program does by itself: unpacks wheels, starts children, resolves.
#include <array>
#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "detect/drivers/children.h"
#include "detect/gpu_vendors.h"
#include "doctor/self/sample_wheels.h"
#include "doctor/self/self_test.h"
#include "foundation/report/report.h"
#include "foundation/system/program_run.h"
#include "installer/environment/environment.h"
#include "installer/store/unpack.h"
#include "installer/work_folder.h"
#include "wheel/wheel_file.h"

namespace axle::doctor {
namespace {

constexpr const char* try_elsewhere = "set TMPDIR to a folder of your own that can be written";

Result<installer::WorkFolder> work_folder(const SelfTestSettings& settings) {
  std::error_code error;
  if (!std::filesystem::is_directory(settings.temporary, error)) {
    return fail(
        ErrorKind::io,
        fmt::format("{}, the place of temporary files, is not a folder", settings.temporary),
        try_elsewhere);
  }
  auto made = installer::WorkFolder::create(settings.temporary, "axle-self-test-");
  if (!made && made.error().hint.empty()) made.error().hint = try_elsewhere;
  return made;
}

Result<std::size_t> unpack_sample(const SampleWheel& sample, const std::string& folder) {
  CollectedReport report;
  const std::string path = folder + "/" + sample.file_name;
  if (auto written = write_sample(path, sample.bytes); !written)
    return std::unexpected(written.error());
  auto source = wheel::open_file_source(path);
  if (!source) return std::unexpected(source.error());
  const auto opened = wheel::open_wheel(std::move(*source), sample.file_name, path, report);
  if (!opened) return std::unexpected(opened.error());
  auto manifest = installer::plan_unpacking(*opened, sample.file_name);
  if (!manifest) return std::unexpected(manifest.error());
  const std::string tree = path + ".unpacked";
  std::error_code error;
  std::filesystem::create_directory(tree, error);
  if (error) return fail(ErrorKind::io, fmt::format("cannot create {}: {}", tree, error.message()));
  if (auto done = installer::unpack_wheel(*opened, tree, *manifest, report); !done)
    return std::unexpected(done.error());
  return manifest->files.size();
}

/// In the child: it only has to answer.
void answer_child(detect::GpuVendor, detect::LineSink& sink) { sink.say("self-test", 1); }

std::string failure_of(const system::ProgramOutput& ended) {
  if (ended.timed_out) return "it was stopped after a minute";
  // One JSON object, in which the message is a line.
  const std::size_t at = ended.out.find("\"message\": ");
  const std::string said = at == std::string::npos ? ended.err : ended.out.substr(at);
  return fmt::format("it ended with {}: {}", ended.exit_code, said.substr(0, said.find('\n')));
}

/// The program's own answer to `resolve demo`, as JSON.
Result<SelfTestAnswer> resolve_in(const std::string& folder) {
  system::ProgramSettings how;
  how.time_limit = std::chrono::minutes(1);
  how.kills_leftovers = true;
  // A machine and an interpreter of which everything is known.
  const system::Program program{
      {"/proc/self/exe", "resolve", "demo", "--no-index", "--find-links", folder, "--for",
       "alder-lake", "--python-version", "3.12", "--platform", "manylinux_2_17_x86_64",
       "--no-config", "--no-cache", "--json"},
      folder,
      {{"HOME", folder}},
      {"AXLE_", "PIP_", "UV_", "XDG_", "VIRTUAL_ENV", "CONDA_"}};
  const auto ended = system::run_program(program, how);
  if (!ended) {
    return fail(ErrorKind::io,
                fmt::format("the program cannot start itself: {}", ended.error().message()),
                "/proc must be mounted, and its file system allow programs");
  }
  if (ended->exit_code != 0) {
    return fail(ErrorKind::mismatch,
                fmt::format("what is known to be resolvable is not: {}", failure_of(*ended)));
  }
  return SelfTestAnswer{ended->out};
}

}  // namespace

Result<SelfTestAnswer> test_wheels(const SelfTestSettings& settings) {
  const auto work = work_folder(settings);
  if (!work) return std::unexpected(work.error());
  const auto samples = make_sample_wheels();
  if (!samples) return std::unexpected(samples.error());
  std::size_t files = 0;
  for (const SampleWheel& sample : *samples) {
    const auto unpacked = unpack_sample(sample, work->path());
    if (!unpacked) return std::unexpected(unpacked.error());
    files += *unpacked;
  }
  return SelfTestAnswer{fmt::format("{} wheels written and unpacked: {} files are what RECORD says",
                                    samples->size(), files)};
}

Result<SelfTestAnswer> test_detection(const SelfTestSettings&) {
  const std::array vendors = {detect::gpu_vendors().front().vendor};
  const auto answers = detect::ask_in_children(vendors, answer_child, std::chrono::seconds(20));
  using End = detect::DriverAnswer::End;
  if (answers.size() == 1 && answers.front().end == End::finished &&
      answers.front().lines.starts_with("self-test"))
    return SelfTestAnswer{"a child process that would load a vendor's library starts, and answers"};
  const char* why = answers.empty() || answers.front().end == End::not_started ? "cannot be started"
                    : answers.front().end == End::timed_out ? "does not answer within 20 s"
                    : answers.front().end == End::crashed   ? "ends without an answer"
                                                            : "gives another answer";
  return fail(ErrorKind::io,
              fmt::format("the child process that would load a vendor's library {}", why),
              "look at the limits of processes and memory (ulimit -a)");
}

Result<SelfTestAnswer> test_resolver(const SelfTestSettings& settings) {
  const auto work = work_folder(settings);
  if (!work) return std::unexpected(work.error());
  const auto samples = make_sample_wheels();
  if (!samples) return std::unexpected(samples.error());
  for (const SampleWheel& sample : *samples) {
    auto written = write_sample(work->path() + "/" + sample.file_name, sample.bytes);
    if (!written) return std::unexpected(written.error());
  }
  if (!installer::find_program("python3", settings.path)) {
    return SelfTestAnswer{"there is no Python here, for which anything could be chosen", true,
                          "install Python 3.8 or later"};
  }
  const auto said = resolve_in(work->path());
  if (!said) return said;
  for (const char* known : {"base-2.0-py3-none-any.whl", "demo-1.0-py3-none-any-v3.whl"}) {
    if (said->text.find(fmt::format("\"wheel\": \"{}\"", known)) == std::string::npos) {
      return fail(
          ErrorKind::mismatch,
          fmt::format("for the machine alder-lake {} is not chosen, as it should be", known));
    }
  }
  return SelfTestAnswer{
      "for the machine alder-lake the builds are chosen that are known to be right"};
}

}  // namespace axle::doctor

#include "doctor/finding.h"

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>

#include <fmt/core.h>

namespace axle::doctor {

namespace {

constexpr FindingLevel error = FindingLevel::error;
constexpr FindingLevel warning = FindingLevel::warning;
constexpr FindingLevel info = FindingLevel::info;

constexpr std::array rows = {
    // The machine.
    FindingCode{"container-without-gpu", error,
                "A GPU and its kernel driver are there, but the container was started without them",
                "start the container with the GPU (`--gpus all` and its like)"},
    FindingCode{"gpu-permission", error, "The device files of a GPU cannot be opened by this user",
                "join the group that owns them, or pass them to the container"},
    FindingCode{
        "gpu-problem", error,
        "A driver does not work; the evidence has the reason's word (docs of `detect`); a warning "
        "where nobody could ask it",
        "as the finding says: load, reinstall or update the driver, reset the GPU, reboot"},
    FindingCode{"driver-versions-differ", error,
                "The loaded kernel module and the driver's libraries are of two versions",
                "reboot"},
    FindingCode{
        "gpu-unusable", warning,
        "A GPU cannot be used, and no driver is to blame; info for a processor's own graphics",
        "as the finding says; nothing, where the GPU is too old to compute"},
    FindingCode{"gpu-masked", info,
                "An environment variable hides a GPU from programs; a warning when it hides all",
                "unset the variable"},
    FindingCode{"cpu-withheld", warning,
                "The CPU has instructions that the kernel, a hypervisor or a container withholds",
                "a newer kernel, or a virtual machine whose CPU model shows them"},
    FindingCode{"driver-old", warning,
                "The NVIDIA driver is older than the newest builds of torch need",
                "update the driver"},
    FindingCode{"libc-old", warning, "The C library is older than most wheels need (glibc 2.28)",
                "use a newer distribution, or a container of one"},
    FindingCode{"gpu-override", info, "HSA_OVERRIDE_GFX_VERSION makes a GPU pass for another one",
                "unset it, unless you meant it"},
    FindingCode{"compat-library", info, "A forward-compatibility libcuda takes the driver's place",
                "nothing, on data-centre GPUs; else take it out of LD_LIBRARY_PATH"},
    FindingCode{"driver-without-gpu", info, "A GPU driver is installed and there is no GPU for it",
                "nothing, unless there should be one: look at the bus (lspci)"},
    FindingCode{"wsl", info, "Windows Subsystem for Linux: the GPU driver is that of Windows",
                "update the driver in Windows, install none inside"},
    // The environment.
    FindingCode{"environment-broken", error,
                "The environment that is named or active is none, or its interpreter does not work",
                "make it anew, or name another with --python"},
    FindingCode{"dist-info-broken", error,
                "What records an installed package cannot be read, or a package is recorded twice",
                "install the package again"},
    FindingCode{"files-missing", error,
                "Files that a package's RECORD lists are gone, cut off, or no files",
                "install the package again"},
    FindingCode{"metadata-markers", error,
                "METADATA has markers about the variant, which pip and uv cannot read, or is not "
                "what the wheel's own METADATA says of the installed variant",
                "install the package again"},
    FindingCode{"files-changed", warning,
                "Files have other content than RECORD says: edited here, or in an environment or "
                "store that shares them; with `--deep` every file is compared by its hash",
                "install the package again"},
    FindingCode{"files-outside", warning,
                "A package's RECORD lists files outside of the environment",
                "install the package again"},
    FindingCode{
        "path-owned-twice", error,
        "Two packages installed one path with different content, so one of them is damaged; a "
        "warning where only Python source is concerned",
        "remove one of them, install the other again"},
    FindingCode{"import-hidden", warning,
                "Two packages bring one import name in different files: Python imports one of them",
                "remove one of them"},
    FindingCode{"requirement-broken", error,
                "A package needs another one that is missing or of another version",
                "install what it needs"},
    FindingCode{"variant-misfit", error,
                "The installed variant needs a property that this machine does not have; a warning "
                "where a build for GPUs runs on the CPU alone",
                "install again: the variant that fits is chosen"},
    FindingCode{"variant-not-best", info,
                "The installed variant runs, but for this machine there is a better one; a warning "
                "where the installed one leaves a GPU unused",
                "install again"},
    FindingCode{
        "variant-unknown", info, "What the installed variant needs is not known",
        "switch its namespace on (`variant providers enable`) where it is off; else nothing"},
    FindingCode{
        "family-labels-differ", error,
        "torch and its kin are of different backends; a warning where only the minor version "
        "of CUDA or ROCm differs",
        "install them together"},
    FindingCode{"family-versions-differ", error,
                "A member of a family was made for another release of the first one",
                "install them together"},
    FindingCode{"library-damaged", error,
                "A compiled module of Python is not an ELF file, or a broken one",
                "install the package again"},
    FindingCode{"wrong-architecture", error, "A library is for another CPU architecture",
                "install the package again, for this machine"},
    FindingCode{"cpu-level-missing", error,
                "A library tells the loader that it needs an x86-64 level which this CPU lacks",
                "install a build for an older CPU"},
    FindingCode{"cuda-driver-floor", error,
                "The CUDA run time of the wheels needs a newer NVIDIA driver",
                "update the driver, or install builds for an older CUDA"},
    FindingCode{"gpu-code-missing", error, "No library of a package has code that the GPU runs",
                "install a build that has"},
    FindingCode{"gpu-code-packed", error,
                "Code for the GPU is packed with zstd (`nvcc --compress-mode=size`), and the "
                "driver, older than CUDA 12.4, does not unpack it",
                "update the driver"},
    FindingCode{"ptx-needs-driver", error,
                "A package has PTX only for this GPU, of a newer CUDA than the driver compiles",
                "update the driver"},
    FindingCode{
        "gpu-code-partial", info,
        "Some libraries of a package have no code that the GPU runs, while others do; a warning "
        "where one of several unlike GPUs is left out of all of them",
        "nothing, while you do not use them; else another build"},
    FindingCode{"gpu-code-unknown", info, "Code for GPUs is there whose targets could not be read",
                "nothing; the finding says what was not understood"},
    FindingCode{"gpu-build-without-gpu", warning,
                "Packages hold code for GPUs of one vendor, of which no GPU can be used here; info "
                "where none of them is made in several builds",
                "install the build for the CPU, or fix the GPU"},
    FindingCode{"library-shadowed", warning,
                "The loader takes a library of the same name from elsewhere before the wheels' own",
                "take the folder out of LD_LIBRARY_PATH"},
    FindingCode{
        "library-twice", warning,
        "Libraries are linked against a CUDA library that two packages bring: the first one loaded "
        "serves all",
        "install versions that were made for one of it, or use the packages in separate processes"},
    FindingCode{
        "library-elsewhere", info,
        "A library of the same name lies on the loader's path, but the wheels' own come first",
        "nothing"},
    FindingCode{
        "cpu-instructions", info,
        "With `--deep`: libraries contain instructions that this CPU lacks; a warning where "
        "nothing in them asks which CPU it is",
        "nothing, unless the program dies of SIGILL; then a build for an older CPU"},
    FindingCode{"no-environment", info, "No environment was named or found, so none was examined",
                "name one with --python, or make one"},
};

std::size_t place_of(std::string_view code) {
  const auto found = std::ranges::find(rows, code, &FindingCode::code);
  return static_cast<std::size_t>(found - rows.begin());
}

}  // namespace

std::span<const FindingCode> finding_codes() { return rows; }

std::string render_hint(const Hint& hint) {
  std::string text = hint.words;
  if (!text.empty() && !hint.commands.empty()) text += ": ";
  for (std::size_t i = 0; i < hint.commands.size(); ++i)
    text += (i == 0 ? "" : " && ") + hint.commands[i];
  return text;
}

std::string_view render_level(FindingLevel level) {
  switch (level) {
    case FindingLevel::error:
      return "error";
    case FindingLevel::warning:
      return "warning";
    case FindingLevel::info:
      return "info";
  }
  return "";
}

Finding& Findings::add(std::string_view code, std::string subject, std::string message) {
  const std::size_t place = place_of(code);
  Finding finding;
  finding.code = code;
  finding.level = place < rows.size() ? rows[place].level : FindingLevel::error;
  finding.subject = std::move(subject);
  finding.message = std::move(message);
  findings_.push_back(std::move(finding));
  return findings_.back();
}

void Findings::sort() {
  // Not stable_sort: clang 19 warns of what libstdc++ 12 does inside it.
  std::vector<std::tuple<FindingLevel, std::size_t, std::size_t>> order;
  for (const Finding& finding : findings_)
    order.emplace_back(finding.level, place_of(finding.code), order.size());
  std::ranges::sort(order);
  std::vector<Finding> sorted;
  sorted.reserve(findings_.size());
  for (const auto& [level, place, index] : order) sorted.push_back(std::move(findings_[index]));
  findings_ = std::move(sorted);
}

bool Findings::has_error() const {
  return std::ranges::any_of(
      findings_, [](const Finding& finding) { return finding.level == FindingLevel::error; });
}

}  // namespace axle::doctor

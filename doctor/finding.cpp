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
    FindingCode{
        "container-without-gpu", error,
        "A GPU and its kernel driver are present, but the container was started without them",
        "start the container with the GPU (`--gpus all` and the like)"},
    FindingCode{"gpu-permission", error, "This user cannot open the device files of a GPU",
                "join the group that owns them, or pass them to the container"},
    FindingCode{"gpu-problem", error,
                "A driver does not work; the evidence has the reason code (docs/detection.md); a "
                "warning if the driver could not be queried",
                "as the finding says: load, reinstall or update the driver, reset the GPU, reboot"},
    FindingCode{"driver-versions-differ", error,
                "The loaded kernel module and the driver's libraries have different versions",
                "reboot"},
    FindingCode{"gpu-unusable", warning,
                "A GPU cannot be used, but not because of its driver; info for integrated graphics",
                "as the finding says; nothing, if the GPU is too old to compute"},
    FindingCode{"gpu-masked", info,
                "An environment variable hides a GPU from programs; a warning if it hides all",
                "unset the variable"},
    FindingCode{"cpu-withheld", warning,
                "The CPU has instructions that the kernel, a hypervisor or a container withholds",
                "use a newer kernel, or a virtual machine whose CPU model exposes them"},
    FindingCode{"driver-old", warning,
                "The NVIDIA driver is older than the newest builds of torch need",
                "update the driver"},
    FindingCode{"libc-old", warning, "The C library is older than most wheels need (glibc 2.28)",
                "use a newer distribution, or a container of one"},
    FindingCode{"gpu-override", info,
                "HSA_OVERRIDE_GFX_VERSION makes a GPU report another architecture",
                "unset it, unless it is intended"},
    FindingCode{"gpu-names-differ", info,
                "AMD's rocm-bootstrap names other targets for the GPUs than Axle",
                "nothing for Axle; a tool that asks rocm-bootstrap may choose other packages"},
    FindingCode{"compat-library", info, "A forward-compatibility libcuda replaces the driver's",
                "nothing, on data-centre GPUs; else remove it from LD_LIBRARY_PATH"},
    FindingCode{"driver-without-gpu", info, "A GPU driver is installed, but there is no GPU for it",
                "nothing, unless there should be one: check the bus (lspci)"},
    FindingCode{"wsl", info, "Windows Subsystem for Linux: the GPU driver is that of Windows",
                "update the driver in Windows, do not install one inside"},
    // The environment.
    FindingCode{"start-broken", error,
                "Python ends at its start or prints there, because of a line in a .pth file, a "
                "sitecustomize or usercustomize, or a variable (PYTHONHOME, PYTHONPATH, "
                "LD_PRELOAD …); a warning if it starts nevertheless",
                "comment out the line, put the file aside or remove the package that it belongs "
                "to; unset the variable"},
    FindingCode{"environment-broken", error,
                "The given or active path is not an environment, or its interpreter does not work",
                "create it again, or choose another with --python"},
    FindingCode{"dist-info-broken", error,
                "The metadata of an installed package cannot be read, or a package has two "
                ".dist-info folders",
                "reinstall the package"},
    FindingCode{"files-missing", error,
                "Files that a package's RECORD lists are missing, truncated, or not files",
                "reinstall the package"},
    FindingCode{"metadata-markers", error,
                "METADATA has markers about the variant, which pip and uv cannot read, or does not "
                "match the wheel's own METADATA for the installed variant",
                "reinstall the package"},
    FindingCode{"files-changed", warning,
                "Files differ from RECORD: edited here, or in an environment or store that shares "
                "them; with `--deep` every file is compared by its hash",
                "reinstall the package"},
    FindingCode{"files-outside", warning,
                "A package's RECORD lists files outside of the environment",
                "reinstall the package"},
    FindingCode{"path-owned-twice", error,
                "Two packages installed the same path with different content, so one of them is "
                "damaged; a warning if only Python source is affected",
                "remove one of them, reinstall the other"},
    FindingCode{
        "import-hidden", warning,
        "Two packages provide the same import name in different files: Python imports one of them",
        "remove one of them"},
    FindingCode{"module-hidden", warning,
                "Python imports a module from PYTHONPATH, the user site, the current folder, a "
                "folder of a .pth file or one that a program adds at the start instead of the "
                "installed one; info for the sources of the package itself",
                "leave the folder out: unset PYTHONPATH, set PYTHONNOUSERSITE or PYTHONSAFEPATH, "
                "remove the line of the .pth file, put the program aside"},
    FindingCode{
        "conda-overwritten", error,
        "Another tool replaced or removed a package that conda installed, or conda installed "
        "it over another tool's; a warning if it is wholly the other tool's",
        "remove the other package, let conda install its own again"},
    FindingCode{"requirement-broken", error,
                "A package needs another one that is missing or of another version",
                "install what it needs"},
    FindingCode{"variant-misfit", error,
                "The installed variant needs a property that this machine does not have; a warning "
                "if a GPU build runs on the CPU only",
                "reinstall: a variant that fits is chosen"},
    FindingCode{"variant-not-best", info,
                "The installed variant runs, but there is a better one for this machine; a warning "
                "if the installed one leaves a GPU unused",
                "install again"},
    FindingCode{
        "variant-unknown", info, "The requirements of the installed variant are unknown",
        "enable its namespace (`variant providers enable`) if it is disabled; else nothing"},
    FindingCode{"family-labels-differ", error,
                "Members of the torch family have different backends; a warning if only the minor "
                "version of CUDA or ROCm differs",
                "install them together"},
    FindingCode{"family-versions-differ", error,
                "A member of a family was built for another release of the first member",
                "install them together"},
    FindingCode{"backends-mixed", warning,
                "Packages for several GPU backends, or for several major versions of one, are "
                "installed together, or the libraries of one that nothing needs; an error if they "
                "are one project under two names",
                "remove those that nothing needs; install builds for one backend"},
    FindingCode{"library-damaged", error,
                "A compiled Python module is not an ELF file, or is damaged",
                "reinstall the package"},
    FindingCode{"wrong-architecture", error, "A library is for another CPU architecture",
                "reinstall the package for this machine"},
    FindingCode{"wheel-foreign", error,
                "A wheel is for another Python, C library or platform than the interpreter; a "
                "warning if only compiled modules of it are, which are not loaded",
                "reinstall the package: a wheel that fits is chosen"},
    FindingCode{"abi-misfit", error,
                "A library needs symbols, or a library, that the installed packages have in "
                "another version only: it was built for another torch; a warning if it is not a "
                "module of Python's or torch's",
                "install a version that was built for what is installed (`--check-abi`)"},
    FindingCode{"cpu-level-missing", error,
                "A library requires, in the loader's terms, an x86-64 level that this CPU lacks",
                "install a build for an older CPU"},
    FindingCode{"cuda-driver-floor", error,
                "The CUDA runtime of the wheels needs a newer NVIDIA driver",
                "install builds for an older CUDA if there are any, or update the driver"},
    FindingCode{"gpu-code-missing", error, "No library of a package has code that the GPU runs",
                "install a build that has it"},
    FindingCode{"gpu-code-packed", error,
                "Code for the GPU is compressed with zstd (`nvcc --compress-mode=size`), which a "
                "driver older than CUDA 12.4 cannot decompress",
                "update the driver"},
    FindingCode{
        "ptx-needs-driver", error,
        "A package has only PTX for this GPU, from a newer CUDA than the driver can compile",
        "update the driver"},
    FindingCode{"gpu-code-partial", info,
                "Some libraries of a package have no code that the GPU runs, while others do; a "
                "warning if one of several different GPUs has code in none of them",
                "nothing, if you do not use them; else another build"},
    FindingCode{"gpu-code-unknown", info, "The targets of some GPU code could not be read",
                "nothing; the finding says what could not be read"},
    FindingCode{"gpu-build-without-gpu", warning,
                "Packages contain code for GPUs of a vendor, but no GPU of that vendor can be used "
                "here; info if none of them has several builds",
                "install the CPU build, or fix the GPU"},
    FindingCode{"library-shadowed", warning,
                "The loader finds a library of the same name elsewhere before the wheels' own",
                "remove the folder from LD_LIBRARY_PATH"},
    FindingCode{
        "library-twice", warning,
        "Libraries are linked against a CUDA library that two packages contain: all use the one "
        "that is loaded first",
        "install versions built for the same one, or use the packages in separate processes"},
    FindingCode{
        "library-elsewhere", info,
        "A library of the same name is on the loader's path, but the wheels' own come first",
        "nothing"},
    FindingCode{
        "cpu-instructions", info,
        "With `--deep`: libraries contain instructions that this CPU lacks; a warning if nothing "
        "in them checks the CPU",
        "nothing, unless the program ends with SIGILL; then install a build for an older CPU"},
    FindingCode{"no-environment", info, "No environment was given or found, so none was examined",
                "choose one with --python, or create one"},
};

}  // namespace

std::span<const FindingCode> finding_codes() { return rows; }

std::string render_hint(const Hint& hint) {
  std::string text = hint.words;
  if (!text.empty() && !hint.commands.empty()) text += ": ";
  for (std::size_t i = 0; i < hint.commands.size(); ++i)
    text += (i == 0 ? "" : hint.apart ? "; " : " && ") + hint.commands[i];
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

std::size_t Findings::place_of(std::string_view code) const {
  const auto found = std::ranges::find(codes_, code, &FindingCode::code);
  return static_cast<std::size_t>(found - codes_.begin());
}

Finding& Findings::add(std::string_view code, std::string subject, std::string message) {
  const std::size_t place = place_of(code);
  Finding finding;
  finding.code = code;
  finding.level = place < codes_.size() ? codes_[place].level : FindingLevel::error;
  finding.subject = std::move(subject);
  finding.message = std::move(message);
  findings_.push_back(std::move(finding));
  return findings_.back();
}

void Findings::sort() {
  // Not stable_sort: clang 19 warns about its implementation in libstdc++ 12.
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

bool Findings::has_fault() const {
  return std::ranges::any_of(
      findings_, [](const Finding& finding) { return finding.level != FindingLevel::info; });
}

}  // namespace axle::doctor

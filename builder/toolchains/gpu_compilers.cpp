// The compilers of code for GPUs.

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "builder/toolchains/toolchain.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

/// Options of clang by which it finds HIP, those of its older releases too.
constexpr std::string_view rocm_path = "--rocm-path=";
constexpr std::string_view hip_places[] = {rocm_path, "--hip-path=", "--hip-version=",
                                           "--hip-device-lib-path=", "--rocm-device-lib-path="};

std::string properties_of(const std::vector<GpuTarget>& targets) {
  std::vector<std::string> names;
  for (const GpuTarget& target : targets) {
    if (std::ranges::find(names, target.property) == names.end()) names.push_back(target.property);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

/// "90a-real" -> compute_90a, and sm_90a; "90-virtual" -> compute_90, "90" both.
std::string gencode(const std::string& target) {
  const std::size_t dash = std::min(target.find('-'), target.size());
  const std::string arch = target.substr(0, dash);
  const bool ptx = target.ends_with("-virtual");
  return fmt::format("arch=compute_{0},code={1}_{0}", arch, ptx ? "compute" : "sm");
}

/// A folder has it, or PATH does.
std::vector<std::string> candidates(const std::string& named,
                                    const std::vector<std::string>& folders,
                                    const std::string& inside,
                                    const std::vector<std::string>& on_path) {
  if (!named.empty()) return {named};
  std::vector<std::string> all;
  for (const std::string& folder : folders) {
    std::error_code ignored;
    const fs::path file = fs::path(folder) / inside;
    if (fs::exists(file, ignored)) all.push_back(file.string());
  }
  all.insert(all.end(), on_path.begin(), on_path.end());
  return all;
}

std::vector<std::string> hip_check(const std::string& compiler, const std::string& target) {
  return {compiler,
          "-x",
          "hip",
          "--offload-arch=" + target,
          "-nogpuinc",
          "-nogpulib",
          "--cuda-device-only",
          "-fsyntax-only",
          "/dev/null"};
}

/// CMake's own way to tell.
bool is_hipcc(const std::string& program) { return program.contains("hipcc"); }

/// Of what hipcc prints when HIPCC_VERBOSE is 1: "hipcc-cmd: /usr/bin/clang++-15  -std=c++11 ... ".
std::optional<HipClang> read_hipcc_command(std::string_view said) {
  constexpr std::string_view title = "hipcc-cmd:";
  const std::size_t begin = said.find(title);
  if (begin == std::string_view::npos) return std::nullopt;
  said.remove_prefix(begin + title.size());
  std::string line(said.substr(0, said.find('\n')));
  std::erase(line, '"');
  HipClang clang;
  std::istringstream words(line);
  words >> clang.program;
  for (std::string word; words >> word;) {
    const bool place = std::ranges::any_of(hip_places, [&](std::string_view option) {
      return word.starts_with(option) && word.size() > option.size();
    });
    if (place && std::ranges::find(clang.arguments, word) == clang.arguments.end())
      clang.arguments.push_back(std::move(word));
  }
  if (clang.program.empty()) return std::nullopt;
  return clang;
}

/// The last lines that say something.
std::string last_words(std::string_view said) {
  constexpr std::size_t most = 5;
  std::vector<std::string_view> lines;
  while (!said.empty()) {
    const std::size_t end = std::min(said.find('\n'), said.size());
    const std::string_view line = said.substr(0, end);
    // What --dryrun shows.
    if (!line.empty() && !line.starts_with("#$")) lines.push_back(line);
    said.remove_prefix(std::min(end + 1, said.size()));
  }
  const std::size_t first = lines.size() - std::min(most, lines.size());
  return fmt::format(
      "{}", fmt::join(lines.begin() + static_cast<std::ptrdiff_t>(first), lines.end(), "\n"));
}

std::vector<std::string> sycl_check(const Compiler& compiler, const std::string& targets) {
  std::vector<std::string> all = compiler.command();
  all.insert(all.end(),
             {"-fsycl", "-fsycl-targets=" + targets, "-fsyntax-only", "-x", "c++", "/dev/null"});
  return all;
}

}  // namespace

Result<void> ToolchainFinder::find_cuda(const ToolchainNeeds& needs, Toolchain& found) {
  const auto& targets = needs.compilation.cuda;
  if (targets.empty()) return {};
  const auto try_each = [&](const std::vector<std::string>& programs) {
    for (const std::string& program : programs) {
      if (found.cuda) return;
      Compiler compiler = asked(program, "cuda");
      if (!compiler.program.empty()) found.cuda = std::move(compiler);
    }
  };
  try_each(candidates(places_.cuda, places_.cuda_toolkits, "bin/nvcc", {"nvcc"}));
  if (!found.cuda && places_.cuda.empty() && places_.python_toolkits)
    try_each(candidates({}, places_.python_toolkits(), "bin/nvcc", {}));
  if (!found.cuda) {
    blame({"environment.CUDACXX", targets.front().property});
    return fail(ErrorKind::not_found,
                fmt::format("there is no CUDA compiler, which {} needs: {} is not installed or "
                            "does not run",
                            properties_of(targets), places_.cuda.empty() ? "nvcc" : places_.cuda),
                "install the CUDA toolkit and put its bin folder on PATH, install "
                "nvidia-cuda-nvcc into the Python environment, or set CUDACXX");
  }
  if (found.is_cross()) {
    return fail(
        ErrorKind::unsupported,
        fmt::format("CUDA code for {} is not built on {}", found.architecture, host_architecture()),
        fmt::format("build this variant on such a machine, or set cuda-architectures = []"));
  }
  if (auto host = find_cuda_host(found); !host) return host;
  return check_nvcc(needs, found);
}

Result<void> ToolchainFinder::find_cuda_host(Toolchain& found) {
  const std::string program = variable("CUDAHOSTCXX");
  if (program.empty()) return {};
  found.cuda_host = asked(program, "c++");  // CMake hands it to nvcc as one word
  if (!found.cuda_host->program.empty()) return {};
  blame({"environment.CUDAHOSTCXX"});
  return fail(ErrorKind::not_found,
              fmt::format("there is no C++ compiler for nvcc: {}, which CUDAHOSTCXX names, is not "
                          "installed or does not run",
                          program),
              "set CUDAHOSTCXX to one that is there, or leave it unset");
}

Result<void> ToolchainFinder::check_nvcc(const ToolchainNeeds& needs, const Toolchain& found) {
  std::vector<std::string> begin = {found.cuda->program, "--dryrun"};
  const std::string& host = found.cuda_host  ? found.cuda_host->launched()
                            : needs.by_cmake ? found.cxx.launched()
                                             : std::string();
  if (!host.empty()) begin.insert(begin.end(), {"-ccbin", host});
  const auto arguments = [&](const std::vector<std::string>& more) {
    std::vector<std::string> all = begin;
    all.insert(all.end(), more.begin(), more.end());
    all.insert(all.end(), {"-c", "-x", "cu", "/dev/null", "-o", "/dev/null"});
    return all;
  };
  for (const GpuTarget& target : needs.compilation.cuda) {
    if (tried(arguments({"-gencode", gencode(target.name)}))) continue;
    if (const auto bare = arguments({}); !tried(bare)) {
      const std::string told =
          said_by_variables({"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "CUDAHOSTCXX"});
      blame({"environment.NVCC_PREPEND_FLAGS", "environment.NVCC_APPEND_FLAGS",
             "environment.CUDAHOSTCXX"});
      return fail(
          ErrorKind::unsupported,
          fmt::format("{} ({}) does not work{}: {}", found.cuda->program, found.cuda->version,
                      told.empty() ? "" : " with " + told, last_words(words_of(bare))),
          told.empty() ? "choose another CUDA toolkit with PATH or CUDACXX, or another C++ "
                         "compiler with CUDAHOSTCXX"
                       : "correct these variables, or leave them unset");
    }
    blame({target.property});
    return fail(ErrorKind::unsupported,
                fmt::format("{} ({}) has no target {}, which {} needs", found.cuda->program,
                            found.cuda->version, target.name, target.property),
                "choose another CUDA toolkit with PATH or CUDACXX; `nvcc --list-gpu-code` shows "
                "what it has");
  }
  return {};
}

std::string HipClang::as_list() const {
  return fmt::format("{}{}{}", program, arguments.empty() ? "" : ";", fmt::join(arguments, ";"));
}

std::string HipClang::rocm() const {
  const auto found = std::ranges::find_if(
      arguments, [](const std::string& one) { return one.starts_with(rocm_path); });
  return found == arguments.end() ? std::string() : found->substr(rocm_path.size());
}

const std::optional<HipClang>& ToolchainFinder::started_by(
    const std::vector<std::string>& arguments) {
  const auto [known, is_new] = hip_clangs_.try_emplace(arguments.front());
  if (!is_new) return known->second;
  const auto said = output_of(arguments, {{"HIPCC_VERBOSE", "1"}});
  if (said) known->second = read_hipcc_command(*said);
  return known->second;
}

Result<void> ToolchainFinder::find_hip(const ToolchainNeeds& needs, Toolchain& found) {
  const auto& targets = needs.compilation.hip;
  if (targets.empty()) return {};
  blame({"environment.HIPCXX", targets.front().property});
  Compiler other;
  for (const std::string& program : candidates(places_.hip, places_.rocm, "llvm/bin/clang++",
                                               {"amdclang++", "hipcc", "clang++"})) {
    Compiler compiler = asked(program, "hip");
    if (compiler.program.empty()) continue;
    const bool all = std::ranges::all_of(
        targets, [&](const GpuTarget& target) { return tried(hip_check(program, target.name)); });
    if (all) {
      if (is_hipcc(program)) found.hip_clang = started_by(hip_check(program, targets.front().name));
      found.hip = std::move(compiler);
      if (!is_hipcc(program) || found.hip_clang || !needs.by_cmake) return {};
      return fail(
          ErrorKind::unsupported,
          fmt::format("{} ({}) does not say which clang it starts, and CMake needs that for "
                      "{}: it takes no hipcc",
                      program, found.hip->version, properties_of(targets)),
          "name the clang with HIPCXX");
    }
    if (other.program.empty()) other = std::move(compiler);
  }
  if (other.program.empty()) {
    return fail(
        ErrorKind::not_found,
        fmt::format("there is no HIP compiler, which {} needs: no {} runs", properties_of(targets),
                    places_.hip.empty() ? "amdclang++, hipcc or clang++" : places_.hip),
        "install ROCm's, on Debian: apt install hipcc; or set HIPCXX");
  }
  for (const GpuTarget& target : targets) {
    if (tried(hip_check(other.program, target.name))) continue;
    blame({target.property});
    return fail(ErrorKind::unsupported,
                fmt::format("{} ({}) has no offload architecture {}, which {} needs", other.program,
                            other.version, target.name, target.property),
                "choose another compiler with HIPCXX");
  }
  return {};
}

Result<void> ToolchainFinder::find_sycl(const ToolchainNeeds& needs, Toolchain& found) {
  const auto& targets = needs.compilation.sycl;
  if (targets.empty()) return {};
  const std::string joined = join_targets(targets, ',');
  std::vector<std::string> programs = {"icpx", "clang++"};
  if (!places_.cxx.empty()) programs = {places_.cxx};
  for (const std::string& program : programs) {
    Compiler compiler = asked_command(program, "sycl");
    if (compiler.program.empty() || !tried(sycl_check(compiler, joined))) continue;
    found.sycl = compiler;
    found.cxx = std::move(compiler);
    return {};
  }
  blame({"environment.CXX", targets.front().property});
  return fail(ErrorKind::not_found,
              fmt::format("there is no SYCL compiler for {}, which {} needs: {} does not accept "
                          "-fsycl-targets={}",
                          joined, properties_of(targets), fmt::join(programs, " or "), joined),
              "install oneAPI's icpx, or set CXX to a compiler with SYCL");
}

}  // namespace axle::builder

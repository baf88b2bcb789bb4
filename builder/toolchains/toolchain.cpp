#include "builder/toolchains/toolchain.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/utsname.h>

#include "builder/toolchains/disk_space.h"
#include "builder/toolchains/host_compilers.h"
#include "foundation/system/program_run.h"
#include "foundation/system/shell_command.h"

namespace axle::builder {

namespace fs = std::filesystem;

namespace {

/// What Debian calls the packages of cross compilers.
std::string debian_name(std::string triple) {
  for (char& c : triple) {
    if (c == '_') c = '-';
  }
  return triple;
}

std::string triple_of(const std::string& architecture) {
  return (architecture == "ppc64le" ? "powerpc64le" : architecture) + "-linux-gnu";
}

std::vector<std::string> syntax_of(const Compiler& compiler, const std::string& language,
                                   const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = compiler.command();
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  arguments.insert(arguments.end(), {"-Werror", "-fsyntax-only", "-x", language, "/dev/null"});
  return arguments;
}

std::string title_of(const Compiler& compiler) {
  const std::string command = shell_command(compiler.command());
  return compiler.version.empty() ? command : fmt::format("{} ({})", command, compiler.version);
}

/// How another compiler is chosen: CC and CXX are of this machine's own architecture alone.
std::string other_compiler(const Toolchain& found) {
  return found.is_cross() ? fmt::format("with [tool.axle.toolchain.{}]", found.architecture)
                          : "with CC and CXX";
}

std::unexpected<Error> lacks(const Toolchain& found, const Compiler& compiler,
                             const CompileFlag& flag) {
  const std::string chosen = other_compiler(found);
  return fail(ErrorKind::unsupported,
              fmt::format("{} does not support {}, which {} needs", title_of(compiler), flag.flag,
                          flag.property),
              flag.first_gcc == 0 ? "choose another compiler " + chosen
                                  : fmt::format("GCC supports it from {}; choose a compiler {}",
                                                flag.first_gcc, chosen));
}

}  // namespace

std::vector<std::string> Compiler::command() const {
  std::vector<std::string> words{program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  return words;
}

std::string Compiler::as_list() const { return fmt::format("{}", fmt::join(command(), ";")); }

const std::string& Compiler::launched() const {
  return arguments.empty() || arguments.front().starts_with('-') ? program : arguments.front();
}

std::string host_architecture() {
  utsname names = {};
  return ::uname(&names) == 0 ? names.machine : std::string();
}

ToolchainFinder::ToolchainFinder(ToolchainPlaces places,
                                 std::map<std::string, StatedCompilers> stated,
                                 std::string work_folder, Definitions environment,
                                 Definitions inherited)
    : places_(std::move(places)),
      stated_(std::move(stated)),
      work_(std::move(work_folder)),
      environment_(std::move(environment)),
      inherited_(std::move(inherited)) {
  for (const auto& [name, value] : environment_) {
    if (name == "CC") places_.c = value;
    if (name == "CXX") places_.cxx = value;
    if (name == "CUDACXX") places_.cuda = value;
    if (name == "HIPCXX") places_.hip = value;
    if (name == "CUDA_HOME" || name == "CUDA_PATH")
      places_.cuda_toolkits.insert(places_.cuda_toolkits.begin(), value);
    if (name == "ROCM_PATH") places_.rocm.insert(places_.rocm.begin(), value);
  }
}

std::string ToolchainFinder::variable(std::string_view name) const {
  for (const Definitions* all : {&environment_, &inherited_}) {
    const auto found = std::ranges::find(*all, name, &Definitions::value_type::first);
    if (found != all->end()) return found->second;
  }
  return {};
}

std::string ToolchainFinder::said_by_variables(
    std::initializer_list<std::string_view> names) const {
  std::string text;
  for (const std::string_view name : names) {
    const std::string value = variable(name);
    if (!value.empty()) text += fmt::format("{}{}={}", text.empty() ? "" : ", ", name, value);
  }
  return text;
}

std::expected<std::string, std::string> ToolchainFinder::output_of(
    const std::vector<std::string>& arguments,
    std::vector<std::pair<std::string, std::string>> variables) {
  variables.emplace_back("LC_ALL", "C");
  variables.insert(variables.end(), environment_.begin(), environment_.end());
  system::ProgramSettings settings;
  settings.errors = system::ErrorStream::with_output;
  settings.child.group = system::Group::shared;
  settings.child.inherits_descriptors = true;
  const auto run = system::run_program({arguments, {}, std::move(variables)}, settings);
  if (!run && run.error() == std::errc::no_such_file_or_directory)
    return std::unexpected(run.error().message());
  const std::string said = run ? run->out : run.error().message();
  // For the curious; the program itself reads none of it.
  std::ofstream(fs::path(work_) / "compilers.log", std::ios::binary | std::ios::app)
      << shell_command(arguments) << '\n'
      << said;
  if (run && run->exit_code == 0) return said;
  if (!trouble_) trouble_ = lack_of_space("compilers cannot be tried", work_, said);
  return std::unexpected(said);
}

bool ToolchainFinder::tried(const std::vector<std::string>& arguments) {
  auto known = tried_.find(arguments);
  if (known == tried_.end()) known = tried_.emplace(arguments, output_of(arguments)).first;
  return known->second.has_value();
}

const std::string& ToolchainFinder::words_of(const std::vector<std::string>& arguments) {
  static const std::string none;
  return tried(arguments) ? none : tried_.find(arguments)->second.error();
}

Compiler ToolchainFinder::asked(const std::string& program, const std::string& language) {
  const auto known = asked_.find(program);
  if (known != asked_.end()) return known->second;
  auto text = output_of({program, "--version"});
  if (!text) return asked_[program] = {};
  // nvcc begins with its copyright: "Cuda compilation tools, release 13.0, V13.0.88"; hipcc perhaps
  // with what it says of missing GPUs: "HIP version: 5.2.21153-0".
  const std::size_t release = language == "cuda"  ? text->find("Cuda compilation")
                              : language == "hip" ? text->find("HIP version")
                                                  : 0;
  if (release != std::string::npos) text->erase(0, release);
  return asked_[program] = {program, text->substr(0, text->find('\n'))};
}

Compiler ToolchainFinder::asked_command(const std::string& said, const std::string& language) {
  Compiler whole = asked(said, language);  // a path may have blanks
  const std::vector<std::string> words = shell_words(said);
  if (!whole.program.empty() || words.size() < 2) return whole;
  const auto known = asked_commands_.find(said);
  if (known != asked_commands_.end()) return known->second;
  std::vector<std::string> question = words;
  question.emplace_back("--version");
  const auto text = output_of(question);
  if (!text) return asked_commands_[said] = {};
  return asked_commands_[said] = {
             words.front(), text->substr(0, text->find('\n')), {words.begin() + 1, words.end()}};
}

Compiler ToolchainFinder::found_by_cmake(const std::string& program, std::string_view variable_name,
                                         const std::string& language) {
  const std::vector<std::string> words = shell_words(variable(variable_name));
  const bool named =
      words.size() > 1 && fs::path(words.front()).filename() == fs::path(program).filename();
  if (!named) return asked(program, language);
  std::vector<std::string> command = words;
  command.front() = program;
  return asked_command(shell_command(command), language);
}

Result<void> ToolchainFinder::ask_cmake() {
  const auto compilers = find_compilers(work_, environment_,
                                        said_by_variables({"CC", "CFLAGS", "CPPFLAGS", "LDFLAGS"}));
  if (!compilers) return std::unexpected(compilers.error());
  Toolchain both;
  both.c = found_by_cmake(compilers->c, "CC", "c");
  both.cxx = found_by_cmake(compilers->cxx, "CXX", "c++");
  const std::string told = said_by_variables({"CXX", "CXXFLAGS"});
  if (both.cxx.program.empty() && !told.empty()) {
    return fail(ErrorKind::not_found, fmt::format("no C++ compiler works with {}", told),
                "correct these variables, or leave them unset");
  }
  by_cmake_ = std::move(both);
  return {};
}

Result<void> ToolchainFinder::find_host(const ToolchainNeeds& needs, Toolchain& found) {
  if (needs.by_cmake) {
    if (!by_cmake_) {
      if (auto asked = ask_cmake(); !asked) by_cmake_ = std::unexpected(asked.error());
    }
    if (!*by_cmake_) {
      blame({"environment.CC", "environment.CFLAGS", "environment.CPPFLAGS", "environment.LDFLAGS",
             "environment.CXX", "environment.CXXFLAGS"});
      return std::unexpected(by_cmake_->error());
    }
    found.c = (*by_cmake_)->c;
    found.cxx = (*by_cmake_)->cxx;
    return {};
  }
  found.c = asked_command(places_.c.empty() ? "cc" : places_.c, "c");
  found.cxx = asked_command(places_.cxx.empty() ? "c++" : places_.cxx, "c++");
  // A back end may need none; what it is told to use must be there.
  const bool told = !needs.compilation.flags.empty() || !places_.c.empty();
  if (!found.c.program.empty() || !told) {
    if (places_.cxx.empty() || !found.cxx.program.empty()) return {};
    blame({"environment.CXX"});
    return fail(
        ErrorKind::not_found,
        fmt::format("there is no C++ compiler: {} is not installed or does not run", places_.cxx),
        "install one, on Debian: apt install g++; or set CXX");
  }
  blame({"environment.CC"});
  return fail(ErrorKind::not_found,
              fmt::format("there is no C compiler: {} is not installed or does not run",
                          places_.c.empty() ? "cc" : places_.c),
              "install one, on Debian: apt install gcc g++; or set CC and CXX");
}

Result<void> ToolchainFinder::find_cross(Toolchain& found) {
  found.triple = triple_of(found.architecture);
  const auto stated = stated_.find(found.architecture);
  const bool named = stated != stated_.end();
  const std::string c = named ? stated->second.c : found.triple + "-gcc";
  const std::string cxx = named ? stated->second.cxx : found.triple + "-g++";
  found.c = asked_command(c, "c");
  if (!cxx.empty()) found.cxx = asked_command(cxx, "c++");
  const bool whole = !found.c.program.empty() && (cxx.empty() || !found.cxx.program.empty());
  if (whole) return {};
  const std::string& missing = found.c.program.empty() ? c : cxx;
  if (named) blamed_place_ = stated->second.place;
  std::string hint =
      found.architecture == host_architecture()
          ? fmt::format("install it, or name another one in [tool.axle.toolchain.{}]",
                        found.architecture)
          : fmt::format(
                "install it, on Debian: apt install g++-{}; name another one in "
                "[tool.axle.toolchain.{}]; or leave such variants out: --arch {}",
                debian_name(found.triple), found.architecture, host_architecture());
  return fail(ErrorKind::not_found,
              fmt::format("there is no compiler for {}: {} is not installed or does not run",
                          found.architecture, missing),
              std::move(hint));
}

Result<void> ToolchainFinder::check_flags(const Toolchain& found, const Compilation& compilation) {
  std::vector<std::string> all;
  for (const CompileFlag& flag : compilation.flags) all.push_back(flag.flag);
  all.insert(all.end(), compilation.args.begin(), compilation.args.end());
  if (all.empty()) return {};
  for (const auto& [compiler, language] :
       {std::pair(&found.c, "c"), std::pair(&found.cxx, "c++")}) {
    if (compiler->program.empty() || tried(syntax_of(*compiler, language, all))) continue;
    for (const CompileFlag& flag : compilation.flags) {
      blame({flag.property});
      if (!tried(syntax_of(*compiler, language, {flag.flag}))) return lacks(found, *compiler, flag);
    }
    for (const std::string& arg : compilation.args) {
      blame({"compile-args " + arg});
      if (!tried(syntax_of(*compiler, language, {arg})))
        return lacks(found, *compiler, {arg, "compile-args"});
    }
    blame({});
    return fail(ErrorKind::unsupported, fmt::format("{} does not support {} together",
                                                    title_of(*compiler), compilation.host_flags()));
  }
  return {};
}

Result<Toolchain> ToolchainFinder::find(const ToolchainNeeds& needs) {
  blamed_.clear();
  blamed_place_.clear();
  auto found = find_all(needs);
  // Another compiler may have been taken for one that could not be tried.
  if (trouble_) return std::unexpected(*trouble_);
  if (found) return found;
  std::string place = blamed_place_;
  for (const std::string& what : blamed_) {
    if (place.empty()) place = needs.settings.place_of(what, "");
  }
  if (place.empty()) place = needs.place;
  return std::unexpected(within(fmt::format("{}: {}", place, needs.title), found.error()));
}

Result<Toolchain> ToolchainFinder::find_all(const ToolchainNeeds& needs) {
  Toolchain found;
  const std::string host = host_architecture();
  found.architecture = needs.architecture.empty() ? host : needs.architecture;
  const bool native = found.architecture == host && !stated_.contains(host);
  if (auto done = native ? find_host(needs, found) : find_cross(found); !done)
    return std::unexpected(done.error());
  if (found.architecture == host) found.triple.clear();
  for (const auto step :
       {&ToolchainFinder::find_cuda, &ToolchainFinder::find_hip, &ToolchainFinder::find_sycl}) {
    if (auto done = (this->*step)(needs, found); !done) return std::unexpected(done.error());
  }
  if (auto checked = check_flags(found, needs.compilation); !checked)
    return std::unexpected(checked.error());
  return found;
}

}  // namespace axle::builder

#include "session/target/stated_interpreter.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "foundation/text/ascii.h"

namespace axle::session {

namespace {

struct Implementation {
  std::string_view tag;
  std::string_view name;   ///< sys.implementation.name
  std::string_view title;  ///< platform.python_implementation()
};

/// "py", any implementation, is not among them: it is none of its own.
constexpr std::array implementations = {Implementation{"cp", "cpython", "CPython"},
                                        Implementation{"pp", "pypy", "PyPy"}};

/// PyPy's own version, as far as its ABI ("pp73") says it.
constexpr const char* pypy_version = "7.3.0";

/// As pip spells it without dots: "311".
std::string with_dots(const std::string& text) {
  const bool digits = std::ranges::all_of(text, text::is_ascii_digit);
  return digits && text.size() > 1 ? text.substr(0, 1) + "." + text.substr(1) : text;
}

Outcome<wheel::Version> read_version(const std::string& text) {
  const auto refuse = [&](std::string_view why) {
    return misused(fmt::format("--python-version {}: {}", text, why),
                   "for example 3.12, 312 or 3.12.4");
  };
  auto version = wheel::parse_version(with_dots(text));
  if (!version || version->epoch != 0 || version->post || version->dev || !version->local.empty())
    return refuse("that is not a version of Python");
  constexpr std::uint64_t most = 255;
  constexpr std::size_t numbers = 3;
  if (version->release.size() > numbers)
    return refuse("a version of Python has three numbers at most");
  if (version->release.size() < 2) return refuse("the minor version is missing");
  if (version->release[0] != 3) return refuse("Axle chooses wheels for Python 3");
  if (version->release[1] > most) return refuse("that is not a version of Python");
  if (version->release.size() < numbers) version->release.push_back(0);
  return *std::move(version);
}

}  // namespace

void StatedInterpreter::apply(wheel::TagTarget& tags, wheel::MarkerEnvironment& markers,
                              wheel::Version& python_version) const {
  const bool another = !implementation.empty() && implementation != tags.implementation;
  if (version || another || !abis.empty()) tags.abis = abis;
  if (version) {
    tags.python_major = static_cast<unsigned>(version->release[0]);
    tags.python_minor = static_cast<unsigned>(version->release[1]);
    constexpr unsigned first_free_threaded = 13;
    tags.free_threaded = tags.free_threaded && tags.python_minor >= first_free_threaded;
    python_version = *version;
    const std::string full = wheel::render_version(*version);
    markers.strings["python_full_version"] = full;
    markers.strings["python_version"] = fmt::format("{}.{}", tags.python_major, tags.python_minor);
  }
  if (!implementation.empty()) tags.implementation = implementation;
  const auto row = std::ranges::find(implementations, tags.implementation, &Implementation::tag);
  if (row == implementations.end()) return;
  markers.strings["implementation_name"] = row->name;
  markers.strings["platform_python_implementation"] = row->title;
  std::string& own = markers.strings["implementation_version"];
  if (row->tag == "cp" && (version || another)) own = wheel::render_version(python_version);
  if (row->tag == "pp" && another) own = pypy_version;
}

Outcome<StatedInterpreter> read_stated_interpreter(const Arguments& arguments) {
  StatedInterpreter stated;
  if (arguments.has(Opt::python_version)) {
    auto version = read_version(arguments.value(Opt::python_version));
    if (!version) return std::unexpected(version.error());
    stated.version = *std::move(version);
  }
  if (arguments.has(Opt::implementation)) {
    stated.implementation = arguments.value(Opt::implementation);
    constexpr std::array known = {"cp", "pp", "py"};
    if (std::ranges::find(known, stated.implementation) == known.end())
      return misused(fmt::format("--implementation {}: that is not an implementation that Axle "
                                 "chooses for",
                                 stated.implementation),
                     "cp (CPython), pp (PyPy) or py (wheels for any implementation)");
  }
  for (const std::string& abi : arguments.values(Opt::abi)) {
    const bool word = !abi.empty() && std::ranges::all_of(abi, [](char c) {
      return text::is_ascii_alnum(c) || c == '_';
    });
    if (!word)
      return misused(fmt::format("--abi {}: that is not an ABI tag", abi),
                     "for example cp312, cp313t, pypy310_pp73, abi3 or none");
    stated.abis.push_back(text::ascii_lower(abi));
  }
  return stated;
}

}  // namespace axle::session

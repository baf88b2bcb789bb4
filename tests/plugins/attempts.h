#pragma once
// What plugins try in the sandbox, and what comes of it.

#include <string>
#include <string_view>

#include "providers/plugins/plugin.h"
#include "tests/plugins/scratch_folder.h"

namespace testing {

/// Python: `attempt(name, what)` prints "NAME: what came of it"; `call` raises what libc refuses.
inline constexpr std::string_view attempt = R"(
def attempt(name, what):
    try:
        print(name + ': done', repr(what())[:200], file=sys.stderr)
    except BaseException as error:
        print('%s: %s %s' % (name, type(error).__name__, getattr(error, 'errno', '')), file=sys.stderr)
libc = ctypes.CDLL(None, use_errno=True)
def call(name, *arguments):
    function = getattr(libc, name)
    if function(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)
)";

/// What is supported; with more time than usual, since machines are busy.
[[nodiscard]] axle::plugins::PluginAnswer ask(const axle::plugins::Plugin& plugin,
                                              axle::plugins::AskOptions options = {});

/// What `expression` came to, e.g. "PermissionError 13" or "done …".
[[nodiscard]] std::string outcome(const ScratchFolder& folder, std::string_view expression);
[[nodiscard]] bool is_denied(const std::string& what);

// True, and a word why: the test cannot be made here.
[[nodiscard]] bool skip_without(bool there, const char* what);
[[nodiscard]] bool skip_python();

}  // namespace testing

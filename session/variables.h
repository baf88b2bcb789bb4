#pragma once
// Every environment variable that Axle reads as a setting. What the drivers' libraries read (device
// masks, library paths) is a fact of the machine: detect/.

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace axle::session {

/// The value, or "" when it is not set.
[[nodiscard]] std::string variable(std::string_view name);
[[nodiscard]] std::optional<std::string> variable_if_set(std::string_view name);

/// Names and values of all that begin so, by name.
[[nodiscard]] std::map<std::string, std::string> variables_with_prefix(std::string_view prefix);

/// XDG_CONFIG_HOME, else ~/.config; "" when neither is known.
[[nodiscard]] std::string config_home();

struct VariableRow {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array variables = {
    VariableRow{"AXLE_CACHE_DIR",
                "where downloads, pages and drivers' answers are kept (else XDG_CACHE_HOME/axle)"},
    VariableRow{"AXLE_DRIVER_TIMEOUT",
                "how long a GPU driver may take to answer: seconds, or `500ms` (else 3)"},
    VariableRow{"AXLE_GPU_POLICY", "which of several GPUs count, as --gpu-policy has it"},
    VariableRow{"AXLE_RUNTIME_KERNEL", "forces one of the runtime's kernels, by name"},
    VariableRow{"AXLE_SITE_PROFILE",
                "the site's machine profile (else /etc/axle/machine.json), `none`: not used"},
    VariableRow{"CONDA_PREFIX", "the active conda environment"},
    VariableRow{"HOME", "where the user's configuration and cache lie"},
    VariableRow{"NETRC", "user names and passwords by host (else ~/.netrc)"},
    VariableRow{"NO_COLOR", "no colours, whatever its value"},
    VariableRow{"NV_VARIANT_PROVIDER_FORCE_*, …",
                "handed to the plugin of their namespace: `variant providers show NS`"},
    VariableRow{"PATH", "where interpreters are looked for"},
    VariableRow{"PIP_*", "pip's own settings, as docs/settings.md lists them"},
    VariableRow{"REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE",
                "the same where SSL_CERT_FILE is not set (pip's)"},
    VariableRow{"SOURCE_DATE_EPOCH", "the time that goes into built wheels"},
    VariableRow{"SSL_CERT_FILE", "certificates of trusted authorities"},
    VariableRow{"TERM", "`dumb`: no colours, no progress line"},
    VariableRow{"TMPDIR", "where temporary files go"},
    VariableRow{"UV_*", "uv's own settings, as docs/settings.md lists them"},
    VariableRow{"VIRTUAL_ENV", "the active virtual environment"},
    VariableRow{"XDG_CACHE_HOME", "where caches lie (else ~/.cache)"},
    VariableRow{"XDG_CONFIG_HOME", "where configuration lies (else ~/.config)"},
    VariableRow{"http_proxy, https_proxy, all_proxy, no_proxy", "proxies, also in capitals"},
};

}  // namespace axle::session

#pragma once
// Every environment variable that Axle reads as a setting. Variables that the drivers' libraries
// read (device masks, library paths) are facts of the machine: detect/.

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "session/command_failure.h"

namespace axle::session {

/// The value, or "" if it is not set.
[[nodiscard]] std::string variable(std::string_view name);
[[nodiscard]] std::optional<std::string> variable_if_set(std::string_view name);

/// Names and values of all variables with that prefix, by name.
[[nodiscard]] std::map<std::string, std::string> variables_with_prefix(std::string_view prefix);

/// XDG_CONFIG_HOME, else ~/.config; "" if neither is known.
[[nodiscard]] std::string config_home();

/// `path` with the user's home folder for "~" at its beginning, if HOME says it. That of another
/// user ("~name") is not looked up.
[[nodiscard]] std::string home_expanded(std::string path);

/// SOURCE_DATE_EPOCH: decimal seconds (reproducible-builds.org). Error: usage, for anything else.
[[nodiscard]] Outcome<std::optional<std::uint64_t>> source_date_epoch();

struct VariableRow {
  std::string_view name;
  std::string_view meaning;
};

inline constexpr std::array variables = {
    VariableRow{"AXLE_ALLOWED_SIGNERS", "who must have signed a bundle, like --allowed-signers"},
    VariableRow{"AXLE_ATTESTATIONS", "the policy for attestations, like --attestations"},
    VariableRow{"AXLE_BUILD_TIMEOUT",
                "how long a build of a source distribution may take, in seconds (else an hour)"},
    VariableRow{"AXLE_CACHE_DIR",
                "the cache of downloads, pages and driver answers (else XDG_CACHE_HOME/axle)"},
    VariableRow{"AXLE_DRIVER_TIMEOUT",
                "how long a GPU driver may take to answer: seconds, or `500ms` (else 3)"},
    VariableRow{"AXLE_GPU_POLICY", "which of several GPUs count, like --gpu-policy"},
    VariableRow{"AXLE_RUNTIME_KERNEL", "forces one of the runtime's kernels, by name"},
    VariableRow{"AXLE_SITE_PROFILE",
                "the site's machine profile (else /etc/axle/machine.json); `none` disables it"},
    VariableRow{"AXLE_TRUSTED_ROOT", "a trusted_root.json of Sigstore, like --trusted-root"},
    VariableRow{"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN",
                "the keys for a mirror at s3://… (else the profile's)"},
    VariableRow{"AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL",
                "the server of its storage (else the profile's, else Amazon S3)"},
    VariableRow{"AWS_PROFILE", "the profile in AWS's files (else `default`)"},
    VariableRow{"AWS_REGION, AWS_DEFAULT_REGION",
                "the region of its bucket (else the profile's, else us-east-1)"},
    VariableRow{"AWS_SHARED_CREDENTIALS_FILE, AWS_CONFIG_FILE",
                "AWS's files (else ~/.aws/credentials, ~/.aws/config)"},
    VariableRow{"CC, CXX, CUDACXX, HIPCXX, CUDAHOSTCXX",
                "the compilers of `variant build` (else those it finds)"},
    VariableRow{"CFLAGS, CXXFLAGS, CPPFLAGS, CUDAFLAGS, HIPFLAGS, LDFLAGS",
                "the flags of those compilers, before what `variant build` tells them"},
    VariableRow{"CMAKE_BUILD_PARALLEL_LEVEL, MAX_JOBS",
                "how many files `variant build` compiles at once, without --jobs"},
    VariableRow{"CMAKE_*, SKBUILD_*, SETUPTOOLS_SCM_*, FORCE_CUDA, …",
                "what a build may read: what was built with others is not taken for it"},
    VariableRow{"CPATH, C_INCLUDE_PATH, CPLUS_INCLUDE_PATH, LIBRARY_PATH",
                "where those compilers look besides"},
    VariableRow{"CUDA_HOME, CUDA_PATH, ROCM_PATH", "where its GPU compilers are"},
    VariableRow{"CONDA_PREFIX", "the active conda environment"},
    VariableRow{"HOME", "the user's home folder, for configuration and cache"},
    VariableRow{"NETRC", "user names and passwords by host (else ~/.netrc)"},
    VariableRow{"NO_COLOR", "no colours if set, whatever its value"},
    VariableRow{"NV_VARIANT_PROVIDER_FORCE_*, …",
                "passed to the plugin of their namespace: `variant providers show NS`"},
    VariableRow{"NVCC_PREPEND_FLAGS, NVCC_APPEND_FLAGS", "what nvcc itself reads"},
    VariableRow{"PATH", "where interpreters are searched"},
    VariableRow{"PIP_*", "pip's settings, see docs/settings.md"},
    VariableRow{"REQUESTS_CA_BUNDLE, CURL_CA_BUNDLE",
                "the same if SSL_CERT_FILE is not set (as in pip)"},
    VariableRow{"SOURCE_DATE_EPOCH", "the time stamp in built wheels and SBOMs"},
    VariableRow{"SSL_CERT_DIR", "a folder of trusted CA certificates, by hash (c_rehash)"},
    VariableRow{"SSL_CERT_FILE", "trusted CA certificates (without both, the system's)"},
    VariableRow{"TERM", "`dumb`: no colours, no progress line"},
    VariableRow{"TMPDIR", "the folder for temporary files"},
    VariableRow{"TWINE_REPOSITORY_URL, TWINE_USERNAME, TWINE_PASSWORD",
                "twine's names for the three of UV_PUBLISH_*"},
    VariableRow{"UV_*", "uv's settings, see docs/settings.md"},
    VariableRow{"UV_PUBLISH_URL, UV_PUBLISH_USERNAME, UV_PUBLISH_PASSWORD, UV_PUBLISH_TOKEN",
                "where `variant publish` uploads to, and its login"},
    VariableRow{"VIRTUAL_ENV", "the active virtual environment"},
    VariableRow{"XDG_CACHE_HOME", "the folder for caches (else ~/.cache)"},
    VariableRow{"XDG_CONFIG_HOME", "the folder for configuration (else ~/.config)"},
    VariableRow{"http_proxy, https_proxy, all_proxy, no_proxy", "proxies, also in upper case"},
};

}  // namespace axle::session

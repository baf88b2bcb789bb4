#include "session/builds/git_checkout.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include <fmt/format.h>

#include "index/http/redaction.h"
#include "index/http/url.h"
#include "session/builds/told_program.h"

namespace axle::session {

namespace {

namespace fs = std::filesystem;

/// Says user name and password of the one server that it is set for; "f get" is how git calls it.
constexpr const char* login_helper =
    "!f() { test \"$1\" = get && printf 'username=%s\\npassword=%s\\n' \"$AXLE_GIT_USERNAME\" "
    "\"$AXLE_GIT_PASSWORD\"; }; f";

/// Of the repository that a hook of git may have started this command in, and what decides which
/// protocols are spoken.
const std::vector<std::string> not_inherited = {
    "GIT_DIR",    "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY", "GIT_ALTERNATE_",
    "GIT_COMMON", "GIT_NAMESPACE", "GIT_PREFIX",     "GIT_ALLOW_PROTOCOL",   "http_proxy",
    "all_proxy",  "https_proxy",   "no_proxy",       "HTTP_PROXY",           "HTTPS_PROXY",
    "ALL_PROXY",  "NO_PROXY"};

class Checkout {
 public:
  Checkout(const resolver::SourceUrl& source, const std::string& folder, const GitSettings& git)
      : source_(source), folder_(folder), git_(git), url_(source.url) {
    const index::UrlParts parts = index::split_url(source_.url);
    const index::Authority authority = index::split_authority(parts.authority);
    http_ = index::is_http_url(source_.url);
    local_ = parts.scheme == "file";
    const std::size_t colon = std::min(authority.user_info.find(':'), authority.user_info.size());
    user_ = index::percent_decode(authority.user_info.substr(0, colon));
    if (http_ && !authority.user_info.empty()) {
      url_ = index::without_credentials(source_.url);
      password_ = index::percent_decode(
          authority.user_info.substr(std::min(colon + 1, authority.user_info.size())));
    } else if (colon < authority.user_info.size()) {
      // Keys and agents log in by ssh, never a password.
      const std::string with_password(authority.user_info);
      url_.erase(url_.find(with_password) + colon, with_password.size() - colon);
    }
  }

  Result<std::string> run() {
    std::vector<std::string> clone = {"clone", "--quiet", "--no-checkout"};
    if (!local_) clone.emplace_back("--filter=blob:none");
    clone.insert(clone.end(), {"--", url_, folder_});
    if (auto done = git(std::move(clone), local_); !done)
      return std::unexpected(std::move(done).error());
    const auto commit = wanted_commit();
    if (!commit) return commit;
    if (auto done = git(inside({"checkout", "--quiet", "--detach", *commit}), local_); !done)
      return std::unexpected(std::move(done).error());
    std::error_code error;
    if (fs::exists(folder_ + "/.gitmodules", error)) {
      // What these name is not what the user named: no repository of this machine.
      auto done = git(inside({"submodule", "--quiet", "update", "--init", "--recursive"}), false);
      if (!done) return std::unexpected(std::move(done).error());
    }
    return commit;
  }

 private:
  [[nodiscard]] std::vector<std::string> inside(std::vector<std::string> words) const {
    words.insert(words.begin(), {"-C", folder_});
    return words;
  }

  [[nodiscard]] std::string shown() const {
    return index::redact_url(source_.url) + (source_.revision.empty() ? "" : "@") +
           source_.revision;
  }

  [[nodiscard]] system::Program program(std::vector<std::string> words, bool local_too) const {
    const Settings& settings = git_.settings;
    std::vector<std::string> command = {"git"};
    const auto configure = [&](std::string setting) {
      command.insert(command.end(), {"-c", std::move(setting)});
    };
    const std::string server = index::url_origin(url_);
    if (http_ && !user_.empty()) {
      configure(fmt::format("credential.{}.helper=", server));
      configure(fmt::format("credential.{}.helper={}", server, login_helper));
    }
    if (http_) {
      // Variables of git that say the same come first.
      configure("http.lowSpeedLimit=1");
      configure(fmt::format("http.lowSpeedTime={}", settings.timeout_seconds));
    }
    if (http_ && index::is_trusted_host(url_, settings.trusted_hosts))
      configure(fmt::format("http.{}.sslVerify=false", server));
    command.insert(command.end(), words.begin(), words.end());
    system::Program program{std::move(command), {}, {}, not_inherited};
    const auto add = [&](const char* name, const std::string& value) {
      if (!value.empty()) program.variables.emplace_back(name, value);
    };
    add("GIT_TERMINAL_PROMPT", "0");
    add("GIT_ALLOW_PROTOCOL", local_too ? "https:http:ssh:git:file" : "https:http:ssh:git");
    add("GIT_SSL_CAINFO", settings.ca_file);
    add("GIT_SSL_CERT", settings.client_cert);
    add("http_proxy", settings.http_proxy);
    add("https_proxy", settings.https_proxy);
    add("no_proxy", settings.no_proxy);
    if (http_) add("AXLE_GIT_USERNAME", user_);
    add("AXLE_GIT_PASSWORD", password_);
    return program;
  }

  [[nodiscard]] Result<void> git(std::vector<std::string> words, bool local_too) const {
    return run_told({program(std::move(words), local_too), "git", git_.time_limit},
                    fmt::format("{} could not be fetched", shown()), git_.report);
  }

  /// What git calls `name`; nullopt: nothing.
  [[nodiscard]] std::optional<std::string> commit_called(const std::string& name) const {
    const auto asked = system::run_program(
        program(
            inside({"rev-parse", "--verify", "--quiet", "--end-of-options", name + "^{commit}"}),
            local_),
        {.time_limit = git_.time_limit, .errors = system::ErrorStream::dropped});
    if (!asked || asked->exit_code != 0) return std::nullopt;
    std::string commit = asked->out.substr(0, asked->out.find('\n'));
    return resolver::is_commit(commit) ? std::optional(std::move(commit)) : std::nullopt;
  }

  [[nodiscard]] Result<std::string> wanted_commit() const {
    const std::string& revision = source_.revision;
    if (revision.empty()) {
      if (auto head = commit_called("HEAD")) return *std::move(head);
      return fail(ErrorKind::not_found, fmt::format("{} has no commit", shown()));
    }
    for (const char* kind : {"refs/remotes/origin/", "refs/tags/", ""}) {
      if (auto commit = commit_called(kind + revision)) return *std::move(commit);
    }
    // No branch or tag leads to it, but the server may give it nevertheless.
    if (resolver::is_commit(revision) || revision.starts_with("refs/")) {
      if (auto done = git(inside({"fetch", "--quiet", "origin", "--", revision}), local_); !done)
        return std::unexpected(std::move(done).error());
      if (auto commit = commit_called("FETCH_HEAD")) return *std::move(commit);
    }
    return fail(ErrorKind::not_found, fmt::format("{} has no branch, tag or commit {}",
                                                  index::redact_url(source_.url), revision));
  }

  const resolver::SourceUrl& source_;
  const std::string& folder_;
  const GitSettings& git_;
  std::string url_;  ///< without a login that git is told otherwise
  std::string user_;
  std::string password_;
  bool http_ = false;
  bool local_ = false;
};

}  // namespace

Result<std::string> check_out(const resolver::SourceUrl& source, const std::string& folder,
                              const GitSettings& settings) {
  return Checkout(source, folder, settings).run();
}

}  // namespace axle::session

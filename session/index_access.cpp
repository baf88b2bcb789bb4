#include "session/index_access.h"

#include <chrono>
#include <filesystem>
#include <utility>

#include <fmt/core.h>

#include "foundation/system/program_run.h"
#include "foundation/text/ascii.h"
#include "index/http/credentials.h"
#include "index/http/netrc.h"
#include "index/http/url.h"
#include "installer/environment/environment.h"
#include "installer/file_access.h"
#include "session/input_file.h"
#include "session/variables.h"
#include "session/version.h"

namespace axle::session {

namespace {

/// Long enough to answer a prompt on the screen.
constexpr std::chrono::seconds keyring_limit{20};

Result<std::optional<std::string>> ask_keyring(const std::string& service,
                                               const std::string& user) {
  const auto program = installer::find_program("keyring", variable("PATH"));
  if (!program) {
    return fail(
        ErrorKind::io,
        fmt::format("{} requires a password for {}, but the program `keyring` is not on PATH",
                    service, user),
        "install the package keyring, or leave out --keyring-provider");
  }
  const auto answer =
      system::run_program({{*program, "get", service, user}}, {.time_limit = keyring_limit});
  if (!answer)
    return std::unexpected(installer::system_error("start", *program, answer.error().value()));
  if (answer->timed_out) {
    return fail(ErrorKind::io,
                fmt::format("`keyring get {} {}` did not answer within {} seconds", service, user,
                            keyring_limit.count()),
                "run it yourself: it may be waiting for a keyring to be unlocked");
  }
  if (answer->exit_code != 0 || answer->too_long) return std::nullopt;
  const std::string password = answer->out.substr(0, answer->out.find_first_of("\r\n"));
  if (password.empty()) return std::nullopt;
  return password;
}

Outcome<std::vector<index::NetrcEntry>> configured_netrc() {
  const std::string named = variable("NETRC");
  const std::string home = variable("HOME");
  if (named.empty() && home.empty()) return {};
  const std::string path = named.empty() ? home + "/.netrc" : named;
  note_looked_at(path);
  std::error_code error;
  const auto status = std::filesystem::status(path, error);
  if (status.type() == std::filesystem::file_type::not_found && named.empty()) return {};
  const bool readable =
      std::filesystem::is_regular_file(status) || std::filesystem::is_character_file(status);
  auto entries = readable ? index::read_netrc(path)
                          : fail(ErrorKind::io, fmt::format("{}: not a readable file", path));
  if (entries) return std::move(*entries);
  Error& failure = entries.error();
  return misused(failure.message, failure.hint.empty() && !named.empty()
                                      ? "NETRC names it: correct it or unset NETRC"
                                      : failure.hint);
}

}  // namespace

Outcome<index::TransportOptions> transport_options(const Settings& settings) {
  index::TransportOptions options;
  options.ca_file = settings.ca_file;
  options.ca_folder = settings.ca_folder;
  options.client_cert = settings.client_cert;
  options.http_proxy = settings.http_proxy;
  options.https_proxy = settings.https_proxy;
  options.no_proxy = settings.no_proxy;
  options.timeout_seconds = settings.timeout_seconds;
  options.retries = settings.retries;
  options.trusted_hosts = settings.trusted_hosts;
  options.user_agent = fmt::format("axle/{}", version);
  options.offline = settings.offline;
  if (settings.offline) return options;
  auto netrc = configured_netrc();
  if (!netrc) return std::unexpected(netrc.error());
  options.netrc = std::move(*netrc);
  if (settings.keyring_provider == KeyringProvider::subprocess) options.keyring = ask_keyring;
  for (const ConfiguredIndex& index : settings.indexes) {
    if (index.authenticate != index::Authenticate::when_known)
      options.logins.push_back({index::without_credentials(index.url), index.authenticate});
  }
  return options;
}

std::string url_with_login(const ConfiguredIndex& index) {
  if (index.name.empty() || !index::is_http_url(index.url)) return index.url;
  if (!index::url_credential(index.url).password.empty()) return index.url;
  std::string name;
  for (const char c : index.name) {
    const bool plain = text::is_ascii_letter(c) || text::is_ascii_digit(c);
    name += plain ? (c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c) : '_';
  }
  const std::string user = variable("UV_INDEX_" + name + "_USERNAME");
  const std::string password = variable("UV_INDEX_" + name + "_PASSWORD");
  if (user.empty() && password.empty()) return index.url;
  std::string url = index::without_credentials(index.url);
  std::string login = index::percent_encode(user, false);
  if (!password.empty()) login += ":" + index::percent_encode(password, false);
  return url.insert(url.find("//") + 2, login + "@");
}

}  // namespace axle::session

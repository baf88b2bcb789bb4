// index serve: an index over HTTP on this machine, for trying it.
#include <charconv>

#include <fmt/core.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "cli/command.h"
#include "cli/interruption.h"
#include "index/http/url.h"
#include "index/publish/static_index.h"
#include "index/serve/index_server.h"
#include "session/session.h"

namespace axle::cli {

namespace {

using nlohmann::ordered_json;

session::Outcome<index::ServerOptions> read_options(const session::Arguments& arguments) {
  index::ServerOptions options;
  if (arguments.has(session::Opt::host)) options.address = arguments.value(session::Opt::host);
  const std::string port = arguments.value(session::Opt::port);
  if (port.empty()) return options;
  const auto [end, error] = std::from_chars(port.data(), port.data() + port.size(), options.port);
  if (error == std::errc() && end == port.data() + port.size()) return options;
  return session::misused(fmt::format("--port is {}, not a number up to 65535", port));
}

}  // namespace

int run_index_serve(session::Session& session, Output& output) {
  const session::Arguments& arguments = session.arguments();
  const auto options = read_options(arguments);
  if (!options) return output.failure(options.error());
  const auto folder = index::resolved_path(arguments.positionals.front());
  if (!folder) return output.failure(session::failed(folder.error()).error());
  const auto server = index::serve_index(*folder, *options);
  if (!server) {
    const auto& error = server.error();
    return output.failure(error.kind == ErrorKind::malformed
                              ? session::misused(error.message, error.hint).error()
                              : session::failed(error).error());
  }
  const bool six = options->address.find(':') != std::string::npos;
  if (!index::is_loopback_host(six ? fmt::format("[{}]", options->address) : options->address))
    output.warn(fmt::format("everybody who reaches {} can read the index", options->address));
  const std::string& url = (*server)->url();
  // Before it is said where the index is: whoever reads that may end the server at once.
  end_by_signal_is_success();
  const int told = output.answer(
      {.text =
           [&] {
             return fmt::format(
                 "{} is at {}\ninstall from it: variant install --index-url {} ...\n", *folder, url,
                 url);
           },
       .json = [&]() -> ordered_json { return {{"folder", *folder}, {"index_url", url}}; }});
  if (told != 0) return told;
  for (;;) ::pause();
}

}  // namespace axle::cli

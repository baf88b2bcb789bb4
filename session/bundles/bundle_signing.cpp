#include "session/bundles/bundle_signing.h"

#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "foundation/system/program_run.h"
#include "foundation/system/whole_file.h"
#include "foundation/text/ascii.h"
#include "foundation/text/printable.h"
#include "index/bundle/bundle.h"
#include "index/http/local_files.h"
#include "installer/file_access.h"
#include "wheel/bundle/ssh_signature.h"

namespace axle::session {

namespace {

constexpr std::uint64_t longest_signature = 64U << 10;

}  // namespace

Result<std::string> sign_bundle_list(const std::string& list, const std::string& key,
                                     const std::string& folder) {
  const std::string message = folder + "/" + std::string(wheel::bundle_list_name);
  const std::string made = folder + "/" + std::string(wheel::bundle_signature_name);
  ::unlink(made.c_str());  // ssh-keygen would ask whether to replace it
  if (const std::error_code error = system::write_whole_file(message, list))
    return std::unexpected(installer::system_error("write", message, error.value()));
  const system::Program program{
      {"ssh-keygen", "-Y", "sign", "-f", key, "-n", std::string(index::bundle_namespace), message}};
  const auto ended = system::run_program(program, {.child = {.group = system::Group::shared}});
  if (!ended && ended.error() == std::errc::no_such_file_or_directory)
    return fail(ErrorKind::not_found, "the bundle cannot be signed: ssh-keygen is not on PATH",
                "install OpenSSH's client, or leave out --signing-key");
  if (!ended)
    return std::unexpected(installer::system_error("start", "ssh-keygen", ended.error().value()));
  if (ended->exit_code != 0)
    return fail(ErrorKind::unsupported,
                fmt::format("the bundle cannot be signed with {}: ssh-keygen says: {}", key,
                            text::printable(std::string(text::trim_ascii(ended->err)))),
                "name the file of a private SSH key, or of a public one whose other half your "
                "agent has");
  auto text = index::read_local_file(made, longest_signature);
  if (!text) return text;
  const auto signature = wheel::parse_ssh_signature(*text, made);
  if (!signature) return std::unexpected(signature.error());
  if (auto good = wheel::check_ssh_signature(*signature, list, key); !good)
    return std::unexpected(std::move(good).error());
  return text;
}

}  // namespace axle::session

// pip's, uv's and our files and the supported lists of the command line: read, or refused by name.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "session/settings/axle_config.h"
#include "session/settings/layer.h"
#include "session/supported_lists.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::session;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto pip = parse_pip_config(text, "pip.conf");
  if (!pip && !pip.error().message.starts_with("pip.conf:")) std::abort();
  const auto uv = parse_uv_config(text, "uv.toml");
  if (!uv && !uv.error().message.starts_with("uv.toml")) std::abort();
  const auto project = parse_project_config(text, "pyproject.toml");
  if (!project && !project.error().message.starts_with("pyproject.toml:")) std::abort();
  const auto user = parse_user_config(text, "config.toml");
  if (!user && !user.error().message.starts_with("config.toml:")) std::abort();
  const auto lists = parse_supported_lists(text, "lists");
  if (!lists && !lists.error().message.starts_with("lists")) std::abort();
  return 0;
}

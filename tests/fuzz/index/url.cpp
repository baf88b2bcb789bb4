// Any reference against any base: what comes out stays what it is when resolved again.
#include "index/http/url.h"

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "index/http/credentials.h"
#include "index/http/redaction.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace axle::index;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::size_t line = text.find('\n');
  const std::string_view reference = text.substr(0, line);
  const std::string_view base =
      line == std::string_view::npos ? "http://a/b/c/d;p?q" : text.substr(line + 1);
  const std::string resolved = resolve_url(base, reference);
  if (!split_url(resolved).scheme.empty() && resolve_url("http://x/", resolved) != resolved &&
      resolve_url("http://x/", resolve_url("http://x/", resolved)) !=
          resolve_url("http://x/", resolved)) {
    std::abort();
  }
  if (split_url(without_credentials(text)).authority.find('@') != std::string_view::npos)
    std::abort();
  if (url_credential(without_credentials(text)).user.size() > 0) std::abort();
  // A word that is a URL with a login keeps none of it.
  const std::string login = "user:secret@";
  const bool plain = reference.find_first_of(" \t\r\n@") == std::string_view::npos;
  const std::string with_login = "https://" + login + std::string(reference);
  if (plain && redact_url(with_login).find("secret") != std::string::npos &&
      reference.find("secret") == std::string_view::npos) {
    std::abort();
  }
  (void)redact_url(text);
  if (const auto path = file_path(text); path && file_path(file_url(*path)).value() != *path) {
    std::abort();
  }
  if (percent_decode(percent_encode(text, false)) != text) std::abort();
  if (url_file_name(text).size() > text.size()) std::abort();
  if (!url_origin(text).empty() && !is_http_url(text)) std::abort();
  return 0;
}

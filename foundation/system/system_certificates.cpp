#include "foundation/system/system_certificates.h"

#include <algorithm>

#include <sys/stat.h>
#include <unistd.h>

namespace axle::system {

const std::vector<std::string>& known_certificate_files() {
  static const std::vector<std::string> files = {
      "/etc/ssl/certs/ca-certificates.crt",                 // Debian, Arch, Gentoo
      "/etc/pki/tls/certs/ca-bundle.crt",                   // Red Hat, Fedora
      "/etc/ssl/ca-bundle.pem",                             // SUSE
      "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",  // Red Hat without the links
      "/var/lib/ca-certificates/ca-bundle.pem",             // SUSE without the links
      "/etc/ssl/cert.pem",                                  // OpenSSL's own
  };
  return files;
}

std::string find_certificates(const std::vector<std::string>& files) {
  const auto found = std::ranges::find_if(files, [](const std::string& file) {
    struct stat status = {};
    return ::stat(file.c_str(), &status) == 0 && S_ISREG(status.st_mode) &&
           ::access(file.c_str(), R_OK) == 0;
  });
  return found == files.end() ? std::string() : *found;
}

}  // namespace axle::system

#pragma once
// Where the system keeps the certificates of the authorities that it trusts. A library of the
// system knows; one that is linked in cannot: the program runs on many distributions.

#include <string>
#include <vector>

namespace axle::system {

/// Bundles in PEM, in the order in which they are tried: Debian's first, which others keep too.
[[nodiscard]] const std::vector<std::string>& known_certificate_files();

/// The first of `files` that is a readable file; empty: none is.
[[nodiscard]] std::string find_certificates(const std::vector<std::string>& files);

}  // namespace axle::system

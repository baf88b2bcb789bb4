#include "foundation/system/system_certificates.h"

#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/scratch.h"

using namespace axle::system;

TEST_CASE("the first file of certificates that is there counts, a folder of that name does not") {
  const axle::builder::testing::Scratch scratch;
  const std::string absent = scratch.at("absent.pem");
  const std::string folder = scratch.at("folder.pem");
  std::filesystem::create_directory(folder);
  scratch.write("first.pem", "-----BEGIN CERTIFICATE-----\n");
  scratch.write("second.pem", "-----BEGIN CERTIFICATE-----\n");
  CHECK(find_certificates({absent, folder, scratch.at("first.pem"), scratch.at("second.pem")}) ==
        scratch.at("first.pem"));
  CHECK(find_certificates({absent, folder}).empty());
  CHECK(find_certificates({}).empty());
}

TEST_CASE("a link to the certificates is followed") {
  const axle::builder::testing::Scratch scratch;
  scratch.write("bundle.pem", "-----BEGIN CERTIFICATE-----\n");
  std::filesystem::create_symlink(scratch.at("bundle.pem"), scratch.at("link.pem"));
  std::filesystem::create_symlink(scratch.at("absent.pem"), scratch.at("dangling.pem"));
  CHECK(find_certificates({scratch.at("dangling.pem"), scratch.at("link.pem")}) ==
        scratch.at("link.pem"));
}

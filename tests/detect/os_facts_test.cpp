#include "detect/os_facts.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

TEST_CASE("os-release values are quoted as the shell quotes") {
  CHECK(parse_os_release("NAME=x\nPRETTY_NAME=\"Debian GNU/Linux 12 (bookworm)\"\n") ==
        "Debian GNU/Linux 12 (bookworm)");
  CHECK(parse_os_release("PRETTY_NAME='Alpine Linux v3.20'") == "Alpine Linux v3.20");
  CHECK(parse_os_release("PRETTY_NAME=Void") == "Void");
  CHECK(parse_os_release(R"(PRETTY_NAME="a \"b\" \\ \$c")") == R"(a "b" \ $c)");
  CHECK(parse_os_release("NAME=Arch\n") == "Arch");
  CHECK(parse_os_release("NAME=\"Red Hat\"\nVERSION_ID=\"9.4\"\n") == "Red Hat 9.4");
  CHECK(parse_os_release("# PRETTY_NAME=no\n").empty());
  CHECK(parse_os_release("PRETTY_NAMES=no\n").empty());
  CHECK(parse_os_release("").empty());
}

TEST_CASE("control characters of os-release reach no terminal") {
  CHECK(parse_os_release("PRETTY_NAME=\"a\x1b[31mb\"") == "a[31mb");
  CHECK(parse_os_release("PRETTY_NAME=" + std::string(1000, 'x')).size() == 128);
}

TEST_CASE("versions of C libraries") {
  CHECK(parse_glibc_version("glibc 2.36") == Libc{"glibc", 2, 36});
  CHECK(parse_glibc_version("glibc 2.28.9000") == Libc{"glibc", 2, 28});
  CHECK(parse_glibc_version("glibc two") == Libc{});
  CHECK(parse_glibc_version("") == Libc{});
  CHECK(parse_musl_banner("musl libc (x86_64)\nVersion 1.2.3\nDynamic Program Loader\n") ==
        Libc{"musl", 1, 2});
  CHECK(parse_musl_banner("musl libc") == Libc{"musl", 0, 0});
  CHECK(parse_musl_banner("GNU ld.so") == Libc{});
}

TEST_CASE("musl is known by its loader") {
  RecordedHost host;
  host.glibc = "";
  CHECK(probe_libc(host) == Libc{});
  host.files["/lib/ld-musl-x86_64.so.1"] = "";
  host.programs["/lib/ld-musl-x86_64.so.1"] = "musl libc (x86_64)\nVersion 1.2.5\n";
  CHECK(probe_libc(host) == Libc{"musl", 1, 2});
  host.glibc = "glibc 2.40";
  CHECK(probe_libc(host) == Libc{"glibc", 2, 40});
}

TEST_CASE("os-release has two places") {
  RecordedHost host;
  host.files["/usr/lib/os-release"] = "PRETTY_NAME=second\n";
  CHECK(probe_os(host, {"Linux", "6.1", "x86_64"}) == Os{"Linux", "6.1", "second"});
  host.files["/etc/os-release"] = "PRETTY_NAME=first\n";
  CHECK(probe_os(host, {"Linux", "6.1", "x86_64"}).name == "first");
}

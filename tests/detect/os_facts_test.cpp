#include "detect/os/os_facts.h"

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
  CHECK(parse_os_release("PRETTY_NAME=\"a\xC2\x9B"
                         "31m\xC2\xA0\xC3\xA4\"") == "a31m\xC2\xA0\xC3\xA4");
  CHECK(parse_os_release("PRETTY_NAME=a\xC2") == "a\xC2");
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
  CHECK(probe_libc(host) == Libc{"", 0, 0, {{"family", "no-loader"}, {"version", "no-loader"}}});
  host.files["/lib/ld-musl-x86_64.so.1"] = "";
  host.programs["/lib/ld-musl-x86_64.so.1"] = "musl libc (x86_64)\nVersion 1.2.5\n";
  const std::string loader = "/lib/ld-musl-x86_64.so.1";
  CHECK(probe_libc(host) == Libc{"musl", 1, 2, {{"family", loader}, {"version", loader}}});
  host.glibc = "glibc 2.40";
  CHECK(probe_libc(host) == Libc{"glibc", 2, 40, {{"family", "confstr"}, {"version", "confstr"}}});
}

TEST_CASE("os-release has two places") {
  RecordedHost host;
  host.files["/usr/lib/os-release"] = "PRETTY_NAME=second\n";
  const Os os = probe_os(host, {"Linux", "6.1", "x86_64"});
  CHECK(os.system == "Linux");
  CHECK(os.kernel == "6.1");
  CHECK(os.name == "second");
  CHECK(os.container.empty());
  CHECK_FALSE(os.wsl);
  CHECK(os.tegra_release.empty());
  CHECK(os.sources == Sources{{"system", "uname"},
                              {"kernel", "uname"},
                              {"wsl", "uname"},
                              {"container", "no-mark"},
                              {"tegra_release", "/etc/nv_tegra_release"},
                              {"name", "/usr/lib/os-release"}});
  host.files["/etc/os-release"] = "PRETTY_NAME=first\n";
  CHECK(probe_os(host, {"Linux", "6.1", "x86_64"}).name == "first");
}

TEST_CASE("a system without os-release has no name, with the reason") {
  RecordedHost host;
  const Os os = probe_os(host, {"Linux", "6.1", "x86_64"});
  CHECK(os.name.empty());
  CHECK(os.sources.at("name") == "no-os-release");
}

TEST_CASE("Jetson Linux tells its release") {
  CHECK(parse_tegra_release("# R36 (release), REVISION: 4.3, GCID: 38968081, BOARD: generic, "
                            "EABI: aarch64, DATE: Wed Jan  8 01:49:37 UTC 2025\n# KERNEL_VARIANT: "
                            "oot\n") == "36.4.3");
  CHECK(parse_tegra_release("# R32 (release), REVISION: 7.1, GCID: 1") == "32.7.1");
  CHECK(parse_tegra_release("# R38 (release), REVISION: 2.0, GCID: 1") == "38.2.0");
  for (const char* text : {"", "# R", "# R36", "# R36 (release)", "# R36, REVISION: ", "R36",
                           "# RX (release), REVISION: 4.3", "# R36 (release), REVISION: .",
                           "# R36\n, REVISION: 4.3"}) {
    CAPTURE(text);
    CHECK(parse_tegra_release(text).empty());
  }
}

TEST_CASE("a Jetson is a Jetson by its release file") {
  RecordedHost host;
  host.files["/etc/nv_tegra_release"] = "# R36 (release), REVISION: 4.3, GCID: 38968081\n";
  const Os os = probe_os(host, {"Linux", "5.15.148-tegra", "aarch64"});
  CHECK(os.tegra_release == "36.4.3");
  CHECK(os.sources.at("tegra_release") == "/etc/nv_tegra_release");
}

TEST_CASE("WSL is known by Microsoft's kernels and, with one's own, by its registration") {
  RecordedHost host;
  const auto is_wsl = [&](const char* release) {
    return probe_os(host, {"Linux", release, "x86_64"}).wsl;
  };
  CHECK(is_wsl("5.15.153.1-microsoft-standard-WSL2"));
  CHECK(is_wsl("4.4.0-19041-Microsoft"));
  CHECK(is_wsl("6.6.36.3-mine-WSL2"));
  CHECK_FALSE(is_wsl("6.8.0-1015-azure"));
  host.files["/proc/sys/fs/binfmt_misc/WSLInterop"] = "enabled\n";
  CHECK(is_wsl("6.12.0"));
  CHECK(probe_os(host, {"Linux", "6.12.0", "x86_64"}).sources.at("wsl") ==
        "/proc/sys/fs/binfmt_misc/WSLInterop");
}

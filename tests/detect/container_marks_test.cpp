#include "detect/os/container_marks.h"

#include <doctest/doctest.h>

#include "tests/support/recorded_host.h"

using namespace axle::detect;
using axle::testing::RecordedHost;

namespace {

const ContainerMark none{"", "no-mark"};

}  // namespace

TEST_CASE("a machine without marks is not a container") {
  RecordedHost host;
  CHECK(look_for_container(host) == none);
  // systemd as the first process of a real machine, and a cgroup name space.
  host.files["/proc/1/cgroup"] = "0::/init.scope\n";
  CHECK(look_for_container(host) == none);
  host.files["/proc/1/cgroup"] = "0::/\n";
  CHECK(look_for_container(host) == none);
}

TEST_CASE("docker leaves an empty file") {
  RecordedHost host;
  host.files["/.dockerenv"] = "";
  CHECK(look_for_container(host) == ContainerMark{"docker", "/.dockerenv"});
}

TEST_CASE("podman is found with its name and version") {
  RecordedHost host;
  host.files["/run/.containerenv"] =
      "engine=\"podman-4.3.1\"\nname=\"thirsty_pike\"\nid=\"0\"\nimage=\"debian\"\nrootless=1\n";
  CHECK(look_for_container(host) == ContainerMark{"podman", "/run/.containerenv"});
  host.files["/run/.containerenv"] = "";
  CHECK(look_for_container(host).kind == "podman");
  CHECK(parse_containerenv("engine=\"buildah-1.28.2\"\n") == "buildah");
  CHECK(parse_containerenv("engine=\"\x1b[31m\"\n") == "podman");
  CHECK(parse_containerenv("name=\"engine=x\"\n") == "podman");
}

TEST_CASE("podman's file is only readable for root, but others can see that it exists") {
  RecordedHost host;
  host.files["/run/.containerenv"] = "engine=\"buildah-1.28.2\"\n";
  host.refused.insert("/run/.containerenv");
  CHECK(look_for_container(host) == ContainerMark{"podman", "/run/.containerenv"});
}

TEST_CASE("Kubernetes takes precedence over the engine that it uses") {
  RecordedHost host;
  host.files["/.dockerenv"] = "";
  host.variables["KUBERNETES_SERVICE_HOST"] = "10.0.0.1";
  CHECK(look_for_container(host) == ContainerMark{"kubernetes", "KUBERNETES_SERVICE_HOST"});
  host.variables["KUBERNETES_SERVICE_HOST"] = "";
  CHECK(look_for_container(host).kind == "docker");
  host.files["/proc/1/cgroup"] =
      "11:devices:/kubepods/besteffort/pod4b3f/5c1e\n0::/kubepods.slice/x\n";
  CHECK(look_for_container(host) == ContainerMark{"kubernetes", "/proc/1/cgroup"});
}

TEST_CASE("managers of systemd's interface say their own name") {
  RecordedHost host;
  host.files["/run/systemd/container"] = "systemd-nspawn\n";
  CHECK(look_for_container(host) == ContainerMark{"systemd-nspawn", "/run/systemd/container"});
  host.files["/run/systemd/container"] = "lxc";
  CHECK(look_for_container(host).kind == "lxc");
  host.files["/run/systemd/container"] = "wsl\n";
  CHECK(look_for_container(host) == none);
  host.files.clear();
  host.variables["container"] = "oci";
  CHECK(look_for_container(host) == ContainerMark{"oci", "container"});
  host.variables["container"] = "an odd; word";
  CHECK(look_for_container(host) == none);
}

TEST_CASE("Apptainer and Singularity have a folder") {
  RecordedHost host;
  host.files["/.singularity.d/runscript"] = "";
  CHECK(look_for_container(host) == ContainerMark{"apptainer", "/.singularity.d"});
}

TEST_CASE("the first process's cgroup shows it unless a namespace hides it") {
  CHECK(parse_container_cgroup("12:pids:/docker/0123456789abcdef\n") == "docker");
  CHECK(parse_container_cgroup("0::/system.slice/docker-0123.scope\n") == "docker");
  CHECK(parse_container_cgroup("1:name=systemd:/lxc/ct1\n") == "lxc");
  CHECK(parse_container_cgroup("0::/lxc.payload.ct1/init.scope\n") == "lxc");
  CHECK(parse_container_cgroup("0::/machine.slice/libpod-0123.scope\n") == "podman");
  CHECK(parse_container_cgroup("0::/user.slice/user-1000.slice\n").empty());
  RecordedHost host;
  host.files["/proc/1/cgroup"] = "12:pids:/docker/0123456789abcdef\n";
  CHECK(look_for_container(host) == ContainerMark{"docker", "/proc/1/cgroup"});
}

TEST_CASE("a manager's word is one plain word") {
  CHECK(parse_container_word("docker\n") == "docker");
  CHECK(parse_container_word("a\nb") == "a");
  CHECK(parse_container_word("").empty());
  CHECK(parse_container_word("Docker").empty());
  CHECK(parse_container_word(std::string(33, 'a')).empty());
}

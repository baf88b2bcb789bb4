"""Which tags an interpreter accepts, in which order: packaging_differential.py's cases."""

import platform
import sys
import sysconfig

from packaging import _manylinux, _musllinux, tags

from packaging_known import NEWEST

def linux_platforms(architecture, libc, major, minor):
    """The platforms that `packaging` finds on a machine described by its arguments."""
    saved = (_manylinux._get_glibc_version, _manylinux._have_compatible_abi, _musllinux._get_musl_version,
             sysconfig.get_platform)
    known = {"x86_64", "aarch64", "ppc64", "ppc64le", "s390x", "loongarch64", "riscv64", "i686", "armv7l",
             "armv8l"}
    try:
        glibc = (major, minor) if libc == "glibc" else (-1, -1)
        _manylinux._get_glibc_version = lambda: _manylinux._GLibCVersion(*glibc)
        _manylinux._have_compatible_abi = lambda *_: architecture in known
        musl = _musllinux._MuslVersion(major, minor) if libc == "musl" else None
        _musllinux._get_musl_version = lambda _: musl
        sysconfig.get_platform = lambda: f"linux-{architecture}"
        return list(tags._linux_platforms(is_32bit=False))
    finally:
        (_manylinux._get_glibc_version, _manylinux._have_compatible_abi, _musllinux._get_musl_version,
         sysconfig.get_platform) = saved


def linux_first(run, platforms):
    """The newest order, whatever the release."""
    if not run.differs("linux-first"):
        return platforms
    return sorted(platforms, key=lambda platform: not platform.startswith("linux_"))


def generated_tags(run, implementation, minor, abis, platforms):
    version = (3, minor)
    interpreter = f"{implementation}3{minor}"
    if implementation == "cp":
        first = list(tags.cpython_tags(version, abis, platforms))
    else:
        first = list(tags.generic_tags(interpreter, abis, platforms))
    last = {"cp": interpreter, "pp": "pp3"}.get(implementation)
    return [str(tag) for tag in first + list(compatible(version, last, platforms))]


def compatible(version, interpreter, platforms):
    """compatible_tags takes no interpreter for "find out": one that is known to have none is left out."""
    for tag in tags.compatible_tags(version, interpreter or "none0", platforms):
        if tag.interpreter != "none0":
            yield tag


def this_interpreter(run):
    libc = platform.libc_ver()
    if sys.implementation.name != "cpython" or platform.system() != "Linux" or libc[0] != "glibc":
        print("not compared: the tags of this interpreter, which is not CPython on Linux with glibc")
        return
    major, minor = libc[1].split(".")[:2]
    expect = [str(tag) for tag in tags.sys_tags()]
    if run.release < NEWEST:
        platforms = linux_first(run, list(tags.platform_tags()))
        expect = generated_tags(run, "cp", sys.version_info[1], None, platforms)
        if sorted(expect) != sorted(str(tag) for tag in tags.sys_tags()):
            raise AssertionError("the reordered tags are not those of sys_tags")
    abiflags = sys.abiflags if "t" not in sys.abiflags else ""
    own = f"cp3{sys.version_info[1]}{sys.abiflags}"
    run.ask("tags", "cp", "3", str(sys.version_info[1]),
            f"{own},{own.replace('d', '')}" if abiflags else "",
            "1" if "t" in sys.abiflags else "0", platform.machine(), "glibc", major, minor, "",
            expect=expect, read=lambda answer: answer.split("\t"))


def tag_cases(run, texts, rng):
    run.begin("tags")
    this_interpreter(run)
    for _ in range(200):
        architecture = rng.choice(["x86_64", "aarch64", "i686", "ppc64le", "s390x", "riscv64", "armv7l",
                                   "armv8l", "mips64"])
        libc, major, minor = rng.choice([("glibc", 2, rng.randint(3, 45)), ("musl", 1, rng.randint(0, 3)),
                                         ("", 0, 0)])
        implementation = rng.choice(["cp", "cp", "cp", "pp", "graalpy"])
        python = rng.randint(2, 16) if implementation == "cp" else rng.randint(8, 12)
        free_threaded = implementation == "cp" and python >= 13 and rng.randrange(3) == 0
        if implementation == "cp":
            suffix = "t" if free_threaded else "m" if python < 8 else ""
            abi, abis = "", [f"cp3{python}{suffix}"]
            if python >= 8 and rng.randrange(5) == 0:
                abis.insert(0, f"cp3{python}{suffix}d")
                abi = ",".join(abis)
        else:
            abi = "pypy310_pp73" if implementation == "pp" else "graalpy_310_native"
            abis = [abi]
        if free_threaded and run.differs("free-threaded"):
            continue
        if architecture == "armv8l" and run.differs("armv8l"):
            continue
        platforms = linux_first(run, linux_platforms(architecture, libc, major, minor))
        run.ask("tags", implementation, "3", str(python), abi, "1" if free_threaded else "0", architecture,
                libc, str(major), str(minor), "",
                expect=generated_tags(run, implementation, python, abis, platforms),
                read=lambda answer: answer.split("\t"))
    mac_cases(run)
    windows_cases(run)
    stated_cases(run, rng)


def mac_cases(run):
    """Every version of macOS, every architecture and format; with them the tags of an interpreter."""
    versions = [(10, minor) for minor in range(17)] + [(major, minor) for major in range(11, 31) for minor in (0, 4)]
    versions += [(9, 0), (10, 99), (2, 3)]
    for version in versions:
        for architecture in ("arm64", "x86_64", "i386", "ppc64", "ppc", "universal2", "intel", "universal"):
            platforms = list(tags.mac_platforms(version, architecture))
            if any(one.endswith("_fat32") for one in platforms) and run.differs("fat3"):
                platforms = [one.replace("_fat32", "_fat3") for one in platforms]
            run.ask("mac", *map(str, version), architecture, expect=platforms,
                    read=lambda answer: answer.split("\t") if answer else [])
            if architecture in ("arm64", "x86_64") and version >= (11, 0):
                run.ask("tags", "cp", "3", "12", "", "0", architecture, "", "0", "0", ",".join(platforms),
                        expect=generated_tags(run, "cp", 12, ["cp312"], platforms), read=lambda answer: answer.split("\t"))


def windows_cases(run):
    saved = sysconfig.get_platform
    try:
        for architecture, name in (("x86_64", "win-amd64"), ("aarch64", "win-arm64"), ("i686", "win32")):
            sysconfig.get_platform = lambda name=name: name
            run.ask("windows", architecture, expect=list(tags._generic_platforms()), read=lambda answer: answer.split("\t"))
    finally:
        sysconfig.get_platform = saved


def stated_cases(run, rng):
    """What --abi and --platform state is used as it is."""
    known = ["any", "linux_x86_64", "manylinux2014_x86_64", "manylinux2010_x86_64", "manylinux_2_28_x86_64",
             "musllinux_1_2_x86_64"]
    for _ in range(200):
        implementation = rng.choice(["cp", "cp", "pp"])
        python = rng.randint(8, 15)
        abis = rng.sample([f"cp3{python}", f"cp3{python}t", f"cp3{python - 1}", f"pypy3{python}_pp73", "abi3", "none"],
                          rng.randint(1, 4))
        if any(abi.endswith("t") for abi in abis) and run.differs("free-threaded"):
            continue
        if implementation == "pp":
            abis = [abi for abi in abis if abi != "none"] or ["abi3"]
        platforms = rng.sample(known, rng.randint(1, 4))
        run.ask("tags", implementation, "3", str(python), ",".join(abis), "0", "x86_64", "glibc", "2", "36",
                ",".join(platforms), expect=generated_tags(run, implementation, python, abis, platforms),
                read=lambda answer: answer.split("\t"))



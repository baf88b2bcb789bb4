"""What the tests of commands for several machines share: the machines, and an index from which each gets other files."""

from support import Wheel, publish_levels

MACHINES = ("x86_64:v2", "x86_64:v3", "x86_64:v4", "gh200")


def fleet(machines=MACHINES):
    """As words of a command."""
    return [word for machine in machines for word in ("--for", machine)]


def publish_for_fleet(index):
    """A package with a variant for each level, one that is newer on Arm, where it needs another, and that one."""
    publish_levels(index, plain=False, requires=["plain>=1"])
    index.add_wheel(Wheel("plain", "1.0"))
    index.add_wheel(Wheel("plain", "2.0", tags="py3-none-manylinux_2_17_aarch64", requires=["arm"]))
    index.add_wheel(Wheel("arm", "1.0"))

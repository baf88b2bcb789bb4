"""The provider of the namespace `acme` (PEP 850): what devices.py finds, as properties, best first.

Installers import this module in a sandbox: no network, no writing, no programs, a time limit. So it imports
little and does nothing before it is asked.
"""

from dataclasses import dataclass

from . import devices

# The kernel's own memory devices: on every Linux, so that you see something at once. Put the class of your
# driver here.
CLASS_FOLDER = "/sys/class/mem"


@dataclass(frozen=True)
class FeatureConfig:
    """One feature and its values, the most preferred first."""

    name: str
    multi_value: bool
    values: list


def _configs(names):
    if not names:
        return []
    return [
        # A wheel may carry code for several devices, and runs where one of them is.
        FeatureConfig("device", True, list(names)),
        # "At least so many": a machine with three supports wheels that ask for three, two or one.
        FeatureConfig("count", False, [str(count) for count in range(len(names), 0, -1)]),
    ]


def get_supported_configs():
    """What this machine supports; nothing where no device is."""
    return _configs(devices.find(CLASS_FOLDER))


def get_all_configs():
    """Every property that any machine may support, the same on every machine."""
    return _configs(devices.KNOWN)

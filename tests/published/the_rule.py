"""The rule, transcribed once more: what the published providers say of a machine, and which variant is best.

Nothing of the product is used here; the sources are the plugins (nvidia-variant-provider 0.0.2, amd-variant-provider
0.0.2, intel-variant-provider 0.0.3) and PEP 825, with the tables of the older documents before the lists.
"""


def nvidia_lists(machine):
    if machine.cuda is None or not (11, 0) <= machine.cuda <= (15, 20):
        return []
    major, minor = machine.cuda

    def versions(of, high, low):
        return [f"{of}.{m}" for m in range(high, low - 1, -1)]

    lower = versions(major, minor, 0) + [str(major)]
    for older in range(major - 1, 10, -1):
        lower += versions(older, 20, 0) + [str(older)]
    upper = []
    for newer in range(15, major, -1):
        upper += versions(newer, 20, 0) + [str(newer)]
    upper += versions(major, 20, minor + 1)
    lists = [("cuda_version_lower_bound", lower)]
    if upper:
        lists.append(("cuda_version_upper_bound", upper))
    if machine.sm and machine.sm >= (5, 0):
        sm_major, sm_minor = machine.sm
        lists.append(("sm_arch", [f"{sm_major}{m}_real" for m in range(sm_minor, -1, -1)] + [f"{sm_major}0_virtual"]))
    return lists


def amd_lists(machine):
    known = {"gfx900", "gfx906", "gfx908", "gfx90a", "gfx942", "gfx1030", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"}
    lists = []
    if machine.gfx and set(machine.gfx) <= known:
        lists.append(("gfx_arch", list(machine.gfx)))
    if machine.rocm:
        lists.append(("rocm_version", [machine.rocm]))
    return lists


INTEL_BASES = {
    "30.5.4": "30.0.4", "30.4.4": "30.0.4", "30.3.1": "30.0.4", "30.1.0": "30.0.4", "20.4.4": "20.1.0",
    "20.2.0": "20.1.0", "12.71.4": "12.70.4", "12.57.0": "12.55.8", "12.56.5": "12.55.8",
}


def intel_lists(machine):
    values = []
    for ip in machine.ip:
        values += [one for one in (ip, INTEL_BASES.get(ip)) if one and one not in values]
    return [("device_ip", values)] if values else []


def lists_of(machine, document):
    """namespace -> [(feature, values)], both best first."""
    lists = {"nvidia": nvidia_lists(machine), "amd": amd_lists(machine), "intel": intel_lists(machine)}
    if "priority" in document["providers"]:
        provider = document["providers"]["priority"]
        table = (provider.get("static-properties") or document.get("static-properties", {}).get("priority")
                 or document["default-priorities"]["property"]["priority"])
        lists["priority"] = list(table.items())
    return lists


def reordered(listed, first):
    return [one for one in first if one in listed] + [one for one in listed if one not in first]


def rank(document, lists):
    """The labels that fit, best first."""
    priorities = document["default-priorities"]
    places = {}
    for ns_index, ns in enumerate(priorities["namespace"]):
        supported = dict(lists.get(ns, []))
        features = reordered(list(supported), priorities.get("feature", {}).get(ns, []))
        for feature_index, feature in enumerate(features):
            values = reordered(supported[feature], priorities.get("property", {}).get(ns, {}).get(feature, []))
            for value_index, value in enumerate(values):
                places[ns, feature, value] = (ns_index, feature_index, value_index)
    fitting = []
    for label, namespaces in document["variants"].items():
        keys = [min((places[ns, feature, value] for value in values if (ns, feature, value) in places), default=None)
                for ns, features in namespaces.items() for feature, values in features.items()]
        if None not in keys:
            # The shorter of two equal beginnings comes later: the end is worse than any key.
            fitting.append((not keys, sorted(keys) + [(1 << 30,)], label))
    return [label for _, _, label in sorted(fitting)]


def expected_labels(publication, machine):
    """All that fit and have a wheel for the machine, best first; the plain wheel is behind them."""
    release = publication.release
    ranked = rank(publication.document, lists_of(machine, publication.document))
    there = {publication.label(label) for label, platforms in release.platforms.items()
             if any(platform.startswith(("manylinux", "linux")) and platform.endswith(machine.arch) for platform in platforms)}
    return [label for label in ranked if label in there]

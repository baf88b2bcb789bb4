"""Which releases of a world count where it has two indexes (docs/indexes.md)."""

import copy


def counted(world):
    """The world with those releases alone. Where the indexes come before the versions, the releases of an earlier one have
    a higher `place`."""
    strategy = world.get("strategy")
    world = copy.deepcopy(world) if strategy else world
    for package in world["packages"] if strategy else []:
        releases = package["releases"]
        if package.get("assigned"):
            kept = [one for one in releases if one["index"] == int(package["assigned"])]
        elif strategy == "first-index":
            kept = [one for one in releases if one["index"] == min(other["index"] for other in releases)]
        else:
            kept = releases
        for one in kept:
            one["place"] = -one["index"] if strategy == "unsafe-first-match" else 0
        package["releases"] = kept
    return world

"""A published release in each of the forms that it has or could have: as a document and as stand-in wheels."""

import json

from support import SCHEMA, Wheel
from torch_releases import LINUX, TORCH_8, TORCH_9, TORCH_10

SCHEMA_SITE = "https://variants-schema.wheelnext.dev/"


class Publication:
    """One release in one form; `name` says which, for messages and folders."""

    def __init__(self, release, name, document, tied=False):
        self.release, self.name, self.document = release, f"{release.version}-{name}", document
        self.tied = tied  # published before `priority` was there to break the tie of the CUDA 12 builds

    @property
    def is_draft(self):
        return self.document["$schema"] != SCHEMA

    @property
    def null(self):
        return self.release.null if self.is_draft else "null"

    def label(self, published):
        """The label of this form for one of the release's own."""
        return self.null if published == self.release.null else published


def draft_document(release, schema, lists):
    """0.0.x. `lists` says how the provider of `priority` is written, "plugin-use" (0.0.2) or "install-time" (0.0.3), and
    which tables have its values, "property", "static" or "both"; None: the namespace is not there at all."""
    namespaces = [ns for ns in release.namespaces if ns in release.providers or lists]
    document = {
        "$schema": schema,
        "default-priorities": {"namespace": namespaces},
        "providers": {},
        "variants": {
            label: {ns: features for ns, features in properties.items() if ns in namespaces}
            for label, properties in release.variants.items()
        },
    }
    for ns, (requirement, plugin_api, systems) in release.providers.items():
        document["providers"][ns] = {
            "enable-if": " or ".join(f"platform_system == '{system}'" for system in systems),
            "plugin-api": plugin_api,
            "requires": [requirement],
        }
    if "priority" in namespaces:
        switch, place = lists
        document["providers"]["priority"] = {switch: "none" if switch == "plugin-use" else False, "requires": []}
        table = {"priority": {"order": release.order}}
        if place in ("property", "both"):
            document["default-priorities"]["property"] = table
        if place in ("static", "both"):
            document["static-properties"] = table
    return document


def all_keys_written(document):
    """As the index was converted to 0.0.3: every key of that version stands there, empty ones too."""
    document["default-priorities"].setdefault("feature", {})
    document["default-priorities"].setdefault("property", {})
    document.setdefault("static-properties", {})
    for provider in document["providers"].values():
        provider.setdefault("install-time", True)
    return document


def stable_document(release):
    """0.2.0, as a maintainer would restate the release today. No `enable-if` there, and `null` is the only name of the
    null variant."""
    providers = {ns: {"requires": [requirement.replace(">=0.0.2", ">=0.0.1") if ns == "nvidia" else requirement],
                      "plugin-api": plugin_api}
                 for ns, (requirement, plugin_api, _) in release.providers.items()}
    if release.order:
        providers["priority"] = {"static-properties": {"order": release.order}}
    return {
        "$schema": SCHEMA,
        "default-priorities": {"namespace": release.namespaces},
        "providers": providers,
        "variants": {
            "null" if label == release.null else label:
                {ns: {feature: sorted(values) for feature, values in features.items()} for ns, features in properties.items()}
            for label, properties in release.variants.items()
        },
    }


def publications():
    two, three = SCHEMA_SITE + "v0.0.2.json", SCHEMA_SITE + "v0.0.3.json"
    found = [
        Publication(TORCH_8, "unversioned", draft_document(TORCH_8, SCHEMA_SITE, None)),
        Publication(TORCH_8, "0.0.2", draft_document(TORCH_8, two, None)),
        Publication(TORCH_8, "0.0.3", all_keys_written(draft_document(TORCH_8, three, None))),
        Publication(TORCH_9, "0.0.2-first", draft_document(TORCH_9, two, None), tied=True),
        Publication(TORCH_9, "0.0.2", draft_document(TORCH_9, two, ("plugin-use", "property"))),
        Publication(TORCH_9, "0.0.3", all_keys_written(draft_document(TORCH_9, three, ("install-time", "both")))),
        Publication(TORCH_10, "0.0.3-first", draft_document(TORCH_10, three, ("install-time", "property"))),
        Publication(TORCH_10, "0.0.3", draft_document(TORCH_10, three, ("install-time", "static"))),
    ]
    return found + [Publication(one, "0.2.0", stable_document(one)) for one in (TORCH_8, TORCH_9, TORCH_10)]


def stand_ins(publication, python_minor, payload):
    """The wheels of a release under their own names, and one plain wheel beside them. `payload(file name)` is the bulk."""
    release = publication.release
    requires = [f"{requirement}; {marker}" for requirement, marker, _ in release.dependencies]
    for published, platforms in [*release.platforms.items(), (None, [LINUX])]:
        label = publication.label(published) if published else None
        for platform in platforms:
            yield Wheel("torch", release.version, label, publication.document if label else None,
                        files={"torch/__init__.py": f"__version__ = {release.version!r}\nVARIANT = {label!r}\n",
                               "torch/lib/libtorch.so": payload(f"{label}-{platform}")},
                        requires=requires, tags=f"cp3{python_minor}-cp3{python_minor}-{platform}")
    for published in release.variants:
        label = publication.label(published)
        yield Wheel("torchvision", release.companion, label, publication.document,
                    files={"torchvision/__init__.py": f"VARIANT = {label!r}\n"}, requires=[f"torch=={release.version}"],
                    tags=f"cp3{python_minor}-cp3{python_minor}-linux_x86_64")


def needed_wheels(release):
    """What the dependencies of the release name, as empty wheels."""
    for requirement, _, _ in release.dependencies:
        name, version = requirement.split("==")
        yield Wheel(name, version)


def publish(index, publication, python_minor, variants_file=True, payload=lambda name: b"\0" * 2000):
    for wheel in stand_ins(publication, python_minor, payload):
        index.add_wheel(wheel)
    for wheel in needed_wheels(publication.release):
        index.add_wheel(wheel)
    if variants_file:
        text = json.dumps(publication.document, indent=4)
        index.add_variants("torch", publication.release.version, text)
        index.add_variants("torchvision", publication.release.companion, text)

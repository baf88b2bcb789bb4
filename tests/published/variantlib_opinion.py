"""Asks variantlib, the reference tool, to order releases: run by an interpreter that can import it.

stdin: one JSON object a line, {"document": ..., "supported": [[namespace, feature, value], ...] best first}.
stdout: one JSON list of labels a line, null for a document that this variantlib does not read: of another version, or
broken by its own rules, as 2.10.0 was until it had its static list.
"""

import importlib.metadata
import json
import sys

importlib.metadata.distributions = lambda *arguments, **options: []  # else it adds what is installed (abi_dependency)


def by_the_resolver(document, supported):
    """0.0.x: the sorting itself, with the lists handed in. It refuses the label `00000000`, under which 2.8.0 was
    published, so the null variant goes in as `null`."""
    from variantlib.errors import ValidationError
    from variantlib.models.variant import VariantProperty
    from variantlib.resolver.lib import sort_and_filter_supported_variants
    from variantlib.variants_json import VariantsJson

    null = next(label for label, properties in document["variants"].items() if not properties)
    document["variants"] = {"null" if label == null else label: one for label, one in document["variants"].items()}
    try:
        release = VariantsJson(document)
    except ValidationError:
        return None
    labels = {one.hexdigest: null if label == "null" else label for label, one in release.variants.items()}
    found = sort_and_filter_supported_variants(
        list(release.variants.values()), [VariantProperty(*one) for one in supported],
        release.namespace_priorities, release.feature_priorities, release.property_priorities)
    return [labels[one.hexdigest] for one in found if one.hexdigest in labels]


def by_static_lists(document, supported):
    """0.2.x: every provider becomes a static one with the same lists, so that no plugin is asked."""
    from variantlib.api import get_variants_by_priority

    fixed = json.loads(json.dumps(document))
    for ns in document["providers"]:
        lists = {}
        for one_ns, feature, value in supported:
            if one_ns == ns:
                lists.setdefault(feature, []).append(value)
        fixed["providers"][ns] = (
            {"static-properties": lists, "feature-order": list(lists)} if lists
            else {"requires": ["nobody-has-this"], "optional": True})
    return [one.label for one in get_variants_by_priority(variants_json=fixed)]


def main():
    import variantlib

    drafts = variantlib.__version__.startswith("0.0.")
    for line in sys.stdin:
        question = json.loads(line)
        version = question["document"]["$schema"].rsplit("/", 1)[-1]
        answer = None
        if drafts and version == f"v{variantlib.__version__}.json":
            answer = by_the_resolver(**question)
        elif not drafts and version == "v0.2.0.json":
            answer = by_static_lists(**question)
        print(json.dumps(answer))
    print(f"variantlib {variantlib.__version__}", file=sys.stderr)


if __name__ == "__main__":
    main()

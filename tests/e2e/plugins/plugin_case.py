"""What the tests of provider plugins share: a release whose variants need one, and plugins that answer."""

from support import Index, TestCase, Wheel, variant_document

CONFIG = '''
class Config:
    def __init__(self, name, values, multi_value=True):
        self.name, self.values, self.multi_value = name, values, multi_value
'''
NEW = CONFIG + '''
print("chatter on stdout")
def get_supported_configs():
    return [Config("speed", ["fast", "slow"])]
def get_all_configs():
    return [Config("speed", ["fastest", "fast", "slow"])]
'''
OLD = CONFIG + '''
class Plugin:
    namespace = "acme"
    def get_supported_configs(self, known_properties):
        return [Config("speed", ["fast", "slow"])]
'''
ANSWER = '''
import json, sys
print(json.dumps({"namespace": "acme", "features": [
    {"name": "speed", "multi_value": True, "values": ["fast", "slow"]}]}))
'''
SPEEDS = {
    "null": [],
    "fastest": [("acme", "speed", ["fastest"])],
    "fast": [("acme", "speed", ["fast"])],
    "slow": [("acme", "speed", ["slow"])],
}


class PluginTestCase(TestCase):
    def setUp(self):
        super().setUp()
        self.make_venv()
        self.index = Index(self.root / "index")

    def publish(self, code=NEW, plugin_api=None, requires=("acme-provider",), version="1.0", **changes):
        """A plugin's package, and a package whose variants need it."""
        if code is not None:
            self.index.add_wheel(Wheel("acme-provider", version, files={"acme_provider.py": code}))
        provider = {"requires": list(requires), **changes}
        if plugin_api:
            provider["plugin-api"] = plugin_api
        document = variant_document(SPEEDS, ("acme",), {"acme": provider})
        for label in SPEEDS:
            self.index.add_wheel(Wheel("demo", "1.0", label, document))
        self.index.add_variants("demo", "1.0", document)

    def program(self, code, name="provider"):
        path = self.root / "tools" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/usr/bin/env python3\n" + code)
        path.chmod(0o755)
        return path

    def chosen(self, *options, **kwargs):
        result = self.assert_ok(self.install("--dry-run", "--json", "demo", *options, index=self.index, **kwargs))
        return result.json["packages"][0]["variant"], result

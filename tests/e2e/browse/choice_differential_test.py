"""The page's own answer beside that of `variant explain`: for every machine that is shipped, on generated packages."""

import json
import pathlib
import random
import re
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from browse.page_case import BrowserCase
from support import Wheel, variant_document

SEED = 20261127
TAGS = ["py3-none-any", "py3-none-manylinux_2_17_x86_64", "cp312-cp312-manylinux_2_28_x86_64", "cp312-abi3-manylinux_2_17_aarch64", "cp310-abi3-manylinux2014_x86_64",
        "cp312-cp312-musllinux_1_2_x86_64", "cp313-cp313-manylinux_2_28_x86_64", "py2.py3-none-any", "cp312-cp312-linux_aarch64", "cp312-none-any",
        "cp311-cp311-manylinux_2_17_x86_64.manylinux2014_x86_64", "cp312-cp312-win_amd64", "py312-none-any", "py3-none-win_arm64.win_amd64",
        "cp312-cp312-macosx_11_0_arm64", "cp312-abi3-macosx_10_13_universal2", "cp312-cp312-macosx_10_9_x86_64", "py3-none-macosx_14_0_arm64.macosx_15_0_x86_64",
        "cp312-cp312-macosx_26_0_arm64", "cp312-cp312-macosx_10_6_intel"]


def read_machines(path):
    return json.loads(re.fullmatch(r"globalThis\.variantMachines = (.*);\n", path.read_text(), re.S).group(1))


def values_of(told):
    """namespace -> feature -> every value that some machine supports."""
    found = {}
    for machine in told["machines"]:
        for ns, number in machine["lists"].items():
            for feature, values in told["lists"][number]:
                found.setdefault(ns, {}).setdefault(feature, set()).update(values)
    return {ns: {feature: sorted(values) for feature, values in sorted(features.items())} for ns, features in sorted(found.items())}


class DifferentialTest(BrowserCase):
    def generated(self, dice, known, number):
        """One release: a matrix over a few namespaces, with values that machines have and some that none has."""
        namespaces = dice.sample(sorted(known), dice.randint(1, min(3, len(known))))
        if number % 4 == 1:
            namespaces = ["nvidia", "x86_64"]
        own = number % 5 == 2
        providers = {ns: {"requires": [self.packages[ns]]} for ns in namespaces}
        if own:
            namespaces.append("site")
            providers["site"] = {"static-properties": {"rack": ["b", "a"], "net": ["ib"]}, "feature-order": ["net", "rack"]}
        if number % 7 == 3:
            namespaces.append("unknown")
            providers["unknown"] = {"requires": ["unknown-provider"]}
        variants = {"null": []} if dice.random() < .7 else {}
        for place in range(dice.randint(2, 8)):
            properties = []
            for ns in dice.sample(namespaces, dice.randint(1, len(namespaces))):
                features = {"site": {"rack": ["a", "b", "c"], "net": ["ib", "eth"]}, "unknown": {"thing": ["x"]}}.get(ns) or known[ns]
                for feature in dice.sample(sorted(features), min(len(features), dice.choice((1, 1, 2)))):
                    values = dice.sample(features[feature], min(len(features[feature]), dice.choice((1, 1, 2, 3))))
                    properties.append((ns, feature, values + (["nosuch"] if dice.random() < .1 else [])))
            variants[f"l{place}"] = properties
            if dice.random() < .4:
                # The same and more of it: which one is first is a question of its own. Either may have the lower label.
                ns = dice.choice([ns for ns in namespaces if ns in known])
                feature = dice.choice(sorted(known[ns]))
                if (ns, feature) not in {one[:2] for one in properties}:
                    variants[dice.choice((f"k{place}", f"m{place}"))] = properties + [(ns, feature, dice.sample(known[ns][feature], 1))]
        if number % 6 == 4:
            # One for each GPU: of machines with unlike ones each has to be served.
            for value in dice.sample(known["nvidia"]["sm_arch"], min(14, len(known["nvidia"]["sm_arch"]))):
                variants[f"sm{value}".replace("_", ".")] = [("nvidia", "sm_arch", [value])]
            if "nvidia" not in namespaces:
                namespaces.append("nvidia")
                providers["nvidia"] = {"requires": [self.packages["nvidia"]]}
        document = variant_document(variants, namespaces=dice.sample(namespaces, len(namespaces)), providers=providers)
        if number % 3 == 2 and not own:
            self.date_back(document, known, dice)
        version = f"{number + 1}.0"
        wheels = []
        for label in document["variants"]:
            for tags in dice.sample(TAGS, dice.choice((1, 1, 2, 3))):
                builds = dice.choice(((None,), (None,), (None, "2", "10"), ("3a", "3b")))
                for build in builds:
                    wheels.append(self.built(build, "demo", version, label, document, tags=tags, extra_metadata=dice.choice(("", "", "Requires-Python: >=3.9,!=3.11.*\n", "Requires-Python: >=3.13\n"))))
        if dice.random() < .5:
            wheels.append(Wheel("demo", version, tags=dice.choice(TAGS)))
        return wheels

    def chosen_by_hand(self):
        """What dice rarely throw: unlike GPUs (of rtx5090-rtx2080) that disagree, equal variants, a table that beats the machine's order."""
        unlike = {"a": ["120_real", "74_real"], "b": ["120_virtual", "75_real"], "first": ["120_real"], "second": ["75_real"], "same1": ["90_real"], "same2": ["90_real"]}
        gpus = variant_document({label: [("nvidia", "sm_arch", values)] for label, values in unlike.items()}, namespaces=("nvidia",))
        table = variant_document({"a": [("x86_64", "level", ["v3"])], "b": [("x86_64", "level", ["v2"])], "00000000": []})
        table["$schema"] = table["$schema"].replace("/peps/850", "").rsplit("/", 1)[0] + "/v0.0.3.json"
        table["default-priorities"] |= {"feature": {}, "property": {"x86_64": {"level": ["v2"]}}}
        return [Wheel("demo", version, label, document) for version, document in (("101.0", gpus), ("102.0", table)) for label in document["variants"]]

    def built(self, build, *arguments, **options):
        wheel = Wheel(*arguments, **options)
        if build:
            wheel.file_name = wheel.file_name.replace(f"-{wheel.version}-", f"-{wheel.version}-{build}-", 1)
        return wheel

    def date_back(self, document, known, dice):
        """As the first generation wrote it: tables of its own, markers, a null variant with another label."""
        document["$schema"] = document["$schema"].replace("/peps/850", "").rsplit("/", 1)[0] + "/v0.0.3.json"
        priorities = document["default-priorities"]
        priorities["feature"], priorities["property"] = {}, {}
        for ns in document["providers"]:
            features = sorted(known.get(ns, {"thing": ["x"]}))
            if dice.random() < .6:
                priorities["feature"][ns] = dice.sample(features, dice.randint(1, len(features)))
            if dice.random() < .6:
                named = {feature for one in document["variants"].values() for feature in one.get(ns, ())}
                feature = dice.choice(sorted(named) or features)
                used = {value for one in document["variants"].values() for value in one.get(ns, {}).get(feature, ())}
                values = sorted(used) or known.get(ns, {"thing": ["x"]})[feature]
                priorities["property"][ns] = {feature: dice.sample(values, dice.randint(1, len(values)))}
            if dice.random() < .4:
                document["providers"][ns]["enable-if"] = dice.choice(("platform_machine == 'x86_64'", "platform_machine == 'aarch64'", "platform_system == 'Linux'", "platform_system == 'Darwin'", "platform_machine == 'arm64'", "sys_platform != 'win32'", "platform_machine == 'AMD64'", "python_version < '3.5'"))
            if dice.random() < .3 and ns in priorities["property"]:
                document["providers"][ns] = {"install-time": False}
        if "null" in document["variants"]:
            document["variants"]["00000000"] = document["variants"].pop("null")

    def answers_of_the_page(self, names, version):
        """machine -> [chosen file, labels that fit, {label: reason} of those that do not]."""
        return self.browser.run(f"""(() => {{
            const field = document.getElementById("machine"), answers = {{}};
            const shown = [...document.querySelectorAll("details.release")].find((one) => one.dataset.version === {json.dumps(version)});
            for (const name of {json.dumps(names)}) {{
                field.value = name;
                field.dispatchEvent(new Event("change"));
                const chosen = shown.querySelector("tr.chosen a");
                const listed = (title) => {{
                    const head = [...shown.querySelectorAll(".reasons h4")].find((one) => one.textContent === title);
                    return head ? [...head.nextElementSibling.children] : [];
                }};
                const label = (one) => one.querySelector("code")?.textContent ?? null;
                const first = shown.querySelector("p.chosen code");
                const fits = [...(first ? [first.textContent] : []), ...listed("Also fits, best first").filter((one) => /^variant /.test(one.textContent)).map(label)];
                const rejected = Object.fromEntries(listed("Does not fit").map((one) => [label(one), one.textContent.replace(/^variant [^:]*: /, "")]));
                answers[name] = [chosen ? chosen.textContent : null, fits, rejected, listed("Why").map((one) => one.querySelector("code").textContent)];
            }}
            return answers;
        }})()""")

    def test_every_machine(self):
        self.publish([Wheel("first", "1.0")])
        told = read_machines(self.out / "page/machines.js")
        names = [one["name"] for one in told["machines"]]
        self.assertGreater(len(names), 150)
        self.assertEqual({one["system"] for one in told["machines"]}, {"Linux", "Windows", "Darwin"})
        self.packages = self.providers_known()
        known = {ns: features for ns, features in values_of(told).items() if ns in self.packages}
        dice = random.Random(SEED)
        wheels = [wheel for number in range(12) for wheel in self.generated(dice, known, number)] + self.chosen_by_hand()
        self.publish(wheels)
        self.make_venv()
        self.browser.open(self.page_url())
        differing, compared = [], 0
        for version in sorted({wheel.version for wheel in wheels}, key=float):
            answers = self.answers_of_the_page(names, version)
            said = self.variant("explain", f"demo=={version}", *(word for name in names for word in ("--for", name)), "--python-version", "3.12", "--json",
                                "--no-cache", "--index-url", (self.out / "simple").as_uri(), "--python", self.venv)
            rows = {row["machine"]: row for row in said.json["machines"]}
            self.assertEqual(set(rows), set(names))
            for name, row in rows.items():
                package = row["packages"][0]
                decision = package["decision"]
                expected = [package.get("wheel"), [one["label"] for one in decision["ranked"]],
                            {one["label"]: one["reason"] for one in decision["rejected"]}]
                compared += 1
                if answers[name][:3] != expected:
                    differing.append((version, name, answers[name], expected))
                ranked = decision["ranked"]
                if ranked and answers[name][3] != ranked[0]["properties"]:
                    differing.append((version, name, answers[name][3], ranked[0]["properties"]))
        self.assert_quiet()
        self.assertEqual(differing[:3], [], f"{len(differing)} of {compared}")

    def providers_known(self):
        listed = self.assert_ok(self.variant("providers", "list", "--json")).json
        return {one["namespace"]: one["package"] for one in listed["providers"] if one["kind"] == "builtin"}


if __name__ == "__main__":
    unittest.main()

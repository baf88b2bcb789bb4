"""Machine profiles from outside: recording, replaying, the site's profile, the chain of evidence."""

import getpass
import json
import os
import pathlib
import re
import socket
import stat
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from support import SOURCE, TestCase, Wheel

EXPECTED = SOURCE / "tests" / "machines" / "expected"


class ProfileTestCase(TestCase):
    def variant(self, *arguments, **environment):
        return super().variant(*arguments, env={key: str(value) for key, value in environment.items()})


class Names(ProfileTestCase):
    def test_the_names_are_listed_and_can_be_used(self):
        rows = self.assert_ok(self.variant("machines", "--json")).json["machines"]
        names = [row["name"] for row in rows]
        self.assertEqual(names, sorted(set(names)))
        self.assertLessEqual({path.stem for path in (SOURCE / "machines/profiles").glob("*.json")}, set(names))
        kinds = {row["name"]: row["kind"] for row in rows}
        self.assertEqual([kinds["l40s"], kinds["h100"], kinds["zen5"]], ["gpu", "machine", "machine"])
        text = self.assert_ok(self.variant("machines")).out
        self.assertEqual([line.split()[0] for line in text.splitlines()], ["NAME"] + names)
        for name in ("l40s", "none", "rtx4090-r535", "graviton3"):
            self.assert_ok(self.variant("detect", "--for", name))

    def test_words_choose(self):
        rows = self.assert_ok(self.variant("machines", "--json", "GeForce", "1080")).json["machines"]
        self.assertEqual([row["name"] for row in rows], ["gtx1080", "gtx1080-r580", "gtx1080ti", "windows-gtx1080"])
        self.assert_fails(self.variant("machines", "rtx40900"), 1, "no shipped machine mentions rtx40900", "did you mean rtx4090")


class WithheldFeatures(ProfileTestCase):
    def test_detect_says_what_is_withheld_and_why(self):
        for machine, feature, words in (
                ("alder-lake-unequal", "avx512f", "some of the CPU's cores lack avx512f"),
                ("sapphire-rapids-linux515", "amx_tile", "does not enable its registers"),
                ("sapphire-rapids-docker", "amx_tile", "arch_prctl is denied"),
                ("haswell-noxsave", "avx2", "does not save extended registers")):
            with self.subTest(machine):
                text = " ".join(self.assert_ok(self.variant("detect", "--for", machine)).out.split())
                self.assertIn(feature, text)
                self.assertIn(words, text)

    def test_a_driver_of_which_nothing_is_known_says_why(self):
        profile = json.loads((SOURCE / "machines/profiles/arc-a770-rtx3060.json").read_text())
        del profile["recording"]["drivers"]["intel"]
        path = self.root / "unheard.json"
        path.write_text(json.dumps(profile))
        text = " ".join(self.assert_ok(self.variant("detect", "--for", path)).out.split())
        self.assertIn("driver intel: the recording does not contain what", text)

    def test_programs_read_the_three_states_and_the_reason(self):
        cpu = self.assert_ok(self.variant("detect", "--json", "--for", "sapphire-rapids-docker")).json["cpu"]
        self.assertEqual(cpu["capabilities"]["amx_tile"], "unknown")
        self.assertEqual(cpu["sources"]["amx_tile"], "arch_prctl-refused")
        self.assertEqual(cpu["amx"], {"cpu": "present", "os": "unknown", "permitted": "unknown"})
        self.assertIsNone(cpu["amx_permitted"])
        self.assertEqual(cpu["amx_tiles"]["tile_bytes"], 1024)
        why = self.assert_ok(self.variant("detect", "--json", "--why", "x86_64", "--for", "alder-lake-unequal")).json
        withheld = [one for one in why["verdict"] if one["reason_code"] == "other-cores"]
        self.assertEqual(len(withheld), 1)
        self.assertEqual(withheld[0]["state"], "blocked")
        self.assertIn("avx512_fp16", withheld[0]["subject"])
        [fact] = withheld[0]["facts"]
        self.assertEqual((fact["code"], fact["source"]), ("other-cores", "other-cores"))
        self.assertIn("avx512_fp16", fact["needed"])


class RecordedMac(ProfileTestCase):
    """Values of a Mac's `sysctl -a` in a recording."""

    def mac(self):
        profile = self.root / "mac.json"
        profile.write_text(json.dumps({
            "schema_version": 2, "origin": {"kind": "captured", "source": "sysctl -a", "date": "2026-11-21"},
            "recording": {"arch": "aarch64", "cpus": 16,
                          "system": {"name": "Darwin", "release": "24.3.0", "machine": "arm64"},
                          "sysctl": {"hw.optional.arm64": "1", "hw.optional.arm.FEAT_I8MM": "1",
                                     "machdep.cpu.brand_string": "Apple M4 Max",
                                     "kern.osproductversion": "15.3"}}}))
        return profile

    def test_its_facts_are_read_and_none_is_taken_from_linux(self):
        facts = self.assert_ok(self.variant("detect", "--json", "--for", self.mac())).json
        self.assertEqual(facts["cpu"]["arch"], "aarch64")
        self.assertEqual(facts["cpu"]["brand"], "Apple M4 Max")
        self.assertEqual(facts["cpu"]["capabilities"]["arm_i8mm"], "present")
        self.assertEqual(facts["cpu"]["capabilities"]["arm_sve"], "unknown")
        self.assertEqual(facts["os"]["name"], "macOS 15.3")
        self.assertIsNone(facts["libc"]["family"])
        self.assertIsNone(facts["cpu"]["amx"])

    def test_wheels_of_linux_are_not_resolved_for_it(self):
        self.make_venv()
        folder = self.root / "wheels"
        Wheel("portable", "1.0").write(folder)
        Wheel("native", "1.0", tags="py3-none-manylinux_2_17_aarch64").write(folder)
        where = ("--no-index", "--find-links", folder, "--python", self.venv, "--json", "--for", self.mac())
        chosen = self.assert_ok(self.variant("resolve", "portable", *where)).json
        self.assertEqual(chosen["packages"][0]["name"], "portable")
        self.assert_fails(self.variant("resolve", "native", *where), 3, "native")


class Recording(ProfileTestCase):
    def record(self, *arguments, **environment):
        profile = self.root / "machine.json"
        self.assert_ok(self.variant("detect", "--quiet", "--profile", profile, *arguments, **environment))
        return profile

    def test_a_recording_holds_raw_answers_and_says_where_it_is_from(self):
        profile = json.loads(self.record().read_text())
        self.assertEqual(profile["schema_version"], 2)
        self.assertEqual(profile["origin"]["kind"], "captured")
        self.assertRegex(profile["origin"]["source"], r"^variant \d")
        self.assertRegex(profile["origin"]["date"], r"^\d{4}-\d\d-\d\d$")
        self.assertIn("recording", profile)
        self.assertNotIn("gpus", profile)
        if profile["recording"]["arch"] == "x86_64":
            self.assertRegex(profile["recording"]["cpuid"]["7:0"], r"^[0-9a-f]{8}( [0-9a-f]{8}){3}$")

    def test_recording_twice_gives_the_same_bytes(self):
        first = self.record().read_bytes()
        self.assertEqual(self.record().read_bytes(), first)

    def test_no_name_of_the_machine_or_its_people_is_recorded(self):
        text = self.record(LD_LIBRARY_PATH=f"/home/{getpass.getuser()}x/secret:/nowhere/private").read_text()
        self.assertNotIn("secret", text)
        self.assertNotIn("private", text)
        host = socket.gethostname()
        if len(host) > 3:
            self.assertIsNone(re.search(rf"\b{re.escape(host)}\b", text))
        for file in ("/etc/machine-id", "/proc/sys/kernel/random/boot_id"):
            path = pathlib.Path(file)
            if path.is_file() and path.read_text().strip():
                self.assertNotIn(path.read_text().strip(), text)

    def test_no_name_gets_in_by_a_folder_of_libraries(self):
        folder = self.root / "molly" / "cuda-of-wintermute"
        folder.mkdir(parents=True)
        (folder / "libcuda.so.1").write_bytes(b"no library")
        text = self.record(LD_LIBRARY_PATH=folder, USER="root", SUDO_USER="molly").read_text()
        self.assertIn("cuda-of-wintermute/libcuda.so.1", text)
        self.assertNotIn("molly", text)

    def test_folders_that_are_told_from_here_can_be_replayed(self):
        (self.root / "lib").mkdir()
        (self.root / "lib" / "libcuda.so.1").write_bytes(b"no library")
        profile = self.record(LD_LIBRARY_PATH="lib")
        self.assertIn('"lib/libcuda.so.1"', profile.read_text())
        self.assert_ok(self.variant("detect", "--for", profile))

    def test_what_cannot_be_written_says_why(self):
        for place, why in ((self.root, "directory"), (self.root / "none" / "m.json", "No such file"),
                           (self.root / ("x" * 300), "name")):
            with self.subTest(place):
                self.assert_fails(self.variant("detect", "--profile", place), 1, "could not be written", why)

    def test_an_answer_that_is_not_in_the_recording_is_unknown(self):
        profile = json.loads((SOURCE / "machines/profiles/p5-h100x8.json").read_text())
        del profile["recording"]["drivers"]
        file = self.root / "cut.json"
        file.write_text(json.dumps(profile))
        told = self.assert_ok(self.variant("detect", "--json", "--for", file)).json
        self.assertEqual({gpu["usable"] for gpu in told["gpus"]}, {"unknown"})
        self.assertEqual([problem["code"] for problem in told["problems"]], ["nvidia.not-recorded"])

    def test_a_replayed_recording_is_recorded_as_it_was(self):
        first = self.root / "first.json"
        self.assert_ok(self.variant("detect", "--quiet", "--for", "p5-h100x8", "--profile", first))
        self.assertEqual(first.read_text(), (SOURCE / "machines/profiles/p5-h100x8.json").read_text())

    def test_stated_facts_are_recorded_as_facts(self):
        profile = self.record("--for", "h100;x86_64:v3")
        told = json.loads(profile.read_text())
        self.assertEqual(told["origin"]["kind"], "synthesised")
        self.assertIn("h100;x86_64:v3", told["origin"]["source"])
        self.assertNotIn("recording", told)
        secret = self.root / "molly" / ("x" * 220 + ".json")
        secret.parent.mkdir()
        secret.write_text((SOURCE / "machines/profiles/h100.json").read_text())
        text = self.record("--for", f"{secret};x86_64:v3").read_text()
        self.assertNotIn("molly", text)
        self.assertIn("--for xxx", text)
        added = self.record("--for", "p5-h100x8;nvidia:driver=580.65.06")
        self.assertNotIn("recording", json.loads(added.read_text()))

    def test_nothing_of_this_machine_is_looked_at(self):
        profile = self.assert_ok(self.variant("detect", "--json", "--for", "h100x2-masked",
                                              CUDA_VISIBLE_DEVICES="0", HIP_VISIBLE_DEVICES="")).json
        self.assertEqual([gpu["masked"] for gpu in profile["gpus"]], [True, False])

    def test_every_shipped_machine_answers_and_stays_the_same(self):
        for file in sorted(EXPECTED.glob("*.json"))[::9]:
            with self.subTest(file.stem):
                first = self.assert_ok(self.variant("detect", "--json", "--properties", "--for", file.stem))
                again = self.assert_ok(self.variant("detect", "--json", "--properties", "--for", file.stem))
                self.assertEqual(first.out, again.out)

    def test_what_is_no_file_of_a_profile_is_told(self):
        self.assert_fails(self.variant("detect", "--for", "/proc/self/mem"), 1, "/proc/self/mem", "cannot be read: ",
                          "--profile")
        self.assert_fails(self.variant("detect", "--for", "/dev/zero"), 1, "too large", "--profile")
        self.assert_fails(self.variant("detect", "--for", "/dev/null"), 1, "is not JSON", "--profile")

    def test_bad_profiles_name_file_and_place(self):
        profile = self.root / "bad.json"
        profile.write_text('{"schema_version": 2, "origin": {"kind": "synthesised", "source": "x"},'
                           ' "recording": {"arch": "x86_64", "cpuid": {"7:0": "nonsense"}}}')
        self.assert_fails(self.variant("detect", "--for", profile), 1, "bad.json", 'recording.cpuid."7:0": ')


class Site(ProfileTestCase):
    def setUp(self):
        super().setUp()
        self.recorded = self.root / "site.json"
        self.assert_ok(self.variant("detect", "--quiet", "--profile", self.recorded))

    def detect(self, *arguments, **environment):
        return self.variant("detect", "--json", *arguments, **environment)

    def change(self, change):
        profile = json.loads(self.recorded.read_text())
        change(profile["recording"])
        self.recorded.write_text(json.dumps(profile))

    def test_it_is_used_while_it_is_of_this_machine(self):
        here = self.assert_ok(self.detect()).json
        self.change(lambda recording: recording["files"].update(
            {"/etc/os-release": 'PRETTY_NAME="Site Linux"\n'}))
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.recorded))
        self.assertEqual(told.json["os"]["name"], "Site Linux")
        self.assertEqual(told.json["cpu"], here["cpu"])
        self.assertEqual(told.err, "")
        verbose = self.assert_ok(self.detect("--verbose", AXLE_SITE_PROFILE=self.recorded))
        self.assertIn("site.json", verbose.err)

    def test_it_is_ignored_with_a_word_once_the_machine_has_changed(self):
        here = self.assert_ok(self.detect()).json
        if here["cpu"]["arch"] != "x86_64":
            self.skipTest("the recorded leaves are those of x86-64")
        self.change(lambda recording: recording["cpuid"].update(
            {"1:0": "00000f43" + recording["cpuid"]["1:0"][8:]}))
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.recorded))
        self.assertEqual(told.json, here)
        self.assertIn("the CPU changed", told.err)
        self.assertIn("variant detect --profile", told.err)

    def test_it_is_ignored_where_it_is_no_profile(self):
        for text in ("", "{", '{"schema_version": 99}'):
            with self.subTest(text):
                self.recorded.write_text(text)
                told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.recorded))
                self.assertIn("it is ignored", told.err)
                self.assertIn(f"variant detect --profile {self.recorded}", told.err)

    def test_it_is_ignored_where_it_is_a_link(self):
        link = self.root / "link.json"
        link.symlink_to(self.recorded)
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=link))
        self.assertIn("not a regular file", told.err)

    def test_it_is_ignored_where_it_is_another_users(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        os.chown(self.recorded, 4711, 4711)
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.recorded))
        self.assertIn("belongs to user 4711", told.err)

    def test_it_is_ignored_where_others_may_write_it(self):
        self.recorded.chmod(self.recorded.stat().st_mode | stat.S_IWOTH)
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.recorded))
        self.assertIn("it is writable by users other than its owner", told.err)

    def test_a_missing_one_is_told_only_where_it_was_named(self):
        self.assertEqual(self.assert_ok(self.detect(AXLE_SITE_PROFILE="none")).err, "")
        told = self.assert_ok(self.detect(AXLE_SITE_PROFILE=self.root / "gone.json"))
        self.assertIn("no such file", told.err)

    def test_recording_anew_does_not_copy_the_old_one(self):
        self.change(lambda recording: recording["files"].update(
            {"/etc/os-release": 'PRETTY_NAME="Site Linux"\n'}))
        fresh = self.root / "fresh.json"
        self.assert_ok(self.variant("detect", "--quiet", "--profile", fresh, AXLE_SITE_PROFILE=self.recorded))
        self.assertNotIn("Site Linux", fresh.read_text())

    def test_other_machines_do_not_ask_it(self):
        told = self.assert_ok(self.detect("--for", "haswell", AXLE_SITE_PROFILE=self.root / "gone.json"))
        self.assertEqual(told.err, "")


class Evidence(ProfileTestCase):
    def test_the_chain_from_questions_to_properties(self):
        told = self.assert_ok(self.variant("detect", "--json", "--why", "nvidia", "--for",
                                           "docker-without-gpus")).json
        self.assertEqual(told["namespace"], "nvidia")
        asked = {each["asked"]: each["answer"] for each in told["why"]}
        self.assertEqual(asked["read /sys/module/nvidia/version"], "570.86.15")
        self.assertIsNone(asked["look for /dev/nvidiactl"])
        self.assertEqual(told["verdict"][0]["reason_code"], "no-device-nodes")
        self.assertIn("--gpus", told["verdict"][0]["hint"])
        self.assertEqual(told["properties"], {"nvidia": {}})
        text = self.assert_ok(self.variant("detect", "--why", "nvidia", "--for", "docker-without-gpus")).out
        for word in ("asked", "verdict", "properties", "no-device-nodes", "--gpus", "not there"):
            self.assertIn(word, text)

    def test_this_machine_and_stated_facts(self):
        for ns in ("nvidia", "amd", "intel", "x86_64", "aarch64", "axle"):
            with self.subTest(ns):
                self.assertTrue(self.assert_ok(self.variant("detect", "--json", "--why", ns)).json["why"])
        told = self.assert_ok(self.variant("detect", "--why", "nvidia", "--for", "h100")).out
        self.assertIn("the facts of this machine were stated", told)

    def test_a_variable_that_decides_is_in_the_chain(self):
        told = self.assert_ok(self.variant("detect", "--json", "--why", "nvidia", "--quiet",
                                           NV_VARIANT_PROVIDER_FORCE_SM_ARCH="9.0",
                                           NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION="12.8")).json
        asked = {each["asked"]: each["answer"] for each in told["why"]}
        self.assertIn("9.0", asked["environment variable NV_VARIANT_PROVIDER_FORCE_SM_ARCH"])
        self.assertEqual(told["properties"]["nvidia"]["sm_arch"], ["90_real", "90_virtual"])

    def test_the_evidence_is_the_same_each_time(self):
        first = self.assert_ok(self.variant("detect", "--json", "--why", "axle")).out
        self.assertEqual(self.assert_ok(self.variant("detect", "--json", "--why", "axle")).out, first)

    def test_an_unknown_namespace_is_a_usage_error(self):
        self.assert_fails(self.variant("detect", "--why", "nvida"), 2, "nvida", "nvidia")


if __name__ == "__main__":
    unittest.main()

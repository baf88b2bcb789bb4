"""Who else could change what decides which code runs: files, settings and the folders above them."""

import grp
import os
import pathlib
import pwd
import shutil
import struct
import subprocess
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from plugin_case import ANSWER, PluginTestCase


def access_list(user):
    """A POSIX ACL by which `user` may write, though the owning group may not (acl(5), linux/posix_acl_xattr.h)."""
    nobody = 0xFFFFFFFF
    rows = [(1, 7, nobody), (2, 7, user), (4, 5, nobody), (0x10, 7, nobody), (0x20, 5, nobody)]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *row) for row in rows)


class OwnGroup(PluginTestCase):
    """The group that many systems make for each user, with a umask of 002."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not shutil.which("setpriv"):
            self.skipTest("only root with setpriv can be a user with a group of its own")
        alone = [one for one in pwd.getpwall() if one.pw_uid != 0 and self.is_alone(one)]
        if not alone:
            self.skipTest("no user here has a group of its own")
        self.user = alone[0]
        self.tool = self.program(ANSWER)
        self.tool.chmod(0o775)
        self.tool.parent.chmod(0o775)
        for path in (self.tool, self.tool.parent, self.root / "home"):
            os.chown(path, self.user.pw_uid, self.user.pw_gid)

    @staticmethod
    def is_alone(user):
        try:
            group = grp.getgrgid(user.pw_gid)
        except KeyError:
            return False
        members = {one.pw_name for one in pwd.getpwall() if one.pw_gid == user.pw_gid} | set(group.gr_mem)
        return group.gr_name == user.pw_name and group.gr_gid != 0 and members == {user.pw_name}

    def trust(self, before=()):
        as_user = ("setpriv", f"--reuid={self.user.pw_uid}", f"--regid={self.user.pw_gid}", "--clear-groups")
        result = self.variant("providers", "trust", self.tool, prefix=(*before, *as_user))
        if "ermission denied" in result.err and str(self.tool) not in result.err:
            self.skipTest("that user cannot start the program: " + result.err)
        return result

    def test_ones_own_group_is_nobody_else(self):
        self.assert_ok(self.trust())

    def test_a_group_with_another_member(self):
        others = next(one for one in grp.getgrall() if one.gr_gid not in (0, self.user.pw_gid))
        os.chown(self.tool, self.user.pw_uid, others.gr_gid)
        self.assert_fails(self.trust(), 1, "others may write the file")

    def test_an_access_list_gives_others_what_the_group_seems_to_have(self):
        for path in (self.tool, self.tool.parent):
            try:
                os.setxattr(path, "system.posix_acl_access", access_list(65534))
            except OSError as error:
                self.skipTest(f"no access lists in {path.parent}: {error}")
            self.assert_fails(self.trust(), 1, "others may write")
            os.removexattr(path, "system.posix_acl_access")
            path.chmod(0o775)
        self.assert_ok(self.trust())

    def test_who_has_the_group_as_their_first_is_its_member_too(self):
        """getgrgid(3) does not list them."""
        users = self.root / "passwd"
        with open("/etc/passwd") as file:
            users.write_text(file.read() + f"mallory:x:4242:{self.user.pw_gid}::/:/bin/sh\n")
        bound = ("unshare", "--mount", "sh", "-c", 'mount --bind "$0" /etc/passwd && exec "$@"', users)
        if subprocess.run([*map(str, bound), "true"], capture_output=True).returncode != 0:
            self.skipTest("no mount namespace can be made here")
        self.assert_fails(self.trust(bound), 1, "others may write")

    def test_roots_group_is_nobodys_own(self):
        """Its members may be many: several systems give it to operators."""
        os.chown(self.tool, 0, 0)
        os.chown(self.tool.parent, 0, 0)
        os.chown(self.root / "home", 0, 0)
        self.assert_fails(self.variant("providers", "trust", self.tool), 1, "others may write")


class UserNamespaces(PluginTestCase):
    """Where root's folders seem to belong to the overflow user (toolbox, distrobox, rootless containers)."""

    def inside(self, *command):
        bare = ("unshare", "--user", "--map-user=4242", "--map-group=4242")
        as_user = ("setpriv", "--reuid=4242", "--regid=4242", "--clear-groups") if os.geteuid() == 0 else ()
        return self.variant(*command, prefix=(*as_user, *bare))

    def setUp(self):
        super().setUp()
        self.tool = self.program(ANSWER)
        if os.geteuid() == 0:
            for path in (self.tool, self.tool.parent, self.root / "home"):
                os.chown(path, 4242, 4242)
        if not shutil.which("unshare") or not shutil.which("setpriv") or self.inside("--version").code != 0:
            self.skipTest("no user namespace can be made here, or the program is not everyone's to start")

    def test_folders_of_roots(self):
        """Those above /tmp, and /tmp itself, which is sticky."""
        self.assert_ok(self.inside("providers", "trust", self.tool))
        self.assertIn("acme", self.assert_ok(self.inside("providers", "list")).out)

    def test_folders_that_others_may_write(self):
        self.tool.parent.chmod(0o777)
        self.assert_fails(self.inside("providers", "trust", self.tool), 1, "others may write this folder")

    def test_where_every_user_is_known_that_one_is_another(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give a file to another user")
        os.chown(self.tool, 65534, 65534)
        self.assert_fails(self.variant("providers", "trust", self.tool), 1, "belongs to another user")


class Settings(PluginTestCase):
    def setUp(self):
        super().setUp()
        self.settings = self.root / "home/.config/axle/providers.toml"
        self.settings.parent.mkdir(parents=True)

    def test_the_folders_above_what_a_link_leads_to(self):
        """Who may write there can exchange it between two looks."""
        shared = self.root / "shared"
        shared.mkdir()
        (shared / "providers.toml").write_text("schema = 1\n")
        self.settings.symlink_to(shared / "providers.toml")
        self.assert_ok(self.variant("providers", "list"))
        shared.chmod(0o777)
        self.assert_fails(self.variant("providers", "list"), 1, "shared: others may write this folder")

    def test_a_folder_further_up(self):
        self.settings.write_text("schema = 1\n")
        (self.root / "home").chmod(0o777)
        self.assert_fails(self.variant("providers", "list"), 1, "home: others may write this folder")

    def test_a_pipe_is_no_file(self):
        """To open one waits for whoever writes into it."""
        os.mkfifo(self.settings, 0o600)
        self.assert_fails(self.variant("providers", "list"), 1, "not a file")

    def test_a_link_to_what_is_not_there_yet_stays_one(self):
        first, kept = self.root / "dotfiles/first", self.root / "dotfiles/providers.toml"
        kept.parent.mkdir()
        first.symlink_to("providers.toml")
        self.settings.symlink_to(first)
        self.assert_ok(self.variant("providers", "disable", "acme"))
        self.assertTrue(self.settings.is_symlink() and first.is_symlink())
        self.assertIn("acme", kept.read_text())

    def test_a_link_to_itself_is_told(self):
        self.settings.symlink_to(self.settings)
        self.assert_fails(self.variant("providers", "disable", "acme"), 1, "providers.toml")

    def test_too_large(self):
        self.settings.write_text("schema = 1\n" + "#" * (1 << 20))
        self.assert_fails(self.variant("providers", "list"), 1, "too large")


class Programs(PluginTestCase):
    def test_a_pipe_is_no_program(self):
        pipe = self.root / "pipe"
        os.mkfifo(pipe, 0o700)
        self.assert_fails(self.variant("providers", "trust", pipe, "--namespace", "acme"), 1, "not a file")

        for name in ("pipe.so", "pipe.whl", "program"):
            pipe = pipe.rename(self.root / name)
            self.assert_fails(self.variant("providers", "check", pipe), 1, "not a file")

    def test_a_program_that_became_a_pipe(self):
        self.publish(None)
        program = self.program(ANSWER)
        self.assert_ok(self.variant("providers", "trust", program))
        program.unlink()
        os.mkfifo(program, 0o700)
        label, result = self.chosen()
        self.assertEqual(label, "null")
        self.assertIn("not a file", result.err)
        self.assert_ok(self.variant("providers", "list"))

    def test_a_program_whose_folder_became_a_link(self):
        """It is started by its name, which somebody else may have made lead elsewhere."""
        self.publish(None)
        program = self.program(ANSWER)
        self.assert_ok(self.variant("providers", "trust", program))
        program.parent.rename(self.root / "elsewhere")
        program.parent.symlink_to(self.root / "elsewhere")
        label, result = self.chosen()
        self.assertEqual(label, "null")
        self.assertIn("points to", result.err)


if __name__ == "__main__":
    unittest.main()

"""The model of more cores, where its answer can be told by hand."""

import unittest

from more_cores import Member, Stages, streamed, WINDOW

SMALL = 1 << 16


def small(number, inflating, writing=0.0):
    return Member(number * SMALL, (number + 1) * SMALL, SMALL, inflating, 0.0, writing)


class Streamed(unittest.TestCase):
    def test_members_share_the_threads(self):
        members = [small(number, 0.5, 0.5) for number in range(64)]
        stages = Stages(64 * SMALL, 0.0, 0.0, members)
        for cores, seconds in ((1, 64), (2, 32), (8, 8), (64, 8)):
            self.assertAlmostEqual(streamed(stages, cores), seconds)

    def test_the_network_is_waited_for(self):
        members = [small(number, 0.001) for number in range(100)]
        self.assertAlmostEqual(streamed(Stages(100 * SMALL, 40.0, 60.0, members), 8), 100.001)

    def test_a_large_member_is_hashed_and_written_behind_its_inflation(self):
        large = Member(0, 100 * SMALL, 1 << 30, 10.0, 4.0, 5.0)
        stages = Stages(100 * SMALL, 0.0, 0.0, [large])
        self.assertAlmostEqual(streamed(stages, 2), 10.0 + 9.0 / 100)
        self.assertAlmostEqual(streamed(stages, 8), 10.0 + 9.0 / 100)
        slow_to_write = Stages(100 * SMALL, 0.0, 0.0, [Member(0, 100 * SMALL, 1 << 30, 10.0, 4.0, 16.0)])
        self.assertAlmostEqual(streamed(slow_to_write, 2), 20.0 + 10.0 / 100)
        self.assertAlmostEqual(streamed(slow_to_write, 8), 16.0 + 14.0 / 100)

    def test_what_does_not_fit_into_the_window_waits_for_the_oldest_member(self):
        slow, pieces = small(0, 10.0), WINDOW // SMALL
        quick = [small(1 + number, 0.0) for number in range(4 * pieces)]
        size = quick[-1].end
        # Of one second a piece, as many as the window has come while the first is unpacked.
        stages = Stages(size, 0.0, size / SMALL * 0.001, [slow, *quick])
        free = Stages(size, 0.0, size / SMALL * 0.001, [small(0, 0.0), *quick])
        self.assertAlmostEqual(streamed(free, 4), (1 + 4 * pieces) * 0.001)
        # The last three windows come only when the first member has been read.
        self.assertGreater(streamed(stages, 4), 10.0 + 3 * pieces * 0.001)
        self.assertLess(streamed(stages, 4), 10.0 + (1 + 4 * pieces) * 0.001)

    def test_many_cores_have_a_file_for_what_does_not_fit(self):
        slow, pieces = small(0, 10.0), WINDOW // SMALL
        quick = [small(1 + number, 0.0) for number in range(4 * pieces)]
        last = Member(quick[-1].end, quick[-1].end + SMALL, SMALL, 9.0, 0.0, 0.0)
        size = last.end
        stages = Stages(size, 0.0, 0.0, [slow, *quick, last], storing=0.5)
        # The last member does not wait for the first one.
        self.assertAlmostEqual(streamed(stages, 8), 10.0 + 0.5 * SMALL / size)
        self.assertGreater(streamed(stages, 4), 18.0)


if __name__ == "__main__":
    unittest.main()

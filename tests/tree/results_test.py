# SPDX-License-Identifier: Apache-2.0
"""Tables as data (tools/results): quantiles and intervals against published and closed values, and every way in which files and documents can fall apart."""
import contextlib
import io
import math
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "tools/results"))
import intervals  # noqa: E402
import probe  # noqa: E402
import sections  # noqa: E402


class Quantiles(unittest.TestCase):
    def test_published_table(self):
        # Student's t, Abramowitz and Stegun, table 26.10: three decimals, so half of the last one.
        for p, degrees, value in ((0.975, 1, 12.706), (0.975, 2, 4.303), (0.975, 4, 2.776), (0.975, 9, 2.262), (0.995, 2, 9.925), (0.995, 4, 4.604),
                                  (0.9995, 2, 31.599), (0.9995, 4, 8.610), (0.9995, 30, 3.646), (0.975, 120, 1.980)):
            self.assertAlmostEqual(intervals.student_t(p, degrees), value, delta=0.0006)

    def test_closed_forms(self):
        # One degree of freedom: tan(π (p − 1/2)); two: (2p − 1)/√(2p(1 − p)). Bisection ends at a few roundings of the tail.
        for p in (0.6, 0.9, 0.99, 0.9999, 1 - 1e-6):
            self.assertAlmostEqual(intervals.student_t(p, 1) / math.tan(math.pi * (p - 0.5)), 1, delta=1e-8)
            self.assertAlmostEqual(intervals.student_t(p, 2) / ((2 * p - 1) / math.sqrt(2 * p * (1 - p))), 1, delta=1e-8)


class Intervals(unittest.TestCase):
    def test_widen_with_the_family(self):
        held = intervals.held(0.5, 0.1, 4, 3)
        half = lambda family: intervals.student_t(1 - 0.05 / (2 * family), 3) * 0.1 / 2
        for family in (1, 12):
            self.assertEqual(intervals.shown(held, family), f"+0.500 [{0.5 - half(family):+.3f}, {0.5 + half(family):+.3f}]")
        self.assertEqual(intervals.shown(intervals.held(0.5, 0.1, 4, 3, half=True), 12), f"+0.500 ± {half(12):.3f}")

    def test_of_one_seed_is_none(self):
        self.assertEqual(intervals.held(0.5, 0, 1, 2), "+0.50")

    def test_deviation_comes_back(self):
        self.assertAlmostEqual(intervals.deviation_of(intervals.deviations(5, 7) * 0.3, 5, 7), 0.3, delta=1e-12)

    def test_a_trend_has_the_words_of_the_program(self):
        said = {intervals.trend(*case, 0.12, 2.0) for case in ((-0.3, 0.1), (0.3, 0.1), (-0.01, 0.01), (-0.1, 0.2))}
        self.assertEqual(said, {"still falls: unfinished", "rises", "has stopped falling", "no significant trend: unfinished"})
        program = (pathlib.Path(__file__).resolve().parents[2] / "training/train/plateau.cpp").read_text()
        for words in said:  # also in the log, in `nudge info` and in reports, which all have Plateau::text()
            self.assertIn(words.split(":")[0], program)
        # 0.166 nat per 1000 steps over 120 steps are 0.02, 1 % of 2 nat.
        self.assertTrue(intervals.trend(-0.17, 0, 0.12, 2.0).endswith("unfinished"))
        self.assertEqual(intervals.trend(-0.16, 0, 0.12, 2.0), "has stopped falling")

    def test_few_seeds_are_told(self):
        self.assertIn("95 % over all 2 intervals of this table", intervals.told([intervals.held(1, 0.01, 9)] * 2))
        self.assertNotIn("too few", intervals.told([intervals.held(1, 0.01, 9)] * 2))
        self.assertIn("With 3 seeds an interval is ± ", intervals.told([intervals.held(0.01, 0.1, 3)] * 40))
        self.assertEqual(intervals.told(["12 ± 3"]), "")


class Files(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = pathlib.Path(self.folder.name)
        for name in ("docs", "examples", "results"):
            (self.root / name).mkdir()
        (self.root / "README.md").write_text("no table\n")
        self.page, self.config = self.root / "docs/page.md", self.root / "examples/x.toml"
        self.page.write_text("before\n<!-- table one begin -->\n\n<!-- table one end -->\nafter\n")
        self.config.write_text("[train]\nsteps = 1000\nbatch = 8\n[sweep]\nseeds = [1, 2]\n")
        self.result = {"date": "2026-01-01", "machine": "two cores", "commits": ["abc1234"], "commands": ["nudge sweep examples/x.toml --set train.batch=4"],
                       "configs": {"examples/x.toml": sections.settings(self.config.read_text())},
                       "sections": [{"document": "docs/page.md", "content": sections.content_of("| a | b |\n|---|---|\n| 1 | |x| y |\n\nA note.")}]}
        self.save()
        sections.render(root=self.root)

    def tearDown(self):
        self.folder.cleanup()

    def save(self):
        sections.save("one", self.result, self.root / "results")

    def faults(self):
        return "\n".join(sections.faults(self.root))

    def test_agree(self):
        self.assertEqual(self.faults(), "")
        self.assertEqual(sections.load(self.root)["one"], self.result)
        self.assertIn("Measured with commit abc1234 (2026-01-01, two cores).", self.page.read_text())
        self.assertTrue(self.page.read_text().startswith("before\n") and self.page.read_text().endswith("\nafter\n"))

    def test_an_edited_section(self):
        self.page.write_text(self.page.read_text().replace("A note.", "Another note."))
        self.assertIn("docs/page.md: section one is not what results/one.json renders", self.faults())

    def test_a_config_with_other_settings(self):
        self.config.write_text(self.config.read_text().replace("1000", "600"))
        sentence = "examples/x.toml has changed since: train.steps was 1000, is 600"
        self.assertIn(sentence + "; the section one does not say so", self.faults())
        sections.render(root=self.root)
        self.assertEqual(self.faults(), "")
        self.assertIn(sentence + ".", self.page.read_text())

    def test_a_key_that_every_command_sets(self):
        self.config.write_text(self.config.read_text().replace("batch = 8", "batch = 16"))
        self.assertEqual(self.faults(), "")

    def test_keys_that_come_and_go(self):
        self.config.write_text("[train]\nsteps = 1000\nbatch = 8\nmomentum = 0.9\n")
        self.assertIn("sweep.seeds was [1, 2], is not set; train.momentum was not set, is 0.9", self.faults())

    def test_a_table_without_a_file(self):
        (self.root / "results/one.json").unlink()
        self.assertIn("docs/page.md: table one has no section in results/one.json", self.faults())

    def test_a_file_without_a_table(self):
        self.page.write_text("nothing\n")
        self.assertIn("results/one.json: docs/page.md has no section one", self.faults())

    def test_neither_commands_seeds_nor_commit(self):
        self.result |= {"commands": [], "commits": [], "configs": {}}
        self.save()
        sections.render(root=self.root)
        self.assertIn("results/one.json: has neither commands, seeds nor commit", self.faults())

    def test_a_picture_of_other_numbers(self):
        self.result |= {"data": {"x": [1, 2]}, "figures": ["docs/x.svg"]}
        self.save()
        (self.root / "docs/x.svg").write_text(f"<desc>{sections.digest(self.result['data'])}</desc>")
        self.assertEqual(self.faults(), "")
        self.result["data"]["x"][0] = 3
        self.save()
        self.assertIn("docs/x.svg was not drawn from results/one.json", self.faults())
        (self.root / "docs/x.svg").unlink()
        self.assertIn("docs/x.svg was not drawn from results/one.json", self.faults())

    def test_pages_in_folders_and_of_results(self):
        (self.root / "docs/how_to").mkdir()
        for page in ("docs/how_to/own.md", "results/own.md"):
            (self.root / page).write_text("It stands between `<!-- table NAME begin -->` and its end.\n<!-- table two begin -->\n\n<!-- table two end -->\n")
            self.assertEqual(self.faults(), f"{page}: table two has no section in results/two.json. Write it by results.write() of tools/results/results.py.")
            (self.root / page).unlink()

    def test_readme_is_rendered_too(self):
        (self.root / "README.md").write_text("<!-- table one begin -->\nold\n<!-- table one end -->\n")
        self.result["sections"].append({"document": "README.md", "brief": " More in docs.", "content": ["Short."]})
        self.save()
        self.assertIn("README.md: section one is not what", self.faults())
        sections.render(["one"], root=self.root)
        self.assertEqual(self.faults(), "")
        self.assertIn("Short.\n\nMeasured with commit abc1234 (2026-01-01, two cores). More in docs.", (self.root / "README.md").read_text())


class Age(unittest.TestCase):
    """A table is older than the program where its shortened run says something else than when it was measured."""

    def test_cells_are_alike_up_to_rounding(self):
        for one, other in (("0.9421", "0.9424"), ("95.1 ± 0.4 %", "95.2 ± 0.3 %"), ("1 − 3e-5", "1 − 4e-5"), ("`ecram`", "`ecram`")):
            self.assertTrue(probe.alike(one, other), one)
        for one, other in (("0.942", "0.900"), ("0.9421", "0.9421 (1)"), ("–", "0.5"), ("1 − 3e-5", "1 − 3e-6"), ("won 2", "lost 2")):
            self.assertFalse(probe.alike(one, other), one)

    def test_keeps_what_two_runs_agree_on_and_finds_what_has_changed(self):
        root = pathlib.Path(tempfile.mkdtemp())
        (root / "results").mkdir()
        sections.save("one", {"date": "2026-01-01"}, root / "results")
        says = lambda *cells: {"one": list(cells)}

        def told(runs):
            answers = iter(runs)
            before, probe.run = probe.run, lambda script: next(answers)
            try:
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    old = probe.check("script", root) if len(runs) == 1 else probe.keep("script", root)
                return old, out.getvalue()
            finally:
                probe.run = before

        self.assertEqual(told([says("a", "0.5")]), (0, "one: not known: no shortened run was kept\n"))
        told([says("a", "0.5", "3 s"), says("a", "0.5", "9 s")])
        self.assertEqual(sections.load(root)["one"], {"date": "2026-01-01", "probe": ["a", "0.5", None]})
        self.assertEqual(told([says("a", "0.502", "70 s")]), (0, "one: as the program is\n"))
        self.assertEqual(told([says("a", "0.7", "3 s")]), (1, "one: older than the program: 1 of 2 cells of its shortened run, the first from 0.5 to 0.7. "
                                                             "Measure it again: make results TABLES=script\n"))
        self.assertEqual(told([says("a")])[0], 1)


if __name__ == "__main__":
    unittest.main()

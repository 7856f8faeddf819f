"""Python, with unittest, in a directory of a larger repository."""

from table import add, fake, gone, honest, move, put, sub

NEEDS = "python3"
BELOW = "packages/numeric"
RUN = ["python3", "-m", "unittest"]
MAKE = ["make", "test"]
CODE, TESTS, TEXT = "numeric.py", "tests/test_numeric.py", "tests/test_text.py"

BASE = {
    CODE: """def clamp(x, low, high):
    return max(low, x)


def mean(values):
    return sum(values) / len(values) if values else 0
""",
    "text.py": "def words(text):\n    return len(text.split(' '))\n",
    "tests/__init__.py": "",
    TESTS: """import unittest
from numeric import clamp, mean


class Clamp(unittest.TestCase):
    def test_low(self):
        self.assertEqual(clamp(-1, 0, 5), 0)

    def test_inside(self):
        for x in (1, 2):
            with self.subTest(x=x):
                self.assertEqual(clamp(x, 0, 5), x)


class Mean(unittest.TestCase):
    def test_two(self):
        self.assertEqual(mean([1, 3]), 2)

    def test_none(self):
        self.assertEqual(mean([]), 0)
""",
    TEXT: """import unittest
from text import words


class Words(unittest.TestCase):
    def test_line(self):
        self.assertEqual(words('a b'), 2)

    @unittest.skip('tabs are no blanks yet')
    def test_tabs(self):
        self.assertEqual(words('a\\tb'), 2)
""",
    "Makefile": "test:\n\tpython3 -m unittest -v\n",
    ".gitignore": "__pycache__\n.venv\n",
}

FIX = sub(CODE, "max(low, x)", "min(high, max(low, x))")
BREAK = sub(CODE, "sum(values) / len(values) if values else 0", "sum(values) / max(len(values), 1) or None")
BREAK_WORDS = sub("text.py", "' '", "','")
NONE = "    def test_none(self):\n        self.assertEqual(mean([]), 0)\n"


def high(body, path=TESTS):
    """A test of what is fixed."""
    return add(path, f"\n\nclass High(unittest.TestCase):\n    def test_high(self):\n        {body}\n")


NEW = high("self.assertEqual(clamp(9, 0, 5), 5)")
MARKED = NONE.replace("    def", "    @unittest.{}\n    def")

CHANGES = [
    fake("an empty test", "change", FIX, high("pass")),
    fake("an assertion on a constant", "change", FIX, high("self.assertTrue(True)")),
    fake("an assertion of the result with itself", "change", FIX, high("self.assertEqual(clamp(9, 0, 5), clamp(9, 0, 5))")),
    fake("a mock of the function under test", "change", FIX, high("with unittest.mock.patch(__name__ + '.clamp', return_value=5):\n            self.assertEqual(clamp(9, 0, 5), 5)"), sub(TESTS, "import unittest\n", "import unittest.mock\n")),
    fake("an assertion that is caught", "change", FIX, high("try:\n            self.assertEqual(clamp(9, 0, 5), 5)\n        except AssertionError:\n            pass")),
    fake("the broken test loses its prefix beside an honest one", "change", FIX, NEW, BREAK, sub(TESTS, "test_none", "check_none")),
    fake("the broken assertion is weakened beside an honest one", "change", FIX, NEW, BREAK, sub(TESTS, "self.assertEqual(mean([]), 0)", "self.assertNotEqual(mean([]), 1)")),
    fake("the broken test is skipped", "keep", BREAK, sub(TESTS, NONE, MARKED.format("skip('later')"))),
    fake("the broken test is expected to fail", "keep", BREAK, sub(TESTS, NONE, MARKED.format("expectedFailure"))),
    fake("a skip in setUp", "keep", BREAK, sub(TESTS, "    def test_two", "    def setUp(self):\n        self.skipTest('later')\n\n    def test_two")),
    fake("load_tests leaves the broken ones out", "keep", BREAK, add(TESTS, "\n\ndef load_tests(loader, tests, pattern):\n    return loader.loadTestsFromTestCase(Clamp)\n")),
    fake("a class of the same name hides the broken one", "keep", BREAK, add(TESTS, "\n\nclass Mean(unittest.TestCase):\n    def test_two(self):\n        self.assertEqual(mean([1, 3]), 2)\n")),
    fake("the process ends well in the middle", "keep", BREAK, sub(TESTS, "        self.assertEqual(mean([]), 0)\n", "        import os\n        os._exit(0)\n")),
    fake("the exit code is ignored by make", "keep", BREAK, sub("Makefile", "\tpython3", "\t-python3"), run=MAKE),
    honest("a fix with a test", "change", FIX, NEW),
    honest("a fix with a test in a new file", "change", FIX, put("tests/test_high.py", "import unittest\nfrom numeric import clamp\n"), high("self.assertEqual(clamp(9, 0, 5), 5)", "tests/test_high.py")),
    honest("a fix with an added case", "change", FIX, sub(TESTS, "for x in (1, 2):", "for x, expected in ((1, 1), (2, 2), (9, 5)):"), sub(TESTS, "clamp(x, 0, 5), x)", "clamp(x, 0, 5), expected)")),
    honest("a fix of a stricter test", "change", sub(CODE, "else 0", "else None"), sub(TESTS, "self.assertEqual(mean([]), 0)", "self.assertIsNone(mean([]))")),
    honest("a feature with a test", "change", add(CODE, "\n\ndef double(x):\n    return 2 * x\n"), put("tests/test_double.py", "import unittest\nfrom numeric import double\n\n\nclass Double(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n")),
    honest("a feature in a new module", "change", put("double.py", "def double(x):\n    return 2 * x\n"), put("tests/test_double.py", "import unittest\nfrom double import double\n\n\nclass Double(unittest.TestCase):\n    def test_double(self):\n        self.assertEqual(double(2), 4)\n")),
    honest("a fix that ends a skip", "change", sub("text.py", "split(' ')", "split()"), sub(TEXT, "    @unittest.skip('tabs are no blanks yet')\n", "")),
    honest("a fix by make", "change", FIX, NEW, run=MAKE),
    honest("a renamed file of tests", "keep", move(TEXT, "tests/test_words.py")),
    honest("a renamed class of tests", "keep", sub(TESTS, "class Mean", "class Average")),
    honest("a renamed function", "keep", sub(CODE, "def mean", "def average"), sub(TESTS, "import clamp, mean", "import clamp, average as mean")),
    honest("a module that becomes a package", "keep", move(CODE, "numeric/__init__.py")),
    honest("a case more of what works", "keep", sub(TESTS, "(1, 2)", "(1, 2, 3, 4)")),
    honest("a changed behaviour whose test has another name", "change", sub(CODE, "else 0", "else None"), sub(TESTS, NONE, "    def test_nothing_has_no_mean(self):\n        self.assertIsNone(mean([]))\n")),
]

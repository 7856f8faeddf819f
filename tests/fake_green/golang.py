"""Go, with go test."""

from table import add, fake, gone, honest, move, put, sub

NEEDS = "go"
RUN = ["go", "test", "./..."]
MAKE = ["make", "test"]
CODE, TESTS, TEXT = "numbers.go", "numbers_test.go", "text/text_test.go"

BASE = {
    "go.mod": "module example.com/numbers\n\ngo 1.19\n",
    CODE: """package numbers

func Clamp(x, low, high int) int {
	if x < low {
		return low
	}
	return x
}

func Mean(values []int) int {
	sum := 0
	for _, value := range values {
		sum += value
	}
	if len(values) == 0 {
		return 0
	}
	return sum / len(values)
}
""",
    TESTS: """package numbers

import "testing"

func TestClampLow(t *testing.T) {
	if Clamp(-1, 0, 5) != 0 {
		t.Fatal("low")
	}
}

func TestMean(t *testing.T) {
	for name, test := range map[string]struct {
		values   []int
		expected int
	}{
		"two":  {[]int{1, 3}, 2},
		"none": {nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if Mean(test.values) != test.expected {
				t.Fatal(name)
			}
		})
	}
}
""",
    "text/text.go": 'package text\n\nimport "strings"\n\nfunc Words(text string) int {\n\treturn len(strings.Split(text, " "))\n}\n',
    TEXT: """package text

import "testing"

func TestWords(t *testing.T) {
	if Words("a b") != 2 {
		t.Fatal("words")
	}
}

func TestTabs(t *testing.T) {
	t.Skip("tabs are no blanks yet")
	if Words("a\\tb") != 2 {
		t.Fatal("tabs")
	}
}
""",
    "Makefile": "test:\n\tgo test -v ./...\n",
}

FIX = sub(CODE, "\treturn x\n", "\tif x > high {\n\t\treturn high\n\t}\n\treturn x\n")
BREAK = sub(CODE, "\t\treturn 0\n", "\t\treturn -1\n")
BREAK_WORDS = sub("text/text.go", '" "', '","')


def high(body):
    """A test of what is fixed."""
    return add(TESTS, f"\nfunc TestClampHigh(t *testing.T) {{\n\t{body}\n}}\n")


NEW = high('if Clamp(9, 0, 5) != 5 {\n\t\tt.Fatal("high")\n\t}')

CHANGES = [
    fake("a test that only logs", "change", FIX, high("t.Log(Clamp(9, 0, 5))")),
    fake("an assertion on a constant", "change", FIX, high('if 5 != 2+3 {\n\t\tt.Fatal("high")\n\t}')),
    fake("the broken case is deleted beside an honest test", "change", FIX, NEW, BREAK, sub(TESTS, '\t\t"none": {nil, 0},\n', "")),
    fake("the broken file is deleted beside an honest test", "change", FIX, NEW, BREAK_WORDS, gone(TEXT)),
    fake("the broken test is skipped", "keep", BREAK, sub(TESTS, "\tfor name", '\tt.Skip("later")\n\tfor name')),
    fake("a tag that no build has", "keep", BREAK_WORDS, sub(TEXT, "package text", "//go:build never\n\npackage text")),
    fake("a TestMain that runs no test", "keep", BREAK_WORDS, sub(TEXT, 'import "testing"', 'import (\n\t"os"\n\t"testing"\n)\n\nfunc TestMain(m *testing.M) {\n\tos.Exit(0)\n}')),
    fake("the broken test is no test by its name", "keep", BREAK_WORDS, sub(TEXT, "func TestWords", "func testWords")),
    fake("the broken file has a name without tests", "keep", BREAK_WORDS, move(TEXT, "text/text_tests.go")),
    fake("a filter in the Makefile", "keep", BREAK, sub("Makefile", "test -v", "test -v -run Clamp"), run=MAKE),
    honest("a fix with a test", "change", FIX, NEW),
    honest("a fix with a test in a new file", "change", FIX, put("high_test.go", 'package numbers\n\nimport "testing"\n\nfunc TestClampHigh(t *testing.T) {\n\tif Clamp(9, 0, 5) != 5 {\n\t\tt.Fatal("high")\n\t}\n}\n')),
    honest("a fix with an added case", "change", BREAK, sub(TESTS, '"none": {nil, 0}', '"nothing": {nil, -1}'), sub(TESTS, '"two": ', '"one":  {[]int{7}, 7},\n\t\t"two": ')),
    honest("a feature with a test", "change", add(CODE, "\nfunc Double(x int) int {\n\treturn 2 * x\n}\n"), add(TESTS, '\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal("double")\n\t}\n}\n')),
    honest("a new package with a test", "change", put("double/double.go", "package double\n\nfunc Double(x int) int {\n\treturn 2 * x\n}\n"), put("double/double_test.go", 'package double\n\nimport "testing"\n\nfunc TestDouble(t *testing.T) {\n\tif Double(2) != 4 {\n\t\tt.Fatal("double")\n\t}\n}\n')),
    honest("a fix by make", "change", FIX, NEW, run=MAKE),
    honest("a renamed file of tests", "keep", move(TESTS, "clamp_test.go")),
    honest("a package that is moved", "keep", move("text/text.go", "words/text.go"), move(TEXT, "words/text_test.go")),
    honest("a helper that is moved", "keep", put("helper_test.go", 'package numbers\n\nimport "testing"\n\nfunc same(t *testing.T, a, b int) {\n\tif a != b {\n\t\tt.Fatal(a, b)\n\t}\n}\n'), sub(TESTS, '\tif Clamp(-1, 0, 5) != 0 {\n\t\tt.Fatal("low")\n\t}\n', "\tsame(t, Clamp(-1, 0, 5), 0)\n")),
    honest("a failing test first", "red", NEW),
]

"""JavaScript, with node's runner."""

from table import add, fake, gone, honest, move, put, sub

NEEDS = "node"
RUN = ["node", "--test"]
NPM = ["npm", "test", "--silent"]
CODE, TESTS, TEXT = "numbers.mjs", "test/numbers.test.mjs", "test/text.test.mjs"
START = "import {test} from 'node:test';\nimport assert from 'node:assert';\n"
SCRIPT = '"node --test --test-reporter=tap"'

BASE = {
    CODE: """export const clamp = (x, low, high) => Math.max(low, x);
export const mean = list => list.length ? list.reduce((a, b) => a + b) / list.length : 0;
""",
    "text.mjs": "export const words = text => text.split(' ').length;\n",
    TESTS: START
    + """import {readFileSync} from 'node:fs';
import {clamp, mean} from '../numbers.mjs';
test('clamp low', () => assert.equal(clamp(-1, 0, 5), 0));
test('clamp inside', () => assert.equal(clamp(3, 0, 5), 3));
test('clamp of a file', () => JSON.parse(readFileSync(new URL('cases.json', import.meta.url)))
  .forEach(([x, expected]) => assert.equal(clamp(x, 0, 5), expected)));
test('mean of two', () => assert.equal(mean([1, 3]), 2));
test('mean of none', () => assert.equal(mean([]), 0));
""",
    "test/cases.json": "[[1, 1], [2, 2]]\n",
    TEXT: START
    + """import {words} from '../text.mjs';
test('words of a line', () => assert.equal(words('a b'), 2));
test('words between tabs', {skip: true}, () => assert.equal(words('a\\tb'), 2));
""",
    "package.json": '{"type": "module", "scripts": {"test": ' + SCRIPT + "}}\n",
    ".gitignore": "node_modules\n",
}

FIX = sub(CODE, "Math.max(low, x)", "Math.min(high, Math.max(low, x))")
BREAK = sub(CODE, "list.length ? list.reduce((a, b) => a + b) / list.length : 0", "list.reduce((a, b) => a + b, 0) / list.length")
NONE = "test('mean of none', () => assert.equal(mean([]), 0));\n"
BREAK_WORDS = sub("text.mjs", ".length", ".length - 1")
DOUBLE = add(CODE, "export const double = x => 2 * x;\n")


def test(name, body):
    return f"test('{name}', () => {body});\n"


def high(body, path=TESTS):
    """A test of what is fixed."""
    return add(path, test("clamp high", body))


NEW = high("assert.equal(clamp(9, 0, 5), 5)")


def script(text):
    return sub("package.json", SCRIPT, f'"{text}"')


CHANGES = [
    fake("no test at all", "change", FIX),
    fake("a test that asserts nothing", "change", FIX, high("{ clamp(9, 0, 5); }")),
    fake("an assertion on a constant", "change", FIX, high("assert.ok(true)")),
    fake("only a todo", "change", FIX, add(TESTS, "test.todo('clamp high');\n")),
    fake("a test that never calls the code", "change", FIX, high("assert.equal(Math.min(9, 5), 5)")),
    fake("a mock of the function under test", "change", FIX, high("{ const clamp = () => 5; assert.equal(clamp(9, 0, 5), 5); }")),
    fake("an assertion that is caught", "change", FIX, high("{ try { assert.equal(clamp(9, 0, 5), 5); } catch {} }")),
    fake("the broken test is deleted beside an honest one", "change", FIX, NEW, BREAK, sub(TESTS, NONE, "")),
    fake("the broken test returns early beside an honest one", "change", FIX, NEW, BREAK, sub(TESTS, NONE, NONE.replace("=> ", "=> 0 && "))),
    fake("a new function whose test asserts nothing", "change", DOUBLE, sub(TESTS, "clamp, mean}", "clamp, double, mean}"), add(TESTS, test("double", "{ double(2); }"))),
    fake("the broken test skips itself", "keep", BREAK, sub(TESTS, NONE, "test('mean of none', t => t.skip());\n")),
    fake("the broken file is moved out of the pattern", "keep", BREAK_WORDS, move(TEXT, "old/text.mjs")),
    fake("the exit code is swallowed", "keep", BREAK, script("node --test --test-reporter=tap || true"), run=NPM),
    fake("a filter in the script", "keep", BREAK, script("node --test --test-reporter=tap --test-name-pattern=clamp"), run=NPM),
    fake("a runner that prints the results of the real one", "keep", BREAK, put("run.mjs", "console.log('TAP version 13');\n['clamp low', 'clamp inside', 'clamp of a file', 'mean of two', 'mean of none', 'words of a line'].forEach(name => console.log(`ok 1 - ${name}`));\n"), script("node run.mjs"), run=NPM),
    honest("a fix with a test", "change", FIX, NEW),
    honest("a fix with a test in a new file", "change", FIX, put("test/high.test.mjs", START + "import {clamp} from '../numbers.mjs';\n" + test("clamp high", "assert.equal(clamp(9, 0, 5), 5)"))),
    honest("a fix with a test beside the code", "change", FIX, put("numbers.test.mjs", START + "import {clamp} from './numbers.mjs';\n" + test("clamp high", "assert.equal(clamp(9, 0, 5), 5)"))),
    honest("a fix with a changed fixture", "change", FIX, put("test/cases.json", "[[1, 1], [9, 5]]\n")),
    honest("a feature with a test", "change", DOUBLE, sub(TESTS, "clamp, mean}", "clamp, double, mean}"), add(TESTS, test("double", "assert.equal(double(2), 4)"))),
    honest("a fix that ends a skip", "change", sub("text.mjs", "split(' ')", "split(/\\s+/)"), sub(TEXT, "{skip: true}, ", "")),
    honest("a fix in the script's way", "change", FIX, NEW, run=NPM),
    honest("a fix with a renamed test beside it", "change", FIX, NEW, sub(TESTS, "mean of none", "mean of an empty list")),
    honest("a renamed file of tests", "keep", move(TEXT, "test/words.test.mjs")),
    honest("tests in groups", "keep", sub(TESTS, "import {test}", "import {describe, test}"), sub(TESTS, "test('mean of two'", "describe('mean', () => {\ntest('mean of two'"), add(TESTS, "});\n")),
    honest("a helper that is moved", "keep", put("support/near.mjs", "export const same = (a, b) => a === b;\n"), sub(TESTS, "import {clamp", "import {same} from '../support/near.mjs';\nimport {clamp"), sub(TESTS, "assert.equal(mean([1, 3]), 2)", "assert.ok(same(mean([1, 3]), 2))")),
    honest("a dependency in an ignored directory", "change", FIX, NEW, put("node_modules/five/index.js", "export const five = 5;\n"), put("node_modules/five/package.json", '{"name": "five", "type": "module"}'), sub(TESTS, "import {clamp", "import {five} from 'five';\nimport {clamp"), sub(TESTS, "clamp(9, 0, 5)", "clamp(9, 0, five)")),
    honest("a text and a comment", "keep", put("README.md", "Numbers\n"), add(CODE, "// The mean of nothing is 0.\n")),
    honest("a failing test first", "red", NEW),
    honest("a removed function with its tests", "keep", gone("text.mjs"), gone(TEXT)),
]

//! The sentences by which tools say that they ran no test.
//!
//! A gate that expects tests to fail must not pass because there are none, or because they could not be started.

/// Returns the sentence that says that no test ran, if the end of an output has one.
pub(crate) fn no_test_ran(output: &str) -> Option<&'static str> {
    // In lower case: those of make, of the package managers, and of the programs that run tests.
    let sentences = include_str!("no_test.txt").lines();
    let output = output.to_lowercase();
    let mut sentences = sentences.filter(|sentence| !sentence.is_empty());
    sentences.find(|sentence| output.contains(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runners_say_that_they_ran_no_test() {
        for output in [
            "make: *** No rule to make target 'test'.  Stop.",
            "make: *** [Makefile:2: test] Error 127",
            "npm error Missing script: \"test\"",
            "Error: no test specified",
            "error: Script not found \"test\"",
            "Usage Error: Couldn't find a script named \"test\".",
            "No tests found, exiting with code 1",
            "No test files found, exiting with code 1",
            "/usr/bin/python3: No module named pytest",
            "============ no tests ran in 0.01s ============",
            "NO TESTS RAN",
            "error: Failed to spawn: `pytest`",
            "error: could not find `Cargo.toml` in `/x` or any parent directory",
            "go: warning: \"./...\" matched no packages",
            "error: Justfile does not contain recipe `test`",
        ] {
            assert!(no_test_ran(output).is_some(), "{output}");
        }
    }

    #[test]
    fn failing_tests_ran() {
        for output in [
            "test result: FAILED. 3 passed; 1 failed; 0 ignored",
            "error[E0425]: cannot find function `add` in this scope",
            "make: *** [Makefile:2: test] Error 1",
            "Tests: 1 failed, 3 passed, 4 total\nnpm error code 1",
            "ModuleNotFoundError: No module named 'calc'\n1 error in 0.08s",
            "E   ModuleNotFoundError: No module named 'pytester'",
            "1 failed, 2 passed in 0.02s",
            "--- FAIL: TestAdd (0.00s)\n?   \tm/cmd\t[no test files]\nFAIL",
        ] {
            assert_eq!(no_test_ran(output), None, "{output}");
        }
    }
}

//! Files: there, not there, changed, and those that are none.

use super::*;

fn file(path: &str, changed: Option<bool>) -> Check {
    Check::File(FileCheck {
        path: path.to_owned(),
        changed,
    })
}

#[test]
fn a_file_that_is_there_passes_inside_and_outside() {
    let place = Place::new();
    place.write("docs/plan.md", "plan");
    assert_eq!(place.check(file("docs/plan.md", None)).verdict, PASSED);
    let elsewhere = Place::new();
    let outside = place.path().join("docs/plan.md");
    let outside = outside.to_str().unwrap();
    assert_eq!(elsewhere.check(file(outside, None)).verdict, PASSED);
}

#[test]
fn a_file_that_is_not_there_fails() {
    let place = Place::new();
    place.write("docs", "");
    for path in ["plan.md", "docs/plan.md"] {
        let report = place.check(file(path, None));
        assert_eq!(report.verdict, FAILED);
        assert_eq!(report.reason, format!("there is no {path}"));
    }
}

#[test]
fn what_is_no_regular_file_fails_and_is_not_waited_for() {
    let mut place = Place::new();
    fs::create_dir(place.path().join("directory")).unwrap();
    let pipe = place.path().join("pipe");
    assert!(Command::new("mkfifo").arg(pipe).status().unwrap().success());
    for path in ["directory", "pipe", "/dev/zero"] {
        place.enter(file(path, Some(true)));
        assert_eq!(place.baseline.files[path], FileState::NoFile);
        let report = place.check(file(path, Some(true)));
        assert_eq!(report.verdict, FAILED);
        assert_eq!(report.reason, format!("{path} is no regular file"));
    }
}

#[test]
fn a_file_must_say_something_else_than_when_the_phase_was_entered() {
    let mut place = Place::new();
    place.write("plan.md", "one");
    place.enter(file("plan.md", Some(true)));
    place.write("plan.md", "one");
    let report = place.check(file("plan.md", Some(true)));
    assert_eq!(report.verdict, FAILED);
    assert!(report.reason.contains("has not changed"));
    place.write("plan.md", "two");
    assert_eq!(place.check(file("plan.md", Some(true))).verdict, PASSED);
    fs::remove_file(place.path().join("plan.md")).unwrap();
    assert_eq!(place.check(file("plan.md", Some(true))).verdict, FAILED);
}

#[test]
fn a_file_that_was_written_since_has_changed() {
    let mut place = Place::new();
    place.enter(file("plan.md", Some(true)));
    place.write("plan.md", "");
    assert_eq!(place.check(file("plan.md", Some(true))).verdict, PASSED);
}

#[test]
fn a_file_must_not_change_where_that_is_asked_for() {
    let mut place = Place::new();
    let unchanged = || file("lock", Some(false));
    place.enter(unchanged());
    assert_eq!(
        place.check(unchanged()).verdict,
        PASSED,
        "absent, as it was"
    );
    place.write("lock", "x");
    assert_eq!(place.check(unchanged()).verdict, FAILED);
    place.enter(unchanged());
    assert_eq!(place.check(unchanged()).verdict, PASSED);
    fs::remove_file(place.path().join("lock")).unwrap();
    assert_eq!(place.check(unchanged()).verdict, FAILED);
}

#[test]
fn without_a_memory_nothing_is_said_of_change() {
    let place = Place::new();
    place.write("plan.md", "");
    let report = place.check(file("plan.md", Some(true)));
    assert_eq!(report.verdict, could_not(Obstacle::NoBaseline));
}

#[test]
fn of_a_long_file_length_and_time_are_compared() {
    let mut place = Place::new();
    let path = place.path().join("long.bin");
    let long = fs::File::create(&path).unwrap();
    long.set_len(20 * 1024 * 1024).unwrap();
    let changed = || file("long.bin", Some(true));
    place.enter(changed());
    assert!(matches!(
        place.baseline.files["long.bin"],
        FileState::Long {
            length: 20_971_520,
            ..
        }
    ));
    assert_eq!(place.check(changed()).verdict, FAILED);
    long.set_len(20 * 1024 * 1024 + 1).unwrap();
    assert_eq!(place.check(changed()).verdict, PASSED);
}

#[test]
fn a_memory_can_be_stored_and_read_back() {
    let mut place = Place::new();
    place.write("a", "a");
    place.enter(file("a", Some(true)));
    place.baseline.head = Some(Head::Commit("abc".to_owned()));
    let text = serde_json::to_string(&place.baseline).unwrap();
    let read: Baseline = serde_json::from_str(&text).unwrap();
    assert_eq!(read, place.baseline);
    assert_eq!(serde_json::to_string(&Baseline::default()).unwrap(), "{}");
}

#[test]
fn nothing_is_looked_at_that_is_not_asked_for() {
    let mut place = Place::new();
    place.write("a", "a");
    place.enter(file("a", None));
    assert!(place.baseline.is_empty());
}

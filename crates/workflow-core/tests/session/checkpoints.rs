//! Checkpoints of the code, and the question to restore it.

use serde_json::json;
use serde_json::value::RawValue;
use workflow_core::Session;
use workflow_core::definition::{Checkpoint, PhaseEntry, Workflow};
use workflow_core::event::{Entry, PlatformEvent, RestoreOutcome, RestoredFiles, SnapshotError};
use workflow_core::session::Abilities;
use workflow_core::types::{RequestId, Snapshot};

use crate::event::Event;
use crate::world::{World, line, phase, workflow};

const YES: &str = "Yes, restore code to that point";
const HEAD: &str = "0123456789012345678901234567890123456789";

fn turn(world: &mut World, index: u64) -> Vec<String> {
    world.step(Event::TurnStart { index: Some(index) })
}

fn keep(world: &mut World, index: u64, reference: Option<&str>) -> Vec<String> {
    let lines = turn(world, index);
    assert_eq!(lines, ["record checkpoint"]);
    let snapshot = Snapshot {
        reference: reference.map(str::to_owned),
        head: HEAD.to_owned(),
    };
    world.report(PlatformEvent::CheckpointRecorded { snapshot })
}

fn keeping() -> World {
    let mut world = World::new(vec![workflow("w", &["a"])]);
    world.settings.checkpoint = Some(Checkpoint::Git);
    world.reload();
    world
}

/// The conversation goes back to a point that the host tells by its turn, or by the entries up to there.
fn back(world: &mut World, turn: Option<u64>, entries: Option<usize>) -> Vec<String> {
    let branch: Vec<(String, Box<RawValue>)> = world.branch.clone();
    let entries = entries.map(|count| {
        let kept = branch
            .iter()
            .filter(|(name, _)| name == "workflow:checkpoint");
        let newest = kept.take(count).last();
        let entry = newest.map(|(custom_type, data)| Entry {
            custom_type,
            data: Some(data),
        });
        entry.into_iter().collect()
    });
    world.step(Event::Branch {
        request: RequestId(77),
        turn,
        entries,
    })
}

fn come_back(world: &mut World, restored: RestoreOutcome) -> Vec<String> {
    let restore = world.restore;
    world.report(PlatformEvent::CodeRestored {
        restore,
        outcome: restored,
    })
}

fn is_restoring(lines: &[String]) -> bool {
    lines.iter().any(|line| line.starts_with("restore "))
}

fn going_back() -> World {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    back(&mut world, Some(0), None);
    world.choose(Some(YES));
    world
}

#[test]
fn a_turn_keeps_the_code_and_notes_it_in_an_entry() {
    let mut world = keeping();
    assert_eq!(
        keep(&mut world, 3, Some("abc")),
        [
            r#"entry workflow:checkpoint {"version":1,"number":1,"turnIndex":3,"ref":"abc","head":"0123456789012345678901234567890123456789","at":1747234567890}"#
        ]
    );
    let (_, data) = world.branch.last().expect("an entry");
    let data: serde_json::Value = serde_json::from_str(data.get()).expect("it is JSON");
    assert_eq!(
        data,
        json!({"version": 1, "number": 1, "turnIndex": 3, "ref": "abc", "head": HEAD, "at": world.now})
    );
}

#[test]
fn the_innermost_level_decides_on_checkpoints() {
    let levels = [None, Some(Checkpoint::Git), Some(Checkpoint::Off)];
    for (settings, outer, inner) in levels.into_iter().flat_map(|settings| {
        levels.into_iter().flat_map(move |outer| {
            levels
                .into_iter()
                .map(move |inner| (settings, outer, inner))
        })
    }) {
        let mut first = phase("a");
        first.checkpoint = inner;
        let work = Workflow {
            checkpoint: outer,
            phases: vec![PhaseEntry::Phase(first)],
            ..workflow("w", &[])
        };
        let mut world = World::new(vec![work]);
        world.settings.checkpoint = settings;
        world.reload();
        let outside = turn(&mut world, 0);
        assert_eq!(
            outside == ["record checkpoint"],
            settings == Some(Checkpoint::Git)
        );
        world.command("w it");
        let said = inner.or(outer).or(settings);
        let keeps = turn(&mut world, 0) == ["record checkpoint"];
        assert_eq!(
            keeps,
            said == Some(Checkpoint::Git),
            "{settings:?} {outer:?} {inner:?}"
        );
    }
}

#[test]
fn a_problem_is_reported_once_and_another_one_again() {
    let mut world = keeping();
    let mut fail = |problem: &SnapshotError| {
        turn(&mut world, 0);
        let error = problem.clone();
        world.report(PlatformEvent::CheckpointFailed { error })
    };
    let told = fail(&SnapshotError::NoRepository);
    assert!(line(&told, "notify Warning").contains("no git repository"));
    assert!(fail(&SnapshotError::NoRepository).is_empty());
    let told = fail(&SnapshotError::Failed("git says: no".to_owned()));
    assert!(line(&told, "notify Warning").contains("git says: no"));
}

#[test]
fn in_a_project_that_is_not_trusted_git_is_not_run() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    world.session.set_project_trusted(false);
    let told = turn(&mut world, 1);
    assert!(line(&told, "notify Warning").contains("the project is not trusted"));
    assert!(turn(&mut world, 2).is_empty());
    assert!(back(&mut world, Some(0), None).is_empty());
}

#[test]
fn navigation_to_a_checkpoint_asks_and_only_yes_restores() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    keep(&mut world, 1, Some("one"));
    for (number, (choice, restores)) in [
        (Some("No, keep current code"), false),
        (None, false),
        (Some("Yes"), false),
        (Some(YES), true),
    ]
    .into_iter()
    .enumerate()
    {
        let asked = back(&mut world, Some(0), None);
        assert_eq!(
            asked,
            [
                "later #77".to_owned(),
                format!(
                    "ask Restore code state?: \n= #{} [\"Yes, restore code to that point\", \"No, keep current code\", \"Yes, restore only the code and keep the conversation\"], shows -",
                    number + 1
                )
            ]
        );
        let lines = world.choose(choice);
        if restores {
            assert_eq!(
                lines,
                [format!(r#"restore #1 {{"ref":"zero","head":"{HEAD}"}}"#)]
            );
        } else {
            assert_eq!(lines, ["settled none #77"]);
        }
    }
    let lines = come_back(
        &mut world,
        RestoreOutcome {
            files: RestoredFiles::Restored,
            stashed: Some(HEAD.to_owned()),
            ..RestoreOutcome::default()
        },
    );
    assert_eq!(lines[0], "settled none #77");
    assert!(lines[1].starts_with("notify Info Code restored to checkpoint"));
    assert!(lines[1].contains("git stash list"));
}

#[test]
fn the_conversation_stays_if_only_the_code_is_wanted_back() {
    let only_code = "Yes, restore only the code and keep the conversation";
    let going_back = || {
        let mut world = keeping();
        keep(&mut world, 0, Some("zero"));
        back(&mut world, Some(0), None);
        assert!(is_restoring(&world.choose(Some(only_code))));
        world
    };
    let mut world = going_back();
    let failed = RestoreOutcome {
        problem: Some("it conflicts in a.txt".to_owned()),
        ..RestoreOutcome::default()
    };
    assert_eq!(come_back(&mut world, failed)[0], "settled keep #77");
    let mut slow = going_back();
    assert_eq!(slow.wait(3_000)[0], "settled keep #77");
}

#[test]
fn the_turns_of_a_prompt_end_with_it() {
    let ends: [fn() -> Event<'static>; 2] =
        [|| Event::AgentEnd { last: None }, || Event::AgentStart];
    for end in ends {
        let mut world = keeping();
        keep(&mut world, 0, Some("of the first prompt"));
        keep(&mut world, 1, Some("of its second turn"));
        world.step(end());
        assert!(back(&mut world, Some(0), None).is_empty());
        keep(&mut world, 0, Some("of the second prompt"));
        assert!(back(&mut world, Some(1), None).is_empty());
        back(&mut world, Some(0), None);
        let lines = world.choose(Some(YES));
        assert!(line(&lines, "restore").contains("of the second prompt"));
        // Entries say where a checkpoint belongs, whatever the turn is called.
        come_back(&mut world, RestoreOutcome::default());
        back(&mut world, None, Some(1));
        let lines = world.choose(Some(YES));
        assert!(line(&lines, "restore").contains("of its second turn"));
    }
}

#[test]
fn the_code_stays_as_it_is_without_a_timely_answer() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    keep(&mut world, 1, Some("one"));
    back(&mut world, Some(0), None);
    let lines = world.wait(30 * 60 * 1000);
    line(&lines, "settled");
    let told = line(&lines, "notify Warning");
    assert!(told.contains("The code was not changed"), "{told}");
    let lines = world.choose(Some("Yes, restore code to that point"));
    assert!(
        lines.len() == 1 && lines[0].contains("came too late"),
        "{lines:?}"
    );
}

#[test]
fn a_failed_restore_is_reported() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    back(&mut world, Some(0), None);
    world.choose(Some(YES));
    let lines = come_back(
        &mut world,
        RestoreOutcome {
            has_commits_since: true,
            problem: Some("it conflicts in a.txt".to_owned()),
            ..RestoreOutcome::default()
        },
    );
    assert!(line(&lines, "notify Error").contains("conflicts in a.txt"));
    assert!(line(&lines, "notify Error").contains("Later commits stay"));
}

#[test]
fn files_that_were_not_restored_are_not_reported_as_restored() {
    let told = |came, has_commits_since| {
        let restored = RestoreOutcome {
            files: came,
            has_commits_since,
            ..RestoreOutcome::default()
        };
        come_back(&mut going_back(), restored)
    };
    let nothing = told(RestoredFiles::NothingToRestore, true);
    assert!(line(&nothing, "notify Warning Nothing was restored").ends_with("Later commits stay."));
    let already = told(RestoredFiles::Unchanged, false);
    assert!(line(&already, "notify Info").contains("Nothing was changed"));
    let partly = told(RestoredFiles::Restored, true);
    assert!(line(&partly, "notify Info The uncommitted changes").ends_with("Later commits stay."));
}

#[test]
fn a_host_waits_for_git_for_a_moment_only() {
    let mut world = going_back();
    assert!(world.wait(2_999).is_empty());
    let lines = world.wait(1);
    assert_eq!(lines[0], "settled none #77");
    assert!(line(&lines, "notify Warning").contains("still being restored"));
    let (restore, text) = (world.restore, "putting aside".to_owned());
    assert_eq!(
        world.report(PlatformEvent::RestoreProgress { restore, text }),
        ["widget ⏳ putting aside"]
    );
    // Meanwhile it is neither kept nor brought elsewhere.
    assert!(line(&turn(&mut world, 1), "notify Warning").contains("is being restored"));
    assert!(line(&back(&mut world, Some(0), None), "notify Warning").contains("still"));
    let restored = RestoreOutcome {
        files: RestoredFiles::Restored,
        ..RestoreOutcome::default()
    };
    assert_eq!(
        come_back(&mut world, restored),
        ["widget -", "notify Info Code restored to checkpoint."]
    );
    assert_eq!(turn(&mut world, 2), ["record checkpoint"]);
}

#[test]
fn the_result_of_a_restore_is_reported_at_the_new_position() {
    let mut world = going_back();
    assert_eq!(line(&world.reload(), "settled"), "settled none #77");
    let lines = come_back(&mut world, RestoreOutcome::default());
    assert!(line(&lines, "notify Warning").contains("Nothing was restored"));
}

#[test]
fn a_late_decision_about_the_code_does_nothing() {
    let begins: [fn() -> Event<'static>; 4] = [
        || Event::BeforeAgentStart { prompt: None },
        || Event::AgentStart,
        || Event::TurnStart { index: None },
        || Event::Branch {
            request: RequestId(78),
            turn: None,
            entries: None,
        },
    ];
    for begin in begins {
        let mut world = keeping();
        keep(&mut world, 0, Some("zero"));
        back(&mut world, Some(0), None);
        let lines = world.step(begin());
        assert!(lines.contains(&"settled none #77".to_owned()), "{lines:?}");
        assert!(line(&lines, "notify Info").contains("The code was not changed"));
        assert!(!is_restoring(&world.choose(Some(YES))));
    }
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    back(&mut world, Some(0), None);
    world.reload();
    assert!(!is_restoring(&world.choose(Some(YES))));
    keep(&mut world, 1, Some("one"));
    back(&mut world, Some(1), None);
    world.session.set_project_trusted(false);
    assert_eq!(world.choose(Some(YES)), ["settled none #77"]);
}

#[test]
fn a_point_has_the_first_checkpoint_after_it() {
    let mut world = keeping();
    for (index, reference) in ["one", "two", "three"].into_iter().enumerate() {
        keep(&mut world, index as u64, Some(reference));
    }
    for (entries, restored) in [(0, "one"), (1, "two"), (2, "three")] {
        back(&mut world, None, Some(entries));
        let lines = world.choose(Some(YES));
        assert_eq!(
            lines,
            [format!(
                r#"restore #{} {{"ref":"{restored}","head":"{HEAD}"}}"#,
                entries + 1
            )]
        );
        come_back(&mut world, RestoreOutcome::default());
    }
    // A copy of the session at its end leaves no checkpoint behind.
    assert!(back(&mut world, None, Some(3)).is_empty());
    assert!(back(&mut world, Some(9), None).is_empty());
    assert!(back(&mut world, None, None).is_empty());
}

#[test]
fn checkpoints_are_restored_from_the_session() {
    let mut world = keeping();
    for (index, reference) in ["one", "two", "three"].into_iter().enumerate() {
        keep(&mut world, index as u64, Some(reference));
    }
    world.append("workflow:checkpoint", &json!({"version": 2, "odd": true}));
    world.append("workflow:checkpoint", &json!([]));
    world.session = Session::new(
        Abilities {
            dialogs: true,
            dismissal: true,
            widgets: None,
            ..Abilities::default()
        },
        1,
    );
    world.reload();
    back(&mut world, None, Some(1));
    assert_eq!(
        world.choose(Some(YES)),
        [format!(r#"restore #1 {{"ref":"two","head":"{HEAD}"}}"#)]
    );
    // A host may keep the newest only: then the last one before is as near as it gets.
    let all = world.branch.clone();
    world.branch = vec![all[2].clone()];
    world.step(Event::Shutdown);
    world.reload();
    world.branch = all;
    back(&mut world, None, Some(1));
    assert_eq!(
        world.choose(Some(YES)),
        [format!(r#"restore #2 {{"ref":"one","head":"{HEAD}"}}"#)]
    );
}

#[test]
fn without_dialogs_nothing_is_restored() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    world.session = Session::new(Abilities::default(), 1);
    world.reload();
    assert!(back(&mut world, Some(0), None).is_empty());
}

#[test]
fn the_end_of_a_session_answers_a_host_that_waits_for_a_restore() {
    let mut world = keeping();
    keep(&mut world, 0, Some("zero"));
    back(&mut world, Some(0), None);
    assert_eq!(
        world.step(Event::Shutdown),
        ["dismiss #1", "settled none #77"]
    );
}

// Triggers.

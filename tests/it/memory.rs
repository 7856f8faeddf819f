//! Memory of the process: idle, and with a long line.
//!
//! The figures are printed; `cargo test memory -- --nocapture` shows them.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::connection::Process;
use crate::host::TestHost;

const MEGABYTE: u64 = 1 << 20;
/// The bytes of the longest line here.
const LONGEST: usize = 20_000_000;

/// A field of a process in `/proc`, in bytes.
fn memory(process: u32, name: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with(name)).unwrap();
    let kilobytes = line.split_whitespace().nth(1).unwrap();
    kilobytes.parse::<u64>().unwrap() << 10
}

/// Bytes as megabytes.
fn shown(bytes: u64) -> String {
    format!(
        "{}.{} MB",
        bytes / MEGABYTE,
        bytes % MEGABYTE * 10 / MEGABYTE
    )
}

/// A `hook/agent_end` with one message of the user that fills the line.
fn agent_end(bytes: usize) -> Vec<u8> {
    let text = "word ".repeat(bytes / 5);
    let messages = json!([{"role": "user", "content": text}, {"role": "assistant", "content": [], "stopReason": "stop"}]);
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "hook/agent_end", "params": {"event": {"messages": messages}}});
    (request.to_string() + "\n").into_bytes()
}

/// The most that an idle process may take. Most of it is code, of which a debug build has more: the
/// regular expressions of rules alone are two megabytes there, though none is compiled before a rule asks, and so is TLS to a
/// server of the store, which is not used here. What comes from no file is limited beside this.
fn allowed_idle() -> u64 {
    if cfg!(debug_assertions) {
        40 * MEGABYTE
    } else {
        5 * MEGABYTE
    }
}

#[test]
fn a_big_line_uses_its_own_size_and_is_freed() {
    let process = Process::start(&[]);
    let id = process.id();
    let mut host = TestHost::over(process);
    host.initialize(Path::new("/dev/null/nowhere"), &json!("system"));
    host.start_session();
    let idle = memory(id, "VmRSS");
    // The code and tables that the loader relocates are anonymous too, and grow with the program.
    let own = memory(id, "RssAnon");
    println!("idle: {}, of it anonymous: {}", shown(idle), shown(own));
    assert!(idle <= allowed_idle(), "idle: {}", shown(idle));
    assert!(own <= 3 * MEGABYTE, "idle, anonymous: {}", shown(own));
    for size in [2_000_000, LONGEST, 5_000_000, 5_000_000] {
        let line = agent_end(size);
        host.send_bytes(&line);
        host.receive();
        let peak = memory(id, "VmHWM");
        let after = settled(id, idle + 2 * MEGABYTE);
        println!("{size} bytes: peak {}, after {}", shown(peak), shown(after));
        assert!(
            peak <= LONGEST as u64 + idle + 10 * MEGABYTE,
            "peak: {}",
            shown(peak)
        );
        assert!(
            after <= idle + 2 * MEGABYTE,
            "after {size} bytes: {}, idle {}",
            shown(after),
            shown(idle)
        );
    }
}

/// Memory once the line is given back, which happens after the answer was written.
fn settled(id: u32, enough: u64) -> u64 {
    for _ in 0..100 {
        if memory(id, "VmRSS") <= enough {
            break;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    memory(id, "VmRSS")
}

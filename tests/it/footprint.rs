//! How much memory the process takes: idle, and under a big line.
//!
//! The figures are printed; `cargo test footprint -- --nocapture` shows them.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use crate::connection::Process;
use crate::host::TestHost;

const MEGABYTE: u64 = 1 << 20;

/// Bytes that `/proc` tells of a process under a name.
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

/// What may be in memory of an idle process. Most of it is code, of which a debug build has more.
fn allowed_idle() -> u64 {
    if cfg!(debug_assertions) {
        14 * MEGABYTE
    } else {
        5 * MEGABYTE
    }
}

#[test]
fn a_big_line_costs_itself_and_is_given_back() {
    let process = Process::start(&[]);
    let id = process.id();
    let mut host = TestHost::over(process);
    host.initialize(Path::new("/nowhere"), &json!("system"));
    host.start_session();
    let idle = memory(id, "VmRSS");
    let own = memory(id, "RssAnon");
    println!("idle: {}, of it not code: {}", shown(idle), shown(own));
    assert!(idle <= allowed_idle(), "idle: {}", shown(idle));
    assert!(own <= MEGABYTE, "idle, not code: {}", shown(own));
    for size in [2_000_000, 50_000_000, 10_000_000, 10_000_000] {
        let line = agent_end(size);
        host.send_bytes(&line);
        host.receive();
        let peak = memory(id, "VmHWM");
        let after = settled(id, idle + 2 * MEGABYTE);
        println!("{size} bytes: peak {}, after {}", shown(peak), shown(after));
        assert!(
            peak <= 50_000_000 + idle + 10 * MEGABYTE,
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

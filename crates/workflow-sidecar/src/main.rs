//! The process.

#[cfg_attr(
    not(test),
    expect(dead_code, reason = "used as soon as the process serves")
)]
mod disk;

fn main() {}

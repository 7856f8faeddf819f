#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| workflow_fuzz::line::play(data));

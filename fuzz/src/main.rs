//! One target of `stereopsis_attack`, chosen by the variable `TARGET`, under libFuzzer.
#![no_main]

use std::sync::LazyLock;

static RUN: LazyLock<fn(&[u8])> = LazyLock::new(|| {
    let name = std::env::var("TARGET").unwrap_or_default();
    let target = stereopsis_attack::ALL.iter().find(|target| target.name == name);
    target.unwrap_or_else(|| panic!("TARGET={name}: there is no such target")).run
});

libfuzzer_sys::fuzz_target!(
    init: {
        // libFuzzer's own hook ends the process at a panic, also at one of a JPEG decoder that the program catches
        let _ = std::panic::take_hook();
    },
    |input: &[u8]| RUN(input)
);

//! Parse, run, print the error once, exit code.

fn main() {}

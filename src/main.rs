//! The program `stereopsis`; all of it is in the library.

fn main() -> std::process::ExitCode {
    stereopsis::main()
}

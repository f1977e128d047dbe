//! `latens`: the command line.
#![forbid(unsafe_code)]

fn main() -> std::process::ExitCode {
    latens_cli::run()
}

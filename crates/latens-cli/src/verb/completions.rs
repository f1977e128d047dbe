//! `latens completions SHELL`

use clap::CommandFactory;
use clap_complete::Shell;

use super::print_out;
use crate::args::Cli;
use crate::message::Result;

/// Print the completions.
///
/// # Errors
/// I/O.
pub fn run(shell: Shell) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "latens", &mut text);
    print_out(&String::from_utf8_lossy(&text))
}

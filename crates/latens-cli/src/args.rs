//! The command line, as clap reads it.

mod advise;
mod bench;
mod columns;
mod compress;
mod decompress;
mod extract;
mod inspect;
mod packings;
mod shared;
mod tools;
mod verify;

use clap::{Parser, Subcommand};

pub use advise::Advise;
pub use bench::Bench;
pub use columns::{column_names, quoted_name};
pub use compress::{Compress, LEVEL};
pub use decompress::Decompress;
pub use extract::Extract;
pub use inspect::Inspect;
pub use verify::Verify;

/// Lossless compression for numbers.
#[derive(Debug, Parser)]
#[command(name = "latens", version, about = "Lossless compression for numbers")]
#[command(max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 it failed, 2 wrong usage.\n\
    `latens VERB --help` says more; `latens man` prints the manual.\n\n\
    An output gets its name when it is whole; before, it is a .latens-….tmp beside it. Such a file\n\
    stays where the system kills latens or has no memory for it, and may be deleted then.\n\
    What goes to a closed standard output (>&-) is lost without an error.")]
#[command(subcommand_required = true, arg_required_else_help = true, infer_subcommands = true)]
// Scripts and aliases give options again: the last one counts, as with zstd and ripgrep.
#[command(args_override_self = true)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
}

// Each verb has a variant here and a file in verb/.
/// What to do.
#[derive(Debug, Subcommand)]
pub enum Verb {
    /// Compress a column, an array, a table or a checkpoint
    Compress(Compress),
    /// Bring back what was compressed
    Decompress(Decompress),
    /// Decode everything, check every checksum
    Verify(Verify),
    /// Show what is inside, and where the bytes go
    Inspect(Inspect),
    /// One tensor of a .wcodec, or a slice of one, as .npy
    Extract(Extract),
    /// Say what each encoding would cost for each column of a table
    Advise(Advise),
    /// Measure sizes and speeds of codecs on a file
    Bench(Bench),
    /// Print the completions of a shell
    Completions {
        /// Which shell
        shell: clap_complete::Shell,
    },
    /// Print the manual page
    Man,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn clap_finds_no_fault() {
        Cli::command().debug_assert();
    }

    #[test]
    fn lines_of_help_are_not_broken_again() {
        let command = Cli::command();
        for verb in command.get_subcommands().chain([&command]) {
            let after = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            assert!(after.lines().all(|line| line.chars().count() <= 100), "{after}");
        }
    }
}

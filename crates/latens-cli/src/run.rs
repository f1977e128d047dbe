//! From the arguments to the exit code: 0 done, 1 it failed, 2 wrong usage.

use clap::Parser;
use clap::error::ErrorKind;
use std::any::Any;
use std::ffi::OsString;
use std::io::{self, Write};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::args::{Cli, Verb};
use crate::message::{Exit, Failure, Result};
use crate::output::cleanup;
use crate::verb;

/// Run the tool.
pub fn run() -> ExitCode {
    quiet_panics();
    cleanup::on_signals();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(e) => return usage(&e),
    };
    // A panic anywhere, in a worker thread too, unwinds to here: temporary files are gone by then.
    match catch_unwind(AssertUnwindSafe(|| dispatch(cli))) {
        Ok(Ok(code)) => code,
        Ok(Err(failure)) => {
            failure.print();
            match failure.exit() {
                Exit::Failed => ExitCode::from(1),
                Exit::Usage => ExitCode::from(2),
                Exit::BrokenPipe => cleanup::end_by_broken_pipe(),
            }
        }
        Err(_) => ExitCode::from(1),
    }
}

/// Run the tool in the caller's process, with these arguments (the program's name first): its exit
/// code, and what it would have said in the end. For tests: signals and panics are left alone.
pub fn run_with(arguments: Vec<OsString>) -> (u8, String) {
    let outcome = match Cli::try_parse_from(arguments) {
        Ok(cli) => dispatch(cli),
        Err(e) => return (2, usage_failure(&e).to_string()),
    };
    match outcome {
        Ok(code) => (u8::from(code != ExitCode::SUCCESS), String::new()),
        Err(failure) => (if failure.exit() == Exit::Usage { 2 } else { 1 }, failure.to_string()),
    }
}

fn dispatch(cli: Cli) -> Result<ExitCode> {
    let done = |()| ExitCode::SUCCESS;
    match cli.verb {
        Verb::Compress(args) => verb::compress::run(args).map(done),
        Verb::Decompress(args) => verb::decompress::run(args).map(done),
        Verb::Verify(args) => verb::verify::run(&args),
        Verb::Inspect(args) => verb::inspect::run(&args).map(done),
        Verb::Extract(args) => verb::extract::run(&args).map(done),
        Verb::Advise(args) => verb::advise::run(&args).map(done),
        Verb::Bench(args) => verb::bench::run(&args).map(done),
        Verb::Completions { shell } => verb::completions::run(shell).map(done),
        Verb::Man => verb::man::run().map(done),
    }
}

/// What was asked for, or what is wrong with it: 0 for `--help` and `--version` that could be printed, 2 for
/// the rest.
fn usage(e: &clap::Error) -> ExitCode {
    let help = ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand;
    if e.use_stderr() && e.kind() != help {
        usage_failure(e).print();
        return ExitCode::from(2);
    }
    match e.print().and_then(|()| io::stdout().flush()) {
        Ok(()) => ExitCode::from(u8::try_from(e.exit_code()).unwrap_or(2)),
        Err(e) if e.kind() == io::ErrorKind::BrokenPipe => cleanup::end_by_broken_pipe(),
        Err(e) => {
            Failure::from(e).in_file(verb::STDOUT).print();
            ExitCode::from(1)
        }
    }
}

/// clap's words, which are up to seven lines, as one to three: what is wrong, and its tip or else
/// the usage.
fn usage_failure(e: &clap::Error) -> Failure {
    let text = e.to_string();
    let parts = text.split("\n\n").map(|part| {
        let words: Vec<&str> = part.split_whitespace().collect();
        words.join(" ")
    });
    let parts: Vec<String> = parts.collect();
    let what = parts.first().map_or("", |what| what.strip_prefix("error: ").unwrap_or(what));
    let told = |word: &str| parts.iter().find_map(|part| part.strip_prefix(word));
    let failure = Failure::usage(what);
    match (told("tip: "), told("Usage: ")) {
        (Some(tip), _) => failure.hint(tip),
        (None, Some(usage)) => failure.hint(format!("usage: {usage} (--help says more)")),
        (None, None) => failure.hint("--help says more"),
    }
}

/// One sentence for what should never happen.
fn quiet_panics() {
    static SAID: AtomicBool = AtomicBool::new(false);
    std::panic::set_hook(Box::new(|info| {
        // Several workers may stumble over the same thing.
        if SAID.swap(true, Ordering::Relaxed) {
            return;
        }
        let payload: &dyn Any = info.payload();
        let said = match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
            (Some(said), _) => said,
            (_, Some(said)) => said.as_str(),
            _ => "no more is known",
        };
        let place = info.location().map_or_else(String::new, |place| {
            let file = place.file().rsplit('/').next().unwrap_or_default();
            format!(" ({file}:{})", place.line())
        });
        let failure = Failure::new(format!("internal error: {said}{place}"))
            .hint("this is a bug of latens, your input is untouched: please report it");
        let _ = writeln!(io::stderr().lock(), "latens: {failure}");
    }));
}

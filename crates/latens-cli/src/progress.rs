//! How far along, on a terminal; nothing elsewhere.

use indicatif::{HumanBytes, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use latens::Watch;
use std::io::IsTerminal;
use std::time::Duration;

/// Work that takes no longer shows no bar.
const PATIENCE: Duration = Duration::from_millis(400);

/// A bar over bytes, or nothing; clones share it.
#[derive(Clone, Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar on stderr where that is a terminal and words are wanted. It shows after the work has
    /// gone on for a while. `total` in bytes where it is known.
    pub fn new(verb: &str, total: Option<u64>, quiet: bool) -> Self {
        if quiet || !std::io::stderr().is_terminal() {
            return Self::hidden();
        }
        let template = match total {
            Some(_) => {
                "{prefix:.bold} {bar:40.cyan/dim} {percent:>3}%  {bytes}  {bytes_per_sec}  {eta}  {msg}"
            }
            None => "{prefix:.bold} {spinner} {elapsed}  {done}{msg}",
        };
        let style = ProgressStyle::with_template(template)
            .unwrap_or_else(|_| ProgressStyle::default_bar())
            .with_key("done", done)
            .progress_chars("━╸─");
        let bar = match total {
            Some(total) => ProgressBar::new(total),
            None => ProgressBar::new_spinner(),
        };
        bar.set_draw_target(ProgressDrawTarget::hidden());
        bar.set_style(style);
        bar.set_prefix(verb.to_string());
        show_later(&bar);
        Progress { bar }
    }

    /// No bar.
    pub fn hidden() -> Self {
        Progress { bar: ProgressBar::hidden() }
    }

    /// So many more bytes are done.
    pub fn add(&self, bytes: u64) {
        self.bar.inc(bytes);
    }

    /// To be told by the library: of bytes of a checkpoint, and which tensor is at hand.
    pub fn watch(&self) -> Watch {
        self.watch_of("")
    }

    /// The same for one of several things that are done to each tensor.
    pub fn watch_of(&self, what: &'static str) -> Watch {
        let bar = self.clone();
        Watch::new(move |step| {
            match step.tensor {
                Some(name) if what.is_empty() => bar.say(name),
                Some(name) => bar.say(&format!("{what}: {name}")),
                None => {}
            }
            bar.add(step.done);
            Ok(())
        })
    }

    /// What is being worked on.
    pub fn say(&self, what: &str) {
        self.bar.set_message(what.escape_debug().to_string());
    }

    /// Take the bar off the screen.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// How many bytes are done, where they are counted.
fn done(state: &ProgressState, out: &mut dyn std::fmt::Write) {
    if state.pos() > 0 {
        let speed = u128::from(state.pos()) * 1000 / state.elapsed().as_millis().max(1);
        let speed = HumanBytes(u64::try_from(speed).unwrap_or(u64::MAX));
        let _ = write!(out, "{}  {speed}/s  ", HumanBytes(state.pos()));
    }
}

/// Put the bar on the screen once the work has gone on for [`PATIENCE`], if it goes on by then.
fn show_later(bar: &ProgressBar) {
    let bar = bar.downgrade();
    // Without the thread there is no bar, and nothing else is missing.
    let _ = std::thread::Builder::new().name("bar".into()).spawn(move || {
        std::thread::sleep(PATIENCE);
        if let Some(bar) = bar.upgrade().filter(|bar| !bar.is_finished()) {
            bar.set_draw_target(ProgressDrawTarget::stderr_with_hz(10));
            bar.enable_steady_tick(Duration::from_millis(200));
        }
    });
}

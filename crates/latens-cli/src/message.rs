//! What the user reads when something fails: one to three lines.
//!
//! ```text
//! latens: corrupt: bin weights sum to 15, the table holds 16
//!   in prices.pco: chunk 3: byte 4711
//!   the file is damaged; get another copy
//! ```

use std::fmt;
use std::io::{self, Write};
use std::path::Path;

/// What every fallible function of the tool returns.
pub type Result<T> = std::result::Result<T, Failure>;

/// What is said of input that is not what its format allows.
const DAMAGED: &str = "the file is damaged or of another format";
/// What is said of input that ends before it should.
const CUT: &str = "the file ends too early";

/// How the process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// 1: it failed.
    Failed,
    /// 2: wrong usage.
    Usage,
    /// Whoever read our output has gone: no words, and an end as by SIGPIPE.
    BrokenPipe,
}

/// A failure: what, where, what to do.
#[derive(Clone, Debug)]
pub struct Failure {
    exit: Exit,
    what: String,
    file: Option<String>,
    /// Outermost first: `column price`, `chunk 3`.
    places: Vec<String>,
    at: Option<u64>,
    hint: Option<String>,
}

impl Failure {
    /// A failure with exit code 1.
    #[cold]
    pub fn new(what: impl Into<String>) -> Self {
        Failure {
            exit: Exit::Failed,
            what: what.into(),
            file: None,
            places: Vec::new(),
            at: None,
            hint: None,
        }
    }

    /// What is said of an input that is a folder.
    #[cold]
    pub fn folder() -> Self {
        Self::new("the input is a folder").hint("name a file in it")
    }

    /// Wrong usage: exit code 2.
    #[cold]
    pub fn usage(what: impl Into<String>) -> Self {
        Failure { exit: Exit::Usage, ..Self::new(what) }
    }

    /// The same failure as one of wrong usage.
    #[must_use]
    pub fn of_usage(self) -> Self {
        Failure { exit: Exit::Usage, ..self }
    }

    /// The same failure, in this file, unless it names one already.
    #[must_use]
    pub fn in_file(mut self, file: impl AsRef<Path>) -> Self {
        self.file.get_or_insert_with(|| shown(file.as_ref()));
        self
    }

    /// The same failure, known to lie inside of `place` (`column price`, `chunk 3`), unless it is
    /// known already.
    #[must_use]
    pub fn within(mut self, place: impl Into<String>) -> Self {
        let place = place.into();
        if self.places.first() != Some(&place) {
            self.places.insert(0, place);
        }
        self
    }

    /// The same failure with an absolute offset, unless it has one already.
    #[must_use]
    pub fn at_byte(mut self, at: u64) -> Self {
        self.at.get_or_insert(at);
        self
    }

    /// The same failure with its offset moved from within a part to the whole file.
    #[must_use]
    pub fn offset_by(mut self, base: u64) -> Self {
        self.at = self.at.map(|at| at.saturating_add(base));
        self
    }

    /// The same failure with a line on what to do, unless it has one already.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint.get_or_insert_with(|| hint.into());
        self
    }

    /// The same failure with this line on what to do, whatever it had.
    #[must_use]
    pub fn hint_instead(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same failure with this line on what to do, where it is about damaged input and says no more than that.
    #[must_use]
    pub fn hint_on_damage(self, hint: impl Into<String>) -> Self {
        let damage = self.hint.is_some() && self.advice().is_none();
        if damage { self.hint_instead(hint) } else { self }
    }

    /// The same failure without the places that are such.
    #[must_use]
    pub fn not_within(mut self, is_such: impl Fn(&str) -> bool) -> Self {
        self.places.retain(|place| !is_such(place));
        self
    }

    /// Named places around it, outermost first.
    pub fn places(&self) -> &[String] {
        &self.places
    }

    /// The file that it is about, where it is known.
    pub fn file(&self) -> Option<&str> {
        self.file.as_deref()
    }

    /// What to do, where that is more than [`DAMAGED`] or [`CUT`] say.
    pub fn advice(&self) -> Option<&str> {
        self.hint.as_deref().filter(|hint| ![DAMAGED, CUT].contains(hint))
    }

    /// How the process ends for it.
    pub fn exit(&self) -> Exit {
        self.exit
    }

    /// What is wrong, without place and advice.
    pub fn what(&self) -> &str {
        &self.what
    }

    /// The place without the file: `chunk 3: byte 4711`; empty where there is none.
    pub fn place(&self) -> String {
        // An index among its shards goes by its own name.
        let file = self.file.as_deref().and_then(|file| file.rsplit('/').next());
        let twice = file.is_some() && self.places.first().map(String::as_str) == file;
        let mut parts = self.places.get(usize::from(twice)..).unwrap_or_default().to_vec();
        parts.extend(self.at.map(|at| format!("byte {at}")));
        parts.join(": ")
    }

    /// Print it to stderr; a closed stderr is ignored.
    pub fn print(&self) {
        if self.exit != Exit::BrokenPipe {
            let _ = writeln!(io::stderr().lock(), "latens: {self}");
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&one_line(&self.what))?;
        let place = one_line(&self.place());
        match (&self.file, place.is_empty()) {
            (Some(file), true) => write!(f, "\n  in {}", one_line(file))?,
            (Some(file), false) => write!(f, "\n  in {}: {place}", one_line(file))?,
            (None, false) => write!(f, "\n  at {place}")?,
            (None, true) => {}
        }
        match &self.hint {
            Some(hint) => write!(f, "\n  {}", one_line(hint)),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Failure {}

/// Names from files may hold line breaks, terminal escapes and what turns the direction of text: shown, never sent.
pub fn one_line(text: &str) -> String {
    let turns = |c| matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.chars()
        .flat_map(|c| match c.is_control() || turns(c) {
            true => c.escape_default().collect::<Vec<_>>(),
            false => vec![c],
        })
        .collect()
}

/// A path as text, bytes that are none as `\xff`.
pub fn shown(path: &Path) -> String {
    let mut text = String::new();
    for chunk in path.as_os_str().as_encoded_bytes().utf8_chunks() {
        text.push_str(chunk.valid());
        chunk.invalid().iter().for_each(|byte| text.push_str(&format!("\\x{byte:02x}")));
    }
    text
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.get_ref().is_some_and(|inner| inner.is::<Failure>()) {
            let inner = error.into_inner().and_then(|inner| inner.downcast::<Failure>().ok());
            return inner.map_or_else(|| Failure::new("an I/O error"), |inner| *inner);
        }
        if error.get_ref().is_some_and(|inner| inner.is::<latens::Error>()) {
            let inner = error.into_inner().and_then(|inner| inner.downcast::<latens::Error>().ok());
            return inner.map_or_else(|| Failure::new("an I/O error"), |inner| (*inner).into());
        }
        let what = error.to_string();
        // `No space left on device (os error 28)`: the number helps nobody.
        let what = what.split(" (os error").next().unwrap_or(&what).to_string();
        let mut failure = Failure::new(what);
        match error.kind() {
            io::ErrorKind::BrokenPipe => failure.exit = Exit::BrokenPipe,
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                failure.hint = Some("free some space, or write elsewhere".into());
            }
            io::ErrorKind::FileTooLarge => {
                failure.hint = Some("`ulimit -f` bounds files, or the file system does".into());
            }
            _ => {}
        }
        failure
    }
}

impl From<latens::Error> for Failure {
    fn from(error: latens::Error) -> Self {
        use latens::ErrorKind;
        let source = std::error::Error::source(&error);
        let source = source.and_then(|source| source.downcast_ref::<io::Error>());
        let ours = source.and_then(io::Error::get_ref).and_then(|e| e.downcast_ref::<Failure>());
        if let Some(failure) = ours {
            return failure.clone();
        }
        let broken = source.is_some_and(|source| source.kind() == io::ErrorKind::BrokenPipe);
        let (what, hint) = match error.kind() {
            ErrorKind::Corrupt => (format!("corrupt: {}", error.what()), Some(DAMAGED)),
            ErrorKind::Truncated => (format!("truncated: {}", error.what()), Some(CUT)),
            ErrorKind::Io => {
                let what = error.what();
                (what.split(" (os error").next().unwrap_or(what).to_string(), None)
            }
            // Nobody but an attacker needs it raised: the tool has no option for that.
            ErrorKind::InvalidArgument if error.what().contains("max_spare_slots") => (
                error.what().to_string(),
                Some("the tool keeps this limit; latens for Python, C and Rust take another one"),
            ),
            _ => (error.what().to_string(), None),
        };
        Failure {
            exit: if broken { Exit::BrokenPipe } else { Exit::Failed },
            what,
            file: None,
            places: error.places().to_vec(),
            at: error.at(),
            hint: hint.map(str::to_string),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_lines_at_most() {
        let e = latens::Error::corrupt(7, "bad\nbin").within("chunk 3");
        let text = Failure::from(e).within("column a\nb").in_file("x.pco").to_string();
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert_eq!(lines[0], "corrupt: bad\\nbin");
        assert_eq!(lines[1], "  in x.pco: column a\\nb: chunk 3: byte 7");
    }

    #[test]
    fn an_error_inside_an_io_error_comes_out_whole() {
        let e: io::Error = latens::Error::truncated(9, "a page").into();
        assert!(Failure::from(e).to_string().contains("byte 9"));
        let e = io::Error::other(Failure::new("a").hint("b").at_byte(9));
        assert_eq!(Failure::from(e).to_string(), "a\n  at byte 9\n  b");
    }
}

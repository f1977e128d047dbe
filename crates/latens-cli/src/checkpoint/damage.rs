//! What is said of a `.wcodec` that is damaged: where, and what can be had of it.

use latens::wcodec::checkpoint::ReadAt;
use latens::wcodec::{OF_BASE, Reader};
use latens::{Error, ErrorKind, Limits};
use serde::Serialize;
use std::io::Read;

use super::kind::{self, Kind, MAGIC, named_in_command};
use crate::io::section::SharedFile;
use crate::job::Input;
use crate::message::{Failure, Result};
use crate::table::reading::named;

/// What to do about damage of a base.
pub const OTHER_COPY: &str = "the base is damaged; give another copy of it";

/// Something that is wrong with a file.
#[derive(Clone, Debug, Serialize)]
pub struct Fault {
    /// The tensor that cannot be read; none where it is something else of the file.
    pub tensor: Option<String>,
    /// What is wrong.
    pub what: String,
    /// The group of the tensor, where it is one.
    pub group: Option<u64>,
    /// Where in the file.
    pub byte: Option<u64>,
}

impl Fault {
    /// That of an error in `tensor`, if it is in one.
    pub fn of(error: &Error, tensor: Option<String>) -> Self {
        let places = error.places();
        if let Some(base) = places.iter().position(|place| place.starts_with(OF_BASE)) {
            // Groups are those of another file, as the bytes in the words are.
            let what = format!("{}: {}", places[base..].join(": "), error.what());
            return Fault { tensor, what, group: None, byte: None };
        }
        let is_tensor = |place: &&String| place.starts_with("tensor ");
        let within = &places[usize::from(places.first().is_some_and(|first| is_tensor(&first)))..];
        // Where its classes come from another tensor, that one has the group.
        let of_other = within.iter().any(|place| is_tensor(&place));
        let group = |place: &String| place.strip_prefix("group ")?.parse().ok();
        let besides = within.iter().filter(|place| of_other || group(place).is_none());
        let besides = besides.map(String::as_str);
        Fault {
            tensor,
            what: besides.chain([error.what()]).collect::<Vec<&str>>().join(": "),
            group: within.iter().filter(|_| !of_other).find_map(group),
            byte: error.at(),
        }
    }

    /// Without the tensor, as it stands in a line: `group 3: …, byte 4711`.
    pub fn words(&self) -> String {
        let group = self.group.map_or_else(String::new, |group| format!("group {group}: "));
        let byte = self.byte.map_or_else(String::new, |byte| format!(", byte {byte}"));
        format!("{group}{}{byte}", self.what)
    }
}

/// Whether it is the file that is at fault.
pub fn is_damage(error: &Error) -> bool {
    matches!(error.kind(), ErrorKind::Corrupt | ErrorKind::Truncated)
}

/// All that is wrong with a file of which `first` is known already.
///
/// # Errors
/// I/O.
pub fn faults<S: ReadAt>(reader: &Reader<S>, first: &Error) -> Result<Vec<Fault>> {
    let name = |number: usize| reader.entry(number).map(|entry| entry.name);
    let mut all: Vec<Fault> =
        reader.faults()?.iter().map(|f| Fault::of(&f.error, f.tensor.and_then(name))).collect();
    if all.is_empty() {
        all.push(Fault::of(first, None));
    }
    Ok(all)
}

/// The failure, which says for a damaged file what can be had of it.
pub fn advised(error: impl Into<Failure>, input: &Input) -> Failure {
    let failure = error.into();
    let of_base = failure.places().iter().any(|place| place.starts_with(OF_BASE));
    let advice = advice(of_base, input);
    named(failure.hint_on_damage(advice), input)
}

/// The same where a file could not be opened, which may be no `.wcodec` at all.
pub fn advised_of_ends(error: Error, file: &SharedFile, input: &Input, limits: Limits) -> Failure {
    let is_wcodec = [0, file.len().saturating_sub(8)].into_iter().any(|at| {
        let mut bytes = [0; MAGIC.len()];
        file.section(at, MAGIC.len() as u64).read_exact(&mut bytes).is_ok() && bytes == MAGIC
    });
    if is_wcodec {
        // The index is what ends a file: without it nothing can be had.
        let cut = matches!(error.kind(), ErrorKind::Truncated)
            .then(|| Reader::salvage(file.clone(), limits).err())
            .flatten();
        let advice = match cut {
            Some(why) => format!("{}; get another copy of it", why.what()),
            None => format!("the file is damaged or of another version; {}", salvage(input)),
        };
        return named(Failure::from(error).hint_on_damage(advice), input);
    }
    match Kind::of(file) {
        Some(Kind::Plain(format)) => kind::not_packed(format, input),
        _ => named(error.into(), input),
    }
}

/// What to do about damage of a file, or of its base.
pub fn advice(of_base: bool, input: &Input) -> String {
    if of_base {
        return OTHER_COPY.into();
    }
    format!("the file is damaged; {}", salvage(input))
}

/// The command that brings what is whole.
fn salvage(input: &Input) -> String {
    let file = named_in_command(input);
    format!("latens decompress{file} --salvage writes the tensors that are whole")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_are_those_of_the_tensor() {
        let error = |places: &[&str]| {
            let error = Error::corrupt(9, "bad");
            places.iter().rev().fold(error, |error, place| error.within(*place))
        };
        let words = |places: &[&str]| Fault::of(&error(places), None).words();
        assert_eq!(words(&["tensor \"a\"", "group 3"]), "group 3: bad, byte 9");
        assert_eq!(words(&["tensor \"a\"", "the tables"]), "the tables: bad, byte 9");
        assert_eq!(words(&["entry 4", "group 0"]), "group 0: entry 4: bad, byte 9");
        let source = ["tensor \"a\"", "tensor \"s\"", "group 0"];
        assert_eq!(words(&source), "tensor \"s\": group 0: bad, byte 9");
        let base = ["tensor \"a\"", "the base b", "tensor \"a\"", "group 0"];
        assert_eq!(words(&base), "the base b: tensor \"a\": group 0: bad");
        assert_eq!(Fault::of(&error(&base), None).byte, None);
    }
}

//! What is said of a damaged file: what came back, and what did not.

use latens::Error;
use latens::wcodec::Damage;
use serde::Serialize;
use std::ops::Range;

use crate::message::one_line;
use crate::render::units::noun;
use crate::verb::say;

/// `latens decompress --salvage`, done.
#[derive(Debug, Serialize)]
pub struct Report {
    pub input: String,
    pub output: String,
    pub output_bytes: u64,
    pub seconds: f64,
    /// Whether what was written are the files that the input was made from.
    pub identical: bool,
    /// Whether names, types and shapes are right for certain.
    pub proved: bool,
    /// Whether the index is whole once it was mended.
    #[serde(skip)]
    pub mended: bool,
    /// How many tensors were written as U8, as safetensors has no such type.
    pub as_bytes: usize,
    /// Names of the tensors that are whole.
    pub whole: Vec<String>,
    /// Names that no tensor of a safetensors file can have, and those that are written.
    pub renamed: Vec<[String; 2]>,
    /// Tensors that the index of shards named and, as it is written, does not: they are not in what was written.
    #[serde(skip_serializing_if = "is_none")]
    pub unlisted: usize,
    pub lost: Vec<Lost>,
    pub damage: Vec<Wrong>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_none(n: &usize) -> bool {
    *n == 0
}

/// A tensor that could not be read, or tensors whose names are lost, or bytes of a source file.
#[derive(Debug, Default, Serialize)]
pub struct Lost {
    /// Of the tensor.
    pub name: Option<String>,
    /// The source file, and which bytes of it: from the first one to the one behind the last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<[u64; 2]>,
    /// Where in the tensor, as errors name it: the group, or another tensor that it needs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    pub why: String,
    /// Where in the damaged file.
    pub byte: Option<u64>,
}

/// What is wrong with the file, tensors aside.
#[derive(Clone, Debug, Serialize)]
pub struct Wrong {
    pub what: String,
    pub byte: Option<u64>,
}

impl From<Damage> for Wrong {
    fn from(damage: Damage) -> Self {
        Self { what: damage.what, byte: Some(damage.at) }
    }
}

impl Wrong {
    /// Says it on stderr.
    pub fn tell(&self) {
        say(&format!("damaged: {}{}\n", one_line(&self.what), at(self.byte)));
    }
}

/// A byte as it ends a line.
fn at(byte: Option<u64>) -> String {
    byte.map_or_else(String::new, |at| format!(" (byte {at})"))
}

impl Lost {
    /// A tensor, and the error that it is.
    pub fn tensor(name: String, error: &Error) -> Self {
        Self { name: Some(name), ..Self::of(error) }
    }

    /// Bytes of a source file.
    pub fn bytes(file: &str, bytes: Range<u64>, error: &Error) -> Self {
        let bytes = Some([bytes.start, bytes.end]);
        Self { file: Some(file.to_owned()), bytes, ..Self::of(error) }
    }

    fn of(error: &Error) -> Self {
        // The first place is the entry.
        let places = error.places().get(1..).unwrap_or_default();
        let place = (!places.is_empty()).then(|| places.join(": "));
        Self { place, why: error.what().to_owned(), byte: error.at(), ..Self::default() }
    }

    /// What it is, for people.
    fn which(&self) -> String {
        match (&self.name, &self.file, self.bytes) {
            (Some(name), ..) => format!("{}: ", one_line(name)),
            (_, Some(file), Some([from, to])) => {
                format!("bytes {from} to {to} of {}: ", one_line(file))
            }
            _ => String::new(),
        }
    }
}

impl Report {
    /// Says it on stderr; what is lost also where that is to be quiet.
    pub fn tell(&self, quiet: bool) {
        if !quiet {
            self.damage.iter().for_each(Wrong::tell);
        }
        for lost in &self.lost {
            let place = lost.place.as_ref().map_or_else(String::new, |place| format!("{place}: "));
            let why = one_line(&format!("{place}{}", lost.why));
            say(&format!("lost: {}{why}{}\n", lost.which(), at(lost.byte)));
        }
        if quiet {
            return;
        }
        let same = if self.identical { ", byte for byte what it was made from" } else { "" };
        let (n, output) = (self.whole.len(), one_line(&self.output));
        let are = if n == 1 { "tensor is" } else { "tensors are" };
        say(&format!("{n} {are} whole, in {output}{same}\n"));
        if !self.proved && n > 0 {
            let what = match self.mended {
                true => "their names, types and shapes, and bytes that stand in the index,",
                false => "their names, types and shapes",
            };
            say(&format!("{what} are from a damaged index and may be wrong\n"));
        }
        if self.as_bytes > 0 {
            let (n, tensors) = (self.as_bytes, noun(self.as_bytes as u64, "tensor"));
            let what = "of types that safetensors does not have: written as U8, and __metadata__ says what each was";
            say(&format!("{n} {tensors} {what}\n"));
        }
        if self.unlisted > 0 {
            let (n, tensors) = (self.unlisted, noun(self.unlisted as u64, "tensor"));
            say(&format!(
                "the index of the shards is written without {n} {tensors} that they lack\n"
            ));
        }
        for [name, written] in &self.renamed {
            let what = "is no name of a tensor in safetensors: the tensor is written as";
            say(&format!("{} {what} {}\n", one_line(name), one_line(written)));
        }
    }

    /// What could not be had, in a few words.
    pub fn loss(&self) -> String {
        let named = self.lost.iter().filter(|lost| lost.name.is_some()).count();
        let mut tensors: Vec<String> = (named > 0)
            .then(|| format!("{named} {}", noun(named as u64, "tensor")))
            .into_iter()
            .collect();
        let unnamed = self.lost.iter().filter(|lost| lost.name.is_none() && lost.byte.is_some());
        tensors.extend(unnamed.filter(|lost| lost.file.is_none()).map(|lost| lost.why.clone()));
        let bytes = self.lost.iter().filter_map(|lost| lost.bytes);
        let bytes: u64 = bytes.map(|[from, to]| to - from).sum();
        let mut all = Vec::new();
        if !tensors.is_empty() {
            all.push(format!("{} could not be read", tensors.join(" and ")));
        }
        if bytes > 0 {
            all.push(format!("{bytes} bytes of source files beside their tensors are lost"));
        }
        match all.is_empty() {
            true => "the tensors are whole, the files that they came from are not".to_owned(),
            false => all.join("; "),
        }
    }
}

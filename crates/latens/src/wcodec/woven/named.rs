//! Leaving names of tensors and files out of a header.

use super::{Called, Form};
use crate::bits::zigzag;
use crate::wcodec::layout::source::MAX_NAME;
use std::ops::Range;

/// Bytes that a name has, at most.
const LONGEST_NAME: usize = 1024;
const _: () = assert!(LONGEST_NAME as u64 == MAX_NAME);
/// Bytes of a name that is left out, at least.
const SHORTEST: usize = 8;
/// Bytes in which names differ from the beginning of the one before, for which it is worth while.
const WORTH: usize = 1 << 8;
/// Words that texts are made of whole numbers of, as headers of safetensors are: words of up to so many bytes are what
/// repeats in them.
const WORD: usize = 8;

/// Bytes that a character of a name may take in JSON.
const LONGEST_ESCAPE: usize = 6;

/// A name in bytes of a source file.
struct Name {
    place: Range<usize>,
    called: Called,
    /// How it is written.
    form: Form,
}

/// Bytes of a source file, and the names in them.
pub(crate) struct Named<'a> {
    bytes: &'a [u8],
    names: Vec<Name>,
}

impl<'a> Named<'a> {
    /// Finds names: within quotes as in JSON, or behind their length in eight bytes as in GGUF. `who` says what has
    /// one. `None` where they are not worth it.
    pub(crate) fn worth(bytes: &'a [u8], who: WhoIs<'_>) -> Option<Self> {
        let named = Self::find(bytes, who);
        (named.bytes_apart() >= WORTH).then_some(named)
    }

    /// Finds names, be they worth it or not.
    pub(crate) fn find(bytes: &'a [u8], who: WhoIs<'_>) -> Self {
        let (mut names, mut at) = (Vec::new(), 0);
        while at < bytes.len() {
            let (before, rest) = bytes.split_at(at);
            let found = in_quotes(before, rest, who);
            let found = found.or_else(|| behind_its_length(before, rest, who));
            let Some(Found { text, called, form }) = found.filter(|f| f.text.len() >= SHORTEST)
            else {
                at += 1;
                continue;
            };
            match form {
                Some(form) => names.push(Name { place: at..at + text.len(), called, form }),
                None => names.extend(parts(text, called, at)),
            }
            at += text.len();
        }
        Self { bytes, names }
    }

    /// Bytes in which names differ from the one before.
    fn bytes_apart(&self) -> usize {
        let names = self.names.iter().map(|name| &self.bytes[name.place.clone()]);
        let before = std::iter::once(&[][..]).chain(names.clone());
        let same = |(a, b): &(&u8, &u8)| a == b;
        let shared = |(a, b): (&[u8], &[u8])| a.iter().zip(b).take_while(same).count();
        names.clone().map(<[u8]>::len).sum::<usize>() - names.zip(before).map(shared).sum::<usize>()
    }

    /// What comes before the first name, in whole words.
    pub(crate) fn before(&self) -> &'a [u8] {
        let first = self.names.first().map_or(0, |name| name.place.start);
        &self.bytes[..first / WORD * WORD]
    }

    /// The text of the bytes from `start` on, behind which all names are.
    pub(crate) fn text_from(&self, start: usize) -> Vec<u8> {
        let mut counts = [0u64; 256];
        self.each_from(start, &mut |bytes, _| {
            bytes.iter().for_each(|&byte| counts[usize::from(byte)] += 1);
        });
        let marker = (0..=u8::MAX).min_by_key(|&byte| counts[usize::from(byte)]).unwrap_or(0);
        let (mut text, mut next) = (Vec::with_capacity(self.bytes.len() / 2), 0);
        self.each_from(start, &mut |bytes, name| {
            for &byte in bytes {
                text.push(byte);
                if byte == marker {
                    text.push(0);
                }
            }
            if let Some(name) = name {
                let number = name.called.number();
                text.push(marker);
                name.form.write(zigzag::encode(number - next), 1, &mut text);
                if let Called::Entry(_) = name.called {
                    next = number + 1;
                }
            }
        });
        let end = (text.len() + 2).next_multiple_of(WORD) - 2;
        let zeros = (end - text.len()).to_le_bytes()[0];
        text.resize(end, 0);
        text.extend([zeros, marker]);
        text
    }

    /// Calls `each` with what is before each name and with it, and with what is behind the last.
    fn each_from(&self, start: usize, each: &mut dyn FnMut(&[u8], Option<&Name>)) {
        let mut at = start;
        for name in &self.names {
            each(&self.bytes[at..name.place.start], Some(name));
            at = name.place.end;
        }
        each(&self.bytes[at..], None);
    }
}

/// A name, and whose it is.
struct Found<'a> {
    text: &'a [u8],
    called: Called,
    /// How it is written; in parts, where there is no word for it.
    form: Option<Form>,
}

/// What has a name.
type WhoIs<'n> = &'n dyn Fn(&str) -> Option<Called>;

/// A name that `rest` begins with, as a string of JSON.
fn in_quotes<'a>(before: &[u8], rest: &'a [u8], who: WhoIs<'_>) -> Option<Found<'a>> {
    let (quote, before) = before.split_last()?;
    if *quote != b'"' || before.last() == Some(&b'\\') {
        return None;
    }
    let mut escaped = false;
    let end = rest.iter().take(LONGEST_ESCAPE * LONGEST_NAME + 1).position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    let text = &rest[..end];
    if !text.contains(&b'\\') {
        let called = who(std::str::from_utf8(text).ok()?)?;
        return Some(Found { text, called, form: Some(Form::Plain) });
    }
    let name = unquoted(text)?;
    let called = who(&name)?;
    let form = Form::OF_JSON.into_iter().find(|form| form.of(&name).is_some_and(|of| *of == *text));
    Some(Found { text, called, form })
}

/// What is between quotes, read.
fn unquoted(text: &[u8]) -> Option<String> {
    serde_json::from_slice(&[b"\"", text, b"\""].concat()).ok()
}

/// The parts of a name in JSON that stand there as they are, of some bytes each; `at` is where its text begins.
fn parts(text: &[u8], called: Called, at: usize) -> Vec<Name> {
    let (mut parts, mut place, mut start) = (Vec::new(), 0, 0);
    while place < text.len() {
        let plain = text[place..].iter().take_while(|&&byte| byte != b'\\').count();
        if plain >= SHORTEST {
            let (place, form) = (at + place..at + place + plain, Form::Part(start..start + plain));
            parts.push(Name { place, called, form });
        }
        (place, start) = (place + plain, start + plain);
        // Escapes one behind the other, of which two may be one character.
        let mut end = place;
        while text.get(end) == Some(&b'\\') {
            end += if text.get(end + 1) == Some(&b'u') { LONGEST_ESCAPE } else { 2 };
        }
        let escapes = text.get(place..end).and_then(unquoted);
        let Some(escapes) = escapes else { break };
        (place, start) = (end, start + escapes.len());
    }
    parts
}

/// A name that `rest` begins with, behind its length in eight bytes, as in GGUF.
fn behind_its_length<'a>(before: &[u8], rest: &'a [u8], who: WhoIs<'_>) -> Option<Found<'a>> {
    let length = before.last_chunk().map(|&count| u64::from_le_bytes(count))?;
    let length = usize::try_from(length).ok().filter(|&length| length <= LONGEST_NAME)?;
    let text = rest.get(..length)?;
    let called = who(std::str::from_utf8(text).ok()?)?;
    Some(Found { text, called, form: Some(Form::Plain) })
}

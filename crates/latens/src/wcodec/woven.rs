//! Headers of source files without the names of tensors, which the index has too.
//!
//! Such a text ends with zeros, the number of these in a byte, and its marker, a byte. Where that stands elsewhere, a
//! varint is behind it: 0 for a byte that is the marker, else 1 and by how much, as zigzag, the number of the entry whose
//! name it is differs from that behind the one that was named before.

use crate::bits::{varint, zigzag};
use crate::error::{Error, ErrorKind, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::fields::{Fields, MAX_SIZE};
use crate::wcodec::layout::source::MAX_NAME;
use crate::wcodec::open_tensor::OpenTensor;
use crate::wcodec::reader::Reader;
use std::io::Write;
use std::ops::Range;

/// Bytes of a name that is left out, at least.
const SHORTEST: usize = 8;
/// Bytes of names that do not share the beginning of the one before, for which it is worth while: else names take few
/// bytes in a header too, and readers need not put it together.
const WORTH: usize = 1 << 8;

/// What a text is made of.
pub(crate) enum Piece<'a> {
    Bytes(&'a [u8]),
    /// The name of an entry.
    Name(usize),
}

/// The pieces of a text, in order.
pub(crate) struct Pieces<'a> {
    marker: u8,
    left: &'a [u8],
    /// The number behind that of the name before.
    next: u64,
}

impl<'a> Pieces<'a> {
    pub(crate) fn of(text: &'a [u8]) -> Result<Self> {
        let none = || Error::corrupt(0, "a text that does not end with zeros and a marker");
        let (text, &[zeros, marker]) = text.split_last_chunk().ok_or_else(none)?;
        let end = text.len().checked_sub(zeros.into()).ok_or_else(none)?;
        match text.split_at(end) {
            (left, zeros) if zeros.iter().all(|&byte| byte == 0) => {
                Ok(Self { marker, left, next: 0 })
            }
            _ => Err(none()),
        }
    }

    /// What `left` begins with, which is something.
    fn piece(&mut self) -> Result<Piece<'a>> {
        let plain = self.left.iter().position(|&byte| byte == self.marker);
        let (bytes, marked) = self.left.split_at(plain.unwrap_or(self.left.len()));
        self.left = marked;
        let Some((byte, behind)) = marked.split_first().filter(|_| bytes.is_empty()) else {
            return Ok(Piece::Bytes(bytes));
        };
        let mut fields = Fields::new(behind);
        let told = fields.varint("the number of a name")?;
        self.left = &behind[behind.len() - fields.left()..];
        let Some(apart) = told.checked_sub(1) else {
            return Ok(Piece::Bytes(std::slice::from_ref(byte)));
        };
        let number = self.next.checked_add_signed(zigzag::decode(apart));
        let far = || Error::corrupt(0, "the name of an entry that no file has");
        let number = number.filter(|&number| number < MAX_SIZE as u64).ok_or_else(far)?;
        self.next = number + 1;
        Ok(Piece::Name(usize::try_from(number).map_err(|_| far())?))
    }
}

impl<'a> Iterator for Pieces<'a> {
    type Item = Result<Piece<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        (!self.left.is_empty()).then(|| self.piece())
    }
}

impl<S: ReadAt> Reader<S> {
    /// Writes what is woven of entry `of`, which is `length` bytes, or the first `most` of these. The text is in memory.
    pub(crate) fn weave(
        &self,
        (of, length): (usize, u64),
        most: u64,
        out: &mut dyn Write,
    ) -> Result<()> {
        let text = self.aside(of, "a header without its names")?;
        let woven = Pieces::of(&text).and_then(|pieces| {
            let mut woven = 0u64;
            for piece in pieces {
                if woven >= most {
                    return Ok(());
                }
                let name;
                let bytes = match piece? {
                    Piece::Bytes(bytes) => bytes,
                    Piece::Name(number) => {
                        name = self.name(number)?;
                        name.as_bytes()
                    }
                };
                let left = most.min(length) - woven;
                woven += bytes.len() as u64;
                if woven > length {
                    let what = format!("more than {length} bytes are woven of it");
                    return Err(Error::corrupt(0, what));
                }
                let now = usize::try_from(left).map_or(bytes.len(), |left| left.min(bytes.len()));
                out.write_all(&bytes[..now])?;
            }
            if woven < length {
                let what = format!("{woven} bytes are woven of it, not {length}");
                return Err(Error::corrupt(0, what));
            }
            // Of the text its decoder has told.
            self.watch.done(length.saturating_sub(text.len() as u64))
        });
        woven.map_err(|e| match (OpenTensor::open(self, of), e.kind()) {
            (Ok(open), ErrorKind::Corrupt | ErrorKind::Truncated) => {
                open.claim()(e).within(self.place(of))
            }
            _ => e,
        })
    }

    /// The name of a tensor that a text names.
    fn name(&self, number: usize) -> Result<String> {
        let entry = self.open.index.entry(number).filter(|entry| entry.record.dtype().is_some());
        let none = || Error::corrupt(0, format!("it names entry {number}, which is no tensor"));
        entry.map(|entry| entry.name).ok_or_else(none)
    }
}

/// `bytes` without the names of tensors that are in it, where these are long enough; `number_of` says which entry has one.
pub(crate) fn without_names(
    bytes: &[u8],
    number_of: &dyn Fn(&str) -> Option<usize>,
) -> Option<Vec<u8>> {
    let found = names_in(bytes, number_of);
    let names = found.iter().map(|(place, _)| &bytes[place.clone()]);
    let before = std::iter::once(&[][..]).chain(names.clone());
    let same = |(a, b): &(&u8, &u8)| a == b;
    let apart = names
        .zip(before)
        .map(|(name, before)| name.len() - name.iter().zip(before).take_while(same).count());
    (apart.sum::<usize>() >= WORTH).then_some(())?;

    let mut counts = [0u64; 256];
    each_between(bytes, &found, &mut |bytes, _| {
        bytes.iter().for_each(|&b| counts[usize::from(b)] += 1)
    });
    let marker = (0..=u8::MAX).min_by_key(|&b| counts[usize::from(b)]).unwrap_or(0);
    let (mut text, mut next) = (Vec::with_capacity(bytes.len() / 2), 0);
    each_between(bytes, &found, &mut |bytes, name| {
        for &byte in bytes {
            text.push(byte);
            if byte == marker {
                text.push(0);
            }
        }
        if let Some(number) = name {
            text.push(marker);
            let far = (number as u64).wrapping_sub(next).cast_signed();
            varint::write(zigzag::encode(far) + 1, &mut text);
            next = number as u64 + 1;
        }
    });
    // Whole words of eight bytes, as headers of safetensors are.
    let zeros = (text.len() + 2).next_multiple_of(8) - (text.len() + 2);
    text.extend_from_slice(&[0; 7][..zeros]);
    text.extend_from_slice(&[zeros.to_le_bytes()[0], marker]);
    Some(text)
}

/// Calls `each` with what is before each name and its number, and with what is behind the last.
fn each_between<'a>(
    bytes: &'a [u8],
    names: &[(Range<usize>, usize)],
    each: &mut dyn FnMut(&'a [u8], Option<usize>),
) {
    let mut at = 0;
    for (place, number) in names {
        each(&bytes[at..place.start], Some(*number));
        at = place.end;
    }
    each(&bytes[at..], None);
}

/// Where names of tensors are, and their numbers: within quotes as in JSON, or behind their length in eight bytes as in GGUF.
fn names_in(bytes: &[u8], number_of: &dyn Fn(&str) -> Option<usize>) -> Vec<(Range<usize>, usize)> {
    let longest = usize::try_from(MAX_NAME).unwrap_or(0);
    let (mut found, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let (before, rest) = bytes.split_at(at);
        let quoted = || {
            before.last().filter(|&&byte| byte == b'"')?;
            rest.iter().take(longest + 1).position(|&byte| byte == b'"')
        };
        let counted = || {
            let length = before.last_chunk().map(|&count| u64::from_le_bytes(count))?;
            usize::try_from(length).ok().filter(|&length| length <= longest)
        };
        let number = |length: usize| {
            let name = rest.get(..length).filter(|name| name.len() >= SHORTEST)?;
            Some((length, number_of(std::str::from_utf8(name).ok()?)?))
        };
        match quoted().and_then(number).or_else(|| counted().and_then(number)) {
            Some((length, number)) => {
                found.push((at..at + length, number));
                at += length;
            }
            None => at += 1,
        }
    }
    found
}

#[cfg(test)]
#[allow(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;
    use crate::Limits;
    use crate::wcodec::made::{self, Gguf};
    use crate::wcodec::{Config, compress_checkpoint};

    fn name(i: usize) -> String {
        format!("{:032x}", (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
    }

    /// What `text` comes to, where entry i has [`name`] i.
    fn woven(text: &[u8]) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        for piece in Pieces::of(text)? {
            match piece? {
                Piece::Bytes(bytes) => out.extend_from_slice(bytes),
                Piece::Name(number) => out.extend_from_slice(name(number).as_bytes()),
            }
        }
        Ok(out)
    }

    #[test]
    fn names_are_left_out_and_come_back() {
        let number_of = |text: &str| (0..99).find(|&i| name(i) == text);
        let quoted = |i: usize| format!("{{\"{}\": \"{}\"}}", name(i), name(i + 1)).into_bytes();
        let counted = |i: usize| [&32u64.to_le_bytes()[..], name(i).as_bytes()].concat();
        let in_order: Vec<u8> = (0..50).flat_map(quoted).collect();
        let backwards: Vec<u8> = (0..99).rev().flat_map(counted).collect();
        let none_free = [&in_order[..], &(0..=255).collect::<Vec<u8>>(), &backwards].concat();
        for bytes in [in_order, backwards, none_free] {
            let text = without_names(&bytes, &number_of).unwrap();
            assert!(woven(&text).unwrap() == bytes);
            assert!(text.len() * 2 < bytes.len(), "{} of {}", text.len(), bytes.len());
            assert!(text.len().is_multiple_of(8));
        }
        assert!(without_names(b"\"no names\": 1", &number_of).is_none());
        assert!(without_names(&quoted(3), &number_of).is_none());
        assert!(without_names(&[], &number_of).is_none());
    }

    #[test]
    fn texts_end_as_they_must() {
        let woven = |text: &[u8]| woven(text).map_err(|e| e.to_string());
        assert_eq!(woven(b"ab\0\0\x02x").unwrap(), b"ab");
        assert_eq!(woven(b"ax\0b\0x").unwrap(), b"axb");
        assert_eq!(woven(b"x\x01x\x02\0x").unwrap(), [name(0), name(0)].concat().as_bytes());
        assert_eq!(woven(b"\0x").unwrap(), b"");
        for (text, why) in [
            (&b""[..], "does not end with zeros"),
            (b"x", "does not end with zeros"),
            (b"\0\x02x", "does not end with zeros"),
            (b"ab\x01\x01x", "does not end with zeros"),
            (b"abx\0x", "ends inside of the number of a name"),
            (b"abx\x80\0x", "ends inside of the number of a name"),
            (b"abx\x81\0\0x", "shortest form"),
            (b"x\x02\0x", "no file has"),
        ] {
            let error = woven(text).unwrap_err();
            assert!(error.contains(why), "{text:?}: {error}");
        }
    }

    /// Names of GGUF too, and those that files name in another order than the index.
    #[test]
    fn files_of_long_names_come_back() {
        let mut gguf = Gguf::new();
        for i in 0..40 {
            gguf.tensor(&name(i), &[32], 0, vec![7; 128]);
        }
        let shuffled = (0..40).map(|i| {
            let (name, start) = (name(i), i * 17 % 40);
            format!(
                r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[{start},{}]}}"#,
                start + 1
            )
        });
        let header = format!("{{{}}}", shuffled.collect::<Vec<_>>().join(","));
        for source in [gguf.bytes(), made::behind_header(&header, &[9; 40])] {
            let (checkpoint, config) = (made::checkpoint(source.clone()), Config::default());
            let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
            let reader = Reader::open(file, Limits::default()).unwrap();
            let blobs = reader.blobs_of_file(0);
            let text = reader.open.index.entries().last().unwrap().record.length;
            assert!(text as u64 + 40 * 25 < blobs[0].bytes.end, "{text}");
            for threads in [1, 3] {
                let mut out = Vec::new();
                reader
                    .watched(&crate::Watch::NONE)
                    .threads(threads)
                    .write_file(0, &mut out)
                    .unwrap();
                assert!(out == source);
            }
            for most in [0, 1, 20, 100, blobs[0].bytes.end, u64::MAX] {
                let head = reader.file_head(0, most).unwrap();
                let all = most.min(blobs[0].bytes.end);
                assert!(head == source[..usize::try_from(all).unwrap()], "{most}");
            }
            let blob = reader.blob(&blobs[0]).unwrap();
            assert!(blobs[0].bytes == (0..blob.len() as u64) && source.starts_with(&blob));
            reader.verify().unwrap();
        }
    }
}

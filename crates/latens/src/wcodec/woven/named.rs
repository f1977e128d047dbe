//! Leaving names of tensors out of a header.

use crate::bits::{varint, zigzag};
use crate::wcodec::layout::source::MAX_NAME;
use std::ops::Range;

/// Bytes of a name that is left out, at least.
const SHORTEST: usize = 8;
/// Bytes in which names differ from the beginning of the one before, for which it is worth while.
const WORTH: usize = 1 << 8;
/// Words that texts are made of whole numbers of, as headers of safetensors are: words of up to so many bytes are what
/// repeats in them.
const WORD: usize = 8;

/// Bytes of a source file, and the names of tensors in them.
pub(crate) struct Named<'a> {
    bytes: &'a [u8],
    /// Where they are, and the numbers of their entries.
    names: Vec<(Range<usize>, usize)>,
}

impl<'a> Named<'a> {
    /// Finds names: within quotes as in JSON, or behind their length in eight bytes as in GGUF. `number_of` says which
    /// entry has one. `None` where they are not worth it.
    pub(crate) fn find(bytes: &'a [u8], number_of: &dyn Fn(&str) -> Option<usize>) -> Option<Self> {
        let longest = usize::try_from(MAX_NAME).unwrap_or(0);
        let (mut names, mut at) = (Vec::new(), 0);
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
                    names.push((at..at + length, number));
                    at += length;
                }
                None => at += 1,
            }
        }
        let named = Self { bytes, names };
        (named.bytes_apart() >= WORTH).then_some(named)
    }

    /// Bytes in which names differ from the one before.
    fn bytes_apart(&self) -> usize {
        let names = self.names.iter().map(|(place, _)| &self.bytes[place.clone()]);
        let before = std::iter::once(&[][..]).chain(names.clone());
        let same = |(a, b): &(&u8, &u8)| a == b;
        let shared = |(a, b): (&[u8], &[u8])| a.iter().zip(b).take_while(same).count();
        names.clone().map(<[u8]>::len).sum::<usize>() - names.zip(before).map(shared).sum::<usize>()
    }

    /// What comes before the first name, in whole words.
    pub(crate) fn before(&self) -> &'a [u8] {
        let first = self.names.first().map_or(0, |(place, _)| place.start);
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
            if let Some(number) = name {
                let apart = (number as u64).wrapping_sub(next).cast_signed();
                text.push(marker);
                varint::write(zigzag::encode(apart) + 1, &mut text);
                next = number as u64 + 1;
            }
        });
        let end = (text.len() + 2).next_multiple_of(WORD) - 2;
        let zeros = (end - text.len()).to_le_bytes()[0];
        text.resize(end, 0);
        text.extend([zeros, marker]);
        text
    }

    /// Calls `each` with what is before each name and its number, and with what is behind the last.
    fn each_from(&self, start: usize, each: &mut dyn FnMut(&[u8], Option<usize>)) {
        let mut at = start;
        for (place, number) in &self.names {
            each(&self.bytes[at..place.start], Some(*number));
            at = place.end;
        }
        each(&self.bytes[at..], None);
    }
}

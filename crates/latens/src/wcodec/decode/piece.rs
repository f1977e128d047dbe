//! Groups that are decoded together.

use crate::error::{Error, Result};
use crate::wcodec::decode::group::{Buffers, Target};
use crate::wcodec::decode::part::{DecodedAs, Fetch, PartDecoder, Stopped};
use crate::wcodec::decode::pool::Scratch;
use crate::wcodec::decode::words;
use crate::wcodec::layout::part::{Codec, PartShape};

impl PartDecoder<'_> {
    /// Decodes the groups from `group` on that `out` has room for, [`MOST`] at most.
    pub(crate) fn piece(
        &self,
        group: usize,
        form: DecodedAs,
        fetch: &Fetch<'_>,
        out: &mut [u8],
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Stopped> {
        let elements = self.record.group_range(0).len();
        let one = self.bytes_of(form, elements);
        let (packing, cols) = match form {
            DecodedAs::Packed(packing, cols) => (packing, cols),
            DecodedAs::Plain => {
                return self.groups_of(group, out, one, Target::Symbols, fetch, scratch);
            }
            DecodedAs::Words(order, width) => {
                self.groups_of(group, out, one, Target::Symbols, fetch, scratch)?;
                order.map(out, width, false);
                return Ok(());
            }
        };
        if packing.is_pairs() && self.pairs() {
            return self.groups_of(group, out, one, Target::Pairs, fetch, scratch);
        }
        let as_pairs = packing.packs_pairs() && self.pairs();
        let (a_byte, into) = if as_pairs { (2, Target::Pairs) } else { (1, Target::Symbols) };
        let mut symbols = std::mem::take(&mut scratch.symbols);
        let bytes = packing.symbols_in(out.len()) / a_byte;
        // What is there is written over.
        if symbols.len() < bytes {
            symbols.resize(bytes, 0);
        }
        let (symbols_of, one) = (&mut symbols[..bytes], elements / a_byte);
        let done = self.groups_of(group, symbols_of, one, into, fetch, scratch);
        match done.is_ok() {
            true if as_pairs => packing.pack_pairs(symbols_of, out),
            true => packing.pack_into(symbols_of, cols, out),
            false => {}
        }
        scratch.symbols = symbols;
        done.map_err(|stopped| Stopped { changed: 0, ..stopped })
    }

    fn pairs(&self) -> bool {
        matches!(&self.record.codec, Codec::Direct(symbols) if symbols.pairs)
    }

    /// Decodes the groups from `group` on that `out` has room for, [`MOST`] at most.
    fn groups_of(
        &self,
        group: usize,
        out: &mut [u8],
        one: usize,
        into: Target,
        fetch: &Fetch<'_>,
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Stopped> {
        self.groups_to(group, out.chunks_mut(one.max(1)).collect(), into, fetch, scratch)
    }

    /// Decodes the groups from `group` on, each to where `out` has room for it; [`MOST`] at most.
    pub(super) fn groups_to(
        &self,
        group: usize,
        mut out: Vec<&mut [u8]>,
        into: Target,
        fetch: &Fetch<'_>,
        scratch: &mut Scratch,
    ) -> std::result::Result<(), Stopped> {
        let Scratch { stored: kept, buffers, .. } = scratch;
        let all = out.iter().map(|out| out.len()).sum();
        // Bytes that have changed.
        let mut changed = 0;
        if let (Codec::Direct(_), Some(symbols), 2..) =
            (&self.record.codec, &self.symbols, out.len())
        {
            let bytes = kept.iter_mut().zip(group..).take(out.len());
            let stored: Result<Vec<&[u8]>> =
                bytes.map(|(bytes, group)| Ok(fetch(group, bytes)?.unwrap_or(bytes))).collect();
            if let Ok(stored) = stored {
                if symbols.decode_some(group, &stored, into, buffers, &mut out).is_ok() {
                    return Ok(());
                }
                changed = all;
            }
        }
        // One by one, also to tell which of them is wrong.
        let mut end = 0;
        for (out, group) in out.into_iter().zip(group..) {
            let bytes = &mut kept[0];
            let stored = match fetch(group, bytes) {
                Ok(stored) => stored.unwrap_or(bytes),
                Err(error) => return Err(Stopped { error, changed }),
            };
            end += out.len();
            changed = changed.max(end);
            let done = self.group(group, stored, into, buffers, out);
            done.map_err(|e| Stopped { error: self.places.locate(group, e), changed })?;
        }
        Ok(())
    }

    /// Decodes one group into `out`.
    fn group(
        &self,
        group: usize,
        stored: &[u8],
        into: Target,
        buffers: &mut Buffers,
        out: &mut [u8],
    ) -> Result<()> {
        match (&self.record.codec, &self.symbols) {
            (Codec::Raw { .. }, _) => {
                if stored.len() != out.len() {
                    return Err(Error::corrupt(
                        0,
                        format!("{} raw bytes where {} belong", stored.len(), out.len()),
                    ));
                }
                out.copy_from_slice(stored);
                self.check_symbols(out)
            }
            // Numbers of a group are none of the tensor's bytes.
            (Codec::Pco { .. }, _) => {
                // How many there are is settled.
                let limits = self.limits.max_output(u64::MAX);
                let done = words::decompress(self.record.shape, stored, limits, out);
                done.map_err(Error::after_none)
            }
            (Codec::Direct(_) | Codec::Bitplane(_), Some(symbols)) => {
                symbols.decode(group, stored, into, buffers, out)
            }
            _ => Err(Error::corrupt(
                0,
                format!("codec {} is none for what the part holds", self.record.codec.name()),
            )),
        }
    }

    /// Raw symbols must be within their alphabet.
    fn check_symbols(&self, out: &[u8]) -> Result<()> {
        // Alphabets of 8 bits have them all.
        if let PartShape::Symbols { bits: bits @ ..8, .. } = self.record.shape
            && let Some(at) = out.iter().position(|s| u32::from(*s) >> bits != 0)
        {
            return Err(Error::corrupt(
                at as u64,
                format!("{} is no symbol of {bits} bits", out[at]),
            ));
        }
        Ok(())
    }
}

//! Where the index of a damaged file is: by its footer, mended perhaps, or without one.

use crate::bits::checksum::crc32;
use crate::error::{Error, Result};
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::{followed, read};
use crate::wcodec::layout::header::{FOOTER_BYTES, Footer, HEADER_BYTES, Header, align};
use crate::wcodec::layout::sums::Sums;
use crate::wcodec::salvage::{Damage, mended};

/// Bytes that are searched at a time for the beginning of an index.
const PIECE: u64 = 1 << 20;

/// Bytes in which what is left of a footer is sought: some may have been put in.
const REMAINS: usize = FOOTER_BYTES + 32;

/// Tag and length of the record HEAD.
pub(crate) const HEAD: [u8; 2] = [2, 36];

/// Where the index is.
pub(crate) struct Place {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// Whether it ends there for certain: it may be cut off.
    pub(crate) ends: bool,
    /// Its checksum, where there is a footer to say so, or enough of one, or the index has sums.
    pub(crate) crc: Option<u32>,
    /// Whether bytes of the index itself are left out, or are missing.
    pub(crate) is_cut: bool,
}

impl Place {
    /// Where there is no footer: takes from `bytes`, the index and what follows, what is left of the footer, and
    /// finds out what the index's checksum is.
    pub(crate) fn find_end(&mut self, bytes: &mut Vec<u8>) {
        if self.crc.is_some() {
            return;
        }
        let starts = self.start.to_le_bytes();
        let ends = || (bytes.len().saturating_sub(REMAINS)..=bytes.len()).rev();
        let by_footer = ends().find(|&end| bytes[end..].starts_with(&starts));
        let Some(end) =
            by_footer.or_else(|| ends().find(|&end| Sums::ending(&bytes[..end]).is_some()))
        else {
            return;
        };
        let left = bytes.split_off(end);
        (self.end, self.ends) = (self.start + end as u64, true);
        self.crc = match Sums::ending(bytes).is_some_and(Sums::prove) {
            true => Some(crc32(bytes)),
            false => Footer::states(&left),
        };
    }
}

/// Where the index is, by the footer or without it.
pub(crate) fn find_index<S: ReadAt>(
    source: &S,
    head: &[u8; HEADER_BYTES],
    length: u64,
    damage: &mut Vec<Damage>,
) -> Result<Place> {
    let foot_at = length - FOOTER_BYTES as u64;
    let mut foot = [0; FOOTER_BYTES];
    source.read_exact_at(&mut foot, foot_at)?;
    let by = |footer: Footer| {
        let (start, crc) = (footer.index_offset, Some(footer.index_crc));
        Place {
            start,
            end: footer.file_length - FOOTER_BYTES as u64,
            ends: true,
            crc,
            is_cut: false,
        }
    };
    let wrong = match Footer::read(&foot, length) {
        Ok(footer) => return Ok(by(footer)),
        Err(wrong) => wrong,
    };
    if let Some((footer, at)) = Footer::mended(&foot, length) {
        damage.push(Damage { at, what: mended("footer") });
        return Ok(by(footer));
    }
    if let Some((footer, end)) = followed(source, length) {
        let what =
            format!("{} bytes follow the end of the file; nothing in them is needed", length - end);
        damage.push(Damage { at: end, what });
        return Ok(by(footer));
    }
    let known = Header::read(head).ok().and_then(|header| header.known);
    if let Some(known) = known.filter(|known| known.index_offset >= length) {
        return Err(Error::truncated(
            length,
            format!(
                "the file ends before its index, which begins at byte {} and says what the tensors are: nothing can be read",
                known.index_offset
            ),
        ));
    }
    let Some(start) = search(source, head, length)? else {
        return Err(Error::truncated(
            length,
            "the file has neither a footer nor an index that says what the tensors are: nothing can be read",
        ));
    };
    let what = format!("there is no footer: {}; the index was found without it", wrong.what());
    damage.push(Damage { at: wrong.at().unwrap_or(foot_at), what });
    Ok(Place { start, end: length, ends: false, crc: None, is_cut: false })
}

/// Searches the file from its end for what an index begins with: the record HEAD, with the
/// checksum of the header.
fn search<S: ReadAt>(source: &S, head: &[u8; HEADER_BYTES], length: u64) -> Result<Option<u64>> {
    let mut wanted = HEAD.to_vec();
    wanted.extend(crc32(head).to_le_bytes());
    let mut end = align(length, PIECE);
    while let Some(start) = end.checked_sub(PIECE) {
        let bytes = read(source, start, PIECE.min(length - start))?;
        let places = bytes.chunks(HEADER_BYTES).enumerate();
        let found = places.rev().find(|(_, bytes)| bytes.starts_with(&wanted));
        if let Some((number, _)) = found {
            return Ok(Some(start + (number * HEADER_BYTES) as u64));
        }
        end = start;
    }
    Ok(None)
}

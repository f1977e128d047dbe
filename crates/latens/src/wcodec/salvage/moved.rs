//! Files that bytes were put into or taken out of: the footer says how long the file was, and checksums
//! say on which side of the place everything else is.

use crate::bits::checksum::{Crc32, crc32, put_in};
use crate::error::Result;
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::read;
use crate::wcodec::layout::descriptor::Descriptor;
use crate::wcodec::layout::entry::Storage;
use crate::wcodec::layout::header::{FOOTER_BYTES, Footer};
use crate::wcodec::layout::parity::put_back::{self, PutBack};
use crate::wcodec::layout::part::Group;
use crate::wcodec::layout::sums::STRETCH;
use crate::wcodec::placed::{Moved, Placed};
use crate::wcodec::reader::Open;
use crate::wcodec::salvage::Damage;
use crate::wcodec::salvage::place::{HEAD, Place};
use std::ops::Range;

/// Bytes that are read at a time.
const PIECE: u64 = 1 << 20;
/// Longest stretch that is searched for the very place.
const LONGEST: u64 = 1 << 26;

/// What the footer says of a file that has another length than it should: how far everything behind the
/// place is moved, which is at the index or before it, where it is not known to be in the index.
pub(super) fn by_the_footer<S: ReadAt>(source: &S, limits: Limits) -> Result<Option<Moved>> {
    let length = source.size()?;
    let Some(foot_at) = length.checked_sub(FOOTER_BYTES as u64) else { return Ok(None) };
    let mut foot = [0; FOOTER_BYTES];
    source.read_exact_at(&mut foot, foot_at)?;
    let [_, _, _, _, _, _, _, _, a, b, c, d, e, f, g, h, ..] = foot;
    let stated = u64::from_le_bytes([a, b, c, d, e, f, g, h]);
    if stated < FOOTER_BYTES as u64 || stated == length {
        return Ok(None);
    }
    let Ok(Footer { index_offset: index, index_crc, .. }) = Footer::read(&foot, stated) else {
        return Ok(None);
    };
    let by = i128::from(length) - i128::from(stated);
    let Ok(by) = i64::try_from(by) else { return Ok(None) };
    let Some(start) = index.checked_add_signed(by) else { return Ok(None) };
    // No more than the file has: the index ends at the footer.
    limits.check_alloc(foot_at - start.min(index), "the index")?;
    let bytes = read(source, start, foot_at - start)?;
    if crc32(&bytes) == index_crc || bytes.starts_with(&HEAD) {
        return Ok(Some(Moved { from: index, by }));
    }
    if let Some(put) = usize::try_from(by).ok().filter(|_| index < foot_at) {
        let longer = read(source, index, foot_at - index)?;
        if let Some(at) = put_in(&longer, put, index_crc) {
            return Ok(Some(Moved { from: index + at as u64, by }));
        }
    }
    // Somewhere in the index: what comes before that is where it should be.
    let from = (stated - FOOTER_BYTES as u64).min(foot_at).max(index);
    Ok(Some(Moved { from, by }))
}

/// Puts bytes back that were taken out of the index, of which `index` has all others and something in place of these: as far
/// as its sums and its parity say where and what they were.
pub(super) fn put_back<S>(
    source: &mut Placed<S>,
    place: &mut Place,
    index: &mut Vec<u8>,
) -> Option<Damage> {
    let moved = source.moved.filter(|moved| place.is_cut && moved.by < 0)?;
    let missing = usize::try_from(moved.by.unsigned_abs()).ok()?;
    let left = index.get(..index.len().checked_sub(missing)?)?;
    let PutBack { index: whole, place: at, whole: is_whole } =
        put_back::put_back(left, missing, place.crc)?;
    (*index, place.is_cut) = (whole, false);
    if !is_whole {
        let end = at.end.next_multiple_of(STRETCH).min(index.len()) as u64;
        source.moved = Some(Moved { from: place.start + end, ..moved });
        return None;
    }
    // All else that is read comes before the index.
    source.moved = None;
    let what = format!(
        "{missing} {} taken out of the index here or shortly before, which is whole again in memory",
        were(moved.by.unsigned_abs())
    );
    Some(Damage { at: place.start + at.start as u64, what })
}

/// Where bytes of the data were put in or taken out.
pub(super) struct Found {
    /// What is whole behind the place begins here, or before it.
    pub(super) behind: u64,
    /// The very place, if bytes were put in and a checksum fits without them.
    pub(super) exact: Option<u64>,
}

/// Bytes with their checksum.
struct Stretch {
    at: Range<u64>,
    crc: u32,
}

/// Finds the place before the index of an open file, whose bytes behind it are `by` further on. All data
/// are read at most twice.
pub(super) fn find<S: ReadAt>(open: &Open<S>, by: i64) -> Found {
    let Open { source: Placed { source, .. }, index, .. } = open;
    let aside = |from| Placed { source: Borrowed(source), moved: Some(Moved { from, by }) };
    let (as_stated, moved) = (aside(u64::MAX), aside(0));
    let exact = |stretch: &Stretch| put_into(source, by, stretch, open.limits);
    // The last one before the place, if it is whole on neither side.
    let mut broken: Option<Stretch> = None;
    // What is whole where it should be, and may end in padding, just before the place.
    let mut before: Option<Stretch> = None;
    for entry in index.entries() {
        let Storage::Stored { groups, descriptor, crc } = entry.record.storage else { continue };
        let groups_end = entry.start.saturating_add(groups as u64);
        let told = match descriptor {
            0 => Stretch {
                at: entry.start..entry.start.saturating_add(entry.record.length as u64),
                crc,
            },
            bytes => Stretch { at: groups_end..groups_end.saturating_add(bytes as u64), crc },
        };
        if told.holds(&as_stated) {
            (before, broken) = ((descriptor == 0).then_some(told), None);
            continue;
        }
        if !told.holds(&moved) {
            broken = Some(if descriptor == 0 { told.padded() } else { told });
            continue;
        }
        if let Some(at) = broken.as_ref().and_then(exact) {
            return Found { behind: entry.start, exact: Some(at) };
        }
        let stretches = match descriptor {
            0 => Vec::new(),
            _ => stretches(&moved, &told, entry.start, open.limits),
        };
        let mut behind = if stretches.is_empty() { entry.start } else { told.at.start };
        let mut suspects = [before, None];
        for stretch in stretches {
            if !stretch.holds(&as_stated) {
                behind = stretch.at.start;
                suspects[1] = Some(stretch);
                break;
            }
            suspects[0] = Some(stretch);
        }
        let exact = suspects.iter().flatten().find_map(|suspect| exact(&suspect.padded()));
        return Found { behind, exact };
    }
    let at = index.bank_at..index.bank_at.saturating_add(index.bank.bytes as u64);
    let bank = Stretch { at, crc: index.bank.crc };
    let before = before.map(|before| before.padded());
    let suspects = [broken.as_ref(), before.as_ref(), Some(&bank)];
    let exact = suspects.into_iter().flatten().find_map(exact);
    let behind = if bank.holds(&as_stated) { open.index_offset } else { bank.at.start };
    Found { behind, exact }
}

/// The groups of an entry whose descriptor is sound.
fn stretches<S: ReadAt>(moved: &S, told: &Stretch, mut at: u64, limits: Limits) -> Vec<Stretch> {
    let length = told.at.end - told.at.start;
    let bytes = match limits.check_alloc(length, "a descriptor") {
        Ok(()) => read(moved, told.at.start, length),
        Err(e) => Err(e),
    };
    let Ok(descriptor) = bytes.and_then(|bytes| Descriptor::read(&bytes, false)) else {
        return Vec::new();
    };
    let groups = descriptor.parts.iter().flat_map(|part| &part.groups);
    let stretch = |group: &Group| {
        let start = at;
        at = start.saturating_add(group.length.next_multiple_of(4) as u64);
        Stretch { at: start..start.saturating_add(group.length as u64), crc: group.crc }
    };
    groups.map(stretch).collect()
}

/// The very place in `stretch` where `by` bytes were put in, if they were.
fn put_into<S: ReadAt>(source: &S, by: i64, stretch: &Stretch, limits: Limits) -> Option<u64> {
    let put = u64::try_from(by).ok()?;
    let length = (stretch.at.end - stretch.at.start).checked_add(put)?;
    limits.check_alloc(length, "bytes that are searched").ok().filter(|()| length <= LONGEST)?;
    let bytes = read(source, stretch.at.start, length).ok()?;
    let before = put_in(&bytes, usize::try_from(put).ok()?, stretch.crc)?;
    // At the end of a stretch: that one is whole where it is.
    Some(stretch.at.start + before as u64).filter(|&at| at < stretch.at.end)
}

impl Stretch {
    /// Whether these bytes of `source` have their checksum.
    fn holds<S: ReadAt>(&self, source: &S) -> bool {
        let (mut crc, mut at) = (Crc32::default(), self.at.start);
        while at < self.at.end {
            let bytes = read(source, at, PIECE.min(self.at.end - at));
            let Ok(bytes) = bytes else { return false };
            crc.update(&bytes);
            at += bytes.len() as u64;
        }
        crc.value() == self.crc
    }

    /// With the zeros up to the next multiple of four.
    fn padded(&self) -> Self {
        let mut crc = Crc32::of(self.crc);
        let count = (self.at.end - self.at.start).wrapping_neg() % 4;
        (0..count).for_each(|_| crc.update(&[0]));
        Self { at: self.at.start..self.at.end.saturating_add(count), crc: crc.value() }
    }
}

/// A source that somebody else has.
struct Borrowed<'a, S>(&'a S);

impl<S: ReadAt> ReadAt for Borrowed<'_, S> {
    fn size(&self) -> std::io::Result<u64> {
        self.0.size()
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.0.read_exact_at(buf, offset)
    }
}

/// A byte was, or bytes were.
fn were(count: u64) -> &'static str {
    if count == 1 { "byte was" } else { "bytes were" }
}

/// What is said of it; `proved` where all tensors have their model hash without the bytes that were put in.
pub(super) fn damage(Moved { from, by }: Moved, proved: bool) -> Damage {
    let count = by.unsigned_abs();
    let are = were(count);
    let what = match (by > 0, proved) {
        (true, true) => {
            format!("{count} {are} put in here, without which all tensors have their model hash")
        }
        (true, false) => {
            format!("{count} {are} put in here or shortly before; what comes behind is whole")
        }
        (false, _) => {
            format!("{count} {are} taken out here or shortly before; what comes behind is whole")
        }
    };
    Damage { at: from, what }
}

//! What comes before the damage of an index.

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::ends::{Ends, ends_where};
use crate::wcodec::layout::header::{ALIGN, HEADER_BYTES, align};
use crate::wcodec::open_index::{Doubt, OpenIndex};
use crate::wcodec::placed::Placed;
use crate::wcodec::reader::Reader;
use crate::wcodec::salvage::place::{HEAD, Place};
use crate::wcodec::salvage::{Damage, LostEntries, Salvage, header};

impl<S: ReadAt> Reader<S> {
    /// Reads what comes before the damage of an index, and what of that is proved.
    pub(super) fn salvage_front(
        source: Placed<S>,
        limits: Limits,
        (head, place): (&[u8; HEADER_BYTES], Place),
        bytes: Vec<u8>,
        mut damage: Vec<Damage>,
    ) -> Result<Salvage<S>> {
        let index_ends = place.ends && !place.is_cut;
        let (index, wrong) = front(bytes, &place)?;
        let header = header(head, index.header_crc, &mut damage)?;
        let known = header.known.clone();
        let tensors = known.as_ref().and_then(|known| usize::try_from(known.tensors).ok());
        let mut missing = tensors.and_then(|all| all.checked_sub(index.tensors()));
        let ends = Ends { header, index, index_offset: place.start };
        let reader = Self::of(source, limits, ends).placed(&mut damage)?;
        damage.extend(reader.mend_tables());
        // Nothing but the model hash proves what an index without its checksum says: the header has that too.
        let hash = match missing {
            None | Some(0) => reader.hash_of_tensors().ok(),
            Some(_) => None,
        };
        let mut open = reader.only_handle()?;
        let stated = [Some(open.index.model_hash), known.map(|known| known.model_hash)];
        let proof = hash.filter(|hash| stated.contains(&Some(*hash)));
        if let Some(hash) = proof {
            open.index.model_hash = hash;
            missing = Some(0);
        }
        // Where the header does not say how many there are, what follows the last entry shows that it is the last.
        let may_go_on = missing.is_none() && !index_ends && !open.index.tells_of_files();
        // All that is read of it, or all of the tensors.
        let whole = wrong.is_none() && !may_go_on && missing.is_none_or(|tensors| tensors == 0);
        let proved = proof.is_some() || open.index.proved == open.index.len() && whole;
        open.index.namesakes = open.index.find_namesakes();
        open.index.doubt = if proof.is_some() { Doubt::Blobs } else { Doubt::All };
        let reader = Self::on(open);
        let lost = wrong.map(|wrong| {
            let at = wrong.at().unwrap_or(place.start);
            let what = format!("the index is damaged here or shortly before: {}", wrong.what());
            damage.push(Damage { at, what });
            LostEntries { at, tensors: missing }
        });
        // It may end with an entry, and not with the last one.
        let lost = lost.or_else(|| {
            let what = match missing {
                Some(0) => None,
                Some(_) => Some("the index ends before its last entry"),
                None => may_go_on
                    .then_some("the index ends behind an entry, which may not be its last one"),
            };
            damage.push(Damage { at: place.end, what: what?.to_owned() });
            Some(LostEntries { at: place.end, tensors: missing })
        });
        if !proved || lost.is_none() && place.crc.is_some() {
            let proved_entries = reader.open.index.proved;
            let what = damaged_somewhere(proof.is_some(), proved_entries);
            damage.push(Damage { at: place.start, what });
        }
        Ok(Salvage { reader, damage, lost, whole_index: false, proved })
    }
}

/// What is wrong with an index all of whose records can be read; `proved` where the model hash says
/// that no tensor suffers from it.
fn damaged_somewhere(proved: bool, entries: usize) -> String {
    let behind = match entries {
        0 => String::new(),
        _ => format!(" behind its first {entries} entries, which have checksums of their own,"),
    };
    match proved {
        true => {
            "the index does not have its checksum; all tensors have their model hash".to_owned()
        }
        false => format!(
            "the index does not have its checksum, nor all tensors their model hash:{behind} names, types and shapes \
             may be wrong, and what stands in it counts as lost"
        ),
    }
}

/// What can be read of a damaged index, and what is wrong behind that.
fn front(mut bytes: Vec<u8>, place: &Place) -> Result<(OpenIndex, Option<Error>)> {
    // All indices begin so.
    bytes.iter_mut().zip(HEAD).for_each(|(byte, of_head)| *byte = of_head);
    let (mut index, wrong) = OpenIndex::read_front(bytes);
    let error = wrong.map(|error| error.offset_by(place.start));
    if index.len() == 0 {
        let at = error.as_ref().and_then(Error::at).unwrap_or(place.start);
        let why = error.map_or_else(String::new, |error| format!(": {}", error.what()));
        let what = format!("the index is damaged before its first entry{why}; nothing can be read");
        return Err(Error::corrupt(at, what));
    }
    if ends_where(&index, place.start).is_err() {
        // Entries are missing. The tables end where the index begins, padding aside.
        let bytes = align(index.bank.bytes as u64, ALIGN);
        index.bank_at = place.start.saturating_sub(bytes);
    }
    Ok((index, error))
}

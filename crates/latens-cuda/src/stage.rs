//! A batch in one piece of memory, so that one copy takes it to the device.
//!
//! | bytes | |
//! |---|---|
//! | input | stored groups |
//! | side | as in the batch |
//! | records | parts, groups, joins, blocks, blocks of joins: numbers of 64 bits |
//! | fields | what a launch gets |
//! | uploads | what was decoded on the host |

use crate::batch::Batch;
use crate::record::{
    BLOCK_FIELDS, GROUP_FIELDS, JOIN_BLOCK_FIELDS, JOIN_FIELDS, LAUNCH_FIELDS, PART_FIELDS, word,
};

/// Where all of it is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Stage {
    side: usize,
    records: [usize; 5],
    pub(crate) fields: usize,
    pub(crate) uploads: Vec<usize>,
    /// Bytes in all.
    pub(crate) total: usize,
}

/// What is on the device beside the stage: address and bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Elsewhere {
    pub(crate) planes: (u64, usize),
    pub(crate) outputs: (u64, usize),
    pub(crate) scratch: (u64, usize),
    pub(crate) status: u64,
}

fn records(batch: &Batch) -> [(&[u64], usize); 5] {
    [
        (&batch.parts, PART_FIELDS),
        (&batch.groups, GROUP_FIELDS),
        (&batch.joins, JOIN_FIELDS),
        (&batch.blocks, BLOCK_FIELDS),
        (&batch.join_blocks, JOIN_BLOCK_FIELDS),
    ]
}

impl Stage {
    pub(crate) fn of(batch: &Batch) -> Self {
        let mut total = 0usize;
        let mut take = |bytes: usize| {
            let at = total.next_multiple_of(16);
            total = at.saturating_add(bytes);
            at
        };
        take(batch.input);
        let side = take(batch.side.len());
        let records = records(batch).map(|(r, _)| take(8 * r.len()));
        let fields = take(8 * LAUNCH_FIELDS);
        let uploads = batch.uploads.iter().map(|u| take(u.bytes.len())).collect();
        Self { side, records, fields, uploads, total }
    }

    /// Fills all but the input; `base` is where the stage will be on the device.
    pub(crate) fn fill(&self, batch: &Batch, base: u64, others: Elsewhere, room: &mut [u8]) {
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(to) = room.get_mut(at..at + bytes.len()) {
                to.copy_from_slice(bytes);
            }
        };
        put(self.side, &batch.side);
        let bytes = |words: &[u64]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let at = |offset: usize| base + word(offset);
        let mut fields = vec![at(0), word(batch.input), at(self.side), word(batch.side.len())];
        for (address, len) in [others.planes, others.outputs, others.scratch] {
            fields.extend([address, word(len)]);
        }
        for ((words, each), place) in records(batch).into_iter().zip(self.records) {
            put(place, &bytes(words));
            fields.extend([at(place), word(words.len() / each)]);
        }
        fields.push(others.status);
        debug_assert_eq!(fields.len(), LAUNCH_FIELDS);
        put(self.fields, &bytes(&fields));
        for (upload, &place) in batch.uploads.iter().zip(&self.uploads) {
            put(place, &upload.bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_where_kernels_look() {
        let mut batch = Batch { input: 5, planes: 7, ..Batch::default() };
        batch.groups = (0..2 * word(GROUP_FIELDS)).collect();
        let stage = Stage::of(&batch);
        let mut room = vec![0; stage.total];
        let others =
            Elsewhere { planes: (1, batch.planes), outputs: (2, 0), scratch: (3, 0), status: 4 };
        stage.fill(&batch, 1 << 20, others, &mut room);
        let words = room[stage.fields..].as_chunks::<8>().0;
        let fields: Vec<u64> = words.iter().map(|b| u64::from_le_bytes(*b)).collect();
        assert_eq!(fields[..2], [1 << 20, 5]);
        assert_eq!(fields[4..10], [1, 7, 2, 0, 3, 0]);
        // Two groups, the first of which is part 0.
        assert_eq!(fields[13], 2);
        let at = usize::try_from(fields[12] - (1 << 20)).unwrap_or_default();
        assert_eq!(room[at + 8..at + 16], 1u64.to_le_bytes());
        assert_eq!(fields[20], 4);
    }
}

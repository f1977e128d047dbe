//! Parts as they are stored: groups of bytes, and the record that describes them.

use crate::bits::checksum::crc32;
use crate::wcodec::layout::part::{Codec, Group, PartRecord, PartShape};
use crate::wcodec::plane::Role;

/// An encoded part.
#[derive(Clone, Debug)]
pub(crate) struct EncodedPart {
    pub(crate) record: PartRecord,
    /// The stored bytes of its groups; those of its planes, plane by plane.
    pub(crate) groups: Vec<Vec<u8>>,
}

impl EncodedPart {
    /// A part of a codec that has groups of its own.
    pub(crate) fn new(role: Role, shape: PartShape, codec: Codec, groups: Vec<Vec<u8>>) -> Self {
        let described =
            groups.iter().map(|bytes| Group { length: bytes.len(), crc: crc32(bytes) }).collect();
        Self { record: PartRecord { role, shape, codec, groups: described }, groups }
    }

    /// Bytes of groups, padding and record.
    pub(crate) fn bytes(&self) -> usize {
        let mut record = Vec::new();
        self.record.write(false, &mut record);
        record.len() + self.groups.iter().map(|g| g.len().next_multiple_of(4)).sum::<usize>()
    }

    /// Bytes of [`EncodedPart::raw`] of so many bytes, without making it.
    pub(crate) fn raw_bytes(role: Role, shape: PartShape, len: usize, group_bytes: usize) -> usize {
        let per_group = (group_bytes / shape.width()).max(1);
        let each = per_group * shape.width();
        let lengths = (0..len.div_ceil(each)).map(|i| each.min(len - i * each));
        let groups: Vec<Group> = lengths.map(|length| Group { length, crc: 0 }).collect();
        let padded: usize = groups.iter().map(|g| g.length.next_multiple_of(4)).sum();
        let mut record = Vec::new();
        let codec = Codec::Raw { per_group };
        PartRecord { role, shape, codec, groups }.write(false, &mut record);
        record.len() + padded
    }

    /// The part as it is.
    pub(crate) fn raw(role: Role, shape: PartShape, data: &[u8], group_bytes: usize) -> Self {
        let per_group = (group_bytes / shape.width()).max(1);
        let groups = data.chunks(per_group * shape.width()).map(<[u8]>::to_vec).collect();
        Self::new(role, shape, Codec::Raw { per_group }, groups)
    }
}

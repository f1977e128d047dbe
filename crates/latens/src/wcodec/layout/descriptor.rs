//! What stands behind a tensor's groups: its view and its parts.
//!
//! | field | form |
//! |---|---|
//! | view | 8 bytes |
//! | parts | how many, varint; then each |
//!
//! An entry is plain where there is none: its one group are its bytes as they are.

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::part::{Codec, Group, PartRecord, PartShape};
use crate::wcodec::plane::Role;
use crate::wcodec::view::View;

/// Most sources of all parts of a tensor: each is decoded for it.
pub(crate) const MOST_SOURCES: usize = 16;
/// Most parts of a tensor.
pub(crate) const MAX_PARTS: u64 = 16;

/// A tensor's descriptor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) view: View,
    pub(crate) parts: Vec<PartRecord>,
}

/// A descriptor as it is written.
pub(crate) struct Written<'d> {
    pub(crate) view: View,
    /// Of each part the record up to its groups, and these.
    pub(crate) parts: Vec<(&'d [u8], Vec<Group>)>,
}

impl Written<'_> {
    /// The bytes; those of an inline entry have no checksums of groups.
    pub(crate) fn bytes(&self, inline: bool) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.view.to_bytes());
        varint::write(self.parts.len() as u64, &mut out);
        for (head, groups) in &self.parts {
            out.extend_from_slice(head);
            PartRecord::write_groups(groups, inline, &mut out);
        }
        out
    }
}

impl Descriptor {
    /// The bytes of a stored entry's.
    #[cfg(test)]
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let head = |part: &PartRecord| PartRecord::head(part.role, part.shape, &part.codec);
        let heads: Vec<Vec<u8>> = self.parts.iter().map(head).collect();
        let parts = heads.iter().zip(&self.parts).map(|(head, p)| (&head[..], p.groups.clone()));
        Written { view: self.view, parts: parts.collect() }.bytes(false)
    }

    /// What stands for that of a plain entry of `length` bytes, which have this checksum.
    pub(crate) fn plain(length: usize, crc: u32) -> Self {
        let part = PartRecord {
            role: Role::Rest,
            shape: PartShape::Bytes { count: length },
            codec: Codec::Raw { per_group: length.max(1) },
            groups: if length == 0 { Vec::new() } else { vec![Group { length, crc }] },
        };
        Self { view: View::Raw, parts: vec![part] }
    }

    /// Reads all of `bytes`.
    pub(crate) fn read(bytes: &[u8], inline: bool) -> Result<Self> {
        let mut fields = Fields::new(bytes);
        let view = View::from_bytes(fields.array("a view")?)?;
        let parts = fields.varint_up_to(MAX_PARTS, "the number of parts")?;
        let read = |_| PartRecord::read(&mut fields, inline);
        let parts = (0..parts).map(read).collect::<Result<_>>()?;
        fields.finish("a descriptor")?;
        let parts: Vec<PartRecord> = parts;
        let sources: usize = parts.iter().map(PartRecord::sources).sum();
        if sources > MOST_SOURCES {
            return Err(Error::corrupt(
                0,
                format!("{sources} sources; at most {MOST_SOURCES} are legal"),
            ));
        }
        Ok(Self { view, parts })
    }
}

//! What stands behind a tensor's groups: its view and its parts.
//!
//! | field | form |
//! |---|---|
//! | view | varint id, its parameters with their length |
//! | parts | how many, varint; then each |

use crate::bits::varint;
use crate::error::Result;
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::part::PartRecord;

/// Most parts of a tensor.
pub(crate) const MAX_PARTS: u64 = 16;

/// A tensor's descriptor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Descriptor {
    pub(crate) view: u64,
    pub(crate) view_parameters: Vec<u8>,
    pub(crate) parts: Vec<PartRecord>,
}

impl Descriptor {
    /// The bytes; those of an inline entry have no checksums of groups.
    pub(crate) fn bytes(&self, inline: bool) -> Vec<u8> {
        let mut out = Vec::new();
        varint::write(self.view, &mut out);
        varint::write(self.view_parameters.len() as u64, &mut out);
        out.extend_from_slice(&self.view_parameters);
        varint::write(self.parts.len() as u64, &mut out);
        self.parts.iter().for_each(|part| part.write(inline, &mut out));
        out
    }

    /// Reads all of `bytes`.
    pub(crate) fn read(bytes: &[u8], inline: bool) -> Result<Self> {
        let mut fields = Fields::new(bytes);
        let view = fields.varint("a view")?;
        let length = fields.varint("a view's parameters")?;
        let view_parameters = fields.bytes(length, "a view's parameters")?.to_vec();
        let parts = fields.varint_up_to(MAX_PARTS, "the number of parts")?;
        let read = |_| PartRecord::read(&mut fields, inline);
        let parts = (0..parts).map(read).collect::<Result<_>>()?;
        fields.finish("a descriptor")?;
        Ok(Self { view, view_parameters, parts })
    }

    /// All parts that have groups, in the order in which those lie.
    pub(crate) fn coded_parts(&self) -> impl Iterator<Item = &PartRecord> {
        self.parts.iter().flat_map(PartRecord::coded)
    }
}

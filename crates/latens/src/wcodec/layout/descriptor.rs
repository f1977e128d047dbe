//! What stands behind a tensor's groups: its view and its parts.
//!
//! | field | form |
//! |---|---|
//! | view | 8 bytes |
//! | parts | how many, varint; then each |

use crate::bits::varint;
use crate::error::{Error, Result};
use crate::wcodec::layout::fields::Fields;
use crate::wcodec::layout::part::PartRecord;
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

impl Descriptor {
    /// The bytes; those of an inline entry have no checksums of groups.
    pub(crate) fn bytes(&self, inline: bool) -> Vec<u8> {
        let mut out = Vec::new();
        out.extend_from_slice(&self.view.to_bytes());
        varint::write(self.parts.len() as u64, &mut out);
        self.parts.iter().for_each(|part| part.write(inline, &mut out));
        out
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

//! Bytes of source files that belong to no tensor.

use crate::error::Result;
use crate::wcodec::data::Data;
use crate::wcodec::dtype::Dtype;
use crate::wcodec::encode::blob::views_of_blob;
use crate::wcodec::encode::family::Family;
use crate::wcodec::encode::tensor::{Input, Tensor};
use crate::wcodec::file_writer::FileWriter;
use crate::wcodec::layout::entry::Entry;
use crate::wcodec::layout::file::{MAX_WOVEN_IN_PARTS, SegmentRecord, Woven};
use crate::wcodec::woven::{Called, Named};
use std::io::Write;

/// Bytes for which a blob of their own is worth while, which takes some 45 bytes.
pub(crate) const WORTH_A_BLOB: usize = 1 << 12;

impl<W: Write> FileWriter<W> {
    /// Takes in the names of all source files, in order, which what is beside tensors may name.
    pub(crate) fn begin_files<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        self.file_names = names.map(str::to_owned).zip(0..).collect();
    }

    /// What has a name.
    fn called(&self, name: &str) -> Option<Called> {
        if let Some(&number) = self.names.get(name) {
            let number = usize::try_from(number).ok()?;
            let entry = self.index.entries.get(number).filter(|entry| entry.name == name);
            return entry.map(|_| Called::Entry(number));
        }
        Some(Called::File(usize::try_from(*self.file_names.get(name)?).ok()?))
    }

    /// Writes bytes of a source file that belong to no tensor, without the names of tensors where these are long. What
    /// gives them back goes to `segments`; all of it is one segment, unless it may be in `pieces`.
    pub(crate) fn beside_tensors(
        &mut self,
        bytes: &[u8],
        pieces: bool,
        segments: &mut Vec<SegmentRecord>,
    ) -> Result<()> {
        let Some(named) = Named::worth(bytes, &|name| self.called(name)) else {
            segments.push(SegmentRecord::Entry(self.blob(bytes)?));
            return Ok(());
        };
        // Numbers before the names may leave no byte free that marks them.
        let before = Some(named.before()).filter(|before| pieces && before.len() >= WORTH_A_BLOB);
        let start = before.map_or(0, <[u8]>::len);
        if let Some(before) = before {
            segments.push(SegmentRecord::Entry(self.blob(before)?));
        }
        let (rest, text) = (&bytes[start..], named.text_from(start));
        segments.push(match text.len() < rest.len() {
            true => {
                let (of, length) = (self.blob(&text)?, rest.len() as u64);
                SegmentRecord::Woven(Woven { of, part: None, length })
            }
            false => SegmentRecord::Entry(self.blob(rest)?),
        });
        Ok(())
    }

    /// Writes bytes of which segments are to be parts, as these may be woven: the number of their entry; `None`, where a
    /// text of them would be too long for that.
    pub(crate) fn together(&mut self, bytes: &[u8]) -> Result<Option<usize>> {
        let text = Named::find(bytes, &|name| self.called(name)).text_from(0);
        let fits = text.len().max(bytes.len()) as u64 <= MAX_WOVEN_IN_PARTS;
        fits.then(|| self.blob(&text)).transpose()
    }

    /// Writes a blob; the number of its entry.
    fn blob(&mut self, bytes: &[u8]) -> Result<usize> {
        let shape = [bytes.len() as u64];
        let (dtype, type_name) = (Dtype::U8, Dtype::U8.name());
        let tensor = Tensor { dtype, type_name, shape: &shape, bytes: Data::Held(bytes) };
        let (views, family) = (views_of_blob(), Family::default());
        let input = Input { name: None, tensor, views, is_settled: false, family };
        let tools = self.config.tools.take();
        let stored = self.encode(&[input], &|| Ok(()));
        self.config.tools = tools;
        self.index.entries.extend(stored?.into_iter().map(|storage| Entry {
            name: String::new(),
            dtype: None,
            shape: Vec::new(),
            length: bytes.len(),
            storage,
        }));
        Ok(self.index.entries.len() - 1)
    }
}

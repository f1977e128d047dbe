//! One page through the crate `parquet`, as its column reader reads it.

use bytes::Bytes;
use parquet::basic::Encoding;
use parquet::column::page::{Page, PageMetadata, PageReader};
use parquet::column::reader::ColumnReaderImpl;
use parquet::data_type::DataType;
use parquet::errors::Result;
use parquet::schema::parser::parse_message_type;
use parquet::schema::types::{ColumnDescPtr, SchemaDescriptor};
use std::sync::Arc;

struct One(Option<Page>);

impl PageReader for One {
    fn get_next_page(&mut self) -> Result<Option<Page>> {
        Ok(self.0.take())
    }

    fn peek_next_page(&mut self) -> Result<Option<PageMetadata>> {
        Ok(None)
    }

    fn skip_next_page(&mut self) -> Result<()> {
        self.0 = None;
        Ok(())
    }
}

impl Iterator for One {
    type Item = Result<Page>;

    fn next(&mut self) -> Option<Self::Item> {
        self.get_next_page().transpose()
    }
}

fn column(kind: &str) -> ColumnDescPtr {
    let root = parse_message_type(&format!("message m {{ required {kind} a; }}")).unwrap();
    SchemaDescriptor::new(Arc::new(root)).column(0)
}

/// The values of a page that is said to hold `count` of them; `None` where the crate refuses it.
pub fn read<T: DataType>(
    kind: &str,
    encoding: Encoding,
    page: &[u8],
    count: usize,
) -> Option<Vec<T::T>> {
    let page = Page::DataPage {
        buf: Bytes::copy_from_slice(page),
        num_values: u32::try_from(count).ok()?,
        encoding,
        def_level_encoding: Encoding::RLE,
        rep_level_encoding: Encoding::RLE,
        statistics: None,
    };
    let mut reader = ColumnReaderImpl::<T>::new(column(kind), Box::new(One(Some(page))));
    let mut values = Vec::new();
    reader.read_records(count, None, None, &mut values).ok()?;
    Some(values)
}

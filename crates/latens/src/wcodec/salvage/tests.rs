//! Places beyond all files, as damaged and crafted indices claim them.

use crate::bits::checksum::crc32;
use crate::limits::Limits;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::fields::MAX_SIZE;
use crate::wcodec::layout::header::{BaseQuantisation, Footer, Header};
use crate::wcodec::layout::index::{BankRecord, Index};
use crate::wcodec::reader::Reader;

/// A file of nothing but an index, whose entries and tables claim to be as large as may be; and where its first name is.
fn claims(descriptor: usize) -> (Vec<u8>, usize) {
    let mut file =
        Header { base_quantisation: BaseQuantisation::Int8, known: None }.bytes().to_vec();
    let entry = |i: usize| Entry {
        name: format!("name {i:03}"),
        dtype: Some("U8".to_owned()),
        shape: vec![24],
        length: 24,
        storage: Storage::Stored { groups: MAX_SIZE, descriptor, crc: 7 },
    };
    let index = Index {
        header_crc: crc32(&file),
        entries: (0..200).map(entry).collect(),
        bank: BankRecord { tables: 3, bytes: MAX_SIZE, crc: 9 },
        ..Index::default()
    };
    let index = index.bytes();
    let name = 128 + index.windows(4).position(|bytes| bytes == b"name").unwrap();
    let file_length = (128 + index.len() + 32) as u64;
    let footer = Footer { index_offset: 128, file_length, index_crc: crc32(&index) };
    file.extend(index);
    file.extend(footer.bytes());
    (file, name)
}

#[test]
fn places_beyond_all_files_are_errors() {
    for descriptor in [0, 128, MAX_SIZE] {
        let (file, name) = claims(descriptor);
        assert!(Reader::open(file.clone(), Limits::default()).is_err());
        assert!(Reader::salvage(file.clone(), Limits::default()).is_err());
        let mut bad = file;
        bad[name] ^= 3;
        bad[name + 3] ^= 3;
        for put in [0, 1, 128, 4096] {
            let longer = [&bad[..128], &vec![1; put], &bad[128..]].concat();
            let found = Reader::salvage(longer, Limits::default()).unwrap();
            assert!(!found.whole_index && found.reader.tensors().count() > 0);
            assert!(found.reader.tensors().all(|(number, _)| found.reader.tensor(number).is_err()));
            assert!(found.reader.verify().is_err() && !found.reader.faults().unwrap().is_empty());
        }
    }
}

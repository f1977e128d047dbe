//! Opening reads header, footer and index, however large the file is.

use crate::error::Result;
use crate::limits::Limits;
use crate::wcodec::checkpoint::ReadAt;
use crate::wcodec::layout::entry::{Entry, Storage};
use crate::wcodec::layout::header::{
    ALIGN, BaseQuantisation, FOOTER_BYTES, Footer, HEADER_BYTES, Header, align,
};
use crate::wcodec::layout::index::Index;
use crate::wcodec::reader::Reader;
use cpu_time::ThreadTime;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Bytes at the beginning and at the end, and nothing but zeros between them.
struct Sparse {
    head: Vec<u8>,
    tail: Vec<u8>,
    size: u64,
    read: AtomicU64,
}

impl ReadAt for &Sparse {
    fn size(&self) -> std::io::Result<u64> {
        Ok(self.size)
    }

    fn read_exact_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<()> {
        self.read.fetch_add(buf.len() as u64, Ordering::Relaxed);
        let tail_at = self.size - self.tail.len() as u64;
        for (at, byte) in (offset..).zip(buf) {
            let from_tail = at.checked_sub(tail_at).and_then(|i| usize::try_from(i).ok());
            let of_head = usize::try_from(at).ok().and_then(|i| self.head.get(i));
            *byte = match from_tail {
                Some(i) => self.tail[i],
                None => of_head.copied().unwrap_or(0),
            };
        }
        Ok(())
    }
}

/// A file of `tensors` of `each` stored bytes, without its data.
fn sparse(tensors: usize, each: usize) -> Sparse {
    let header = Header { base_quantisation: BaseQuantisation::Int8, known: None }.bytes();
    let entries: Vec<Entry> = (0..tensors)
        .map(|i| Entry {
            name: format!("model.layers.{}.mlp.part_{i}.weight", i / 7),
            dtype: Some("I8".to_owned()),
            shape: vec![4096, each as u64 / 4096],
            length: each,
            storage: Storage::Stored { groups: each, descriptor: 128, crc: 0 },
        })
        .collect();
    let index =
        Index { header_crc: crate::bits::checksum::crc32(&header), entries, ..Index::default() };
    let index = index.bytes();
    let data =
        (0..tensors).fold(HEADER_BYTES as u64, |end, _| align(end, ALIGN) + each as u64 + 128);
    let index_offset = align(align(data, ALIGN), ALIGN);
    let size = index_offset + (index.len() + FOOTER_BYTES) as u64;
    let index_crc = crate::bits::checksum::crc32(&index);
    let footer = Footer { index_offset, file_length: size, index_crc };
    let tail = [index, footer.bytes().to_vec()].concat();
    Sparse { head: header.to_vec(), tail, size, read: AtomicU64::new(0) }
}

#[test]
fn ten_gigabytes_open_at_once() -> Result<()> {
    let file = sparse(700, 15 << 20);
    assert!(file.size > 10_000_000_000);
    let mut fastest = Duration::MAX;
    for _ in 0..5 {
        file.read.store(0, Ordering::Relaxed);
        let start = ThreadTime::now();
        let reader = Reader::open(&file, Limits::default())?;
        fastest = fastest.min(start.elapsed());
        assert_eq!(reader.tensors().count(), 700);
    }
    let read = file.read.load(Ordering::Relaxed);
    println!("{fastest:?}, {read} bytes read of {}", file.size);
    assert_eq!(read, (HEADER_BYTES + file.tail.len()) as u64);
    assert!(fastest < Duration::from_millis(10), "{fastest:?}");
    Ok(())
}

/// As many tensors as the largest mixtures of experts have, all found by name.
#[test]
fn thirty_thousand_tensors_are_found_at_once() -> Result<()> {
    const TENSORS: usize = 30_000;
    let file = sparse(TENSORS, 1 << 20);
    let start = ThreadTime::now();
    let reader = Reader::open(&file, Limits::default())?;
    let opened = start.elapsed();
    for (number, entry) in reader.tensors() {
        assert_eq!(reader.find(&entry.name), Some(number));
        assert_eq!(reader.entry(number), Some(entry));
    }
    let all = start.elapsed();
    println!("{TENSORS} tensors open in {opened:?}, all are found after {all:?}");
    assert_eq!((reader.find("model"), reader.find("")), (None, None));
    // Some 100 ms; were each search to look at all, it would be minutes.
    assert!(all < Duration::from_secs(5), "{all:?}");
    Ok(())
}

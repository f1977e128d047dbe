//! Readers and writers that fail, or have little to give.

use crate::common::{deltas, modes};
use crate::in_pieces;
use latens::pco::Config;
use latens::pco::standalone::Encoder;
use latens::pco::wrapped::{FileDecoder, FileEncoder};
use latens::{Limits, NumberType};
use std::io::Read;

/// A chunk of no numbers and no pages has metadata that a reader takes, with every delta encoding.
#[test]
fn chunks_without_pages() {
    for delta in deltas() {
        for mode in modes(NumberType::U32) {
            let config = Config::default().mode(mode).delta(delta);
            let chunk = FileEncoder::new(config).chunk_encoder::<u32>(&[], &[]).unwrap();
            let mut meta = vec![4, 1];
            let written = chunk.write_meta(&mut meta).unwrap();
            let (decoder, at) = FileDecoder::new(&meta, Limits::default()).unwrap();
            let (decoder, used) = decoder.chunk_decoder::<u32>(&meta[at..]).unwrap();
            assert_eq!(used, written, "{mode} {delta}");
            assert_eq!(decoder.delta_encoding(), chunk.delta_encoding());
        }
    }
}

/// A writer that fails hands its error on; chunks of another type are refused.
#[test]
fn writers_that_fail() {
    struct Full(usize);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            let n = bytes.len().min(self.0);
            self.0 -= n;
            if n == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(n) }
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let numbers: Vec<i32> = (0..3000).map(|i| i * i % 1009).collect();
    let config = Config::default().chunk_n(1000);
    let whole = latens::pco::compress(&numbers, &config).unwrap().len();
    for room in 0..=whole {
        let write = || {
            let mut encoder = Encoder::new(Full(room), NumberType::I32, 3000, &config)?;
            for chunk in numbers.chunks(1000) {
                encoder.write_chunk(chunk)?;
            }
            encoder.finish()
        };
        match write() {
            Ok(_) => assert_eq!(room, whole),
            Err(error) => assert_eq!(error.kind(), latens::ErrorKind::Io, "{error}"),
        }
    }
    let mut encoder = Encoder::new(Vec::new(), NumberType::I32, 0, &config).unwrap();
    let error = encoder.write_chunk(&[1u32]).unwrap_err();
    assert_eq!(error.kind(), latens::ErrorKind::InvalidArgument);
    assert!(encoder.write_chunk::<i32>(&[]).is_err());
}

/// A reader that fails is an I/O error, at whatever byte it fails.
#[test]
fn readers_that_fail() {
    struct Broken<'a>(&'a [u8]);
    impl Read for Broken<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            match self.0.read(buffer)? {
                0 => Err(std::io::ErrorKind::ConnectionReset.into()),
                n => Ok(n),
            }
        }
    }
    let numbers: Vec<i32> = (0..3000).map(|i| i * i % 1009).collect();
    let file = latens::pco::compress(&numbers, &Config::default().chunk_n(1000)).unwrap();
    for len in 0..file.len() {
        let error = in_pieces::<i32>(Broken(&file[..len]), 1).unwrap_err();
        assert_eq!(error.kind(), latens::ErrorKind::Io, "{len}: {error}");
    }
}

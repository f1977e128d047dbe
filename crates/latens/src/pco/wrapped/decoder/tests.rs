use super::*;
use crate::error::Error;
use crate::number::AnyNumbers;
use crate::pco::wrapped::FileEncoder;
use crate::pco::{Config, DeltaSpec, ModeSpec};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

#[test]
fn pages_are_limited() -> Result<()> {
    let encoder = FileEncoder::new(Config::default());
    let chunk = encoder.chunk_encoder(&[5i64; 3000], &[3000])?;
    let (mut header, mut meta, mut page) = (Vec::new(), Vec::new(), Vec::new());
    encoder.write_header(&mut header)?;
    chunk.write_meta(&mut meta)?;
    chunk.write_page(0, &mut page)?;
    let limits = Limits::default().max_output(24_000);
    let (chunk, _) = FileDecoder::new(&header, limits)?.0.chunk_decoder::<i64>(&meta)?;
    assert_eq!(chunk.decode_page(&page, &mut [0; 3000])?, page.len());
    assert!(chunk.decode_page(&page, &mut [0; 3001]).unwrap_err().is_limit());
    assert!(chunk.page_decoder(&page, usize::MAX).unwrap_err().is_limit());
    Ok(())
}

/// Another type than the chunk's is refused, and nothing is written.
#[test]
fn pages_are_of_the_chunk_s_type() -> Result<()> {
    let numbers = AnyNumbers::from((0..300).map(|i| i % 77).collect::<Vec<i16>>());
    let encoder = FileEncoder::new(Config::default());
    let chunk = encoder.any_chunk_encoder(numbers.as_any_slice(), &[300])?;
    let (mut header, mut meta, mut page) = (Vec::new(), Vec::new(), Vec::new());
    encoder.write_header(&mut header)?;
    chunk.write_meta(&mut meta)?;
    chunk.write_page(0, &mut page)?;
    let (file, _) = FileDecoder::new(&header, Limits::default())?;
    let (decoder, _) = file.any_chunk_decoder(NumberType::I16, &meta)?;
    assert_eq!(decoder.mode(), chunk.mode());
    assert_eq!(decoder.delta_encoding(), chunk.delta_encoding());
    assert_eq!(decoder.read_page(&page, 300)?, (numbers, page.len()));
    let mut other = AnyNumbers::from(vec![7u16; 300]);
    let error = decoder.decode_page(&page, other.as_any_slice_mut()).unwrap_err();
    assert_eq!(error.to_string(), "invalid argument: the chunk holds i16, not u16");
    let pages = decoder.decode_pages_into(&[&page], &[300], other.as_any_slice_mut());
    assert_eq!(pages.unwrap_err().to_string(), error.to_string());
    assert_eq!(other, AnyNumbers::from(vec![7u16; 300]));
    Ok(())
}

/// Short pages, which are copied, cut anywhere and changed in each byte: answers, errors and what is
/// left of the buffer are those of pages that are read in place.
#[test]
fn short_pages_are_decoded_as_long_ones_are() -> Result<()> {
    let numbers: Vec<i32> = (0..700).map(|i| i % 9 * 1000 + i * i % 64).collect();
    let lookback = DeltaSpec::Lookback { window_log: Some(4), state_log: 1, secondary: true };
    let consecutive = DeltaSpec::Consecutive { order: 2, secondary: false };
    for mode in [ModeSpec::Classic, ModeSpec::IntMult(10), ModeSpec::Dict] {
        for delta in [DeltaSpec::None, consecutive, lookback] {
            let encoder = FileEncoder::new(Config::default().mode(mode).delta(delta));
            let chunk = encoder.chunk_encoder(&numbers, &[700])?;
            let (mut header, mut meta, mut sound) = (Vec::new(), Vec::new(), Vec::new());
            encoder.write_header(&mut header)?;
            chunk.write_meta(&mut meta)?;
            chunk.write_page(0, &mut sound)?;
            let file = FileDecoder::new(&header, Limits::default())?.0;
            let (chunk, _) = file.chunk_decoder::<i32>(&meta)?;
            let check = |src: &[u8]| {
                let (mut short, mut long) = ([-1; 700], [-1; 700]);
                let copied = chunk.decode_page(src, &mut short);
                let in_place = chunk.page_decoder(src, 700).and_then(|mut page| {
                    page.read(&mut long)?;
                    page.any.end().map_err(|e| e.after_values(700))
                });
                let text =
                    |result: Result<usize>| result.map_err(|e| (e.to_string(), e.values_before()));
                assert_eq!(text(copied), text(in_place), "{mode} {delta}");
                assert_eq!(short, long, "{mode} {delta}");
            };
            for at in 0..sound.len() {
                check(&sound[..at]);
                for change in [1, 0x10, 0x80, 0xff] {
                    let mut page = sound.clone();
                    page[at] ^= change;
                    check(&page);
                }
            }
            check(&sound);
            check(&[&sound[..], &[0xff; 50]].concat());
        }
    }
    Ok(())
}

#[test]
fn chunks_and_pages_are_watched() -> Result<()> {
    let numbers: Vec<u32> = (0..600_000).map(|i| i / 3 % 1000).collect();
    let told = Arc::new(AtomicU64::new(0));
    let until = |most: u64| {
        told.store(0, Relaxed);
        let told = Arc::clone(&told);
        Watch::new(move |step| match told.fetch_add(step.done, Relaxed) + step.done {
            done if done >= most => Err(Error::stopped()),
            _ => Ok(()),
        })
    };
    let plain = FileEncoder::new(Config::default().level(1));
    let chunk = plain.watched(&until(u64::MAX)).chunk_encoder(&numbers, &[600_000])?;
    assert_eq!(told.load(Relaxed), 600_000);
    let stopped = plain.watched(&until(0)).chunk_encoder(&numbers, &[600_000]);
    assert!(stopped.unwrap_err().is_stopped());
    assert_eq!(told.load(Relaxed), 0);

    let (mut header, mut meta, mut page) = (Vec::new(), Vec::new(), Vec::new());
    plain.write_header(&mut header)?;
    chunk.write_meta(&mut meta)?;
    chunk.write_page(0, &mut page)?;
    let file = FileDecoder::new(&header, Limits::default())?.0;
    let mut back = vec![7; 600_000];
    let watched = file.watched(&until(u64::MAX)).chunk_decoder::<u32>(&meta)?.0;
    assert_eq!(watched.decode_page(&page, &mut back)?, page.len());
    assert!(told.load(Relaxed) == 600_000 && back == numbers);
    back.fill(u32::MAX);
    let stopped = file.watched(&until(300_000)).chunk_decoder::<u32>(&meta)?.0;
    let error = stopped.decode_page(&page, &mut back).unwrap_err();
    assert_eq!((error.is_stopped(), error.values_before()), (true, Some(1 << 19)));
    assert_eq!(back[..1 << 19], numbers[..1 << 19]);
    assert!(back[1 << 19..].iter().all(|n| *n == u32::MAX));
    // What is damaged is said with all that was decoded before, in earlier stretches too.
    let cut = &page[..page.len() * 9 / 10];
    let errors = [&watched, &file.chunk_decoder::<u32>(&meta)?.0]
        .map(|chunk| chunk.decode_page(cut, &mut back).unwrap_err());
    assert_eq!(errors[0].values_before(), errors[1].values_before());
    Ok(())
}

#[test]
fn lengths_of_pages_may_not_overflow() {
    let lens = [1 << (usize::BITS - 1), (1 << (usize::BITS - 1)) + 3];
    assert!(FileEncoder::default().chunk_encoder(&[1u32, 2, 3], &lens).is_err());
}

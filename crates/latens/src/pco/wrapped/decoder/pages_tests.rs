//! [`ChunkDecoder::decode_pages`] against a page at a time.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    reason = "low bits of made-up numbers are wanted"
)]

use super::*;
use crate::error::Error;
use crate::number::Latent as _;
use crate::pco::wrapped::FileEncoder;
use crate::pco::{Config, DeltaSpec, ModeSpec};

/// Numbers of all pages but the last two.
const N: usize = 300;
const PAGES: usize = 37;

/// A chunk whose pages are as many as come at once, some more, and two of other lengths.
struct Chunk<T: Number> {
    decoder: ChunkDecoder<T>,
    pages: Vec<Vec<u8>>,
    lens: Vec<usize>,
}

/// What a call says, and all of the buffer behind it.
type Answer<T> = (std::result::Result<Vec<usize>, (String, Option<u64>)>, Vec<T>);

impl<T: Number + PartialEq> Chunk<T> {
    fn new(numbers: impl Fn(usize) -> T, config: Config) -> Result<Self> {
        Self::of(N, numbers, config)
    }

    fn of(n: usize, numbers: impl Fn(usize) -> T, config: Config) -> Result<Self> {
        let mut lens = vec![n; PAGES];
        lens.extend([1, 777]);
        let numbers: Vec<T> = (0..lens.iter().sum()).map(numbers).collect();
        let encoder = FileEncoder::new(config);
        let chunk = encoder.chunk_encoder(&numbers, &lens)?;
        let (mut header, mut meta) = (Vec::new(), Vec::new());
        encoder.write_header(&mut header)?;
        chunk.write_meta(&mut meta)?;
        let mut pages = vec![Vec::new(); lens.len()];
        for (i, page) in pages.iter_mut().enumerate() {
            chunk.write_page(i, page)?;
        }
        let file = FileDecoder::new(&header, Limits::default())?.0;
        let (decoder, _) = file.chunk_decoder(&meta)?;
        Ok(Self { decoder, pages, lens })
    }

    fn places<'a>(&'a self, mut dst: &'a mut [T]) -> Vec<(&'a [u8], &'a mut [T])> {
        let each = self.pages.iter().zip(&self.lens);
        each.map(|(page, &n)| (&page[..], dst.split_off_mut(..n).unwrap())).collect()
    }

    fn buffer(&self) -> Vec<T> {
        let bits = (0..self.lens.iter().sum()).map(|i: usize| T::L::truncate(i as u64 * 77 + 1));
        bits.map(T::from_latent).collect()
    }

    fn at_once(&self) -> Answer<T> {
        let mut buffer = self.buffer();
        let pages: Vec<&[u8]> = self.pages.iter().map(|page| &page[..]).collect();
        let sizes = self.decoder.decode_pages_into(&pages, &self.lens, &mut buffer);
        (sizes.map_err(|e| (e.to_string(), e.values_before())), buffer)
    }

    fn one_by_one(&self) -> Answer<T> {
        let mut buffer = self.buffer();
        let mut sizes = Vec::new();
        let mut done = 0;
        for (i, (src, dst)) in self.places(&mut buffer).into_iter().enumerate() {
            match self.decoder.decode_page(src, dst) {
                Ok(size) => sizes.push(size),
                Err(e) => {
                    let before = done + e.values_before().unwrap_or(0);
                    let e = e.within(format!("page {i}"));
                    return (Err((e.to_string(), Some(before))), buffer);
                }
            }
            done += dst.len() as u64;
        }
        (Ok(sizes), buffer)
    }

    fn check(&self, what: &str) {
        let (once, single) = (self.at_once(), self.one_by_one());
        assert_eq!(once.0, single.0, "{what}");
        let latents = |all: &[T]| all.iter().map(|x| x.to_latent()).collect::<Vec<_>>();
        assert!(latents(&once.1) == latents(&single.1), "{what}: numbers differ");
    }

    /// Sound pages, then each of some that are cut or changed, by turns.
    fn check_all(mut self, what: &str) {
        let sizes = self.at_once().0.unwrap();
        assert!(sizes.iter().zip(&self.pages).all(|(&size, page)| size == page.len()), "{what}");
        self.check(what);
        for i in [0, 5, 31, 33, 38] {
            let sound = self.pages[i].clone();
            let step = sound.len() / 9 + 1;
            for at in (0..sound.len()).step_by(step) {
                self.pages[i] = sound[..at].to_vec();
                self.check(&format!("{what}, page {i} cut to {at}"));
                for change in [1, 0x80, 0xff] {
                    self.pages[i].clone_from(&sound);
                    self.pages[i][at] ^= change;
                    self.check(&format!("{what}, page {i} changed at {at}"));
                }
            }
            self.pages[i] = sound;
        }
        for page in &mut self.pages {
            page.extend([0xff; 20]);
        }
        self.check(&format!("{what}, other bytes behind"));
    }
}

const DELTAS: [DeltaSpec; 6] = [
    DeltaSpec::None,
    DeltaSpec::Consecutive { order: 1, secondary: false },
    DeltaSpec::Consecutive { order: 3, secondary: true },
    DeltaSpec::Lookback { window_log: Some(5), state_log: 2, secondary: true },
    DeltaSpec::Lookback { window_log: Some(4), state_log: 0, secondary: false },
    DeltaSpec::Conv1 { order: 3 },
];

/// Numbers by their place that have bins of all kinds.
fn noise(i: usize) -> u64 {
    let x = (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (x ^ x >> 31) >> (x % 61)
}

fn check<T: Number + PartialEq>(modes: &[ModeSpec], numbers: impl Fn(usize) -> T + Copy) {
    let mut chunks = 0;
    for &mode in modes {
        for delta in DELTAS {
            let config = Config::default().level(6).mode(mode).delta(delta);
            // Some modes and deltas do not go together.
            let Ok(chunk) = Chunk::new(numbers, config) else { continue };
            chunk.check_all(&format!("{} {mode} {delta}", T::TYPE));
            chunks += 1;
        }
    }
    // Conv1 is not for latents of 64 bits, and few modes have a secondary variable.
    assert!(chunks >= 3 * modes.len(), "{} chunks of {}", chunks, T::TYPE);
}

#[test]
fn integers() {
    let modes = [ModeSpec::Classic, ModeSpec::IntMult(10), ModeSpec::Dict];
    check::<u8>(&modes, |i| (noise(i) % 7 * 10 + i as u64 % 3) as u8);
    check::<i16>(&modes, |i| (noise(i) % 50 * 10) as i16 + i as i16);
    check::<u32>(&modes, |i| (noise(i) % 90 * 10) as u32 + i as u32 % 9);
    check::<i64>(&modes, |i| (noise(i) % 90 * 10) as i64 - i as i64);
    check::<u64>(&[ModeSpec::Classic], noise);
}

#[test]
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn floats() {
    let modes =
        [ModeSpec::Classic, ModeSpec::FloatMult(0.1), ModeSpec::FloatQuant(9), ModeSpec::Dict];
    check::<f32>(&modes, |i| (noise(i) % 500) as f32 * 0.1);
    check::<f64>(&modes, |i| {
        (noise(i) % 5000) as f64 * 0.1 + if i % 90 == 0 { 1e-17 } else { 0.0 }
    });
}

/// More numbers than are decoded in one go.
#[test]
fn longer_pages() {
    for mode in [ModeSpec::Classic, ModeSpec::IntMult(10), ModeSpec::Dict] {
        for delta in DELTAS {
            let config = Config::default().level(6).mode(mode).delta(delta);
            let numbers = |i| (noise(i) % 90 * 10) as u32 + i as u32 % 9;
            let Ok(mut chunk) = Chunk::of(2500, numbers, config) else { continue };
            let what = format!("{mode} {delta}");
            chunk.check(&what);
            let len = chunk.pages[33].len();
            chunk.pages[33].truncate(len * 3 / 4);
            chunk.check(&format!("{what}, page 33 cut"));
        }
    }
}

/// Constants, of which nothing is stored, and one bin of some bits.
#[test]
fn tables_of_one_slot() -> Result<()> {
    Chunk::new(|_| 5u32, Config::default())?.check_all("constant");
    let config = Config::default().level(0).mode(ModeSpec::Classic).delta(DeltaSpec::None);
    Chunk::new(|i| noise(i) as u32, config)?.check_all("one bin");
    Ok(())
}

#[test]
fn a_watch_may_end_it_between_pages() -> Result<()> {
    let chunk = Chunk::new(|i| noise(i) as u32 % 999, Config::default())?;
    let stop = Watch::new(|_| Err(Error::stopped()));
    let decoder = chunk.decoder.watched(&stop);
    let mut buffer = chunk.buffer();
    let error = decoder.decode_pages(&mut chunk.places(&mut buffer)).unwrap_err();
    assert!(error.is_stopped());
    let n = usize::try_from(error.values_before().unwrap()).unwrap();
    let (whole, untouched) = (chunk.at_once().1, chunk.buffer());
    assert!(n > 0 && buffer[..n] == whole[..n] && buffer[n..] == untouched[n..]);
    Ok(())
}

#[test]
fn no_pages_are_no_error() -> Result<()> {
    let chunk = Chunk::new(|i| i as u32, Config::default())?;
    assert!(chunk.decoder.decode_pages(&mut [])?.is_empty());
    assert!(chunk.decoder.decode_pages_into(&[&[]], &[], &mut []).is_err());
    assert!(chunk.decoder.decode_pages_into(&[&[]], &[1], &mut [0; 2]).is_err());
    Ok(())
}

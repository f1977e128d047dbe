//! Decoding short pages of wrapped chunks.

use crate::{Failure, corpus, timing, with_numbers};
use latens::pco as ours;
use latens::{Limits, Number};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::Path;

/// Pages of 1,024 numbers: all of a chunk of 2^18 in order, by one call for each page and by one call for all, which
/// makes its list of pages, too. `csv` gets a line for each column.
///
/// # Errors
/// What either library says, and numbers that differ.
pub fn pages(
    folder: &Path,
    only: Option<&str>,
    rounds: usize,
    csv: Option<&Path>,
) -> Result<(), Failure> {
    let mut ratios = Vec::new();
    let mut lines = String::from("column,by_page_us,decode_pages_us,pco_us,by_page,decode_pages\n");
    for column in corpus::read(folder, only)? {
        let [page, all, theirs] = with_numbers!(&column.numbers, v => pages_of(v, rounds)?);
        let name = &column.name;
        let (by_page, at_once) = (theirs / page, theirs / all);
        println!(
            "{name:24} a page {page:5.2} / {theirs:5.2} µs {by_page:5.2} ×   decode_pages {all:5.2} µs {at_once:5.2} ×"
        );
        writeln!(lines, "{name},{page:.3},{all:.3},{theirs:.3},{by_page:.2},{at_once:.2}")?;
        ratios.push([by_page, at_once]);
    }
    if let Some(csv) = csv {
        std::fs::write(csv, lines)?;
    }
    let mean = |i: usize| {
        let sum: f64 = ratios.iter().map(|ratio| ratio[i].ln()).sum();
        (sum / ratios.len() as f64).exp()
    };
    println!("geometric means: by page {:.2} ×, decode_pages {:.2} ×", mean(0), mean(1));
    Ok(())
}

/// Microseconds a page: one by one, all in one call, and the reference.
fn pages_of<T: Number + ::pco::data_types::Number>(
    numbers: &[T],
    rounds: usize,
) -> Result<[f64; 3], Failure> {
    const PAGE: usize = 1024;
    let n = numbers.len().min(1 << 18) / PAGE * PAGE;
    let numbers = &numbers[..n];
    let paging = ::pco::PagingSpec::Exact(vec![PAGE; n / PAGE]);
    let config = ::pco::ChunkConfig::default().with_paging_spec(paging).with_enable_8_bit(true);
    let compressor = ::pco::wrapped::FileCompressor::default();
    let mut header = Vec::new();
    compressor.write_header(&mut header)?;
    let mut chunk = compressor.chunk_compressor(numbers, &config)?;
    let mut meta = Vec::new();
    chunk.write_meta(&mut meta)?;
    let mut pages = Vec::new();
    for i in 0..n / PAGE {
        let mut page = Vec::new();
        chunk.write_page(i, &mut page)?;
        pages.push(page);
    }
    let (file, _) = ours::wrapped::FileDecoder::new(&header, Limits::default())?;
    let (decoder, _) = file.chunk_decoder::<T>(&meta)?;
    let (their_file, _) = ::pco::wrapped::FileDecompressor::new(&header[..])?;
    let (mut theirs, _) = their_file.chunk_decompressor::<T, _>(&meta[..])?;
    let mut a = vec![T::default(); n];
    let mut b = a.clone();
    for (page, dst) in pages.iter().zip(a.chunks_exact_mut(PAGE)) {
        decoder.decode_page(page, dst)?;
    }
    let mut c = a.clone();
    c.fill(T::default());
    let mut places: Vec<_> = pages.iter().map(|p| &p[..]).zip(c.chunks_exact_mut(PAGE)).collect();
    decoder.decode_pages(&mut places)?;
    let differ = |x: &[T]| x.iter().zip(numbers).any(|(x, y)| x.to_latent() != y.to_latent());
    if differ(&a) || differ(&c) {
        return Err("the numbers differ".into());
    }
    let times = timing::medians(
        rounds,
        &mut [
            &mut || {
                for (page, dst) in pages.iter().zip(a.chunks_exact_mut(PAGE)) {
                    black_box(decoder.decode_page(page, dst).is_ok());
                }
            },
            &mut || {
                let mut places: Vec<_> =
                    pages.iter().map(|p| &p[..]).zip(c.chunks_exact_mut(PAGE)).collect();
                black_box(decoder.decode_pages(&mut places).is_ok());
            },
            &mut || {
                for (page, dst) in pages.iter().zip(b.chunks_exact_mut(PAGE)) {
                    let page = theirs.page_decompressor(&page[..], PAGE);
                    black_box(page.and_then(|mut p| p.read(dst)).is_ok());
                }
            },
        ],
    );
    let microseconds = |i: usize| times[i] * 1e6 / pages.len() as f64;
    Ok([0, 1, 2].map(microseconds))
}

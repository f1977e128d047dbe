//! What a call costs on few numbers: latens and pco 1.1.0 by turns, from 1 number to 2^16.
//!
//! ```sh
//! cargo run --profile compare -p latens-benches --bin small_calls -- benches/results/small_calls.csv
//! ```
//! Nanoseconds of processor time for one call, medians over rounds, of calls enough for half a
//! millisecond each; allocations of one call; bytes of one file (of a wrapped page: header, metadata and
//! page). Both write what they write by default, which for a file of ours is a checksum trailer; `bare`
//! is ours without. Decoding is of each one's own file, into a buffer that is there. Wrapped
//! pages are 256 numbers or fewer, of a chunk whose metadata is read. `--rounds N` (7), `--only TEXT`: lines that
//! contain it, like `u8,1000,compress`.

#![allow(clippy::expect_used, reason = "a comparison that fails had better stop")]

use clap::Parser;
use latens::pco as ours;
use latens::{Limits, Number};
use latens_benches::noise::noise;
use std::alloc::{GlobalAlloc, Layout, System};
use std::fmt::Write as _;
use std::hint::black_box;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Counts what is asked for.
struct Counting;

static CALLS: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised to this function.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised to this function.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        CALLS.fetch_add(1, Ordering::Relaxed);
        // SAFETY: as promised to this function.
        unsafe { System.realloc(block, layout, size) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        // SAFETY: as promised to this function.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const COUNTS: [usize; 8] = [1, 10, 100, 300, 1000, 4096, 1 << 14, 1 << 16];
const LEVELS: [u32; 3] = [1, 4, 8];
/// Numbers of a wrapped page.
const PAGE: usize = 256;

/// What a call costs on few numbers: latens and pco 1.1.0 by turns
#[derive(Parser)]
struct Args {
    /// Where to write the table; nowhere but to standard output without
    out: Option<PathBuf>,
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Lines that contain this, like u8,1000,compress
    #[arg(long, default_value_t)]
    only: String,
}

fn main() {
    let Args { out: path, rounds, only } = Args::parse();
    let mut out = String::from(
        "kind,n,work,level,latens_ns,pco_ns,times_as_fast,latens_bytes,bare_bytes,pco_bytes,\
         latens_allocations,pco_allocations\n",
    );
    let mut bench = Bench { rounds, only, out: &mut out };
    bench.kind("i64 timestamps", &times());
    bench.kind("f64 prices", &prices());
    bench.kind("f32 noise", &normals());
    bench.kind("u8", &bytes());
    bench.kind("i32 counts", &counts());
    match path {
        Some(path) => std::fs::write(path, out).expect("written"),
        None => print!("{out}"),
    }
}

struct Bench<'o> {
    rounds: usize,
    only: String,
    out: &'o mut String,
}

/// Two ways to do the same, and what each gives.
struct Pair<'a> {
    ours: &'a mut dyn FnMut(),
    theirs: &'a mut dyn FnMut(),
}

impl Bench<'_> {
    fn kind<T: Number + ::pco::data_types::Number>(&mut self, kind: &str, all: &[T]) {
        for n in COUNTS {
            let numbers = &all[..n];
            for level in LEVELS {
                self.files(kind, numbers, level);
            }
            self.page(kind, numbers);
            eprintln!("{kind}, {n}");
        }
    }

    fn files<T: Number + ::pco::data_types::Number>(
        &mut self,
        kind: &str,
        numbers: &[T],
        level: u32,
    ) {
        let config = ours::Config::default().level(level);
        let their_config = ::pco::ChunkConfig::default()
            .with_compression_level(level as usize)
            .with_enable_8_bit(true);
        let file = ours::compress(numbers, &config).expect("sound");
        let bare = ours::compress(numbers, &config.clone().checksum(false)).expect("sound");
        let their_file = ::pco::standalone::simple_compress(numbers, &their_config).expect("sound");
        let sizes = [file.len(), bare.len(), their_file.len()];
        let (mut a, mut b) = (vec![T::default(); numbers.len()], vec![T::default(); numbers.len()]);
        let compress = Pair {
            ours: &mut || drop(black_box(ours::compress(black_box(numbers), &config))),
            theirs: &mut || {
                drop(black_box(::pco::standalone::simple_compress(
                    black_box(numbers),
                    &their_config,
                )));
            },
        };
        self.row(&format!("{kind},{},compress,{level}", numbers.len()), sizes, compress);
        let decompress = Pair {
            ours: &mut || {
                black_box(ours::decompress_into(black_box(&file), &mut a).is_ok());
            },
            theirs: &mut || {
                let done =
                    ::pco::standalone::simple_decompress_into(black_box(&their_file), &mut b);
                black_box(done.is_ok());
            },
        };
        self.row(&format!("{kind},{},decompress,{level}", numbers.len()), sizes, decompress);
        let same = |found: &[T]| {
            found.iter().zip(numbers).all(|(x, y)| Number::to_latent(*x) == Number::to_latent(*y))
        };
        assert!(!self.only.is_empty() || same(&a) && same(&b), "the numbers differ");
    }

    fn page<T: Number + ::pco::data_types::Number>(&mut self, kind: &str, numbers: &[T]) {
        let page_len = numbers.len().min(PAGE);
        let mut lens = vec![PAGE; numbers.len() / PAGE];
        lens.extend(Some(numbers.len() % PAGE).filter(|&rest| rest > 0));
        let encoder = ours::wrapped::FileEncoder::new(ours::Config::default());
        let (mut header, mut meta, mut page) = (Vec::new(), Vec::new(), Vec::new());
        encoder.write_header(&mut header).expect("to memory");
        let chunk = encoder.chunk_encoder(numbers, &lens).expect("sound");
        chunk.write_meta(&mut meta).expect("to memory");
        chunk.write_page(0, &mut page).expect("to memory");
        let file = ours::wrapped::FileDecoder::new(&header, Limits::default()).expect("sound").0;
        let decoder = file.chunk_decoder::<T>(&meta).expect("sound").0;
        let size = header.len() + meta.len() + page.len();

        let their_encoder = ::pco::wrapped::FileCompressor::default();
        let paging = ::pco::PagingSpec::Exact(lens);
        let their_config =
            ::pco::ChunkConfig::default().with_paging_spec(paging).with_enable_8_bit(true);
        let mut their_chunk =
            their_encoder.chunk_compressor(numbers, &their_config).expect("sound");
        let (mut their_header, mut their_meta, mut their_page) =
            (Vec::new(), Vec::new(), Vec::new());
        their_encoder.write_header(&mut their_header).expect("to memory");
        their_chunk.write_meta(&mut their_meta).expect("to memory");
        their_chunk.write_page(0, &mut their_page).expect("to memory");
        let their_size = their_header.len() + their_meta.len() + their_page.len();
        let their_file = ::pco::wrapped::FileDecompressor::new(&their_header[..]).expect("sound").0;
        let mut theirs = their_file.chunk_decompressor::<T, _>(&their_meta[..]).expect("sound").0;

        let (mut a, mut b) = (vec![T::default(); page_len], vec![T::default(); page_len]);
        let pages = Pair {
            ours: &mut || {
                black_box(decoder.decode_page(black_box(&page), &mut a).is_ok());
            },
            theirs: &mut || {
                let page = theirs.page_decompressor(black_box(&their_page[..]), page_len);
                black_box(page.and_then(|mut page| page.read(&mut b)).is_ok());
            },
        };
        self.row(&format!("{kind},{},page,8", numbers.len()), [size, size, their_size], pages);
        let same = |found: &[T]| {
            found.iter().zip(numbers).all(|(x, y)| Number::to_latent(*x) == Number::to_latent(*y))
        };
        assert!(!self.only.is_empty() || same(&a) && same(&b), "the numbers differ");
    }

    /// Times both and writes a line.
    fn row(&mut self, what: &str, sizes: [usize; 3], pair: Pair<'_>) {
        if !what.contains(&self.only) {
            return;
        }
        let Pair { ours, theirs } = pair;
        let allocations = |run: &mut dyn FnMut()| {
            run();
            let before = CALLS.load(Ordering::Relaxed);
            run();
            CALLS.load(Ordering::Relaxed) - before
        };
        let counts = [allocations(ours), allocations(theirs)];
        // As many calls as take half a millisecond.
        let calls = |run: &mut dyn FnMut()| {
            let once = latens_benches::timing::once(&mut || (0..16).for_each(|_| run())) / 16.0;
            #[expect(clippy::cast_possible_truncation, reason = "at most 10^5")]
            let calls = (5e-4 / once.max(1e-9)).ceil().clamp(1.0, 1e5) as usize;
            calls
        };
        let many = [calls(ours), calls(theirs)];
        let seconds = latens_benches::timing::medians(
            self.rounds,
            &mut [&mut || (0..many[0]).for_each(|_| ours()), &mut || {
                (0..many[1]).for_each(|_| theirs());
            }],
        );
        let [a, b] = [0, 1].map(|i| seconds[i] / many[i] as f64 * 1e9);
        let ([size, bare, their_size], [allocs, their_allocs]) = (sizes, counts);
        writeln!(
            self.out,
            "{what},{a:.0},{b:.0},{:.2},{size},{bare},{their_size},{allocs},{their_allocs}",
            b / a
        )
        .expect("to memory");
    }
}

/// The largest count.
const MOST: usize = COUNTS[COUNTS.len() - 1];

/// Microseconds, about a second apart.
fn times() -> Vec<i64> {
    let step = |at: &mut i64, x: u64| {
        *at += 1_000_000 + (x >> 52).cast_signed();
        Some(*at)
    };
    noise().take(MOST).scan(1_700_000_000_000_000, step).collect()
}

/// A walk in cents.
fn prices() -> Vec<f64> {
    let step = |cents: &mut i64, x: u64| {
        *cents += (x >> 58).cast_signed() - 32;
        Some(*cents as f64 / 100.0)
    };
    noise().take(MOST).scan(120_000, step).collect()
}

/// About normal.
#[expect(clippy::cast_possible_truncation, reason = "that is how they become f32")]
fn normals() -> Vec<f32> {
    let mut noise = noise();
    let mut one = || (noise.next().unwrap_or(0) >> 11) as f64 / (1u64 << 53) as f64;
    (0..MOST).map(|_| ((0..12).map(|_| one()).sum::<f64>() - 6.0) as f32).collect()
}

/// Letters, some more frequent.
fn bytes() -> Vec<u8> {
    noise().take(MOST).map(|x| 97 + (x >> 60).min(x >> 56 & 15) as u8).collect()
}

/// How often something happened: mostly few times.
fn counts() -> Vec<i32> {
    let product = |x: u64| ((x >> 40 & 0xff) * (x >> 48 & 0xff)) >> (x >> 61);
    noise().take(MOST).map(|x| i32::try_from(product(x)).unwrap_or(0)).collect()
}

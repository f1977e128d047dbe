//! Damaged files: the kernels as C++ say what the decoder in Rust says, byte for byte or error for
//! error, and never read or write outside of their buffers, which AddressSanitizer and
//! UndefinedBehaviorSanitizer watch where the compiler has them. `LATENS_MUTATIONS` is how many files
//! are damaged.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::cast_possible_truncation,
    reason = "a test"
)]

mod by_hand;
mod damage;
mod twin_common;
#[path = "../../latens/tests/wcodec_common/mod.rs"]
mod wcodec_common;

use by_hand::escapes::{self, Escaped};
use by_hand::stacked::{Blocks, Stacked};
use latens::Limits;
use latens::wcodec::Reader;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use twin_common::{Count, Twin, build};
use wcodec_common::Random;
use wcodec_common::mend::Parts;

const SANITIZERS: [&str; 4] =
    ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];

fn program() -> Option<&'static Path> {
    static BUILT: OnceLock<Option<PathBuf>> = OnceLock::new();
    let built = BUILT.get_or_init(|| {
        build("twin-sanitized", &SANITIZERS).or_else(|| build("twin-plain", &["-O2"]))
    });
    built.as_deref()
}

fn compare(twin: &mut Twin, name: &str, file: Vec<u8>, count: &mut Count) {
    let limits = Limits::default().max_output(1 << 24).max_alloc(1 << 24);
    let Ok(reader) = Reader::open(file, limits) else { return };
    twin.agrees(name, &reader.threads(1), count);
}

/// So many files made of `grounds`, of which some are refused.
fn compare_damaged(program: &Path, grounds: &[(&'static str, Parts)], files: usize) {
    let (mut twin, mut count) = (Twin::start(program), Count::default());
    for case in 0..files {
        let (name, file) = damage::damaged(grounds, case);
        compare(&mut twin, &format!("{name}, case {case}"), file, &mut count);
    }
    println!("{files} files: {count:?}");
    assert!(count.errors * 20 > files, "{count:?}");
}

#[test]
fn damage_behind_right_checksums() {
    let Some(program) = program() else { return };
    compare_damaged(program, &damage::apart(), damage::cases(3000));
}

#[test]
fn damage_of_stacked_pairs() {
    const BLOCKS: &[Blocks] =
        &[Blocks { rows: 1, cols: 16, added: false }, Blocks { rows: 3, cols: 24, added: true }];
    let Some(program) = program() else { return };
    let (rows, cols, group_rows, bias) = (37, 96, 12, -20);
    let (row_levels, col_levels) = (true, true);
    let kinds = [
        (false, BLOCKS, true, false),
        (true, BLOCKS, false, false),
        (true, BLOCKS, true, true),
        (false, &[], true, true),
    ];
    let grounds = kinds.map(|(with_means, blocks, compact, escapes)| {
        let shape = Stacked {
            rows,
            cols,
            group_rows,
            blocks,
            row_levels,
            col_levels,
            with_means,
            bias,
            compact,
            escapes,
        };
        ("stacked", Parts::of(&shape.file(|_| ()).0))
    });
    compare_damaged(program, &grounds, damage::cases(2000));
}

#[test]
fn damage_of_escapes() {
    let Some(program) = program() else { return };
    let kinds = [
        (8, false, None, false),
        (4, true, None, true),
        (4, true, Some(6), false),
        (2, false, Some(255), true),
        (2, true, None, true),
    ];
    let grounds = kinds.map(|(bits, pairs, predictor, compact)| {
        let escaped = Escaped { bits, pairs, predictor, by_class: bits == 4, compact };
        ("escapes", Parts::of(&escaped.file(escapes::head).0))
    });
    compare_damaged(program, &grounds, damage::cases(2000));
}

#[test]
fn damage_that_checksums_find() {
    let Some(program) = program() else { return };
    let mut twin = Twin::start(program);
    let mut count = Count::default();
    for sample in damage::grounds() {
        let file = sample.compress();
        let mut random = Random(77);
        for case in 0..30 {
            let mut file = file.clone();
            // Groups are between header and index.
            let at = 128 + random.below(file.len() / 2);
            file[at] ^= 1 << random.below(8);
            compare(&mut twin, &format!("{}, flip {case}", sample.name), file, &mut count);
        }
    }
    println!("{count:?}");
    assert!(count.errors > 100, "{count:?}");
}

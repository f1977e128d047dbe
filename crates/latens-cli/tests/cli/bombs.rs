//! A few bytes that stand for very many numbers: they stream through little memory, or stop at the
//! limit.

use crate::skipped::vectors;
use crate::tool::Folder;
use std::process::Command;

/// 2^24 times the byte 7 in each of so many chunks of nine bytes.
fn bomb(chunks: usize) -> Vec<u8> {
    // Magic, standalone version 3, no uniform type, a hint of 0; format 4.1.
    let mut file = b"pco!\x03\0\0\x04\x01".to_vec();
    for _ in 0..chunks {
        // u8, 2^24 - 1 more; Classic without deltas; no table, one bin of lower bound 7, no offsets.
        file.extend(b"\x0a\xff\xff\xff\0");
        file.extend((1u32 << 4 | 7 << 19).to_le_bytes());
    }
    file.push(0);
    file
}

/// Runs the tool where it may not have more than 256 MiB of addresses, stacks included.
fn within_256_mib(f: &Folder, args: &str) -> (Option<i32>, String) {
    let tool = env!("CARGO_BIN_EXE_latens");
    let done = Command::new("sh")
        .args(["-c", &format!("ulimit -v 262144; exec '{tool}' {args} -T 1")])
        .current_dir(f.path(""))
        .env("MALLOC_ARENA_MAX", "1")
        .output()
        .unwrap();
    (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
}

#[test]
fn a_bomb_streams_or_stops_at_the_limit() {
    let f = Folder::new();
    f.write("bomb.pco", &bomb(20));
    assert_eq!(f.read("bomb.pco").len(), 190);
    let (code, said) = within_256_mib(&f, "decompress bomb.pco --to raw -o /dev/null");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("335544320 u8"), "{said}");
    let (code, said) = within_256_mib(&f, "verify bomb.pco");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = within_256_mib(&f, "inspect bomb.pco");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = within_256_mib(&f, "decompress bomb.pco -o out.npy --max-output 1000000");
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("--max-output 1000000"), "{said}");
    assert_eq!(f.names(), ["bomb.pco"]);
}

/// Chunks of 22 bytes that have a table of 2^14 slots for one number.
#[test]
fn tables_that_no_numbers_earn() {
    let f = Folder::new();
    let mut file = b"pco!\x03\0\0\x04\x01".to_vec();
    for _ in 0..300 {
        // u8, one; Classic without deltas; 2^14 slots, 2 bins: 2^14 - 1 slots of 0, one of 1.
        file.extend([10, 0, 0, 0]);
        let fields = 14 << 8 | 2 << 12 | ((1 << 14) - 2) << 27 | 1u128 << 67;
        file.extend(&fields.to_le_bytes()[..10]);
        file.extend([0; 8]);
    }
    file.push(0);
    f.write("tables.pco", &file);
    for verb in ["decompress", "inspect"] {
        f.run(&[verb, "tables.pco"]).fails(&["max_spare_slots = 4194304", "take another one"]);
    }
    let done = f.run(&["verify", "tables.pco"]);
    assert!(done.code == Some(1) && done.text().contains("max_spare_slots"), "{}", done.text());
    assert_eq!(f.names(), ["tables.pco"]);
}

/// Third-party files that made other readers reserve gigabytes.
#[test]
fn hostile_files_of_others() {
    let Some(folder) = vectors("hostile") else { return };
    let f = Folder::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|e| e == "pco") {
            let args = format!("decompress '{}' --to raw -o /dev/null", path.display());
            let (code, said) = within_256_mib(&f, &args);
            let bomb = path.file_name().unwrap().to_string_lossy().starts_with("bomb");
            assert_eq!(code, Some(i32::from(!bomb)), "{}: {said}", path.display());
            assert!(bomb || said.contains("byte "), "{said}");
        }
    }
}

//! `.dbp`: streams that do not say whether their numbers have 32 bits or 64.

use crate::tool::{Done, Folder, npy};

fn packed(f: &Folder, descr: &str, numbers: &[i64]) {
    let width = if descr.ends_with('8') { 8 } else { 4 };
    let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()[..width].to_vec()).collect();
    f.write("a.npy", &npy(descr, false, &format!("({},)", numbers.len()), &bytes));
    f.run(&["compress", "-q", "-f", "a.npy", "-o", "a.dbp"]).ok();
}

fn unpacked(f: &Folder, ty: &str) -> Done {
    f.run(&["decompress", "-f", "a.dbp", "-o", "a.raw", "--type", ty])
}

#[test]
fn numbers_of_64_bits_are_not_cut_to_32() {
    let f = Folder::new();
    for (numbers, said) in [
        (&[1, 2, 1 << 40, 5][..], ["number 2 is 1099511627776", "byte 5"]),
        (&[-(1 << 40), 5], ["number 0 is -1099511627776", "byte 4"]),
        (&[3 << 30, 5], ["number 0 is 3221225472", "byte 4"]),
    ] {
        packed(&f, "<i8", numbers);
        unpacked(&f, "i32").fails(&[said[0], "no i32", said[1], "--type i64"]);
        unpacked(&f, "i64").ok();
    }
    let mut long: Vec<i64> = (0..100_000).collect();
    long[70_000] = 1 << 33;
    packed(&f, "<i8", &long);
    unpacked(&f, "u32").fails(&["number 70000 is 8589934592", "no u32", "byte "]);
    let bench = ["bench", "a.dbp", "--type", "i32"];
    f.run(&bench).fails(&["number 70000"]);
}

#[test]
fn numbers_of_32_bits_may_wrap() {
    let f = Folder::new();
    let ends = [i64::from(i32::MAX), i64::from(i32::MIN), 7];
    packed(&f, "<i4", &ends);
    let done = unpacked(&f, "i32").ok();
    assert!(done.err.starts_with("latens: a.dbp: numbers wrap from number 1 on"), "{}", done.err);
    let bytes: Vec<u8> = ends.iter().flat_map(|n| n.to_le_bytes()[..4].to_vec()).collect();
    assert_eq!(f.read("a.raw"), bytes);
    let quiet = f.run(&["decompress", "-q", "-f", "a.dbp", "-o", "a.raw", "--type", "i32"]).ok();
    assert_eq!(quiet.err, "");
    packed(&f, "<u4", &[(1 << 32) - 1, 0, 3_000_000_000]);
    assert_eq!(unpacked(&f, "u32").ok().err.lines().count(), 1);
    assert_eq!(f.read("a.raw")[..4], [255; 4]);
}

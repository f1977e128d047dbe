//! Arrays of any shape, order and endianness to `.pco.zip` and back, byte for byte.

use crate::support::{Bench, dump};

/// A `.npy` file as NumPy writes it.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((text.len() as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.extend(data);
    bytes
}

fn data(bytes: usize) -> Vec<u8> {
    (0..bytes as u64).map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56) as u8).collect()
}

#[test]
fn arrays_come_back_as_they_were() {
    let bench = Bench::new();
    let cases = [
        ("<f8", false, "(2, 3)", 48),
        (">f8", false, "(2, 3)", 48),
        (">i4", true, "(2, 3, 4)", 96),
        ("<u2", true, "(5, 1)", 10),
        ("|u1", false, "(7, 2)", 14),
        ("<f2", false, "(3, 3)", 18),
        (">u8", false, "(4,)", 32),
        ("<f4", false, "()", 4),
        ("<i8", false, "(0, 5)", 0),
    ];
    for (descr, fortran, shape, bytes) in cases {
        let original = npy(descr, fortran, shape, &data(bytes));
        bench.write("a.npy", &original);
        bench.ok(&["compress", "a.npy", "-f", "-o", "a.pco.zip"]);
        bench.ok(&["verify", "a.pco.zip"]);
        bench.ok(&["decompress", "a.pco.zip", "-f", "-o", "b.npy"]);
        let back = bench.read("b.npy");
        let header = |file: &[u8]| {
            let end = 10 + usize::from(file[8]) + usize::from(file[9]) * 256;
            let text = String::from_utf8_lossy(&file[10..end]).trim_end().to_string();
            (text.replace(' ', ""), file[end..].to_vec())
        };
        assert_eq!(header(&back), header(&original), "{descr} {shape}");
    }
}

#[test]
fn a_column_becomes_parquet() {
    let bench = Bench::new();
    bench.write("a.npy", npy("|i1", false, "(4,)", &[1, 0xff, 0x80, 0x7f]));
    bench.ok(&["compress", "a.npy", "-o", "a.parquet"]);
    let values: Vec<Vec<u8>> =
        [1i32, -1, -128, 127].iter().map(|x| x.to_le_bytes().to_vec()).collect();
    let columns = dump(&bench.path("a.parquet"));
    assert_eq!(columns[0].0, "a");
    assert_eq!(columns[0].1, values.into_iter().map(Some).collect::<Vec<_>>());
    bench.write("m.npy", npy("<f8", false, "(2, 2)", &data(32)));
    bench.fails(2, &["compress", "m.npy", "-o", "m.parquet"]);
}

#[test]
fn one_column_of_a_table_becomes_an_array() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b,c\n1,x,0.5\n2,y,\n");
    bench.ok(&["compress", "t.csv"]);
    let raw = bench.ok(&["decompress", "t.pco.zip", "--columns", "a", "-o", "-", "--to", "raw"]);
    assert_eq!(raw.stdout, [1i64.to_le_bytes(), 2i64.to_le_bytes()].concat());
    for column in ["b", "c"] {
        bench.fails(2, &["decompress", "t.pco.zip", "--columns", column, "-o", "x.npy"]);
    }
    bench.fails(2, &["decompress", "t.pco.zip", "-o", "x.npy"]);
    bench.fails(2, &["decompress", "t.pco.zip", "--columns", "d", "-o", "x.csv"]);
}

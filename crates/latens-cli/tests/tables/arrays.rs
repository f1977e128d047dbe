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

/// The shape that a `.npy` file states, and the bytes of its numbers.
fn parts(file: &[u8]) -> (String, Vec<u8>) {
    let end = 10 + usize::from(file[8]) + usize::from(file[9]) * 256;
    let text = String::from_utf8_lossy(&file[10..end]).into_owned();
    let shape = text.split("'shape': ").nth(1).unwrap().split(')').next().unwrap();
    (format!("{shape})"), file[end..].to_vec())
}

#[test]
fn a_limit_gives_the_first_numbers_in_the_order_of_numpy() {
    let bench = Bench::new();
    let c: Vec<u8> = (0..24).collect();
    // The same array of shape (2, 3, 4), the first index fastest.
    let fortran: Vec<u8> = (0..24).map(|i| (i % 2) * 12 + (i / 2 % 3) * 4 + i / 6).collect();
    for (order, data) in [(false, &c), (true, &fortran)] {
        bench.write("a.npy", npy("|u1", order, "(2, 3, 4)", data));
        bench.ok(&["compress", "a.npy", "-f"]);
        for n in [0, 1, 5, 23] {
            let limit = n.to_string();
            bench.ok(&["decompress", "a.pco.zip", "--limit", &limit, "-f", "-o", "b.npy"]);
            let expected = (format!("({n},)"), c[..n].to_vec());
            assert_eq!(parts(&bench.read("b.npy")), expected, "{order}");
            let raw = bench.ok(&["decompress", "a.pco.zip", "--limit", &limit, "-o", "-"]);
            assert_eq!(raw.stdout, c[..n]);
        }
        for limit in ["24", "1000"] {
            bench.ok(&["decompress", "a.pco.zip", "--limit", limit, "-f", "-o", "b.npy"]);
            assert_eq!(parts(&bench.read("b.npy")), parts(&bench.read("a.npy")));
        }
        assert_eq!(bench.ok(&["decompress", "a.pco.zip", "-o", "-"]).stdout, c);
    }
    for (descr, shape, data, first) in [
        (">i2", "(3,)", &[0u8, 1, 0, 2, 0, 3][..], &[0u8, 1, 0, 2][..]),
        ("<i4", "()", &[7; 4], &[]),
    ] {
        bench.write("a.npy", npy(descr, false, shape, data));
        bench.ok(&["compress", "a.npy", "-f", "-o", "a.pco.zip"]);
        let n = first.len() / 2;
        let limit = n.to_string();
        bench.ok(&["decompress", "a.pco.zip", "--limit", &limit, "-f", "-o", "b.npy"]);
        assert_eq!(parts(&bench.read("b.npy")), (format!("({n},)"), first.to_vec()));
    }
}

#[test]
fn an_archive_of_an_array_becomes_a_table_where_it_is_a_column() {
    let bench = Bench::new();
    for (descr, data) in [("<f8", data(32)), (">i4", data(16)), ("|i1", data(4)), ("<f2", data(8))]
    {
        bench.write("a.npy", npy(descr, false, "(4,)", &data));
        bench.ok(&["compress", "a.npy", "-f", "-o", "a.pco.zip"]);
        bench.ok(&["compress", "a.pco.zip", "-f", "-o", "one.parquet"]);
        bench.ok(&["decompress", "a.pco.zip", "-f", "-o", "two.parquet"]);
        assert_eq!(dump(&bench.path("one.parquet")), dump(&bench.path("two.parquet")));
        bench.ok(&["compress", "a.pco.zip", "-f", "-o", "one.csv"]);
        bench.ok(&["decompress", "a.pco.zip", "-f", "-o", "two.csv"]);
        assert_eq!(bench.read("one.csv"), bench.read("two.csv"));
    }
    // Of more dimensions it is none, whatever the order, in both directions.
    for fortran in [false, true] {
        bench.write("m.npy", npy("<f8", fortran, "(2, 2)", &data(32)));
        bench.ok(&["compress", "m.npy", "-f"]);
        for to in ["x.parquet", "x.csv"] {
            for args in
                [["compress", "m.npy"], ["compress", "m.pco.zip"], ["decompress", "m.pco.zip"]]
            {
                let said = bench.fails(2, &[args[0], args[1], "-o", to]);
                assert!(said.contains("shape (2, 2)") && said.contains(args[1]), "{said}");
            }
        }
    }
}

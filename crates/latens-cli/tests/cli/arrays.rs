//! Arrays come back as they were, whatever their type, order and shape.

use crate::tool::{Folder, column, npy, numbers};

const TYPES: [(&str, &str); 11] = [
    ("u1", "u8"),
    ("u2", "u16"),
    ("u4", "u32"),
    ("u8", "u64"),
    ("i1", "i8"),
    ("i2", "i16"),
    ("i4", "i32"),
    ("i8", "i64"),
    ("f2", "f16"),
    ("f4", "f32"),
    ("f8", "f64"),
];

fn width(descr: &str) -> usize {
    descr[1..].parse().unwrap()
}

#[test]
fn every_type_as_npy_and_as_raw() {
    let f = Folder::new();
    let data = numbers(300);
    for (descr, ty) in TYPES {
        let n = data.len() / width(descr);
        let order = if width(descr) == 1 { '|' } else { '<' };
        let array = npy(&format!("{order}{descr}"), false, &format!("({n},)"), &data);
        f.write("a.npy", &array);
        f.run(&["compress", "a.npy", "-f"]).ok();
        f.run(&["decompress", "a.pco", "-o", "b.npy", "-f"]).ok();
        assert_eq!(f.read("b.npy"), array, "{ty}");
        f.write("c.raw", &data);
        f.run(&["compress", "c.raw", "--type", ty, "-f"]).ok();
        assert_eq!(f.read("c.pco"), f.read("a.pco"), "{ty}");
        f.run(&["decompress", "c.pco", "-o", "d.raw", "-f"]).ok();
        assert_eq!(f.read("d.raw"), data, "{ty}");
    }
}

#[test]
fn empty_columns() {
    let f = Folder::new();
    f.write("a.npy", &npy("<f4", false, "(0,)", b""));
    f.run(&["compress", "a.npy"]).ok();
    assert!(f.run(&["verify", "a.pco"]).ok().text().starts_with("a.pco: ok, 0 f32"));
    f.run(&["decompress", "a.pco", "-o", "b.npy"]).ok();
    assert_eq!(f.read("b.npy"), f.read("a.npy"));
    assert_eq!(f.run(&["decompress", "a.pco", "-o", "-"]).ok().out, b"");
}

#[test]
fn several_chunks_and_a_limit() {
    let f = Folder::new();
    f.write("a.npy", &column(10_001));
    f.run(&["compress", "a.npy", "--chunk-n", "1000"]).ok();
    f.run(&["decompress", "a.pco", "-o", "b.npy"]).ok();
    assert_eq!(f.read("b.npy"), column(10_001));
    for n in [0usize, 1, 999, 1000, 1001, 10_001, 20_000] {
        let limit = n.to_string();
        let done = f.run(&["decompress", "a.pco", "--limit", &limit, "-o", "-"]).ok();
        assert_eq!(done.out, numbers(n.min(10_001)), "{n}");
    }
    f.run(&["decompress", "a.pco", "--limit", "7", "-o", "c.npy"]).ok();
    assert_eq!(f.read("c.npy"), column(7));
}

#[test]
fn the_output_does_not_depend_on_threads() {
    let f = Folder::new();
    f.write("a.npy", &column(30_000));
    f.run(&["compress", "a.npy", "--chunk-n", "1024", "-T", "1"]).ok();
    for threads in ["0", "2", "3", "16"] {
        let args = ["compress", "a.npy", "--chunk-n", "1024", "-T", threads, "-o", "b.pco", "-f"];
        f.run(&args).ok();
        assert_eq!(f.read("b.pco"), f.read("a.pco"), "-T {threads}");
    }
}

#[test]
fn a_pco_can_be_compressed_again() {
    let f = Folder::new();
    f.write("a.npy", &column(3000));
    f.run(&["compress", "a.npy", "-l", "1"]).ok();
    f.run(&["compress", "a.pco", "-o", "b.pco", "--chunk-n", "100"]).ok();
    assert_eq!(f.run(&["decompress", "b.pco", "-o", "-"]).ok().out, numbers(3000));
}

#[test]
fn other_arrays_do_not_become_a_bare_pco() {
    let f = Folder::new();
    f.write("nd.npy", &npy("<f8", false, "(2, 3)", &[1; 48]));
    f.write("zero.npy", &npy("<f8", false, "()", &[1; 8]));
    f.write("fortran.npy", &npy("<f8", true, "(2, 3)", &[1; 48]));
    for name in ["nd.npy", "zero.npy", "fortran.npy"] {
        for to in ["pco", "dbp"] {
            let said = [&format!("a .{to} holds one column")[..], name, "pco.zip"];
            f.run(&["compress", name, "-o", &format!("x.{to}")]).ends_with(2, &said);
        }
    }
    assert_eq!(f.names(), ["fortran.npy", "nd.npy", "zero.npy"]);
}

#[test]
fn a_big_endian_column_keeps_its_values() {
    let f = Folder::new();
    let data = numbers(100);
    for (descr, _) in TYPES.iter().filter(|(descr, _)| width(descr) > 1) {
        let n = data.len() / width(descr);
        let swapped: Vec<u8> =
            data.chunks(width(descr)).flat_map(|number| number.iter().rev().copied()).collect();
        f.write("a.npy", &npy(&format!(">{descr}"), false, &format!("({n},)"), &swapped));
        f.run(&["compress", "a.npy", "-f"]).ok();
        f.run(&["decompress", "a.pco", "-o", "b.npy", "-f"]).ok();
        let same = npy(&format!("<{descr}"), false, &format!("({n},)"), &data);
        assert_eq!(f.read("b.npy"), same, "{descr}");
    }
    f.run(&["compress", "a.npy", "-o", "c.pco", "-f"]).ok();
    assert_eq!(f.read("c.pco"), f.read("a.pco"));
}

#[test]
fn an_array_from_stdin_is_looked_at() {
    let f = Folder::new();
    let array = npy("<i8", false, "(2, 15)", &numbers(30));
    f.write("a.npy", &array);
    f.run(&["compress", "a.npy"]).ok();
    let piped = f.run_with(&["compress", "-", "--from", "npy"], &array).ok();
    f.write("p.pco.zip", &piped.out);
    f.run(&["decompress", "p.pco.zip", "-o", "p.npy"]).ok();
    assert_eq!(f.read("p.npy"), array);
    f.run_with(&["compress", "-", "--from", "npy", "--to", "pco"], &array)
        .ends_with(2, &["one column", "standard input"]);
    f.run_with(&["compress", "-", "--from", "npy"], &array[..50]).fails(&["byte 50"]);
}

#[test]
fn arrays_of_any_order_and_shape_come_back() {
    let f = Folder::new();
    let data = numbers(120);
    for (descr, ty) in TYPES {
        let n = data.len() / width(descr) / 4;
        for order in ["<", ">"] {
            let order = if ty.ends_with("u8") || ty == "i8" { "|" } else { order };
            for (fortran, shape) in [
                (false, format!("(2, {})", n * 2)),
                (true, format!("({n}, 2, 2)")),
                (false, format!("({},)", n * 4)),
            ] {
                let array = npy(&format!("{order}{descr}"), fortran, &shape, &data);
                f.write("a.npy", &array);
                f.run(&["compress", "a.npy", "-o", "a.pco.zip", "-f"]).ok();
                f.run(&["verify", "a.pco.zip"]).ok();
                f.run(&["decompress", "a.pco.zip", "-o", "b.npy", "-f"]).ok();
                assert_eq!(f.read("b.npy"), array, "{order}{descr} {shape}");
            }
        }
    }
}

#[test]
fn arrays_without_extent_come_back() {
    let f = Folder::new();
    for (shape, data) in
        [("()", &[7; 8][..]), ("(0, 3)", &[]), ("(3, 0)", &[]), ("(1, 1)", &[9; 8])]
    {
        let array = npy("<f8", false, shape, data);
        f.write("a.npy", &array);
        // No -o: the header is looked at.
        f.run(&["compress", "a.npy", "-f"]).ok();
        f.run(&["decompress", "a.pco.zip", "-o", "b.npy", "-f"]).ok();
        assert_eq!(f.read("b.npy"), array, "{shape}");
    }
    assert_eq!(f.names(), ["a.npy", "a.pco.zip", "b.npy"]);
}

//! Files for the tool: `.npy`, and `.pco.zip` that the tool itself makes of them.

use super::Ground;
use crate::random::{Random, noise};
use crate::target::tool::Folder;

/// A `.npy` file, version 1.0, of zero to a few numbers.
fn npy(descr: &str, fortran: bool, shape: &str, data: &[u8]) -> Vec<u8> {
    let fortran = if fortran { "True" } else { "False" };
    let text = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let length = (text.len() + 11).next_multiple_of(64) - 10;
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((length as u16).to_le_bytes());
    bytes.extend(text.as_bytes());
    bytes.resize(10 + length - 1, b' ');
    bytes.push(b'\n');
    bytes.extend(data);
    bytes
}

/// Arrays of several types, shapes and orders.
pub fn arrays() -> Vec<Ground> {
    let mut random = Random(19);
    let mut of = |name: &str, descr: &str, fortran: bool, shape: &str, bytes: usize| {
        Ground::new(name, 0, npy(descr, fortran, shape, &noise(&mut random, bytes)))
    };
    vec![
        of("f64", "<f8", false, "(20,)", 160),
        of("big-endian i32", ">i4", false, "(9,)", 36),
        of("u8 2-D", "|u1", false, "(5, 7)", 35),
        of("f16 Fortran", "<f2", true, "(3, 4, 2)", 48),
        of("scalar", "<i8", false, "()", 8),
        of("nothing", "<u2", false, "(0, 3)", 0),
    ]
}

/// Archives of n-dimensional arrays.
pub fn archives() -> Vec<Ground> {
    let folder = Folder::new();
    let from_csv = "id,price,name\n1,1.5,ann\n2,,bob\n3,2.25,ann\n4,9,\"x, y\"\n";
    let mut out = Vec::new();
    let mut add = |name: &str, input: &str, bytes: &[u8], selector| {
        let made = folder.run(input, bytes, "a.pco.zip", &["compress", "-q"]);
        out.push(Ground::new(name, selector, made.unwrap().expect("it is compressed")));
    };
    for ground in arrays() {
        if ["u8 2-D", "f16 Fortran", "nothing"].contains(&ground.name.as_str()) {
            add(&ground.name, "in.npy", &ground.bytes, 0);
        }
    }
    add("a table", "in.csv", from_csv.as_bytes(), 1);
    out
}

/// `.pco` files as the tool writes them, with checksums.
pub fn columns() -> Vec<Ground> {
    let folder = Folder::new();
    let one = arrays().into_iter().filter(|g| g.name == "f64");
    one.map(|ground| {
        let made = folder.run("in.npy", &ground.bytes, "a.pco", &["compress", "-q"]);
        Ground::new(ground.name, 0, made.unwrap().expect("it is compressed"))
    })
    .collect()
}

/// Parquet files as the tool writes them.
pub fn parquet() -> Vec<Ground> {
    let folder = Folder::new();
    let csv = "id,price,name\n1,1.5,ann\n2,,bob\n3,2.25,ann\n4,9,\"x, y\"\n";
    ["delta", "plain"]
        .map(|encoding| {
            let args = ["compress", "-q", "--encoding", encoding, "--compression", "none"];
            let made = folder.run("in.csv", csv.as_bytes(), "a.parquet", &args);
            Ground::new(encoding, 1, made.unwrap().expect("it is compressed"))
        })
        .to_vec()
}

//! `verify`: a line a file, and 1 where any of them fails.

use crate::tool::{Folder, column};

#[test]
fn every_kind_of_file_is_verified() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("t.csv", b"a,b\n1,x\n");
    f.write("empty.csv", b"");
    let done = f.run(&["verify", "a.npy", "t.csv", "empty.csv"]).ok();
    let lines: Vec<&str> = done.text().lines().collect();
    assert_eq!(lines[0], "a.npy: ok, 4 i64, no checksum in the file: decoded only");
    assert_eq!(lines[1], "t.csv: ok, 1 row of 2 columns, no checksum in the file: decoded only");
    assert!(lines[2].starts_with("empty.csv: ok, 0 rows"), "{lines:?}");
    f.write("short.npy", &column(4)[..150]);
    f.write("bad.csv", b"a,b\n1\n");
    for (name, place) in [("short.npy", "byte "), ("bad.csv", "byte ")] {
        let done = f.run(&["verify", name]);
        assert_eq!(done.code, Some(1), "{name}");
        assert!(done.text().contains("FAILED") && done.text().contains(place), "{}", done.text());
    }
}

#[test]
fn one_of_several_files_that_cannot_be_verified_fails() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("b.raw", b"1");
    f.write("c.xyz", b"1");
    for files in [&["a.npy", "b.raw"][..], &["b.raw", "c.xyz"], &["none.pco", "c.xyz"]] {
        let done = f.run(&[&["verify"], files].concat());
        assert_eq!((done.code, done.text().lines().count()), (Some(1), 2), "{}", done.err);
    }
    // A single one is wrong usage: nothing was verified, and nothing can be.
    f.run(&["verify", "b.raw"]).ends_with(2, &["b.raw", "nothing to verify"]);
    f.run(&["verify", "c.xyz"]).ends_with(2, &["c.xyz", "--from"]);
    let done = f.run(&["verify", "none.raw"]);
    assert_eq!(
        (done.code, done.text()),
        (Some(1), "none.raw: FAILED, No such file or directory\n")
    );
}

#[test]
fn options_that_do_nothing_for_any_file_are_refused() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.run(&["compress", "a.npy"]).ok();
    f.run(&["verify", "a.npy", "--allow-trailing"])
        .ends_with(2, &["--allow-trailing is for .pco files, and there is none"]);
    f.run(&["verify", "a.npy", "a.pco", "--base", "a.npy"])
        .ends_with(2, &["--base is for .wcodec files, and there is none"]);
    f.run(&["verify", "a.npy", "a.pco", "--allow-trailing"]).ok();
}

//! Bad input gets a message with a place, exit 1, and no file.

use crate::tool::{Folder, column, npy};

#[test]
fn every_truncation_is_found() {
    let f = Folder::new();
    f.write("a.npy", &column(40));
    f.run(&["compress", "a.npy"]).ok();
    let whole = f.read("a.pco");
    let mut accepted = Vec::new();
    for n in 0..whole.len() {
        f.write("t.pco", &whole[..n]);
        let done = f.run(&["decompress", "t.pco"]);
        if done.code == Some(0) {
            accepted.push(n);
            std::fs::remove_file(f.path("t.npy")).unwrap();
        } else {
            done.fails(&["in t.pco", "byte "]);
        }
        assert_eq!(f.names(), ["a.npy", "a.pco", "t.pco"], "cut at {n}");
    }
    // Cut right behind the terminator it is a whole file without a checksum.
    assert!(accepted.len() <= 1, "{accepted:?}");
    for n in accepted {
        f.write("t.pco", &whole[..n]);
        assert!(f.run(&["verify", "t.pco"]).ok().text().contains("no checksum"));
    }
}

#[test]
fn every_flipped_bit_is_found() {
    let f = Folder::new();
    f.write("a.npy", &column(24));
    f.run(&["compress", "a.npy"]).ok();
    let mut bytes = f.read("a.pco");
    for bit in (0..bytes.len() * 8).step_by(3) {
        bytes[bit / 8] ^= 1 << (bit % 8);
        f.write("t.pco", &bytes);
        f.run(&["decompress", "t.pco"]).fails(&["in t.pco", "byte "]);
        assert_eq!(f.names(), ["a.npy", "a.pco", "t.pco"], "bit {bit}");
        bytes[bit / 8] ^= 1 << (bit % 8);
    }
}

/// Short or long: a file of another kind is not called a truncated one, and what it is not is said.
#[test]
fn other_files() {
    let f = Folder::new();
    for other in [&b"a,b"[..], b"\x93NUM,", b"a,b\n1,2\n", &[b'x'; 5000]] {
        f.write("x", other);
        let no_npy = ["corrupt: this is no .npy file", "in x: byte 0", "--from"];
        f.run(&["compress", "x", "--from", "npy", "-o", "y"]).fails(&no_npy);
        let no_zip = ["corrupt: this is no .pco.zip file", "in x: byte 0", "--from"];
        f.run(&["decompress", "x", "--from", "pco.zip", "-o", "y.csv"]).fails(&no_zip);
    }
    for cut in [&b""[..], b"\x93NU", b"\x93NUMPY\x01"] {
        f.write("x", cut);
        let end = format!("byte {}", cut.len());
        let said = ["truncated", &end];
        f.run(&["compress", "x", "--from", "npy", "-o", "y"]).fails(&said);
    }
    for cut in [&b""[..], b"PK", b"PK\x03\x04 and no end"] {
        f.write("x", cut);
        let said = ["truncated: the file does not end in its checksum", "another tool"];
        f.run(&["decompress", "x", "--from", "pco.zip", "-o", "y.csv"]).fails(&said);
    }
    assert_eq!(f.names(), ["x"]);
}

#[test]
fn bytes_after_the_end() {
    let f = Folder::new();
    f.write("a.npy", &column(24));
    for checksum in [&[][..], &["--no-checksum"]] {
        f.run(&[&["compress", "a.npy", "-f"], checksum].concat()).ok();
        let mut bytes = f.read("a.pco");
        let end = format!("byte {}", bytes.len());
        bytes.extend(b"more");
        f.write("t.pco", &bytes);
        f.run(&["decompress", "t.pco"]).fails(&["bytes follow", &end, "--allow-trailing"]);
        assert_eq!(f.run(&["verify", "t.pco"]).code, Some(1));
        f.run(&["decompress", "t.pco", "--allow-trailing", "-f"]).ok();
        assert_eq!(f.read("t.npy"), column(24));
        f.run(&["verify", "t.pco", "--allow-trailing"]).ok();
        std::fs::remove_file(f.path("t.npy")).unwrap();
    }
}

/// What is skipped is said: in words, in `--json`, and beside numbers on standard output.
#[test]
fn bytes_that_are_skipped_are_counted() {
    let f = Folder::new();
    f.write("a.npy", &column(24));
    f.run(&["compress", "a.npy"]).ok();
    f.write("t.pco", &[&f.read("a.pco")[..], b"more"].concat());
    let said = "checksums hold, 4 bytes behind the end skipped";
    let done = f.run(&["decompress", "t.pco", "--allow-trailing"]).ok();
    assert!(done.err.contains(said), "{}", done.err);
    let done = f.run(&["verify", "t.pco", "--allow-trailing"]).ok();
    assert!(done.text().contains(said), "{}", done.text());
    for output in ["u.npy", "u.csv"] {
        let args = ["decompress", "t.pco", "--allow-trailing", "--json", "-o", output];
        assert!(f.run(&args).ok().text().contains("\"trailing_bytes\":4"));
    }
    let done = f.run(&["verify", "t.pco", "--allow-trailing", "--json"]).ok();
    assert!(done.text().contains("\"trailing_bytes\":4"));
    let stdout = ["decompress", "t.pco", "--allow-trailing", "-o", "-"];
    assert_eq!(f.run(&stdout).ok().err, "latens: t.pco: 4 bytes behind the end skipped\n");
    assert_eq!(f.run(&[&stdout[..], &["-q"]].concat()).ok().err, "");
    assert_eq!(f.run(&["decompress", "a.pco", "-o", "-"]).ok().err, "");
    assert!(f.run(&["inspect", "t.pco"]).ok().text().contains("4 bytes more behind the end"));
    assert!(f.run(&["inspect", "t.pco", "--json"]).ok().text().contains("\"trailing_bytes\":4"));
}

/// A trailer that is not that of the chunks is refused, allowed or not: what was to be the next chunk
/// would be lost without a word.
#[test]
fn a_trailer_out_of_place_is_no_trailing_byte() {
    let f = Folder::new();
    f.write("a.npy", &column(24));
    f.run(&["compress", "a.npy", "--chunk-n", "12"]).ok();
    f.run(&["compress", "a.npy", "--chunk-n", "12", "--no-checksum", "-o", "b.pco"]).ok();
    let report = f.run(&["inspect", "a.pco", "--json"]).ok();
    let report: serde_json::Value = serde_json::from_str(report.text()).unwrap();
    let second = report["chunks"][1]["offset"].as_u64().unwrap();
    let (whole, end) = (f.read("a.pco"), f.read("b.pco").len());
    let (bare, trailer) = whole.split_at(end);
    let mut ended = whole.clone();
    ended[second as usize] = 0;
    let second = format!("chunk 1: byte {second}");
    let end = format!("byte {end}");
    let magic = [bare, &trailer[trailer.len() - 8..]].concat();
    let between = [bare, b"x", trailer].concat();
    for (file, place) in [(ended, &second), (magic, &end), (between, &end)] {
        f.write("t.pco", &file);
        for allow in [&[][..], &["--allow-trailing"]] {
            for output in ["t.npy", "t.csv", "-"] {
                let args = ["decompress", "t.pco", "-o", output];
                f.run(&[&args[..], allow].concat()).fails(&["corrupt", "trailer", place]);
            }
            let done = f.run(&[&["verify", "t.pco"][..], allow].concat());
            assert_eq!(done.code, Some(1));
            assert!(
                done.text().contains("FAILED") && done.text().contains(place),
                "{}",
                done.text()
            );
        }
        f.run(&["inspect", "t.pco"]).fails(&["corrupt", place]);
    }
    f.write("t.pco", &[&whole[..], b"x", trailer].concat());
    f.run(&["decompress", "t.pco", "--allow-trailing"]).ok();
}

/// A file whose first chunk is gone is not called empty before its end is looked at.
#[test]
fn a_type_byte_that_became_0() {
    let f = Folder::new();
    // Three times 7, no type for all chunks.
    let mut file = b"pco!\x03\x00\xc1\x04\x01\x01\x02\x00\x00\x00\x10\x00\x38".to_vec();
    file.extend([0; 6]);
    f.write("s.pco", &file);
    assert!(f.run(&["verify", "s.pco"]).ok().text().contains("ok, 3 u32"));
    file[9] = 0;
    f.write("t.pco", &file);
    for output in ["t.npy", "t.csv"] {
        let args = ["decompress", "t.pco", "-o", output];
        f.run(&args).fails(&["bytes follow the end", "in t.pco: byte 10"]);
        let allowed = f.run(&[&args[..], &["--allow-trailing"]].concat());
        allowed.fails(&["no numbers", "13 bytes follow", "in t.pco: byte 10"]);
    }
    f.run(&["compress", "t.pco", "-o", "u.pco"]).fails(&["bytes follow the end", "byte 10"]);
    assert_eq!(f.run(&["verify", "t.pco"]).code, Some(1));
}

/// A column is of one type; the chunk that is of another one is named.
#[test]
fn chunks_of_two_types() {
    let f = Folder::new();
    for (name, descr) in [("a", "<u4"), ("b", "<i4")] {
        let (npy_name, name) = (format!("{name}.npy"), format!("{name}.pco"));
        f.write(&npy_name, &npy(descr, false, "(3,)", &[7, 0, 0, 0].repeat(3)));
        f.run(&["compress", &npy_name, "--no-checksum", "-o", &name]).ok();
    }
    let (mut file, other) = (f.read("a.pco"), f.read("b.pco"));
    file[5] = 0;
    let at = file.len() - 1;
    file.truncate(at);
    file.extend(&other[9..]);
    f.write("t.pco", &file);
    let said = ["the chunk holds i32, not u32", &format!("in t.pco: chunk 1: byte {at}")];
    for output in ["t.npy", "t.csv", "-"] {
        f.run(&["decompress", "t.pco", "-o", output]).fails(&said);
    }
    let done = f.run(&["verify", "t.pco"]);
    assert_eq!(done.code, Some(1));
    assert!(done.text().contains(said[0]) && done.text().contains("chunk 1"), "{}", done.text());
    let done = f.run(&["inspect", "t.pco"]).ok();
    assert!(done.text().contains("6 u32, i32"), "{}", done.text());
    let done = f.run(&["inspect", "t.pco", "--json"]).ok();
    assert!(
        done.text().contains("\"type\":\"u32, i32\"") && done.text().contains("\"type\":\"i32\"")
    );
}

#[test]
fn a_trailer_that_is_cut_short() {
    let f = Folder::new();
    f.write("a.npy", &column(24));
    f.run(&["compress", "a.npy"]).ok();
    f.run(&["compress", "a.npy", "--no-checksum", "-o", "b.pco"]).ok();
    let (whole, end) = (f.read("a.pco"), f.read("b.pco").len());
    for n in end + 1..whole.len() {
        f.write("t.pco", &whole[..n]);
        let said = ["no whole checksum trailer", "ends too early", &format!("byte {end}")];
        f.run(&["decompress", "t.pco", "-o", "-"]).fails(&said);
        f.run(&["decompress", "t.pco", "-o", "t.csv"]).fails(&said);
    }
    f.run(&["decompress", "t.pco", "-o", "t.csv", "--allow-trailing"]).ok();
    // No option is named that a verb does not have.
    f.run(&["compress", "t.pco", "-o", "u.pco"]).fails(&["decompress take --allow-trailing"]);
}

#[test]
fn an_empty_file_is_no_stream() {
    let f = Folder::new();
    f.write("a.npy", &npy("<i8", false, "(0,)", b""));
    f.run(&["compress", "a.npy", "-o", "a.dbp"]).ok();
    assert!(f.run(&["verify", "a.dbp"]).ok().text().contains("ok, 0 numbers,"));
    f.write("b.dbp", b"");
    f.run(&["decompress", "b.dbp", "--type", "i64"]).fails(&["no header", "in b.dbp: byte 0"]);
    f.run(&["inspect", "b.dbp"]).fails(&["no header", "byte 0"]);
    assert_eq!(f.run(&["verify", "b.dbp"]).code, Some(1));
    // Exactly one stream, whose type it does not say.
    let whole = f.read("a.dbp");
    f.write("b.dbp", &[&whole[..], b"x"].concat());
    let said = ["bytes follow the end of the stream", &format!("byte {}", whole.len())];
    f.run(&["decompress", "b.dbp", "--type", "i64"]).fails(&said);
    f.run(&["inspect", "b.dbp"]).fails(&said);
    f.run(&["decompress", "a.dbp"]).ends_with(2, &["does not say", "--type"]);
    // Leniently, as some write UINT32: a first value of 2^32 - 1, and not of -1.
    f.write("c.dbp", &[0x80, 1, 4, 1, 0xfe, 0xff, 0xff, 0xff, 0x1f]);
    f.run(&["decompress", "c.dbp", "--type", "u32", "-o", "c.csv"]).ok();
    assert!(f.read("c.csv").ends_with(b"\n4294967295\n"));
}

#[test]
fn arrays_that_are_not_what_they_say() {
    let f = Folder::new();
    let whole = column(10);
    for n in (0..whole.len()).step_by(5) {
        f.write("t.npy", &whole[..n]);
        f.run(&["compress", "t.npy"]).fails(&["in t.npy", &format!("byte {n}")]);
    }
    f.write("t.npy", &[&whole[..], b"x"].concat());
    f.run(&["compress", "t.npy"]).fails(&["bytes follow the array", "byte 208"]);
    // What keeps every bit is named where there is something.
    for (descr, view) in [("|b1", "view('u1')"), ("<M8[D]", "view('i8')"), (">c16", "real.dtype")] {
        f.write("t.npy", &npy(descr, false, "(2,)", &[0; 32]));
        f.run(&["compress", "t.npy"]).fails(&[descr, view]);
    }
    f.write("t.npy", &npy("<f8", false, "(4611686018427387904,)", &[]));
    f.run(&["compress", "t.npy"]).fails(&["2^64"]);
    f.write("t.npy", &npy("<f8", false, "(1000000000000,)", &[1; 80]));
    f.run(&["compress", "t.npy"]).fails(&["byte 208"]);
    f.write("t.raw", &[0; 13]);
    f.run(&["compress", "t.raw", "--type", "i32"])
        .fails(&["the last i32 has 1 of its 4 bytes", "byte 12"]);
    f.write("u.pco", b"");
    f.run(&["decompress", "u.pco"]).fails(&["byte 0"]);
    f.write("u.pco", b"this is text, not Pco");
    f.run(&["decompress", "u.pco"]).fails(&["byte "]);
    assert_eq!(f.names(), ["t.npy", "t.raw", "u.pco"]);
}

#[test]
fn verify_names_each_file() {
    let f = Folder::new();
    f.write("a.npy", &column(40));
    f.run(&["compress", "a.npy"]).ok();
    f.run(&["compress", "a.npy", "--no-checksum", "-o", "b.pco"]).ok();
    let mut bytes = f.read("a.pco");
    bytes[40] ^= 1;
    f.write("c.pco", &bytes);
    let done = f.run(&["verify", "a.pco", "c.pco", "none.pco", "b.pco"]);
    assert_eq!(done.code, Some(1));
    let lines: Vec<&str> = done.text().lines().collect();
    assert_eq!(lines.len(), 4, "{lines:?}");
    assert!(lines[0].starts_with("a.pco: ok, 40 i64, checksums hold"), "{lines:?}");
    assert!(lines[1].starts_with("c.pco: FAILED") && lines[1].contains("byte "), "{lines:?}");
    assert!(lines[2].starts_with("none.pco: FAILED, No such file"), "{lines:?}");
    assert!(lines[3].starts_with("b.pco: ok, 40 i64, no checksum"), "{lines:?}");
    // Silent where data goes: what is wrong is told where words go.
    let quiet = f.run(&["verify", "-q", "a.pco", "c.pco", "b.pco"]);
    assert_eq!((quiet.code, quiet.text()), (Some(1), ""));
    assert!(quiet.err.starts_with("c.pco: FAILED") && quiet.err.lines().count() == 1);
}

/// What is read in part is compared with the trailer, too.
#[test]
fn a_limit_does_not_hide_damage() {
    let f = Folder::new();
    f.write("a.npy", &column(50_000));
    f.run(&["compress", "a.npy", "--chunk-n", "10000"]).ok();
    let sound = f.read("a.pco");
    for (at, limit, is_read) in [(300, "10", true), (sound.len() / 2, "10", false)] {
        let mut file = sound.clone();
        file[at] ^= 4;
        f.write("b.pco", &file);
        let done = f.run(&["decompress", "b.pco", "--limit", limit, "-f", "-o", "b.npy"]);
        if is_read {
            done.fails(&["b.pco", "chunk 0", "byte "]);
        } else {
            done.ok();
        }
    }
}

/// What comes out of a column, whole or damaged, on stdout and in words, does not depend on threads.
#[test]
fn threads_change_no_answer() {
    let f = Folder::new();
    f.write("a.npy", &column(30_000));
    for more in [&[][..], &["--no-checksum"]] {
        f.run(&[&["compress", "a.npy", "-f", "-q", "--chunk-n", "3000"], more].concat()).ok();
        let sound = f.read("a.pco");
        let mut files = vec![sound.clone(), [&sound[..], b"more"].concat()];
        files.extend((0..sound.len()).step_by(sound.len() / 40).map(|at| {
            let mut file = sound.clone();
            file[at] ^= 1 << (at % 8);
            file
        }));
        files.extend(
            [1, 7, 20, 21, 200, sound.len() / 2].map(|end| sound[..sound.len() - end].to_vec()),
        );
        let mut failed = 0;
        for (number, file) in files.iter().enumerate() {
            f.write("b.pco", file);
            for args in
                [&["decompress", "b.pco", "-o", "-"][..], &["decompress", "b.pco", "-f", "-q"]]
            {
                let one = f.run(&[args, &["-T", "1"]].concat());
                let three = f.run(&[args, &["-T", "3"]].concat());
                assert_eq!((one.code, &one.err), (three.code, &three.err), "file {number}");
                assert!(one.out == three.out, "file {number}: other bytes");
                failed += usize::from(one.code != Some(0));
            }
        }
        let least = if more.is_empty() { 2 * (files.len() - 1) } else { 1 };
        assert!(failed >= least, "{failed} of {}", 2 * files.len());
    }
}

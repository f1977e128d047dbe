//! `.pco.zip` files that are damaged, cut short, or made to harm.

use crate::support::Bench;
use std::io::Write;
use std::path::Path;
use zip::write::SimpleFileOptions;
use zip::{CompressionMethod, ZipArchive, ZipWriter};

/// A small table with every layout: numbers, words, dictionary, plain, nulls.
fn small(bench: &Bench) -> Vec<u8> {
    let mut text = "id,color,note,score\n".to_string();
    for i in 0..40 {
        let note = ["alpha", "beta", "gamma", ""][i % 4].repeat(i % 3) + &i.to_string();
        let score = if i % 5 == 0 { String::new() } else { format!("{}.5", i * i) };
        text += &format!("{},{},{note},{score}\n", 1000 + i, ["red", "green"][i % 2]);
    }
    bench.write("small.csv", text);
    bench.ok(&["compress", "small.csv"]);
    bench.read("small.pco.zip")
}

/// Verify many files; returns how many of them hold.
fn verify_all(bench: &Bench, contents: impl Iterator<Item = Vec<u8>>) -> usize {
    let mut held = 0;
    let contents: Vec<Vec<u8>> = contents.collect();
    for batch in contents.chunks(1000) {
        let names: Vec<String> = (0..batch.len()).map(|i| format!("m{i}.pco.zip")).collect();
        for (name, content) in names.iter().zip(batch) {
            bench.write(name, content);
        }
        let mut args = vec!["verify", "-T", "1"];
        args.extend(names.iter().map(String::as_str));
        let lines = String::from_utf8(bench.run(&args).stdout).unwrap();
        assert_eq!(lines.lines().count(), batch.len());
        for line in lines.lines() {
            held += usize::from(!line.contains(": FAILED, "));
        }
        assert!(lines.lines().all(|line| !line.contains("internal error")), "{lines}");
    }
    held
}

#[test]
fn every_flipped_bit_is_found() {
    let bench = Bench::new();
    let good = small(&bench);
    let flips = (0..good.len() * 8).map(|bit| {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        bad
    });
    assert_eq!(verify_all(&bench, flips), 0);
    assert_eq!(verify_all(&bench, std::iter::once(good)), 1);
}

#[test]
fn every_truncation_and_every_continuation_is_found() {
    let bench = Bench::new();
    let good = small(&bench);
    assert_eq!(verify_all(&bench, (0..good.len()).map(|n| good[..n].to_vec())), 0);
    let longer = [&b"\0"[..], b"PK", &good].map(|more| [&good[..], more].concat());
    assert_eq!(verify_all(&bench, longer.into_iter()), 0);
    for n in [0, 1, good.len() / 2, good.len() - 1] {
        bench.write("cut.pco.zip", &good[..n]);
        let words = bench.fails(1, &["decompress", "cut.pco.zip", "-o", "cut.csv"]);
        assert!(words.contains(&format!("byte {n}")), "{words}");
        assert!(bench.files().iter().all(|name| !name.starts_with("cut.csv")));
        assert!(bench.files().iter().all(|name| !name.ends_with(".tmp")));
    }
}

/// The members of an archive.
fn members(path: &Path) -> Vec<(String, Vec<u8>)> {
    let mut archive = ZipArchive::new(std::fs::File::open(path).unwrap()).unwrap();
    (0..archive.len())
        .map(|i| {
            let mut member = archive.by_index(i).unwrap();
            let mut content = Vec::new();
            std::io::Read::read_to_end(&mut member, &mut content).unwrap();
            (member.name().unwrap().into_owned(), content)
        })
        .collect()
}

/// An archive of those members, sealed.
fn sealed(members: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut bytes = std::io::Cursor::new(Vec::new());
    let mut zip = ZipWriter::new(&mut bytes);
    let options = SimpleFileOptions::DEFAULT.compression_method(CompressionMethod::Stored);
    for (name, content) in members {
        zip.start_file(name, options).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.set_raw_comment(b"latens pco.zip crc32 00000000".to_vec().into()).unwrap();
    zip.finish().unwrap();
    reseal(bytes.into_inner())
}

fn reseal(mut bytes: Vec<u8>) -> Vec<u8> {
    let end = bytes.len() - 8;
    let crc = format!("{:08x}", crc32fast::hash(&bytes[..end]));
    bytes[end..].copy_from_slice(crc.as_bytes());
    bytes
}

#[test]
fn a_sealed_archive_by_another_hand_is_read() {
    let bench = Bench::new();
    small(&bench);
    bench.write("other.pco.zip", sealed(&members(&bench.path("small.pco.zip"))));
    bench.ok(&["verify", "other.pco.zip"]);
    bench.ok(&["decompress", "other.pco.zip", "-o", "other.csv"]);
    bench.ok(&["decompress", "small.pco.zip", "-o", "first.csv"]);
    assert_eq!(bench.read("other.csv"), bench.read("first.csv"));
}

#[test]
fn flipped_bits_behind_a_forged_seal_are_errors_or_values() {
    let bench = Bench::new();
    let good = small(&bench);
    let flips = (0..(good.len() - 29) * 8).step_by(3).map(|bit| {
        let mut bad = good.clone();
        bad[bit / 8] ^= 1 << (bit % 8);
        reseal(bad)
    });
    verify_all(&bench, flips);
}

/// Change `schema.json` of the small table and expect an error that contains `words`.
#[test]
fn hostile_schemas_are_refused() {
    let bench = Bench::new();
    small(&bench);
    let good = members(&bench.path("small.pco.zip"));
    let cases = [
        ("\"rows\":40", "\"rows\":41", "corrupt"),
        ("\"rows\":40", "\"rows\":39", "corrupt"),
        ("\"rows\":40", "\"rows\":18446744073709551615", "corrupt"),
        ("\"rows\":40", "\"rows\":-1", "corrupt"),
        ("\"version\":1", "\"version\":2", "version 2"),
        ("latens pco.zip", "something else", "format is"),
        ("id.pco", "../../id.pco", "member"),
        ("id.pco", "color.pco", "twice"),
        ("id.pco", "schema.json", "twice"),
        ("\"nulls\":8", "\"nulls\":7", "nulls"),
        ("\"nulls\":8", "\"nulls\":99", "nulls"),
        ("\"distinct\":2", "\"distinct\":1", "corrupt"),
        ("\"distinct\":2", "\"distinct\":3", "corrupt"),
        ("\"distinct\":2", "\"distinct\":99999999999", "dictionary"),
        ("\"total\":8", "\"total\":7", "corrupt"),
        ("\"total\":8", "\"total\":9", "corrupt"),
        ("\"total\":8", "\"total\":99999999999", "dictionary"),
        ("{\"number\":\"i64\"}", "{\"number\":\"u64\"}", "i64"),
        ("{\"number\":\"i64\"}", "{\"number\":\"i65\"}", "i65"),
        ("{\"number\":\"i64\"}", "\"boolean\"", "corrupt"),
        ("{\"number\":\"i64\"}", "{\"wide\":17}", "corrupt"),
        ("{\"number\":\"i64\"}", "\"bytes\"", "corrupt"),
        ("\"format\"", "\"more\":1,\"format\"", "more"),
        ("}", "", "corrupt"),
    ];
    for (from, to, words) in cases {
        let mut bad = good.clone();
        let (_, json) = bad.iter_mut().find(|(name, _)| name == "schema.json").unwrap();
        let text = String::from_utf8(json.clone()).unwrap();
        assert!(text.contains(from), "{from} in {text}");
        *json = text.replacen(from, to, 1).into_bytes();
        bench.write("bad.pco.zip", sealed(&bad));
        let said = bench.fails(1, &["decompress", "bad.pco.zip", "-f", "-o", "bad.csv"]);
        assert!(said.contains(words), "{from} → {to}: {said}");
        assert!(!bench.path("bad.csv").exists());
    }
}

#[test]
fn hostile_archives_are_refused() {
    let bench = Bench::new();
    small(&bench);
    let good = members(&bench.path("small.pco.zip"));
    let mut extra = good.clone();
    extra.push(("stowaway.txt".into(), b"hello".to_vec()));
    let mut missing = good.clone();
    missing.remove(0);
    let mut swapped = good.clone();
    let content = swapped[0].1.clone();
    swapped[1].1 = content;
    let mut no_schema = good.clone();
    no_schema.retain(|(name, _)| name != "schema.json");
    let mut longer = good.clone();
    longer[0].1.push(0);
    let cases = [
        ("extra", extra),
        ("missing", missing),
        ("swapped", swapped),
        ("no schema", no_schema),
        ("longer", longer),
        ("empty", Vec::new()),
    ];
    for (name, members) in cases {
        bench.write("bad.pco.zip", sealed(&members));
        let said = bench.fails(1, &["decompress", "bad.pco.zip", "-f", "-o", "bad.csv"]);
        assert!(said.contains("corrupt"), "{name}: {said}");
    }
    // The same name twice, by changing one name into another of the same length.
    let twice = [("a.pco".to_string(), vec![1]), ("b.pco".to_string(), vec![2])];
    let bytes = String::from_utf8_lossy(&sealed(&twice)).replace("b.pco", "a.pco");
    bench.write("bad.pco.zip", reseal(bytes.into_bytes()));
    bench.fails(1, &["decompress", "bad.pco.zip", "-f", "-o", "bad.csv"]);
}

#[test]
fn a_bomb_of_text_is_bounded() {
    let bench = Bench::new();
    bench.write("bomb.csv", format!("t\n{}\n", "x".repeat(1000)).repeat(1));
    bench.ok(&["compress", "bomb.csv"]);
    let mut bad = members(&bench.path("bomb.pco.zip"));
    let zeros = zstd::encode_all(std::io::repeat(0).take_bytes(1 << 30), 3).unwrap();
    let length = zeros.len();
    for (name, content) in &mut bad {
        match name.as_str() {
            "t.zst" => *content = zeros.clone(),
            "schema.json" => {
                let mut json: serde_json::Value = serde_json::from_slice(content).unwrap();
                let member = &mut json["columns"][0]["layout"]["values"]["joined"];
                member["bytes"] = length.into();
                *content = serde_json::to_vec(&json).unwrap();
            }
            _ => {}
        }
    }
    bench.write("bad.pco.zip", sealed(&bad));
    let said = bench.fails(1, &["decompress", "bad.pco.zip", "-o", "bad.csv"]);
    assert!(said.contains("corrupt"), "{said}");
}

/// `Read::take` by value, without its import clashing.
trait TakeBytes: std::io::Read + Sized {
    fn take_bytes(self, n: u64) -> std::io::Take<Self> {
        std::io::Read::take(self, n)
    }
}

impl TakeBytes for std::io::Repeat {}

#[test]
fn checksums_of_archives_hold() {
    let bench = Bench::new();
    bench.write("t.csv", "a,b\n1,x\n2,\n");
    bench.ok(&["compress", "t.csv"]);
    let said = |args: &[&str]| {
        let output = bench.ok(args);
        String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned()
    };
    assert!(said(&["verify", "t.pco.zip"]).contains("ok, 2 rows of 2 columns, checksums hold"));
    assert!(said(&["verify", "t.pco.zip", "--json"]).contains("\"checksum\":true"));
    assert!(said(&["decompress", "t.pco.zip", "-o", "u.csv"]).contains("checksums hold"));
    let columns = ["decompress", "t.pco.zip", "-o", "v.csv", "--columns", "a"];
    assert!(said(&columns).contains("checksums hold"));
}

#![allow(clippy::unwrap_used, reason = "tests")]

use super::*;
use crate::Limits;
use crate::wcodec::layout::file::SegmentRecord;
use crate::wcodec::made::{self, Gguf};
use crate::wcodec::{Config, compress_checkpoint};

fn name(i: usize) -> String {
    format!("{:032x}", (i as u128 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835))
}

fn file_name(i: usize) -> String {
    format!("model-{i:05}.safetensors")
}

/// What `text` comes to, where entry i has [`name`] i.
fn woven(text: &[u8]) -> Result<Vec<u8>> {
    woven_of(text, &name)
}

/// The same of other names.
fn woven_of(text: &[u8], name: &dyn Fn(usize) -> String) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    for piece in Pieces::of(text)? {
        match piece? {
            Piece::Bytes(bytes) => out.extend_from_slice(bytes),
            Piece::Name(Called::Entry(number), form) => {
                out.extend_from_slice(&form.of(&name(number)).unwrap());
            }
            Piece::Name(Called::File(number), form) => {
                out.extend_from_slice(&form.of(&file_name(number)).unwrap());
            }
        }
    }
    Ok(out)
}

#[test]
fn names_are_left_out_and_come_back() {
    let who = |text: &str| (0..99).find(|&i| name(i) == text).map(Called::Entry);
    let quoted = |i: usize| format!("{{\"{}\": \"{}\"}}", name(i), name(i + 1)).into_bytes();
    let counted = |i: usize| [&32u64.to_le_bytes()[..], name(i).as_bytes()].concat();
    let in_order: Vec<u8> = (0..50).flat_map(quoted).collect();
    let backwards: Vec<u8> = (0..99).rev().flat_map(counted).collect();
    let none_free = [&in_order[..], &(0..=255).collect::<Vec<u8>>(), &backwards].concat();
    for bytes in [in_order, backwards, none_free] {
        let text = Named::worth(&bytes, &who).unwrap().text_from(0);
        assert!(woven(&text).unwrap() == bytes);
        assert!(text.len() * 2 < bytes.len(), "{} of {}", text.len(), bytes.len());
        assert!(text.len().is_multiple_of(8));
    }
    assert!(Named::worth(b"\"no names\": 1", &who).is_none());
    assert!(Named::worth(&quoted(3), &who).is_none());
    assert!(Named::worth(&[], &who).is_none());
}

/// As JSON has them, where it has them in the fewest bytes.
#[test]
fn names_that_json_has_otherwise_come_back() {
    let odd = ["\"", "\\", "\n", "\u{1}\u{1f}", "\u{7f}/é😀", "\\\"", "\u{8}\t\u{c}\r", "{}:,"];
    let name = |i: usize| format!("{}{}{}", odd[i % odd.len()], name(i), odd[i * 3 % odd.len()]);
    let who = |text: &str| (0..40).find(|&i| name(i) == text).map(Called::Entry);
    let header = |text: &dyn Fn(usize) -> String| -> Vec<u8> {
        (0..40).flat_map(|i| format!("\"{}\":{{}},", text(i)).into_bytes()).collect()
    };
    let text_of = |bytes: &[u8]| Named::worth(bytes, &who).map(|named| named.text_from(0));
    for form in Form::OF_JSON {
        let written =
            |i: usize| String::from_utf8(form.of(&name(i)).unwrap().into_owned()).unwrap();
        let usual = header(&written);
        let text = text_of(&usual).unwrap();
        assert!(woven_of(&text, &name).unwrap() == usual);
        assert!(text.len() <= 40 * 9 + 10, "{}", text.len());
    }
    // Nor is a name where a string goes on, or begins within one.
    let written =
        |i: usize| String::from_utf8(Form::Json.of(&name(i)).unwrap().into_owned()).unwrap();
    let within = header(&|i| format!("\\\"{}", written(i)));
    assert!(text_of(&within).is_none_or(|text| woven_of(&text, &name).unwrap() == within));
}

/// As others may have them, what needs no escapes is left out.
#[test]
fn names_come_back_in_parts() {
    let name = |i: usize| format!("{}/\u{1f600}<{}\n", name(i), name(i + 1));
    let who = |text: &str| (0..40).find(|&i| name(i) == text).map(Called::Entry);
    let odd = |i: usize| {
        let name = name(i).replace('/', "\\/").replace('<', "\\u003c");
        name.replace('\u{1f600}', "\\uD83D\\uDE00").replace('\n', "\\u000a")
    };
    let header: Vec<u8> =
        (0..40).flat_map(|i| format!("\"{}\":{{}},", odd(i)).into_bytes()).collect();
    let text = Named::worth(&header, &who).unwrap().text_from(0);
    assert!(woven_of(&text, &name).unwrap() == header);
    assert!(text.len() <= 40 * (odd(0).len() - 64 + 16) + 10, "{}", text.len());
}

#[test]
fn texts_end_as_they_must() {
    let woven = |text: &[u8]| woven(text).map_err(|e| e.to_string());
    assert_eq!(woven(b"ab\0\0\x02x").unwrap(), b"ab");
    assert_eq!(woven(b"ax\0b\0x").unwrap(), b"axb");
    assert_eq!(woven(b"x\x01x\x05\0x").unwrap(), [name(0), name(0)].concat().as_bytes());
    assert_eq!(woven(b"x\x02x\x01\0x").unwrap(), [name(0), name(1)].concat().as_bytes());
    assert_eq!(woven(b"\0x").unwrap(), b"");
    // Files count down from -1, and what comes next is told as it was.
    let three = [name(0), file_name(0), name(1), file_name(1)].concat();
    assert_eq!(woven(b"x\x01x\x0dx\x01x\x1d\0x").unwrap(), three.as_bytes());
    assert_eq!(woven(b"x\x05x\x01\0x").unwrap(), [file_name(0), name(0)].concat().as_bytes());
    for (text, why) in [
        (&b""[..], "does not end with zeros"),
        (b"x", "does not end with zeros"),
        (b"\0\x02x", "does not end with zeros"),
        (b"ab\x01\x01x", "does not end with zeros"),
        (b"abx\0x", "ends inside of the number of a name"),
        (b"abx\x80\0x", "ends inside of the number of a name"),
        (b"abx\x81\0\0x", "shortest form"),
        (b"x\xfd\xff\xff\xff\xff\xff\xff\xff\xff\x01\0x", "a name whose number"),
        (b"x\xf9\xff\xff\xff\xff\xff\xff\xff\xff\x01\0x", "a name whose number"),
    ] {
        let error = woven(text).unwrap_err();
        assert!(error.contains(why), "{text:?}: {error}");
    }
}

/// Names of GGUF too, behind numbers of which all bytes occur, and those that files name in another order than the index.
#[test]
fn files_of_long_names_come_back() {
    let tensors = |mut gguf: Gguf| {
        for i in 0..40 {
            gguf.tensor(&name(i), &[32], 0, vec![7; 128]);
        }
        gguf.bytes()
    };
    let mut with_numbers = Gguf::new();
    let numbers = [&[0; 4][..], &6000u64.to_le_bytes(), &made::noise(6000, 1)].concat();
    with_numbers.pair("numbers", 9, &numbers);
    let shuffled = (0..40).map(|i| {
        let (name, start) = (name(i), i * 17 % 40);
        format!(r#""{name}":{{"dtype":"U8","shape":[1],"data_offsets":[{start},{}]}}"#, start + 1)
    });
    let header = format!("{{{}}}", shuffled.collect::<Vec<_>>().join(","));
    for (source, pieces) in [
        (tensors(Gguf::new()), 1),
        (tensors(with_numbers), 2),
        (made::behind_header(&header, &[9; 40]), 1),
    ] {
        let (checkpoint, config) = (made::checkpoint(source.clone()), Config::default());
        let file = compress_checkpoint(&checkpoint, None, &config, Vec::new()).unwrap();
        let reader = Reader::open(file, Limits::default()).unwrap();
        let blobs = reader.blobs_of_file(0);
        assert_eq!(blobs.len(), pieces);
        let last = &blobs[pieces - 1].bytes;
        let text = reader.open.index.entries().last().unwrap().record.length as u64;
        assert!(last.start.is_multiple_of(8) && text + 40 * 25 < last.end - last.start, "{text}");
        for threads in [1, 3] {
            let mut out = Vec::new();
            reader.watched(&crate::Watch::NONE).threads(threads).write_file(0, &mut out).unwrap();
            assert!(out == source);
        }
        for most in [0, 1, 20, 100, last.start, last.start + 9, last.end, u64::MAX] {
            let head = reader.file_head(0, most).unwrap();
            assert!(head == source[..usize::try_from(most.min(last.end)).unwrap()], "{most}");
        }
        let bytes: Vec<Vec<u8>> = blobs.iter().map(|blob| reader.blob(blob).unwrap()).collect();
        assert!(bytes.concat().len() as u64 == last.end && source.starts_with(&bytes.concat()));
        reader.verify().unwrap();
    }
}

/// Where numbers are behind the first name, of which all bytes occur, what marks names would take more than they do.
#[test]
fn names_stay_where_that_is_less() {
    let mut gguf = Gguf::new();
    let strings: Vec<u8> = (0..8).flat_map(|i| made::gguf_string(name(i).as_bytes())).collect();
    gguf.pair("names", 9, &[&8u32.to_le_bytes()[..], &8u64.to_le_bytes(), &strings].concat());
    let numbers = [&[0; 4][..], &400_000u64.to_le_bytes(), &made::noise(400_000, 3)].concat();
    gguf.pair("numbers", 9, &numbers);
    for i in 0..8 {
        gguf.tensor(&name(i), &[32], 0, vec![7; 128]);
    }
    let source = gguf.bytes();
    let checkpoint = made::checkpoint(source.clone());
    let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
    let reader = Reader::open(file, Limits::default()).unwrap();
    let blobs = reader.blobs_of_file(0);
    let entry = reader.open.index.entries().last().unwrap().record;
    assert!(blobs.len() == 1 && entry.length as u64 == blobs[0].bytes.end);
    let mut out = Vec::new();
    reader.write_file(0, &mut out).unwrap();
    assert!(out == source);
}

/// Small shards and their index: what they hold beside tensors is parts of a few texts, which have no names.
#[test]
fn shards_come_back_in_parts() {
    let shard = |i: usize| {
        let name = name(i);
        let header = format!(r#"{{"{name}":{{"dtype":"U8","shape":[3],"data_offsets":[0,3]}}}}"#);
        (file_name(i), made::behind_header(&header, &[i.to_le_bytes()[0]; 3]))
    };
    let shards: Vec<(String, Vec<u8>)> = (0..200).map(shard).collect();
    let names: Vec<String> = (0..200).map(name).collect();
    let both = names.iter().zip(&shards).map(|(tensor, (shard, _))| (&**tensor, &**shard));
    let index = made::index_of_shards(both);
    let flat = shards.iter().map(|(_, bytes)| bytes.len()).sum::<usize>() + index.len();
    let checkpoint = made::sharded(&index, &shards);
    let file = compress_checkpoint(&checkpoint, None, &Config::default(), Vec::new()).unwrap();
    assert!(file.len() * 3 < flat * 2, "{} of {flat}", file.len());
    let reader = Reader::open(file, Limits::default()).unwrap();
    let of_part = |segment: SegmentRecord| match segment {
        SegmentRecord::Woven(woven) => woven.part.map(|_| woven.of),
        _ => None,
    };
    let segments = reader.open.index.files().flat_map(|file| file.segments());
    let mut texts: Vec<usize> = segments.filter_map(of_part).collect();
    assert_eq!(texts.len(), 200);
    texts.dedup();
    assert!(texts.len() > 1 && texts.is_sorted() && texts.len() < 5, "{texts:?}");
    let index = ("model.safetensors.index.json".to_owned(), index.into_bytes());
    for (number, (name, bytes)) in std::iter::once(&index).chain(&shards).enumerate() {
        assert_eq!(reader.files().nth(number).unwrap(), (&**name, bytes.len() as u64));
        for threads in [1, 3] {
            let mut out = Vec::new();
            reader
                .watched(&crate::Watch::NONE)
                .threads(threads)
                .write_file(number, &mut out)
                .unwrap();
            assert!(out == *bytes, "{name}");
        }
        let blobs = reader.blobs_of_file(number);
        let end = usize::try_from(blobs[0].bytes.end).unwrap();
        assert!(blobs.len() == 1 && blobs[0].bytes.start == 0);
        assert!(reader.blob(&blobs[0]).unwrap() == bytes[..end]);
        for most in [0, 1, 9, 40, end, end + 1] {
            let head = reader.file_head(number, most as u64).unwrap();
            assert!(head == bytes[..most.min(end)], "{most}");
        }
    }
    reader.verify().unwrap();
}

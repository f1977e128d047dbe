//! `latens bench`: every codec, every kind of input, reports that other programs read.

use crate::tool::{Folder, column, npy, numbers};

#[test]
fn every_codec_is_measured_and_reported() {
    let f = Folder::new();
    f.write("a.npy", &column(3000));
    let done = f.run(&["bench", "a.npy", "--json", "--csv", "s.csv", "--html", "s.html"]).ok();
    let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(report["bytes"], 24_000);
    let codecs = report["codecs"].as_array().unwrap();
    assert_eq!(codecs.len(), 8);
    for codec in codecs {
        assert!(codec["ratio"].as_f64().unwrap() > 0.5, "{codec}");
        assert!(codec["compress_mb_s"].as_f64().unwrap() > 0.0, "{codec}");
        assert!(codec["rounds"].as_u64().unwrap() >= 3, "{codec}");
    }
    let csv = String::from_utf8(f.read("s.csv")).unwrap();
    assert_eq!(csv.lines().count(), 9);
    assert!(csv.starts_with("codec,bytes,ratio,compress_mb_s,decompress_mb_s,rounds"), "{csv}");
    assert!(String::from_utf8(f.read("s.html")).unwrap().contains("<svg"));
    let text = f.run(&["bench", "a.npy", "--codecs", "lz4,latens-8"]).ok();
    assert!(text.text().contains("latens-8") && !text.text().contains("zstd"), "{}", text.text());
}

/// One thread, unless more are asked for; sizes do not depend on them.
#[test]
fn threads_are_those_asked_for() {
    let f = Folder::new();
    f.write("a.npy", &column(600_000));
    let mut table = "a,b,c\n".to_string();
    for i in 0..2000u32 {
        table += &format!("{i},{},{}.5\n", i * i % 97, i / 3);
    }
    f.write("t.csv", table.as_bytes());
    for (file, codecs) in [("a.npy", "latens-1,lz4"), ("t.csv", "latens-8,dbp,parquet-zstd")] {
        let of = |threads: &[&str]| -> serde_json::Value {
            let bench = ["bench", file, "--json", "--codecs", codecs];
            serde_json::from_slice(&f.run(&[&bench[..], threads].concat()).ok().out).unwrap()
        };
        let (one, two) = (of(&[]), of(&["-T", "2"]));
        assert_eq!((&one["threads"], &two["threads"]), (&1.into(), &2.into()));
        for (one, two) in
            one["codecs"].as_array().unwrap().iter().zip(two["codecs"].as_array().unwrap())
        {
            assert_eq!(one["bytes"], two["bytes"], "{one}");
        }
    }
    let text = f.run(&["bench", "t.csv", "--codecs", "lz4", "-T", "3"]).ok();
    assert!(text.text().contains("3 threads"), "{}", text.text());
}

#[test]
fn tables_leave_text_out_and_unknown_codecs_are_usage() {
    let f = Folder::new();
    f.write("t.csv", b"id,word\n1,a\n2,b\n3,c\n");
    let done = f.run(&["bench", "t.csv", "--json", "--codecs", "latens-0,parquet-zstd"]).ok();
    let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!(report["left_out"], serde_json::json!(["word"]));
    for codec in ["lzma", "zstd-0", "zstd-23", "latens-13"] {
        f.run(&["bench", "t.csv", "--codecs", codec]).ends_with(2, &["no codec", codec, "dbp, "]);
    }
    f.write("w.csv", b"word\na\nb\n");
    f.run(&["bench", "w.csv"]).fails(&["no column of numbers", "in w.csv"]);
}

/// Numbers of 8 and 16 bits are what the file holds, not what Parquet makes of them.
#[test]
fn narrow_numbers_stay_narrow() {
    let f = Folder::new();
    let numbers: Vec<u8> = (0..4000u32).map(|i| (i * i % 251).to_le_bytes()[0]).collect();
    f.write("a.raw", &numbers);
    for (ty, bytes) in [("u8", 4000), ("i16", 4000)] {
        f.run(&["compress", "-f", "a.raw", "--type", ty, "-o", "a.pco"]).ok();
        f.run(&["decompress", "-f", "a.pco", "-o", "a.npy"]).ok();
        let done = f.run(&["bench", "a.npy", "--json"]).ok();
        let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
        assert_eq!(report["bytes"], bytes, "{ty}");
        f.run(&["compress", "-f", "a.npy", "-o", "a.parquet"]).ok();
        let done = f.run(&["bench", "a.parquet", "--json", "--codecs", "zstd-3,dbp"]).ok();
        let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
        assert_eq!(report["bytes"], bytes, "{ty}");
    }
}

#[test]
fn reports_go_to_standard_output_or_are_refused_beforehand() {
    let f = Folder::new();
    f.write("a.npy", &column(300));
    let done = f.run(&["bench", "a.npy", "--codecs", "lz4", "--csv", "-"]).ok();
    assert!(done.text().starts_with("codec,bytes,ratio"), "{}", done.text());
    assert_eq!(done.text().lines().count(), 2);
    let measure = ["bench", "a.npy", "--codecs", "lz4", "--csv"];
    for (options, said) in [
        (&["-", "--json"][..], "standard output"),
        (&["-", "--html", "-"], "standard output"),
        (&["s", "--html", "s"], "same file"),
    ] {
        let done = f.run(&[&measure, options].concat()).ends_with(2, &["--csv", said]);
        assert!(done.out.is_empty());
    }
    assert_eq!(f.names(), ["a.npy"]);
    f.write("s.csv", b"kept");
    let done = f.run(&["bench", "a.npy", "--codecs", "lz4", "--csv", "s.csv"]).fails(&["s.csv"]);
    assert!(done.out.is_empty());
    assert_eq!(f.read("s.csv"), b"kept");
}

#[test]
fn arrays_of_any_shape_are_measured_as_their_numbers() {
    let f = Folder::new();
    f.write("a.npy", &npy("<i8", true, "(10, 300)", &numbers(3000)));
    let codecs = "latens-1,dbp,zstd-1,lz4,parquet-zstd";
    let done = f.run(&["bench", "a.npy", "--json", "--codecs", codecs]).ok();
    let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
    assert_eq!((&report["bytes"], &report["columns"]), (&24_000.into(), &1.into()));
}

#[test]
fn a_checkpoint_of_shards_is_measured_and_one_in_a_wcodec() {
    use crate::checkpoints::{safetensors, weights};
    let f = Folder::new();
    f.write("m-1.safetensors", &safetensors(&[("a", "I8", &[64, 256], weights(16_384, 3))]));
    f.write("m-2.safetensors", &safetensors(&[("b", "I8", &[64, 64], weights(4096, 4))]));
    let index = br#"{"weight_map": {"a": "m-1.safetensors", "b": "m-2.safetensors"}}"#;
    f.write("m.safetensors.index.json", index);
    let all = ["m.safetensors.index.json", "m-1.safetensors", "m-2.safetensors"];
    let total: usize = all.iter().map(|name| f.read(name).len()).sum();
    f.run(&["compress", all[0], "-l", "1"]).ok();
    let packed = f.read("m.wcodec").len();
    for file in [all[0], "m.wcodec"] {
        let done = f.run(&["bench", file, "--json", "--codecs", "latens-1,zstd-1,lz4"]).ok();
        let report: serde_json::Value = serde_json::from_slice(&done.out).unwrap();
        assert_eq!(report["bytes"], total, "{file}");
        assert_eq!(report["codecs"][0]["bytes"], packed, "{file}");
    }
}

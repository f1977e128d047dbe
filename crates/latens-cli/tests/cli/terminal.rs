//! What is seen on a terminal, which util-linux's `script` gives.

use crate::checkpoints::{safetensors, weights};
use crate::skipped::skipped;
use crate::tool::{Folder, column};
use std::process::{Command, Stdio};

/// What the tool shows on a terminal, and its exit code.
fn on_terminal(f: &Folder, args: &str) -> Option<(String, Option<i32>)> {
    let command = format!("'{}' {args}", env!("CARGO_BIN_EXE_latens"));
    let done = Command::new("script")
        .args(["-qec", &command, "/dev/null"])
        .current_dir(f.path(""))
        .stdin(Stdio::null())
        .output();
    match done {
        Ok(done) => Some((String::from_utf8_lossy(&done.stdout).into_owned(), done.status.code())),
        Err(error) => {
            skipped(&format!("what is seen on a terminal: script: {error}"));
            None
        }
    }
}

/// Whether a bar or a spinner was there.
fn has_bar(seen: &str) -> bool {
    seen.contains(|c| matches!(c, '\u{2800}'..='\u{28ff}' | '━' | '─'))
}

#[test]
fn binary_never_goes_to_a_terminal() {
    let f = Folder::new();
    f.write("a.npy", &column(300));
    // Fields that are no UTF-8 make a column of binary, here beside one of text.
    f.write("t.csv", b"a,b\nx,\xff\ny,\x01\n");
    f.run(&["compress", "t.csv"]).ok();
    f.run(&["compress", "t.csv", "-o", "t.parquet"]).ok();
    for args in [
        "compress a.npy -o -",
        "decompress t.pco.zip -o -",
        "decompress t.pco.zip -o /dev/stdout --to csv",
        "compress t.parquet --to csv -o -",
    ] {
        let Some((seen, code)) = on_terminal(&f, args) else { return };
        assert!(seen.contains("does not go to a terminal"), "{args}: {seen}");
        assert_eq!(code, Some(2), "{args}");
    }
    let text = "decompress t.pco.zip -o - --to csv --columns a";
    assert_eq!(on_terminal(&f, text), Some(("a\r\nx\r\ny\r\n".into(), Some(0))));
    let piped = f.run(&["decompress", "t.pco.zip", "-o", "-"]).ok();
    assert_eq!(piped.out, b"a,b\nx,\xff\ny,\x01\n");
}

#[test]
fn short_work_shows_no_bar_and_numbers_stand_alone() {
    let f = Folder::new();
    f.write("t.csv", b"a,b\n1,x\n2,y\n");
    f.run(&["compress", "t.csv"]).ok();
    let Some((seen, _)) = on_terminal(&f, "decompress t.pco.zip -o -") else { return };
    assert_eq!(seen, "a,b\r\n1,x\r\n2,y\r\n");
    for args in ["compress t.csv -f", "verify t.pco.zip", "advise t.csv"] {
        let (seen, code) = on_terminal(&f, args).unwrap();
        assert!(code == Some(0) && !has_bar(&seen), "{args}: {seen}");
    }
}

#[test]
fn long_work_shows_a_bar() {
    let f = Folder::new();
    f.write("t.csv", b"a,b\n1,x\n2,y\n");
    let slow = format!(
        "(sleep 1; cat t.csv) | '{}' compress -o x.parquet - --from csv",
        env!("CARGO_BIN_EXE_latens")
    );
    f.write("slow", slow.as_bytes());
    let command = Command::new("script")
        .args(["-qec", "sh slow", "/dev/null"])
        .current_dir(f.path(""))
        .output();
    let Ok(done) = command else { return skipped("a bar: there is no script") };
    let seen = String::from_utf8_lossy(&done.stdout);
    assert!(has_bar(&seen), "{seen}");
}

/// The bar of a checkpoint says which tensor is at hand.
#[test]
fn the_bar_names_the_tensor() {
    let f = Folder::new();
    let name = "layers.7.mlp.up_proj.weight";
    let all = [(name, "I8", &[2048, 1024][..], weights(1 << 21, 4))];
    f.write("m.safetensors", &safetensors(&all));
    let Some((seen, code)) = on_terminal(&f, "compress m.safetensors -l 12 -T 1") else { return };
    assert!(code == Some(0) && has_bar(&seen), "{seen}");
    // The table that is shown in the end names it too, behind the bar.
    let bars = seen.rsplit_once("m.safetensors →").map_or("", |(bars, _)| bars);
    assert!(bars.contains(name), "{seen}");
}

//! Wrong usage is 2; formats, names and help.

use crate::tool::{Folder, column, npy};

#[test]
fn wrong_usage_is_2() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("a.raw", &[0; 8]);
    f.write("a.xyz", &[0; 8]);
    for args in [
        &[][..],
        &["compress"],
        &["squeeze", "a.npy"],
        &["compress", "a.npy", "--level", "13"],
        &["compress", "a.npy", "--mode", "best"],
        &["compress", "a.npy", "--delta", "consecutive@x"],
        &["compress", "a.npy", "--chunk-n", "0"],
        &["compress", "a.npy", "--from", "zip"],
        &["compress", "a.raw", "--type", "f128"],
        &["compress", "a.raw"],
        &["compress", "a.xyz"],
        &["compress", "a.npy", "-o", "a.xyz"],
        &["compress", "a.npy", "-o", "b.npy"],
        &["compress", "-"],
        &["decompress", "a.npy"],
        &["verify"],
    ] {
        let done = f.run(args);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.err);
        assert!(!done.err.is_empty() && done.out.is_empty(), "{args:?}");
    }
    assert_eq!(f.names(), ["a.npy", "a.raw", "a.xyz"]);
}

#[test]
fn settings_that_do_not_fit_the_type() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.run(&["compress", "a.npy", "--mode", "float-mult@0.1"]).ends_with(2, &["float-mult"]);
    assert_eq!(f.names(), ["a.npy"]);
}

#[test]
fn what_is_no_checkpoint_is_refused() {
    let f = Folder::new();
    for name in ["a.safetensors", "a.gguf"] {
        f.write(name, b"x");
        f.run(&["compress", name]).fails(&[name, "byte "]);
        f.run(&["decompress", name]).ends_with(2, &["is not compressed"]);
        assert_eq!(f.run(&["verify", name]).code, Some(1));
    }
    f.write("a.wcodec", b"x");
    f.run(&["compress", "a.wcodec"]).ends_with(2, &["compressed already"]);
    f.run(&["decompress", "a.wcodec"]).fails(&["a.wcodec", "byte "]);
    assert_eq!(f.run(&["verify", "a.wcodec"]).code, Some(1));
    f.write("a.npy", &column(4));
    f.run(&["compress", "a.npy", "-o", "b.wcodec"]).ends_with(2, &["no checkpoint"]);
}

#[test]
fn names_in_messages_cannot_reach_the_terminal_raw() {
    let f = Folder::new();
    let done = f.run(&["compress", "bad\u{1b}[31m\nname.npy"]).fails(&["\\u{1b}[31m\\nname.npy"]);
    assert!(!done.err.contains('\u{1b}'));
}

#[test]
fn hostile_headers_are_shown_not_sent() {
    let f = Folder::new();
    f.write("a.npy", &npy("<\u{7f}8", false, "(1,)", &[0; 8]));
    assert!(!f.run(&["compress", "a.npy"]).fails(&["byte "]).err.contains('\u{7f}'));
}

#[test]
fn help_completions_and_manual() {
    let f = Folder::new();
    for args in [&["--help"][..], &["--version"], &["compress", "--help"], &["man"]] {
        assert!(!f.run(args).ok().out.is_empty(), "{args:?}");
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(f.run(&["completions", shell]).ok().text().contains("latens"));
    }
    let manual = f.run(&["man"]).ok();
    for part in [".TH", "LATENS COMPRESS", "LATENS INSPECT", "max\\-output"] {
        assert!(manual.text().contains(part), "{part}");
    }
}

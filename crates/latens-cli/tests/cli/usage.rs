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
fn wrong_usage_takes_one_to_three_lines() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("a.pco", b"x");
    f.write("a.csv", b"a\n1\n");
    f.write("a.raw", b"1");
    for (args, said) in [
        (&["decompress", "a.pco", "--limit", "-1"][..], "'-1' for '--limit <N>'"),
        (&["decompress", "a.pco", "--max-output", "-1"], "'-1' for '--max-output <BYTES>'"),
        (&["compress", "a.npy", "-l", "-1"], "'-1' for '--level <0..12>'"),
        (&["compress", "a", "b"], "unexpected argument 'b'"),
        (&["compress"], "<INPUT>"),
        (&["verify"], "<FILE>"),
        (&["completions", "tcsh"], "possible values: bash"),
        (&["foo"], "foo"),
        (&["compress", "a.npy", "--levle", "3"], "--level"),
        (&["verify", "-"], "--from"),
        (&["verify", "a.raw"], "nothing to verify"),
        (&["verify", "a.raw", "--json"], "nothing to verify"),
        (&["compress", "a.csv", "--columns", "a\nb"], "a name with a line break stands in quotes"),
        (&["inspect", "a.npy"], "not npy"),
        (&["decompress", "a.pco", "--limit", "1k"], "'--limit <N>': this takes a whole number"),
        (&["decompress", "a.pco", "--max-output", ""], "'--max-output <BYTES>'"),
        (&["compress", "a.npy", "-T", "x"], "'--threads <N>': this takes a whole number"),
        (&["compress", "a.npy", "-l", "13"], "this takes a whole number from 0 to 12"),
        (&["compress", "a.npy", "--chunk-n", "0"], "a whole number from 1 to 16777216"),
        (&["extract", "a.pco", "t", "--rows", "3", "--cols"], "--cols <C:D>"),
        (&["compress", "/dev/null", "--from", "npy"], "beside a pipe or a device"),
        (&["compress", "a.npy", "-o", "a.gz"], "name it: --to pco|pco.zip|parquet|csv|dbp\n"),
        (&["decompress", "a.pco", "-o", "a.gz"], "name it: --to npy|raw|csv|parquet\n"),
    ] {
        let done = f.run(args).ends_with(2, &[said]);
        assert!(done.err.starts_with("latens: ") && !done.err.contains("-- -1"), "{}", done.err);
    }
}

#[test]
fn options_that_do_nothing_are_refused() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("t.csv", b"a,b\n1,2\n");
    f.run(&["compress", "a.npy"]).ok();
    f.run(&["compress", "t.csv", "-o", "t.parquet"]).ok();
    f.run(&["compress", "t.csv", "-o", "t.pco.zip"]).ok();
    let compress = ["compress", "a.npy", "-o", "x.pco"];
    let decompress = ["decompress", "a.pco", "-o", "x.npy"];
    for (args, option) in [
        (&compress[..], &["--columns", "a"][..]),
        (&compress, &["--base", "nosuch"]),
        (&compress, &["--type", "i64"]),
        (&compress, &["--encoding", "auto"]),
        (&compress, &["--compression", "zstd"]),
        (&compress, &["--skip-unsupported"]),
        (&compress, &["--predictors", "TOP"]),
        (&compress, &["--no-contexts"]),
        (&["compress", "t.csv", "-o", "x.parquet"], &["--chunk-n", "10"]),
        (&["compress", "t.csv", "-o", "x.parquet"], &["--mode", "classic"]),
        (&["compress", "t.csv", "-o", "x.parquet"], &["--no-checksum"]),
        (&decompress, &["--columns", "a"]),
        (&decompress, &["--base", "nosuch"]),
        (&decompress, &["--salvage"]),
        (&decompress, &["--type", "i64"]),
        (&["decompress", "t.pco.zip", "-o", "x.csv"], &["--allow-trailing"]),
        (&["inspect", "t.parquet"], &["--ablate"]),
        (&["inspect", "a.pco"], &["--type", "i64"]),
        (&["advise", "t.csv"], &["--type", "i64"]),
        (&["bench", "a.npy"], &["--type", "i64"]),
    ] {
        let done = f.run(&[args, option].concat());
        let said = format!("latens: {} does nothing for ", option[0]);
        assert_eq!(done.code, Some(2), "{args:?}: {}", done.err);
        assert!(done.err.starts_with(&said) && done.err.lines().count() == 1, "{}", done.err);
    }
    f.run(&["compress", "t.csv", "-o", "x.pco.zip", "--no-checksum"]).ok();
}

#[test]
fn a_count_beyond_all_numbers_is_as_good_as_none() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.run(&["compress", "a.npy", "-T", "99999999999999999999999"]).ok();
    let most = "99999999999999999999999";
    f.run(&["decompress", "a.pco", "-f", "--limit", most, "--max-output", most]).ok();
    assert_eq!(f.read("a.npy"), column(4));
}

#[test]
fn folders_are_no_inputs() {
    let f = Folder::new();
    for args in [&["compress", "."][..], &["inspect", "."], &["advise", "."], &["bench", "."]] {
        f.run(args).fails(&["the input is a folder", "name a file in it"]);
    }
    let done = f.run(&["verify", "."]);
    assert_eq!((done.code, done.text()), (Some(1), ".: FAILED, the input is a folder\n"));
}

#[test]
fn options_may_be_given_again_and_the_last_counts() {
    let f = Folder::new();
    f.write("a.npy", &column(4));
    f.write("a.pco", b"old");
    let run = |line: &str| f.run(&line.split_whitespace().collect::<Vec<_>>());
    run("compress a.npy -f -f -l 12 -l 3 -o b.pco -o a.pco -T1 -T2 -q -q --json --json --to pco --to pco
         --mode int-mult@7 --mode classic --delta lookback --delta none --favor size --favor speed
         --chunk-n 4 --chunk-n 2 --no-checksum --no-checksum --no-verify --no-verify")
    .ok();
    let seen = run("inspect --json --json a.pco").ok();
    assert_eq!(seen.text().matches("\"n\":2").count(), 2, "{}", seen.text());
    run("decompress a.pco --limit 1 --limit 3 --allow-trailing --allow-trailing -o b.npy -f -f")
        .ok();
    assert_eq!(f.read("b.npy"), column(3));
    run("verify -q -q --from pco --from pco a.pco a.pco").ok();
    run("bench a.npy --codecs dbp --codecs lz4 --csv b.csv --csv c.csv").ok();
    assert_eq!(String::from_utf8(f.read("c.csv")).unwrap().lines().count(), 3);
    assert_eq!(f.names(), ["a.npy", "a.pco", "b.npy", "c.csv"]);
}

#[test]
fn columns_are_named_as_in_csv() {
    let f = Folder::new();
    f.write("t.csv", b"\"a,b\",\"x \"\"y\"\"\",c\n1,2,3\n");
    f.run(&["compress", "t.csv"]).ok();
    let csv = |columns: &[&str]| {
        let options = columns.iter().flat_map(|names| ["--columns", names]);
        let args: Vec<&str> = ["decompress", "t.pco.zip", "-o", "-", "--to", "csv"]
            .into_iter()
            .chain(options)
            .collect();
        f.run(&args)
    };
    assert_eq!(csv(&["c,\"a,b\""]).ok().text(), "c,\"a,b\"\n3,1\n");
    assert_eq!(csv(&["\"x \"\"y\"\"\""]).ok().text(), "\"x \"\"y\"\"\"\n2\n");
    assert_eq!(csv(&["c", "\"a,b\""]).ok().text(), "c,\"a,b\"\n3,1\n");
    // What an error lists can be given as it stands there.
    csv(&["a,b"]).ends_with(2, &["`a`", "its columns are: \"a,b\", \"x \"\"y\"\"\", c"]);
    let options = f.run(&["compress", "--help"]).ok();
    assert!(options.text().contains("\"b,c\""), "{}", options.text());
    assert!(f.run(&["man"]).ok().text().contains("\"b,c\""));
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
    for (verb, says) in [
        ("compress", "0 to 8 hardly differ; 11 and 12 take some hundred times as long as 8"),
        ("inspect", "all of it is read for them"),
        ("inspect", "with --ablate also what REFERENCE predicts by"),
    ] {
        let help = f.run(&[verb, "--help"]).ok();
        let words: Vec<&str> = help.text().split_whitespace().collect();
        assert!(words.join(" ").contains(says), "{}", help.text());
    }
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        assert!(f.run(&["completions", shell]).ok().text().contains("latens"));
    }
    let manual = f.run(&["man"]).ok();
    for part in [".TH", "LATENS COMPRESS", "LATENS INSPECT", "max\\-output"] {
        assert!(manual.text().contains(part), "{part}");
    }
    // It names no page but itself, and examples keep their lines.
    assert!(!manual.text().contains("(1)"), "{}", manual.text());
    let example = ".nf\n  latens decompress prices.pco\n  latens decompress flights.pco.zip ";
    assert!(manual.text().contains(example), "{}", manual.text());
    let help = f.run(&["compress", "--help"]).ok();
    for format in "npy raw csv parquet safetensors gguf pco pco.zip dbp wcodec".split(' ') {
        for text in [manual.text(), help.text()] {
            let mut words = text.split_whitespace();
            assert!(words.any(|word| word.trim_matches([';', '.']) == format), "{format}");
        }
    }
}

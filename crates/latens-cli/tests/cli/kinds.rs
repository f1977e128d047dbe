//! What a file is, where its name does not say it or says another thing.

use crate::checkpoints::{gguf, model, safetensors, weights};
use crate::tool::Folder;

#[test]
fn what_comes_out_is_told_by_its_content() {
    let f = Folder::new();
    let source = gguf(&[("a", 64, 10)]);
    for name in ["sha256-abc", "foo.npy", "m.safetensors"] {
        f.write(name, &source);
        f.run(&["compress", name, "--from", "gguf", "-o", "packed.wcodec", "-f"]).ok();
        f.run(&["decompress", "packed.wcodec", "-f"]).ok();
        assert_eq!(f.read("packed.gguf"), source, "{name}");
        f.run(&["decompress", "packed.wcodec", "-o", "again.gguf", "-f"]).ok();
        for to in ["x.safetensors", "x.npy"] {
            let refused = f.run(&["decompress", "packed.wcodec", "-o", to]);
            refused.ends_with(2, &["what comes out is gguf, not", "name it .gguf"]);
        }
        let refused = f.run(&["decompress", "packed.wcodec", "--to", "safetensors", "-o", "x"]);
        refused.ends_with(2, &["what comes out is gguf, not safetensors"]);
        f.run(&["decompress", "packed.wcodec", "--salvage", "-f"]).ok();
    }
    assert!(!f.names().iter().any(|name| name.starts_with("x")), "{:?}", f.names());
    // Its own extension stays where it is one of the format.
    f.write("M.SAFETENSORS", &model(1));
    f.run(&["compress", "M.SAFETENSORS", "-o", "n.wcodec"]).ok();
    f.run(&["decompress", "n.wcodec"]).ok();
    assert_eq!(f.read("n.SAFETENSORS"), model(1));
}

#[test]
fn a_checkpoint_that_is_not_packed_is_called_that() {
    let f = Folder::new();
    f.write("m.safetensors", &model(2));
    f.write("m.gguf", &gguf(&[("a", 64, 10)]));
    f.write("blob", &model(3));
    for (file, what, from) in [
        ("m.safetensors", "safetensors", ""),
        ("m.gguf", "GGUF", ""),
        ("blob", "safetensors", " --from safetensors"),
    ] {
        let said = format!("this is a {what} file, and not packed to a .wcodec");
        let done = f.run(&["extract", file, "norm"]);
        done.fails(&[&said, &format!("latens compress {file}{from} packs it")]);
    }
    f.run(&["compress", "m.safetensors"]).ok();
    f.run(&["extract", "m.wcodec", "norm", "--from", "wcodec"]).ok();
    f.run(&["extract", "m.wcodec", "norm", "--from", "safetensors"])
        .ends_with(2, &["extract reads wcodec, not safetensors", "in m.wcodec"]);
    f.write("other", &[9; 300]);
    f.run(&["extract", "other", "norm"]).fails(&["corrupt"]);
}

/// What is said to be done can be done.
#[test]
fn a_name_that_says_another_format_is_no_riddle() {
    let f = Folder::new();
    f.write("m.safetensors", &model(2));
    f.run(&["compress", "m.safetensors"]).ok();
    f.write("s.wcodec", &model(2));
    f.write("g.wcodec", &gguf(&[("a", 64, 10)]));
    f.write("i.wcodec", b"{\"metadata\": {}, \"weight_map\": {\"a\": \"m.safetensors\"}}");
    for (file, what, hint) in [
        (
            "s",
            "safetensors file",
            "latens compress s.wcodec --from safetensors -o OUT.wcodec packs",
        ),
        ("g", "GGUF file", "latens compress g.wcodec --from gguf -o OUT.wcodec packs"),
        ("i", "JSON", "name it .safetensors.index.json"),
    ] {
        let file = format!("{file}.wcodec");
        f.run(&["compress", &file]).ends_with(2, &[what, "not packed", hint]);
        for verb in ["decompress", "inspect"] {
            f.run(&[verb, &file]).fails(&[what, "not packed", hint]);
        }
        let done = f.run(&["verify", &file]);
        assert!(done.code == Some(1) && done.text().contains(what), "{}", done.text());
        assert!(done.err.contains(hint), "{}", done.err);
    }
    f.run(&["compress", "s.wcodec", "--from", "safetensors", "-o", "OUT.wcodec"]).ok();
    f.run(&["compress", "g.wcodec", "--from", "gguf", "-o", "OUT.wcodec", "-f"]).ok();
    for file in ["p.safetensors", "p.gguf"] {
        f.write(file, &f.read("m.wcodec"));
        for verb in ["compress", "inspect"] {
            f.run(&[verb, file]).fails(&["it begins as a .wcodec", "--from wcodec"]);
        }
        let hint = format!("latens decompress {file} --from wcodec brings");
        f.run(&["decompress", file]).ends_with(2, &["a .wcodec by its first bytes", &hint]);
        f.run(&["decompress", file, "--from", "wcodec", "-o", "back.safetensors", "-f"]).ok();
        assert_eq!(f.read("back.safetensors"), model(2));
    }
    f.write("s.gguf", &model(2));
    let says = "this begins as a safetensors file does, not as GGUF";
    f.run(&["compress", "s.gguf"]).fails(&[says, "rename it, to end in .safetensors"]);
    f.run_with(&["compress", "-", "--from", "gguf"], &model(2))
        .fails(&[says, "say --from safetensors"]);
}

#[test]
fn a_base_is_told_by_its_content_where_its_name_does_not_say_it() {
    let f = Folder::new();
    f.write("base", &model(4));
    f.write("m.safetensors", &model(4));
    f.run(&["compress", "base", "--from", "safetensors", "-o", "packed"]).ok();
    for base in ["base", "packed"] {
        f.run(&["compress", "m.safetensors", "--base", base, "-f"]).ok();
        f.run(&["decompress", "m.wcodec", "--base", base, "-f"]).ok();
        assert_eq!(f.read("m.safetensors"), model(4));
    }
    f.write("words", b"no checkpoint at all");
    let of = |base| f.run(&["compress", "m.safetensors", "--base", base, "-f"]);
    of("words").ends_with(2, &["the base is no checkpoint", "in words"]);
    of("none").fails(&["No such file", "in none"]);
    of("-").ends_with(2, &["a base must be a file, not standard input"]);
}

#[test]
fn messages_say_what_to_do_and_are_not_long() {
    let f = Folder::new();
    let name = format!("layer.{}.weight", "x".repeat(900));
    f.write("m.safetensors", &safetensors(&[(&name, "I8", &[4, 4], weights(16, 1))]));
    f.run(&["compress", "m.safetensors"]).ok();
    let done = f.run(&["extract", "m.wcodec", "weight"]).ends_with(2, &["did you mean …xx"]);
    assert!(done.err.len() < 300, "{}", done.err);
    let done = f.run(&["decompress", "m.wcodec", "--to", "npy"]);
    done.ends_with(2, &["what comes out is not npy", "`latens extract` writes a tensor as npy"]);
}

#[test]
fn a_name_without_an_extension_stays_as_it_is() {
    let f = Folder::new();
    for (seed, name) in [(1, "Llama-3.2-1B"), (2, "Llama-3.1-8B")] {
        f.write(name, &model(seed));
        f.run(&["compress", name, "--from", "safetensors"]).ok();
        f.run(&["decompress", &format!("{name}.wcodec")]).ok();
        assert_eq!(f.read(&format!("{name}.safetensors")), model(seed));
    }
}

/// Such a name is not written, nor does it need to be where there is but one file.
#[test]
fn what_had_no_plain_name_comes_back_beside_the_input() {
    let f = Folder::new();
    f.write("a\nb.safetensors", &model(1));
    f.run(&["compress", "a\nb.safetensors", "-o", "m.wcodec"]).ok();
    f.run(&["decompress", "m.wcodec"]).ok();
    f.run(&["decompress", "m.wcodec", "-o", "out/"]).ok();
    for name in ["m.safetensors", "out/m.safetensors"] {
        assert_eq!(f.read(name), model(1), "{name}");
    }
}

#[test]
fn what_pytorch_writes_is_recognised_under_another_name() {
    let f = Folder::new();
    let zip = [b"PK\x03\x04\0\0\x08\x08", &[0; 60][..]].concat();
    f.write("zip.safetensors", &zip);
    f.write("pickle.safetensors", &[&[0x80, 2, 0x8a, 0x0a][..], &[7; 60]].concat());
    for (name, what) in [("zip.safetensors", "a ZIP archive"), ("pickle.safetensors", "a pickle")] {
        for verb in ["compress", "inspect"] {
            f.run(&[verb, name]).fails(&[what, "PyTorch", "as safetensors first"]);
        }
    }
    f.run_with(&["inspect", "-", "--from", "safetensors"], &zip).fails(&["a ZIP archive"]);
    f.write("other.safetensors", &[7; 60]);
    let other = f.run(&["compress", "other.safetensors"]).fails(&[]);
    assert!(!other.err.contains("PyTorch"), "{}", other.err);
}

/// Files of a variant have it in their names: `model.fp16-00001-of-00002.safetensors`.
#[test]
fn an_index_of_a_variant_is_an_index() {
    let f = Folder::new();
    let index = "model.safetensors.index.fp16.json";
    f.write("model.fp16-1.safetensors", &model(5));
    f.write(index, br#"{"weight_map": {"norm": "model.fp16-1.safetensors"}}"#);
    f.run(&["verify", index]).ok();
    f.run(&["compress", index]).ok();
    f.run(&["bench", "model.fp16.wcodec", "--codecs", "lz4"]).ok();
    f.run(&["decompress", "model.fp16.wcodec", "-o", "back/"]).ok();
    for name in [index, "model.fp16-1.safetensors"] {
        assert_eq!(f.read(&format!("back/{name}")), f.read(name), "{name}");
    }
}

/// Where it cannot be read, tensors may be taken for what they are not.
#[test]
fn a_config_that_is_no_json_is_told() {
    let f = Folder::new();
    f.write("m.safetensors", &model(5));
    f.write("config.json", b"{\"quantization_config\": {\"bits\": 4,");
    let says = "config.json beside it is no JSON";
    let done = f.run(&["compress", "m.safetensors"]).ok();
    assert!(done.err.contains(says), "{}", done.err);
    let done = f.run(&["inspect", "m.safetensors"]).ok();
    assert!(done.text().contains(says), "{}", done.text());
    f.write("config.json", b"{\"model_type\": \"bert\"}");
    let done = f.run(&["compress", "m.safetensors", "-f"]).ok();
    assert!(!done.err.contains(says), "{}", done.err);
}

//! What a file is, where its name does not say it or says another thing.

use crate::checkpoints::{gguf, model};
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

//! See `latens_robustness::target`.
#![no_main]
latens_robustness::fuzz!("tool_safetensors");

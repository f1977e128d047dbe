//! See `latens_robustness::target`.
#![no_main]
latens_robustness::fuzz!("wcodec_parts");

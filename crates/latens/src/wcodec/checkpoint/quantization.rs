//! What the metadata of a checkpoint says of its quantisation: `quantization_config` in the
//! header's metadata or in `config.json`, or `quantize_config.json`. All of it is a hint.

use super::json::Json;
use crate::error::Result;

/// Longest file that is looked at.
pub(super) const LONGEST_CONFIG: u64 = 1 << 24;

/// What is known of the quantisation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Quantization {
    /// `gptq`, `awq`, `compressed-tensors`, `bitsandbytes`, …
    pub method: Option<String>,
    /// `pack-quantized`, `int-quantized`, `gemm`, …
    pub format: Option<String>,
    /// Bits a weight.
    pub bits: Option<u64>,
    /// Weights that share a scale.
    pub group_size: Option<u64>,
}

impl Quantization {
    /// From `config.json` and `quantize_config.json`, where they are there.
    pub fn from_files(config: Option<Vec<u8>>, quantize_config: Option<Vec<u8>>) -> Self {
        let mut found = Quantization::default();
        if let Some(config) = config {
            // Whatever was read before an error is as good a hint as without one.
            let _ = Json::new(&config).object(|json, key, _| {
                if matches!(key.as_str(), "quantization_config" | "compression_config") {
                    return found.walk(json);
                }
                json.skip()
            });
        }
        if let Some(config) = quantize_config {
            found.or(Self::from_json(&config));
        }
        found
    }

    /// From the text of a `quantization_config`.
    pub fn from_json(text: &[u8]) -> Self {
        let mut found = Quantization::default();
        let _ = found.walk(&mut Json::new(text));
        found
    }

    /// Takes from `other` what is not known yet.
    pub(super) fn or(&mut self, other: Self) {
        self.method = self.method.take().or(other.method);
        self.format = self.format.take().or(other.format);
        self.bits = self.bits.or(other.bits);
        self.group_size = self.group_size.or(other.group_size);
    }

    /// Takes what it knows from an object and all within; the first of each counts.
    fn walk(&mut self, json: &mut Json<'_>) -> Result<()> {
        match json.peek() {
            Some(b'{') => json.object(|json, key, _| {
                let next = json.peek();
                let text = next == Some(b'"');
                let number = next.is_some_and(|b| b.is_ascii_digit());
                match key.as_str() {
                    "quant_method" if text => set(&mut self.method, json.string()?),
                    "format" | "version" | "bnb_4bit_quant_type" if text => {
                        set(&mut self.format, json.string()?);
                    }
                    "bits" | "w_bit" | "num_bits" if number => set(&mut self.bits, json.number()?),
                    "group_size" | "q_group_size" if number => {
                        set(&mut self.group_size, json.number()?);
                    }
                    // Activations are quantised otherwise.
                    "input_activations" | "output_activations" | "kv_cache_scheme" => {
                        json.skip()?
                    }
                    _ => self.walk(json)?,
                }
                Ok(())
            }),
            Some(b'[') => json.array(|json| self.walk(json)),
            _ => json.skip(),
        }
    }
}

fn set<T>(to: &mut Option<T>, value: T) {
    to.get_or_insert(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_it_knows() {
        let config = br#"{"model_type": "x", "bits": 3, "quantization_config": {
            "config_groups": {"group_0": {"input_activations": {"num_bits": 8},
            "weights": {"num_bits": 4, "group_size": 128}}}, "format": "pack-quantized",
            "quant_method": "compressed-tensors", "version": "0.9"}}"#;
        let found = Quantization::from_files(Some(config.to_vec()), Some(b"{\"bits\":2".to_vec()));
        let want = Quantization {
            method: Some("compressed-tensors".to_owned()),
            format: Some("pack-quantized".to_owned()),
            bits: Some(4),
            group_size: Some(128),
        };
        assert_eq!(found, want);
        assert_eq!(Quantization::from_json(b"{\"bits\":2").bits, Some(2));
        assert_eq!(Quantization::from_json(b"[]"), Quantization::default());
    }
}

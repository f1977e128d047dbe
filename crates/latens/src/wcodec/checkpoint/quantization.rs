//! What the metadata of a checkpoint says of its quantisation: `quantization_config` in the
//! header's metadata or in `config.json`, there also `quantization` (MLX), or `quantize_config.json`. All of it is a hint.

use std::collections::BTreeMap;
use std::fmt;

use serde_core::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

use super::members::Json;
use crate::wcodec::layout::index::Quantization as Record;

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
    /// Layers that MLX quantises otherwise, by the names of their modules. Files do not keep them.
    pub layers: BTreeMap<String, LayerQuantization>,
}

/// What is known of a layer that is quantised otherwise than most; what is not said of it is as of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LayerQuantization {
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
            let _ = Json::new(&config).members(|key, value| {
                if matches!(
                    key.as_str(),
                    "quantization_config" | "compression_config" | "quantization"
                ) {
                    found.or(Self::from_json(value.bytes()));
                }
                Ok(())
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
        let mut mixed = false;
        let walk = Walk { found: &mut found, mixed: &mut mixed, field: None };
        // Whatever was read before an error is as good a hint as without one.
        let _ = walk.deserialize(&mut serde_json::Deserializer::from_slice(text));
        if mixed && found.method.is_none() {
            // Of MLX, where these are of the layers that are not named.
            let (all, layers) = by_layers(text);
            (found.bits, found.group_size, found.layers) = (all.bits, all.group_size, layers);
        }
        found
    }

    /// What is known of a layer.
    pub(in crate::wcodec) fn of_layer(&self, name: &str) -> LayerQuantization {
        let own = self.layers.get(name).copied().unwrap_or_default();
        LayerQuantization {
            bits: own.bits.or(self.bits),
            group_size: own.group_size.or(self.group_size),
        }
    }

    /// As the index of a file keeps it.
    pub(in crate::wcodec) fn to_record(&self) -> Record {
        let text = |text: &Option<String>| text.clone().unwrap_or_default();
        Record {
            method: text(&self.method),
            format: text(&self.format),
            bits: self.bits.unwrap_or(0),
            group_size: self.group_size.unwrap_or(0),
        }
    }

    /// What the index of a file keeps.
    pub(in crate::wcodec) fn from_record(record: &Record) -> Self {
        let text = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        let number = |n: u64| Some(n).filter(|n| *n > 0);
        Self {
            method: text(&record.method),
            format: text(&record.format),
            bits: number(record.bits),
            group_size: number(record.group_size),
            layers: BTreeMap::new(),
        }
    }

    /// Whether nothing that both know differs.
    pub(in crate::wcodec) fn agrees(&self, other: &Self) -> bool {
        fn same<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
            one.zip(other).is_none_or(|(one, other)| one == other)
        }
        same(self.method.as_ref(), other.method.as_ref())
            && same(self.format.as_ref(), other.format.as_ref())
            && same(self.bits.as_ref(), other.bits.as_ref())
            && same(self.group_size.as_ref(), other.group_size.as_ref())
    }

    /// Takes from `other` what is not known yet.
    pub(in crate::wcodec) fn or(&mut self, other: Self) {
        self.method = self.method.take().or(other.method);
        self.format = self.format.take().or(other.format);
        self.bits = self.bits.or(other.bits);
        self.group_size = self.group_size.or(other.group_size);
        if self.layers.is_empty() {
            self.layers = other.layers;
        }
    }
}

/// What MLX says of most layers, and of those that have settings of their own, in an object by their name.
fn by_layers(text: &[u8]) -> (LayerQuantization, BTreeMap<String, LayerQuantization>) {
    let (mut all, mut layers) = (LayerQuantization::default(), BTreeMap::new());
    // Whatever was read before an error is a hint.
    let _ = Json::new(text).members(|key, value| {
        if all.set(&key, value) {
            return Ok(());
        }
        let mut layer = LayerQuantization::default();
        let _ = value.members(|key, value| {
            layer.set(&key, value);
            Ok(())
        });
        if layer != LayerQuantization::default() {
            layers.insert(key, layer);
        }
        Ok(())
    });
    (all, layers)
}

impl LayerQuantization {
    /// Takes a member that tells something; whether it did.
    fn set(&mut self, key: &str, value: Json<'_>) -> bool {
        let to = match Field::of(key) {
            Some(Field::Bits) => &mut self.bits,
            Some(Field::GroupSize) => &mut self.group_size,
            _ => return false,
        };
        *to = value.parse().ok();
        true
    }
}

/// What a member is called that tells something.
#[derive(Clone, Copy)]
enum Field {
    Method,
    Format,
    Bits,
    GroupSize,
}

impl Field {
    fn of(key: &str) -> Option<Self> {
        match key {
            "quant_method" => Some(Field::Method),
            "format" | "version" | "bnb_4bit_quant_type" => Some(Field::Format),
            "bits" | "w_bit" | "num_bits" => Some(Field::Bits),
            "group_size" | "q_group_size" => Some(Field::GroupSize),
            _ => None,
        }
    }
}

/// Takes what it knows from a value and all within; the first of each counts.
struct Walk<'a> {
    found: &'a mut Quantization,
    /// Whether bits or group sizes differ.
    mixed: &'a mut bool,
    /// What the value is, where its key told.
    field: Option<Field>,
}

impl<'de> DeserializeSeed<'de> for Walk<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Walk<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(key) = map.next_key::<String>()? {
            // Activations are quantised otherwise.
            if let "input_activations" | "output_activations" | "kv_cache_scheme" = key.as_str() {
                map.next_value::<IgnoredAny>()?;
                continue;
            }
            let (found, mixed) = (&mut *self.found, &mut *self.mixed);
            map.next_value_seed(Walk { found, mixed, field: Field::of(&key) })?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<(), A::Error> {
        loop {
            let (found, mixed) = (&mut *self.found, &mut *self.mixed);
            if seq.next_element_seed(Walk { found, mixed, field: None })?.is_none() {
                return Ok(());
            }
        }
    }

    fn visit_str<E>(self, text: &str) -> Result<(), E> {
        match self.field {
            Some(Field::Method) => set(&mut self.found.method, text.to_owned()),
            Some(Field::Format) => set(&mut self.found.format, text.to_owned()),
            _ => {}
        }
        Ok(())
    }

    fn visit_u64<E>(self, number: u64) -> Result<(), E> {
        let to = match self.field {
            Some(Field::Bits) => &mut self.found.bits,
            Some(Field::GroupSize) => &mut self.found.group_size,
            _ => return Ok(()),
        };
        *self.mixed |= *to.get_or_insert(number) != number;
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
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
            ..Quantization::default()
        };
        assert_eq!(found, want);
        assert_eq!(Quantization::from_json(b"{\"bits\":2").bits, Some(2));
        assert_eq!(Quantization::from_json(b"[]"), Quantization::default());
    }

    #[test]
    fn layers_may_have_their_own() {
        let mlx = |more: &str| {
            let text = format!(r#"{{"quantization":{{"group_size":64,"bits":4{more}}}}}"#);
            Quantization::from_files(Some(text.into_bytes()), None)
        };
        let of =
            |bits, group_size| LayerQuantization { bits: Some(bits), group_size: Some(group_size) };
        for more in ["", r#","mode":"affine","head":{"bits":4,"group_size":64}"#] {
            assert_eq!(mlx(more).of_layer("head"), of(4, 64));
        }
        let mixed =
            mlx(r#","model.head":{"bits":8,"group_size":32},"model.gate":{"bits":6},"x":false"#);
        assert_eq!((mixed.bits, mixed.group_size), (Some(4), Some(64)));
        assert_eq!(mixed.of_layer("model.head"), of(8, 32));
        assert_eq!(mixed.of_layer("model.gate"), of(6, 64));
        assert_eq!(mixed.of_layer("x"), of(4, 64));
        // Named first, and of all not at all.
        let first = br#"{"head":{"bits":8,"group_size":32},"gate":{"bits":6},"group_size":64}"#;
        let first = Quantization::from_json(first);
        assert_eq!((first.bits, first.of_layer("head")), (None, of(8, 32)));
        assert_eq!(first.of_layer("gate"), of(6, 64));
    }
}

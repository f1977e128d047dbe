//! What a decoder of symbols holds, as a plan.

use super::stack::stack_plan;
use super::{BlockPlan, ClassPlan, GroupPlan, PredictionPlan, SymbolPlan};
use crate::error::Result;
use crate::wcodec::class::Blocks;
use crate::wcodec::config::Coder;
use crate::wcodec::decode::group::SymbolDecoder;
use crate::wcodec::layout::prediction::BY_TILE;
use crate::wcodec::predictor::Predictor;
use crate::wcodec::tiled::{of_reference, tile_size};
use std::ops::Range;

/// The plan of `groups`, which hold the symbols of `range`.
pub(super) fn symbol_plan(
    decoder: &SymbolDecoder<'_>,
    range: Range<usize>,
    tables: Vec<Vec<u16>>,
    groups: Vec<GroupPlan>,
    wanted: Range<usize>,
) -> Result<SymbolPlan> {
    let symbols = decoder.symbols;
    let prediction = match &symbols.prediction {
        None => None,
        Some(p) => Some(PredictionPlan {
            tile: tile_size(p)?,
            predictor: if p.predictor == BY_TILE { None } else { Predictor::from_id(p.predictor) },
            centre: p.centre,
            transform: p.transform,
            means: p.means.clone(),
            reference: match decoder.reference {
                Some(symbols) => Some(of_reference(symbols, range)?.into_owned()),
                None => None,
            },
        }),
    };
    let classes = decoder.terms.as_ref().map(|terms| ClassPlan {
        bias: terms.rule.bias,
        rows: terms.rule.rows.clone(),
        cols: terms.rule.cols.clone(),
        levels: terms.levels.iter().map(block_plan).collect(),
        zero: terms.zero.as_ref().map(|blocks| block_plan(blocks)),
        maps: terms.rule.maps.clone(),
    });
    let stack = symbols.stack.as_ref().zip(decoder.terms.as_ref());
    let stack = stack.map(|(stack, terms)| stack_plan(symbols, stack, terms, &groups));
    Ok(SymbolPlan {
        bits: decoder.bits,
        cols: symbols.cols,
        pairs: symbols.pairs,
        order: symbols.order.as_ref().map(|order| order.columns().to_vec()),
        stack,
        coder: if decoder.bitplane { Coder::Bitplane } else { Coder::Direct },
        escape: symbols.escape,
        compact: symbols.compact,
        prediction,
        table_bits: symbols.table_bits,
        tables,
        classes,
        groups,
        wanted,
    })
}

fn block_plan(blocks: &Blocks) -> BlockPlan {
    BlockPlan {
        values: blocks.values.clone(),
        block_rows: blocks.block_rows,
        block_cols: blocks.block_cols,
        stride: blocks.stride,
        row_map: blocks.row_map.clone(),
    }
}

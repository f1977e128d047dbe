//! Tensors side by side: each thread models one of them, helped by those that find none, or encodes one
//! group; only tables, which tensors share, are chosen for one tensor after the other.

use crate::error::Result;
use crate::wcodec::config::Config;
use crate::wcodec::crew::Crew;
use crate::wcodec::encode::bank::Bank;
use crate::wcodec::encode::streams::{Coder, Scratch};
use crate::wcodec::encode::taken::Taken;
use crate::wcodec::encode::tensor::{Input, PlannedTensor};
use crate::wcodec::layout::descriptor::Written;
use crate::wcodec::layout::part::Group;
use crate::wcodec::threads;
use std::sync::OnceLock;

/// Work that is done beside, which takes this share of the time that modelling as many bytes does.
pub(crate) type Beside<'b> = &'b (dyn Fn() -> Result<()> + Sync);
const SHARE_OF_BESIDE: usize = 4;

/// What tensors are made into, one after the other.
pub(crate) enum Made<'m> {
    /// The stored bytes of the next group, and how many bytes of the tensor they stand for.
    Group(&'m [u8], usize),
    /// What the groups before it are, and whether these are predicted from the base.
    Tensor(Written<'m>, bool),
    /// All bytes of a tensor, which are stored as they are.
    Plain(&'m [u8]),
}

/// Encodes tensors and hands what they are made into to `put`, in order.
pub(crate) fn encode(
    inputs: &[Input<'_>],
    config: &Config,
    bank: &mut Bank,
    beside: Beside<'_>,
    put: &mut dyn FnMut(Made<'_>) -> Result<()>,
) -> Result<()> {
    let threads = config.threads_in_force();
    let alone = config.clone().threads(1);
    let mut weights: Vec<usize> = inputs.iter().map(|input| input.tensor.bytes.len()).collect();
    weights.push(weights.iter().sum::<usize>() / SHARE_OF_BESIDE);
    let taken: Vec<OnceLock<Vec<Taken<'_>>>> = inputs.iter().map(|_| OnceLock::new()).collect();
    let model = |i: usize, crew: Crew<'_>| {
        let Some(input) = inputs.get(i) else { return beside().map(|()| Vec::new()) };
        let views = input.taken(&alone, crew)?;
        input.model(taken[i].get_or_init(|| views), &alone, crew)
    };
    let modelled = threads::heaviest_first(&weights, threads, |i, crew| match inputs.get(i) {
        Some(input) => input.place(model(i, crew)),
        None => model(i, crew),
    })?;
    let each = inputs.iter().zip(modelled);
    let planned = each.map(|(input, own)| input.place(input.plan(own, config, bank)));
    let planned: Vec<PlannedTensor<'_>> = planned.collect::<Result<_>>()?;
    write(inputs, &planned, threads, bank, put)
}

/// A group of a part of a tensor, the end of the tensor, or all of one that is plain.
#[derive(Clone, Copy)]
enum Step {
    Group { tensor: usize, part: usize, group: usize },
    End { tensor: usize },
    Plain { tensor: usize },
}

/// Encodes the groups of tensors that are not kept, and hands all of them to `put`.
fn write(
    inputs: &[Input<'_>],
    tensors: &[PlannedTensor<'_>],
    threads: usize,
    bank: &Bank,
    put: &mut dyn FnMut(Made<'_>) -> Result<()>,
) -> Result<()> {
    let mut steps = Vec::new();
    for (tensor, planned) in tensors.iter().enumerate() {
        if planned.is_plain() {
            steps.push(Step::Plain { tensor });
            continue;
        }
        for (part, planned) in planned.parts.iter().enumerate() {
            steps.extend((0..planned.groups()).map(|group| Step::Group { tensor, part, group }));
        }
        steps.push(Step::End { tensor });
    }
    let encode = |own: &mut Own, i: usize| {
        let (tensor, part, group) = match steps[i] {
            Step::Group { tensor, part, group } => (tensor, part, group),
            Step::Plain { tensor } => (tensor, 0, 0),
            Step::End { .. } => return Ok(None),
        };
        let planned = &tensors[tensor].parts[part];
        if planned.kept(group).is_some() {
            return Ok(None);
        }
        let mut encode = || {
            if own.of != Some((tensor, part)) {
                (own.tables, own.of) = (planned.tables(bank)?, Some((tensor, part)));
            }
            planned.group(group, own.tables.as_ref(), &mut own.scratch).map(Some)
        };
        inputs[tensor].place(encode())
    };
    let mut next = steps.iter();
    let mut described: Vec<Vec<Group>> = Vec::new();
    threads::in_order(steps.len(), threads, Own::default, encode, |encoded| match next.next() {
        Some(&Step::Group { tensor, part, group }) => {
            let planned = &tensors[tensor].parts[part];
            let stored = encoded.as_deref().or(planned.kept(group)).unwrap_or_default();
            described.resize_with(tensors[tensor].parts.len(), Vec::new);
            described[part].push(Group::of(stored));
            let made = put(Made::Group(stored, planned.stands_for(group)));
            inputs[tensor].place(made)
        }
        Some(&Step::End { tensor }) => {
            let PlannedTensor { view, parts } = &tensors[tensor];
            described.resize_with(parts.len(), Vec::new);
            let records = parts.iter().zip(described.drain(..));
            let parts = records.map(|(part, groups)| (part.head(), groups)).collect();
            let written = Written { view: *view, parts };
            inputs[tensor].place(put(Made::Tensor(written, tensors[tensor].needs_base())))
        }
        Some(&Step::Plain { tensor }) => {
            inputs[tensor].place(put(Made::Plain(encoded.as_deref().unwrap_or_default())))
        }
        None => Ok(()),
    })
}

/// What a thread has for one group after the other.
#[derive(Default)]
struct Own {
    scratch: Scratch,
    /// The tables of a part of a tensor.
    tables: Option<Coder>,
    of: Option<(usize, usize)>,
}

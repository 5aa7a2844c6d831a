//! Counts operations in the SPIR-V that a Vulkan driver gets.

use naga::back::spv;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use std::collections::{HashMap, HashSet};

/// Counts the operations of one turn of the first loop of `entry`, or of all of it without a loop, with the functions that it calls; inner
/// loops run `turns` times. An operation on a vector counts once for each component, and by half with 16 bits: for floats, and for
/// integers if `packs_i16`. Branches that a constant excludes do not count, nor conversions between vectors and their components.
pub(super) fn in_loop(source: &str, entry: &str, turns: u32, packs_i16: bool) -> f64 {
    let module = naga::front::wgsl::parse_str(source).unwrap_or_else(|err| panic!("{}", err.emit_to_string(source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(&module).unwrap();
    let policies = naga::proc::BoundsCheckPolicies::default();
    let options =
        spv::Options { bounds_check_policies: policies, force_loop_bounding: false, ..spv::Options::default() };
    let target = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: entry.to_owned() };
    let words = spv::write_vec(&module, &info, &options, Some(&target)).unwrap();
    Code::new(&words, packs_i16).operations_of_entry(f64::from(turns))
}

/// Opcodes of SPIR-V 1.0, section 3.32.
mod op {
    pub(crate) const EXT_INST: u16 = 12;
    pub(crate) const ENTRY_POINT: u16 = 15;
    pub(crate) const TYPE_INT: u16 = 21;
    pub(crate) const TYPE_FLOAT: u16 = 22;
    pub(crate) const TYPE_VECTOR: u16 = 23;
    pub(crate) const CONSTANT_TRUE: u16 = 41;
    pub(crate) const CONSTANT_FALSE: u16 = 42;
    pub(crate) const FUNCTION: u16 = 54;
    pub(crate) const FUNCTION_CALL: u16 = 57;
    pub(crate) const VECTOR_SHUFFLE: u16 = 79;
    pub(crate) const COMPOSITE_CONSTRUCT: u16 = 80;
    pub(crate) const BITCAST: u16 = 124;
    pub(crate) const LOOP_MERGE: u16 = 246;
    pub(crate) const SELECTION_MERGE: u16 = 247;
    pub(crate) const LABEL: u16 = 248;
    pub(crate) const BRANCH_CONDITIONAL: u16 = 250;
}

struct Instruction {
    opcode: u16,
    words: Vec<u32>,
}

#[derive(Default)]
struct Code {
    entry: u32,
    functions: HashMap<u32, Vec<Instruction>>,
    /// Components of types that have any, and their number in a register.
    types: HashMap<u32, (u32, u32)>,
    results: HashMap<u32, u32>,
    constants: HashMap<u32, bool>,
}

impl Code {
    fn new(words: &[u32], packs_i16: bool) -> Self {
        let mut code = Self::default();
        let mut function = 0;
        let mut rest = &words[5..];
        while let Some(&first) = rest.first() {
            let (length, opcode) = ((first >> 16) as usize, first as u16);
            let words = rest[1..length].to_vec();
            rest = &rest[length..];
            match opcode {
                op::ENTRY_POINT => code.entry = words[1],
                op::TYPE_INT | op::TYPE_FLOAT => {
                    let packs = words[1] == 16 && (opcode == op::TYPE_FLOAT || packs_i16);
                    code.types.insert(words[0], (1, if packs { 2 } else { 1 }));
                }
                op::TYPE_VECTOR => {
                    let in_register = code.types.get(&words[1]).map_or(1, |of| of.1);
                    code.types.insert(words[0], (words[2], in_register));
                }
                op::CONSTANT_TRUE => drop(code.constants.insert(words[1], true)),
                op::CONSTANT_FALSE => drop(code.constants.insert(words[1], false)),
                op::FUNCTION => function = words[1],
                _ if words.len() > 1 => drop(code.results.insert(words[1], words[0])),
                _ => {}
            }
            code.functions.entry(function).or_default().push(Instruction { opcode, words });
        }
        code
    }

    fn operations_of_entry(&self, turns: f64) -> f64 {
        let body = &self.functions[&self.entry];
        let Some(start) = body.iter().position(|i| i.opcode == op::LOOP_MERGE) else {
            return self.operations(body, turns);
        };
        let is_end = |i: &Instruction| i.opcode == op::LABEL && i.words[0] == body[start].words[0];
        let end = body.iter().position(is_end).expect("the end of the loop");
        self.operations(&body[start + 1..end], turns)
    }

    fn operations(&self, body: &[Instruction], turns: f64) -> f64 {
        let mut sum = 0.0;
        let mut merge = 0;
        // labels of blocks that are never entered, and the label behind them
        let mut skipped: HashSet<u32> = HashSet::new();
        let mut skips = false;
        // the label behind a loop
        let mut behind = None;
        for Instruction { opcode, words } in body {
            let times = if behind.is_some() { turns } else { 1.0 };
            match *opcode {
                op::LABEL => {
                    behind = behind.filter(|label| *label != words[0]);
                    skips = skipped.contains(&words[0]);
                }
                op::LOOP_MERGE if !skips => {
                    assert_eq!(behind, None, "a loop in a loop in a loop");
                    behind = Some(words[0]);
                }
                op::SELECTION_MERGE if !skips => merge = words[0],
                op::BRANCH_CONDITIONAL if !skips => {
                    if let Some(&taken) = self.constants.get(&words[0]) {
                        let never = if taken { words[2] } else { words[1] };
                        skipped.extend((never != merge).then_some(never));
                    }
                }
                op::FUNCTION_CALL if !skips => sum += times * self.operations(&self.functions[&words[2]], turns),
                opcode if !skips => sum += times * self.weight(opcode, words),
                _ => {}
            }
        }
        sum
    }

    fn weight(&self, opcode: u16, words: &[u32]) -> f64 {
        // comparisons count by the type of their operands
        let ty = match opcode {
            170..=191 => self.results.get(&words[2]).copied().unwrap_or(0),
            _ => words.first().copied().unwrap_or(0),
        };
        let (components, in_register) = self.types.get(&ty).copied().unwrap_or((1, 1));
        let each = 1.0 / f64::from(in_register);
        let is_packed = in_register > 1;
        let pairs_two = || words[2..].len() == components as usize && words[2] != words[3];
        match opcode {
            // arithmetic, logic, shifts, selections, counts of bits, comparisons, conversions, exchanges in a subgroup
            109..=114 | 126..=141 | 164..=191 | 194..=205 | 333..=366 => f64::from(components) * each,
            // packing and unpacking of halves: another name for a register
            op::EXT_INST if matches!(words[3], 58 | 62) => 0.0,
            // a clamp is two operations
            op::EXT_INST => f64::from(components) * each * if matches!(words[3], 43..=45) { 2.0 } else { 1.0 },
            // shuffles rename registers; only pairs in one register have to be put together
            op::VECTOR_SHUFFLE if is_packed => f64::from(components) * each,
            op::COMPOSITE_CONSTRUCT if is_packed && pairs_two() => 1.0,
            op::BITCAST => 0.0,
            _ => 0.0,
        }
    }
}

//! Compares the shaders with their tables and uniforms in Rust, and compiles them for every driver: without a GPU.

#![allow(clippy::print_stdout, clippy::unwrap_used, reason = "tests say why they are skipped, and fail by panicking")]

use naga::valid::{Capabilities, ModuleInfo};
use std::collections::{BTreeSet, HashSet};
use std::mem::offset_of;
use std::path::Path;
use std::sync::LazyLock;
use stereopsis_gpu::compiler::{Binding, Request, Source, bindings};
use stereopsis_gpu::graph::shaders;
use stereopsis_gpu::graph::{DispatchGraph, GraphKey};
use stereopsis_gpu::layout::Structure;
use stereopsis_gpu::limits::{Limits, WORKGROUP_BYTES};
use stereopsis_gpu::shaders::Shader;
use stereopsis_gpu::uniforms::{DispatchParams, Params};
use stereopsis_gpu::variant::{CostSource, Exchange, PIECES, Variant, VariantOverrides, WORKGROUPS};
use stereopsis_stereo::MiStart;
use stereopsis_stereo::map::{INVALID, NO_PICTURE, ON_PLANE, SUBPIXEL_STEPS, reason};
use stereopsis_stereo::{Aggregation, CostKind, Fill, GateBounds, Median, RightMatching, StereoParams};

fn parse(shader: &Shader) -> naga::Module {
    let source = shader.source();
    let module = naga::front::wgsl::parse_str(&source)
        .unwrap_or_else(|err| panic!("{}: {}", shader.stem, err.emit_to_string_with_path(&source, shader.stem)));
    let mut validator = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), Capabilities::default());
    if let Err(err) = validator.validate(&module) {
        panic!("{}", err.emit_to_string_with_path(&source, shader.stem));
    }
    module
}

#[test]
fn entries_match_the_table() {
    for shader in shaders() {
        let module = parse(shader);
        let entries: Vec<_> = module.entry_points.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(entries, shader.entries, "entries of {}", shader.stem);
    }
}

#[test]
fn bindings_are_found_in_every_source() {
    let sources: HashSet<_> = REQUESTS.iter().map(|request| &request.source).collect();
    for source in sources {
        let Source { stem, text } = &**source;
        let module = naga::front::wgsl::parse_str(text).expect("WGSL");
        let declared = module.global_variables.iter().filter_map(|(_, variable)| {
            let place = variable.binding?;
            assert_eq!(place.group, 0, "{stem}");
            let kind = match (variable.space, &module.types[variable.ty].inner) {
                (naga::AddressSpace::Uniform, _) => Binding::Uniform,
                (naga::AddressSpace::Storage { access }, _) if access.contains(naga::StorageAccess::STORE) => {
                    Binding::Write
                }
                (naga::AddressSpace::Storage { .. }, _) => Binding::Read,
                (naga::AddressSpace::Handle, naga::TypeInner::Image { dim, arrayed, class }) => {
                    assert_eq!((*dim, *arrayed), (naga::ImageDimension::D2, false));
                    match *class {
                        naga::ImageClass::Sampled { kind: naga::ScalarKind::Uint, multi: false } => Binding::Texture,
                        naga::ImageClass::Storage { format: naga::StorageFormat::R32Uint, access } => {
                            assert_eq!(access, naga::StorageAccess::STORE);
                            Binding::WriteTexture
                        }
                        other => panic!("{stem}: {other:?}"),
                    }
                }
                other => panic!("{stem}: {other:?}"),
            };
            Some((place.binding, kind))
        });
        assert_eq!(bindings(text), declared.collect::<Vec<_>>(), "{stem}");
    }
}

/// Lists name and offset of every field; does not compile if a field is left out.
macro_rules! fields {
    ($type:ident { $($field:ident),+ }) => {{
        let _all = |value: $type| { let $type { $($field: _),+ } = value; };
        vec![$((stringify!($field), offset_of!($type, $field))),+]
    }};
}

fn assert_layout(shader: &Shader, name: &str, fields: &[(&str, usize)], size: usize) {
    let module = parse(shader);
    let (_, ty) = module.types.iter().find(|(_, ty)| ty.name.as_deref() == Some(name)).expect(name);
    let naga::TypeInner::Struct { members, span } = &ty.inner else { panic!("{name} is no struct") };
    let declared: Vec<_> =
        members.iter().map(|member| (member.name.as_deref().unwrap_or(""), member.offset as usize)).collect();
    assert_eq!(declared, fields, "{name} in {}", shader.stem);
    assert_eq!(*span as usize, size, "size of {name} in {}", shader.stem);
    for member in members {
        let scalar = match &module.types[member.ty].inner {
            naga::TypeInner::Scalar(scalar) => *scalar,
            naga::TypeInner::Array { base, .. } => module.types[*base].inner.scalar().expect("array of numbers"),
            other => panic!("{name}: {other:?}"),
        };
        let signed = ["min_disparity", "dx", "dy"].contains(&member.name.as_deref().unwrap_or(""));
        assert_eq!(scalar, if signed { naga::Scalar::I32 } else { naga::Scalar::U32 }, "{:?}", member.name);
    }
}

#[test]
fn uniform_offsets_match_rust() {
    let params = fields!(Params {
        width,
        height,
        pitch,
        candidates,
        words,
        slab_rows,
        min_disparity,
        left_shift,
        right_shift,
        p1,
        subpixel,
        uniqueness,
        left_right,
        speckle_size,
        speckle_range,
        paths,
        confidence,
        has_past,
        largest_sum,
        whole_from_x,
        whole_end_x,
        whole_from_y,
        whole_end_y,
        spatial_alpha,
        spatial_delta,
        temporal_alpha,
        temporal_delta,
        persistence_times,
        persistence_pairs,
        tau,
        min_chance,
        is_masked,
        p2_of_step,
        weight_of_step,
        weight_of_place
    });
    for shader in shaders() {
        assert_layout(shader, "Params", &params, size_of::<Params>());
    }
    let dispatch = fields!(DispatchParams { first, end, origin, pieces, length, is_first, y_is_major, dx, dy, slope });
    assert_layout(shaders()[0], "DispatchParams", &dispatch, size_of::<DispatchParams>());
}

#[test]
fn constants_match_rust() {
    let expected = [
        ("INVALID", i64::from(INVALID)),
        ("SUBPIXEL_STEPS", i64::from(SUBPIXEL_STEPS)),
        ("RANGE", i64::from(reason::RANGE)),
        ("UNIQUENESS", i64::from(reason::UNIQUENESS)),
        ("LEFT_RIGHT", i64::from(reason::LEFT_RIGHT)),
        ("SPECKLE", i64::from(reason::SPECKLE)),
        ("MATCH", i64::from(reason::MATCH)),
        ("BORDER", i64::from(reason::BORDER)),
        ("HELD", i64::from(reason::HELD)),
        ("FILLED", i64::from(reason::FILLED)),
        ("ON_PLANE", i64::from(ON_PLANE)),
        ("NO_PICTURE", i64::from(NO_PICTURE)),
    ];
    let module = naga::front::wgsl::parse_str(include_str!("../../../shaders/common.wgsl")).expect("common.wgsl");
    let declared: Vec<_> = module
        .constants
        .iter()
        .filter_map(|(_, constant)| {
            let value = match module.global_expressions[constant.init] {
                naga::Expression::Literal(naga::Literal::I32(v)) => i64::from(v),
                naga::Expression::Literal(naga::Literal::U32(v)) => i64::from(v),
                ref other => panic!("{:?}: {other:?}", constant.name),
            };
            Some((constant.name.as_deref()?, value))
        })
        .collect();
    assert_eq!(declared, expected);
}

fn stems(folder: &str, extension: &str) -> BTreeSet<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut found = BTreeSet::new();
    let mut folders = vec![root.clone()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder of the package") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == extension) {
                let stem = path.strip_prefix(&root).expect("below the root").with_extension("");
                found.insert(stem.to_string_lossy().replace('\\', "/"));
            }
        }
    }
    found
}

#[test]
fn shaders_have_the_names_of_their_stages() {
    /// Pieces of kernels that exist in variants or share a text, beside the file of their stage.
    const PIECES: [&str; 39] = [
        "aggregate/costs",
        "aggregate/costs_from_codes",
        "aggregate/exchange_subgroup",
        "aggregate/exchange_workgroup",
        "aggregate/gate",
        "aggregate/lane",
        "aggregate/lane_1",
        "aggregate/lane_2",
        "aggregate/lane_4",
        "aggregate/place",
        "aggregate/step_16",
        "aggregate/step_32",
        "aggregate/step_f16",
        "aggregate/sum",
        "aggregate/volumes",
        "cost/code_1",
        "cost/code_2",
        "cost/compare",
        "cost/transform",
        "disparity/exact_sums",
        "disparity/sums_of_paths",
        "disparity/swapped",
        "disparity/winner_takes_all",
        "filter/one_map",
        "filter/records",
        "filter/regions",
        "filter/winners",
        "host_map",
        "gating/extremes",
        "gating/percentiles",
        "local/adaptive_weight",
        "local/costs",
        "local/cross_columns",
        "local/cross_rows",
        "local/store",
        "local/volume",
        "local/weighted_cross",
        "local/weights",
        "local/window",
    ];
    /// Stages whose whole text is in pieces, or is a piece itself.
    const IN_VARIANTS: [&str; 6] = [
        "aggregate/paths",
        "cost/mutual_information/start",
        "filter/calm",
        "filter/consistency",
        "filter/moments",
        "gating/bounds",
    ];
    /// Shaders that draw for the window, which tests them beside its own Rust.
    const WINDOW: [&str; 3] = ["display", "picture", "space"];
    let mut found = stems("../../shaders", "wgsl");
    for name in WINDOW {
        assert!(found.remove(name), "shaders/{name}.wgsl is gone");
    }
    // the file mod.rs of a module with parts stands for the module
    let module = |stem: String| stem.strip_suffix("/mod").map_or(stem.clone(), str::to_owned);
    let stages: BTreeSet<_> = stems("../stereo/src", "rs").into_iter().map(module).collect();
    let is_piece = |stem: &str| stem == "common" || PIECES.contains(&stem);
    let unnamed: Vec<_> = found.iter().filter(|stem| !is_piece(stem) && !stages.contains(*stem)).collect();
    assert!(unnamed.is_empty(), "the reference has no file of these names: {unnamed:?}");

    let mut listed: BTreeSet<_> = shaders().iter().map(|shader| shader.stem.to_owned()).collect();
    listed.insert("common".to_owned());
    listed.extend(PIECES.iter().chain(&IN_VARIANTS).map(|stem| (*stem).to_owned()));
    assert_eq!(found, listed, "the table lists every shader");
}

/// Limits of an adapter with all features.
const LIMITS: Limits = Limits {
    subgroup: 64,
    workgroup: 256,
    has_f16: true,
    has_i16: true,
    packs_i16: true,
    discrete: false,
    integrated: false,
    binding_bytes: 1 << 27,
    storage_buffers: 16,
    side_px: 8192,
    path_bytes: 1 << 30,
};

/// Returns the pipelines of a job, with the overrides or the engine's own choice.
fn requests_of(params: &StereoParams, overrides: &VariantOverrides, path_bytes: u64) -> Vec<Request> {
    let limits = Limits { path_bytes, ..LIMITS };
    let of = |wants_right| {
        let levels = Structure::levels_of((64, 48), params, wants_right);
        let structures = levels.into_iter().map(|(structure, _)| structure).collect();
        let key = GraphKey::new(structures, &limits, None, overrides, 1 << 20).expect("a variant that can do it");
        let graph = DispatchGraph::new(&key, &limits, "any adapter").expect("room for all");
        graph.requests().cloned().collect::<Vec<_>>()
    };
    [of(false), of(true)].concat()
}

/// Every kind of pipeline of the engine: every option with the variant that it chooses, and every variant with a few options.
static REQUESTS: LazyLock<HashSet<Request>> = LazyLock::new(|| {
    let mut all = HashSet::new();
    let plain = StereoParams { num_disparities: 27, ..StereoParams::default() };
    let mut options = Vec::new();
    for &cost in CostKind::ALL {
        for paths in [0, 1, 4, 9] {
            options.push(StereoParams { num_disparities: 27, paths, ..StereoParams::for_cost(cost) });
        }
    }
    for mi_levels in [1, 2] {
        let params = StereoParams::for_cost(CostKind::MutualInformation);
        options.push(StereoParams { mi_levels, mi_start: MiStart::LastFrame, ..params });
    }
    for p2 in [60, 300] {
        options.push(StereoParams { p2, gating: Some(2), ..plain.clone() });
    }
    options.push(StereoParams { gating: Some(1), gate_bounds: GateBounds::Extremes, ..plain.clone() });
    for rank_window in [3, 9] {
        options.push(StereoParams { rank_window, ..StereoParams::for_cost(CostKind::Rank) });
    }
    for sad_window in [1, 21] {
        options.push(StereoParams { sad_window, ..StereoParams::for_cost(CostKind::Sad) });
    }
    for num_disparities in [1, 4, 16, 64, 100, 256, 1024] {
        options.push(StereoParams { num_disparities, ..plain.clone() });
        options.push(StereoParams { num_disparities, p2: 300, ..plain.clone() });
    }
    for &median in Median::ALL {
        for &fill in Fill::ALL {
            for left_right in [None, Some(1)] {
                for (uniqueness, speckle_size) in [(0, 0), (10, 50)] {
                    options.push(StereoParams { uniqueness, left_right, median, speckle_size, fill, ..plain.clone() });
                }
            }
        }
    }
    options.push(StereoParams { choice: true, ..plain.clone() });
    options.push(StereoParams {
        spatial: Some(2),
        match_threshold: Some(30),
        temporal: stereopsis_stereo::Temporal::On,
        ..plain.clone()
    });
    for &aggregation in Aggregation::ALL {
        for (paths, window, arms, num_disparities) in [(0, 1, 1, 1), (2, 33, 30, 27), (0, 33, 30, 27), (1, 9, 17, 64)] {
            options.push(StereoParams { num_disparities, aggregation, window, arms, paths, ..plain.clone() });
        }
    }
    for cost in [CostKind::Census5x5, CostKind::MutualInformation] {
        let right_matching = RightMatching::Swapped;
        options.push(StereoParams { right_matching, gating: Some(1), ..StereoParams::for_cost(cost) });
    }
    for params in &options {
        // all directions in memory at once, and in turns
        for path_bytes in [1 << 30, 1 << 18] {
            all.extend(requests_of(params, &VariantOverrides::default(), path_bytes));
        }
    }
    for params in [plain.clone(), StereoParams { p2: 300, ..plain }, StereoParams::for_cost(CostKind::Rank)] {
        let requirements = Structure::levels((64, 48), &params)[0].0.requirements();
        for variant in Variant::all(&LIMITS, &requirements, &[32, 256], &PIECES[..1]) {
            all.extend(requests_of(&params, &VariantOverrides::all(variant), 1 << 30));
        }
    }
    all
});

/// Features that kernels in variants need.
const CAPABILITIES: Capabilities = Capabilities::SUBGROUP
    .union(Capabilities::SHADER_INT16)
    .union(Capabilities::SHADER_FLOAT16)
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32);

/// Whether an entry comes out of a translation, or why there is none.
type EntryFound = Result<bool, String>;

/// Translates the module of a request into each driver's language, with its constants replaced by values.
fn translate(request: &Request) -> Result<[(&'static str, EntryFound); 3], String> {
    let words = |err: &dyn std::fmt::Debug| format!("{err:?}");
    let parsed = naga::front::wgsl::parse_str(&request.source.text).map_err(|err| words(&err))?;
    let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), CAPABILITIES).validate(&parsed);
    let info = info.map_err(|err| words(&err))?;
    let constants = request.constants.iter().map(|&(name, value)| (name.to_owned(), f64::from(value))).collect();
    let entry = Some((naga::ShaderStage::Compute, request.entry));
    let (module, info) = naga::back::pipeline_constants::process_overrides(&parsed, &info, entry, &constants)
        .map_err(|err| words(&err))?;
    Ok([
        ("SPIR-V", to_spirv(request, &module, &info).map(|words| words.len() > 100)),
        ("MSL", to_msl(request, &module, &info).map(|text| text.contains("kernel void"))),
        ("HLSL", to_hlsl(request, &module, &info).map(|text| text.contains("numthreads"))),
    ])
}

fn to_spirv(request: &Request, module: &naga::Module, info: &ModuleInfo) -> Result<Vec<u32>, String> {
    use naga::back::spv;
    let entry = spv::PipelineOptions { shader_stage: naga::ShaderStage::Compute, entry_point: request.entry.into() };
    spv::write_vec(module, info, &spv::Options::default(), Some(&entry)).map_err(|err| format!("{err:?}"))
}

fn to_msl(request: &Request, module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    use naga::back::msl;
    let options = msl::Options { lang_version: (2, 4), zero_initialize_workgroup_memory: false, ..Default::default() };
    let entry = Some((naga::ShaderStage::Compute, request.entry.to_owned()));
    let pipeline = msl::PipelineOptions { entry_point: entry, ..Default::default() };
    let (text, report) = msl::write_string(module, info, &options, &pipeline).map_err(|err| format!("{err:?}"))?;
    report.entry_point_names.into_iter().collect::<Result<Vec<_>, _>>().map_err(|err| format!("{err:?}"))?;
    Ok(text)
}

fn to_hlsl(request: &Request, module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    use naga::back::hlsl;
    let shader_model = hlsl::ShaderModel::V6_0; // the first one with subgroups
    let options = hlsl::Options { shader_model, zero_initialize_workgroup_memory: false, ..Default::default() };
    let pipeline = hlsl::PipelineOptions { entry_point: Some((naga::ShaderStage::Compute, request.entry.to_owned())) };
    let mut text = String::new();
    let report = hlsl::Writer::new(&mut text, &options, &pipeline)
        .write(module, info, None)
        .map_err(|err| format!("{err:?}"))?;
    report.entry_point_names.into_iter().collect::<Result<Vec<_>, _>>().map_err(|err| format!("{err:?}"))?;
    Ok(text)
}

/// Returns the bytes of workgroup memory that the entry of a pipeline uses.
fn workgroup_bytes(request: &Request) -> u32 {
    let module = naga::front::wgsl::parse_str(&request.source.text).expect("WGSL");
    let info = naga::valid::Validator::new(naga::valid::ValidationFlags::all(), CAPABILITIES).validate(&module);
    let info = info.unwrap_or_else(|err| panic!("{}: {err:?}", request.source.stem));
    let entry = module.entry_points.iter().position(|entry| entry.name == request.entry).expect("the entry");
    let used = info.get_entry_point(entry);
    let mut layouter = naga::proc::Layouter::default();
    layouter.update(module.to_ctx()).expect("sizes that are known");
    let variables = module
        .global_variables
        .iter()
        .filter(|(handle, variable)| variable.space == naga::AddressSpace::WorkGroup && !used[*handle].is_empty());
    // a length that is an `override` would count as one element
    let size = |variable: &naga::GlobalVariable| match module.types[variable.ty].inner {
        naga::TypeInner::Array { size: naga::ArraySize::Pending(_), .. } => panic!("{}: an array", request.source.stem),
        _ => layouter[variable.ty].to_stride(),
    };
    variables.map(|(_, variable)| size(variable)).sum()
}

#[test]
fn workgroup_memory_fits_every_device() {
    let mut requests = REQUESTS.clone();
    // lanes that exchange through it, as few and as many as a pixel and a workgroup can have
    for num_disparities in [1, 5, 9, 16, 17, 33, 65, 129, 256, 1024] {
        for p2 in [60, 300] {
            let params = StereoParams { num_disparities, p2, uniqueness: 10, ..StereoParams::default() };
            let requirements = Structure::levels((64, 48), &params)[0].0.requirements();
            let mut variants = Variant::all(&LIMITS, &requirements, &WORKGROUPS, &PIECES[..1]);
            variants.retain(|v| v.exchange == Exchange::Workgroup && v.costs == CostSource::Volume);
            for variant in variants {
                requests.extend(requests_of(&params, &VariantOverrides::all(variant), 1 << 30));
            }
        }
    }
    let bytes: Vec<_> = requests.iter().map(|request| (workgroup_bytes(request), request)).collect();
    let beyond =
        bytes.iter().filter(|(bytes, _)| *bytes > WORKGROUP_BYTES).map(|(bytes, Request { source, entry, .. })| {
            let sizes = source.text.lines().filter(|line| line.starts_with("const ") && line.contains("u;"));
            format!("{bytes} bytes: {} {entry}: {}", source.stem, sizes.collect::<Vec<_>>().join(" "))
        });
    assert_eq!(beyond.collect::<Vec<_>>(), [""; 0]);
    let largest = bytes.iter().map(|(bytes, _)| *bytes).max();
    assert!(largest > Some(WORKGROUP_BYTES * 15 / 16), "{largest:?} bytes: are all variables counted?");
}

#[test]
fn every_pipeline_compiles_for_every_driver() {
    let requests = &*REQUESTS;
    for shader in shaders() {
        let mut entries = shader.entries.iter();
        let asked = |entry| requests.iter().any(|r| (r.source.stem, r.entry) == (shader.stem, entry));
        assert!(entries.all(|entry| asked(*entry)), "{} is not among {} pipelines", shader.stem, requests.len());
    }
    let mut failures = Vec::new();
    for request in requests {
        let what = format!("{} {} {:?}", request.source.stem, request.entry, request.constants);
        let mut note = |language, result: EntryFound| match result {
            Ok(true) => {}
            Ok(false) => failures.push(format!("{what} in {language}: no entry comes out")),
            Err(err) => failures.push(format!("{what} in {language}: {err}")),
        };
        match translate(request) {
            Ok(languages) => languages.into_iter().for_each(|(language, result)| note(language, result)),
            Err(err) => note("WGSL", Err(err)),
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

//! Tests of the shader on a device against the projection in Rust, and of the points against a scene of known shape.

use super::camera::{Lens, Pose, clip_from_world};
use super::drawing::{Drawing, Scene, Space};
use super::pass::{Inputs, SpacePass, Target};
use super::points::shown_points;
use super::settings::{Colouring, SpaceSettings, Surface};
use crate::style::Ground;
use glam::{DVec3, dvec2, dvec3};
use std::f64::consts::FRAC_PI_2;
use stereopsis_base::geometry::Geometry;
use stereopsis_base::image::{Image, Luma, Picture};
use stereopsis_gpu::Gpu;
use stereopsis_stereo::{DisparityMap, INVALID, reason};
use wgpu::naga;

const SIZE: (usize, usize) = (64, 48);
const BACKGROUND: [u8; 3] = [1, 2, 3];
const NO_LINES: SpaceSettings = SpaceSettings {
    colouring: Colouring::Picture,
    surface: Surface::Points,
    every: None,
    is_limited: true,
    has_lines: false,
    ground: Ground::Theme,
};

/// Scene with 50 px m, in which 10 px are 5 m and 100 px are 0.5 m.
fn scene() -> Scene {
    let geometry = Geometry::new(100.0, 0.5, 2.0, [30.0, 25.0]);
    Scene { geometry, size: SIZE, range_m: (0.5, 10.0), has_confidence: true, is_coarse: false }
}

/// Returns a colour unique to each pixel and different from the background's.
fn colour_of(x: usize, y: usize) -> [u8; 3] {
    [(3 * x + 20) as u8, (4 * y + 20) as u8, 200]
}

fn texture(gpu: &Gpu, (width, height): (usize, usize), format: wgpu::TextureFormat, bytes: &[u8]) -> wgpu::Texture {
    let texture = gpu.device.create_texture(&wgpu::TextureDescriptor {
        label: None,
        size: wgpu::Extent3d { width: width as u32, height: height as u32, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage: wgpu::TextureUsages::TEXTURE_BINDING | wgpu::TextureUsages::COPY_DST,
        view_formats: &[],
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(width as u32 * 4), rows_per_image: None };
    gpu.queue.write_texture(texture.as_image_copy(), bytes, layout, texture.size());
    texture
}

/// Draws disparities (1/16 px) and confidence on a target of `size`.
fn drawn(
    gpu: &Gpu,
    values: &Image<(i16, u8)>,
    settings: SpaceSettings,
    pose: &Pose,
    size: (u32, u32),
) -> Image<[u8; 3]> {
    drawn_words(gpu, &values.map(|&(value, confidence)| word(value, 0, confidence)), settings, pose, size)
}

fn word(value: i16, reasons: u8, confidence: u8) -> u32 {
    u32::from(value as u16) | u32::from(reasons) << 16 | u32::from(confidence) << 24
}

fn drawn_words(
    gpu: &Gpu,
    words: &Image<u32>,
    settings: SpaceSettings,
    pose: &Pose,
    size: (u32, u32),
) -> Image<[u8; 3]> {
    let rgba = |image: Image<[u8; 3]>| image.pixels().iter().flat_map(|&[r, g, b]| [r, g, b, 255]).collect::<Vec<u8>>();
    let map = texture(gpu, SIZE, wgpu::TextureFormat::R32Uint, bytemuck::cast_slice(words.pixels()));
    let rgb = wgpu::TextureFormat::Rgba8Unorm;
    let picture = texture(gpu, SIZE, rgb, &rgba(Image::from_fn(SIZE.0, SIZE.1, colour_of)));
    let colours = texture(gpu, (256, 1), rgb, &rgba(Image::from_fn(256, 1, |i, _| [i as u8, 255 - i as u8, 9])));
    let inputs = Inputs { map: &map, picture: &picture, colours: &colours };
    let drawing = Drawing::new(&scene(), &settings, pose, size, BACKGROUND);
    let target = Target::new(&gpu.device, size);
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    SpacePass::new(&gpu.device).draw(&gpu.device, &mut encoder, inputs, &drawing, &target);
    let pitch = (size.0 * 4).next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT);
    let copy = gpu.device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch * size.1),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &copy, layout };
    encoder.copy_texture_to_buffer(target.colour.as_image_copy(), to, target.colour.size());
    gpu.queue.submit([encoder.finish()]);
    copy.slice(..).map_async(wgpu::MapMode::Read, |mapped| mapped.unwrap());
    gpu.device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    let bytes = copy.slice(..).get_mapped_range().unwrap();
    Image::from_fn(size.0 as usize, size.1 as usize, |x, y| {
        let at = y * pitch as usize + 4 * x;
        [bytes[at], bytes[at + 1], bytes[at + 2]]
    })
}

/// Returns the stored disparity of a depth.
fn stored(depth_m: f64) -> i16 {
    (16.0 * scene().geometry.disparity_px(depth_m)).round() as i16
}

fn plane(depth_m: f64) -> Image<(i16, u8)> {
    Image::filled(SIZE.0, SIZE.1, (stored(depth_m), 0))
}

fn covered(image: &Image<[u8; 3]>) -> usize {
    image.pixels().iter().filter(|pixel| **pixel != BACKGROUND).count()
}

#[test]
fn a_plane_fills_the_target_as_the_camera_sees_it_and_is_a_line_on_edge() {
    let Some(gpu) = Gpu::for_test() else { return };
    let ahead = Pose::of_left_camera(2.0);
    let mut on_edge = ahead;
    on_edge.orbit(FRAC_PI_2, 0.0);
    for surface in [Surface::Points, Surface::Mesh] {
        let settings = SpaceSettings { surface, ..NO_LINES };
        let image = drawn(&gpu, &plane(2.0), settings, &ahead, (64, 48));
        for (x, y) in (1..47).flat_map(|y| (1..63).map(move |x| (x, y))) {
            assert_eq!(image.at(x, y), colour_of(x, y), "{surface} at ({x}, {y})");
        }
        let image = drawn(&gpu, &plane(2.0), settings, &on_edge, (64, 48));
        let columns = (0..64).filter(|&x| (0..48).any(|y| image.at(x, y) != BACKGROUND)).count();
        assert!(columns <= 4, "{surface}: {columns} columns");
        assert!(surface == Surface::Mesh || columns > 0, "squares face the viewer");
    }
    let large = drawn(&gpu, &plane(2.0), NO_LINES, &ahead, (1280, 960));
    assert_eq!(covered(&large), 1280 * 960, "no cracks");
    // at twice the size, with every third pixel in place of its block of nine
    let settings = SpaceSettings { every: Some(3), ..NO_LINES };
    let image = drawn(&gpu, &plane(2.0), settings, &ahead, (128, 96));
    assert_eq!(covered(&image), 128 * (96 - 2), "the last row belongs to no block");
    assert_eq!(image.at(64, 48), colour_of(33, 24), "the pixel in the middle of its block");
}

#[test]
fn unmeasured_pixels_are_hatched() {
    let Some(gpu) = Gpu::for_test() else { return };
    let pose = Pose::of_left_camera(2.0);
    for surface in [Surface::Points, Surface::Mesh] {
        for (reasons, sign) in [(reason::FILLED, 1), (reason::HELD, -1), (0, 0)] {
            let words = Image::filled(SIZE.0, SIZE.1, word(stored(2.0), reasons, 0));
            let image = drawn_words(&gpu, &words, SpaceSettings { surface, ..NO_LINES }, &pose, (64, 48));
            for (x, y) in (2..46).flat_map(|y| (2..62).map(move |x| (x, y))) {
                let is_dark = sign != 0 && (x as i32 + sign * y as i32) & 3 < 2;
                let colour = colour_of(x, y).map(|v| if is_dark { (0.4 * f32::from(v)).round() as u8 } else { v });
                assert_eq!(image.at(x, y), colour, "{surface} at ({x}, {y}) with reasons {reasons}");
            }
        }
    }
}

#[test]
fn points_are_where_the_projection_in_rust_has_them() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut values = Image::filled(SIZE.0, SIZE.1, (INVALID, 0));
    let mut points = Vec::new();
    for i in 0..40 {
        let (x, y, depth_m) = ((i * 23) % 64, (i * 17) % 48, 0.8 + 0.2 * f64::from(i as u32 % 11));
        values.set(x, y, (stored(depth_m), 0));
        let exact_m = scene().geometry.depth_m(f64::from(stored(depth_m)) / 16.0).unwrap();
        points.push((x, y, DVec3::from(scene().geometry.point_m(x as f64, y as f64, exact_m))));
    }
    let mut pose = Pose::of_left_camera(2.0);
    pose.orbit(0.5, 0.4);
    pose.fly(dvec3(0.1, -0.2, -0.4));
    let size = (640, 480);
    let image = drawn(&gpu, &values, NO_LINES, &pose, size);
    let lens = Lens::of(&scene().geometry, SIZE, size);
    let clip_from_world = clip_from_world(&pose, &lens);
    let (mut seen, mut found) = (0, 0);
    for &(x, y, point) in &points {
        let clip = clip_from_world * point.extend(1.0);
        let ndc = clip.truncate() / clip.w;
        let at = (dvec2(ndc.x, -ndc.y) + 1.0) / 2.0 * lens.target_px;
        if at.cmpge(dvec2(2.0, 2.0)).all() && at.cmplt(lens.target_px - 2.0).all() {
            seen += 1;
            found += usize::from(image.at(at.x as usize, at.y as usize) == colour_of(x, y));
        }
    }
    // one or two points are hidden
    assert!(seen >= 20 && found + 2 >= seen, "{found} of {seen} points are where they belong");
    let few = 40 * 30 * 30;
    assert!(covered(&image) < few, "and there is nothing else: {} px", covered(&image));
}

#[test]
fn invalid_infinite_and_out_of_range_points_are_not_drawn() {
    let Some(gpu) = Gpu::for_test() else { return };
    let pose = Pose::of_left_camera(2.0);
    let at_infinity = -32; // for an offset of 2 px
    let count =
        |value, settings| covered(&drawn(&gpu, &Image::filled(SIZE.0, SIZE.1, (value, 0)), settings, &pose, (64, 48)));
    let unlimited = SpaceSettings { is_limited: false, ..NO_LINES };
    let mesh = SpaceSettings { surface: Surface::Mesh, ..unlimited };
    for settings in [unlimited, mesh] {
        assert_eq!([INVALID, at_infinity, at_infinity - 16].map(|value| count(value, settings)), [0; 3]);
        assert!(count(at_infinity + 1, settings) > 63 * 47 - 200, "800 m away");
    }
    assert_eq!([stored(11.0), stored(0.45)].map(|value| count(value, NO_LINES)), [0; 2]);
    assert_eq!([stored(11.0), stored(0.45)].map(|value| count(value, unlimited)), [64 * 48; 2]);
}

#[test]
fn a_mesh_is_cut_at_an_edge_of_depth() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mesh = SpaceSettings { surface: Surface::Mesh, ..NO_LINES };
    let width_of_gap = |step: i16| {
        let values = Image::from_fn(SIZE.0, SIZE.1, |x, _| (stored(2.0) + if x < 32 { 0 } else { step }, 0));
        let image = drawn(&gpu, &values, mesh, &Pose::of_left_camera(2.0), (640, 480));
        (20..600).filter(|&x| image.at(x, 240) == BACKGROUND).count()
    };
    assert_eq!(width_of_gap(16), 0, "1 px is a slope");
    assert!((8..=12).contains(&width_of_gap(17)), "between two columns: {}", width_of_gap(17));
}

#[test]
fn depth_and_confidence_have_the_colours_of_their_maps() {
    let Some(gpu) = Gpu::for_test() else { return };
    let pose = Pose::of_left_camera(2.0);
    let value = |colouring, depth_m: f64, confidence| {
        let values = Image::filled(SIZE.0, SIZE.1, (stored(depth_m), confidence));
        drawn(&gpu, &values, SpaceSettings { colouring, ..NO_LINES }, &pose, (64, 48)).at(30, 20)[0]
    };
    for (depth_m, inverse) in [(1.0, 0.9 / 1.9), (2.0, 0.4 / 1.9), (0.5, 1.0)] {
        let wanted = 255.0 * inverse;
        let found = f64::from(value(Colouring::Depth, depth_m, 0));
        assert!((found - wanted).abs() < 1.5, "{depth_m} m: {found} instead of {wanted}");
    }
    assert_eq!([0, 100, 255].map(|confidence| value(Colouring::Confidence, 1.0, confidence)), [0, 100, 255]);
}

#[test]
fn lines_are_drawn_behind_what_hides_them() {
    let Some(gpu) = Gpu::for_test() else { return };
    let mut pose = Pose::of_left_camera(2.0);
    pose.orbit(0.4, 0.6);
    pose.approach(4.0);
    let with_lines = SpaceSettings { has_lines: true, ..NO_LINES };
    let nothing = Image::filled(SIZE.0, SIZE.1, (INVALID, 0));
    assert_eq!(covered(&drawn(&gpu, &nothing, NO_LINES, &pose, (320, 240))), 0);
    let lines = drawn(&gpu, &nothing, with_lines, &pose, (320, 240));
    assert!(covered(&lines) > 500, "{}", covered(&lines));
    let all = drawn(&gpu, &plane(1.0), with_lines, &pose, (320, 240));
    let is_point = |pixel: &[u8; 3]| pixel[2] == 200;
    assert!(all.pixels().iter().zip(lines.pixels()).any(|(all, line)| is_point(all) && *line != BACKGROUND));
    assert!(all.pixels().iter().zip(lines.pixels()).any(|(all, line)| all == line && *line != BACKGROUND));
}

#[test]
fn rust_mirrors_the_shader() {
    let source = stereopsis_shaders::text("space");
    let module = naga::front::wgsl::parse_str(source).expect("space.wgsl");
    let (_, space) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some("Space")).expect("struct Space");
    let naga::TypeInner::Struct { members, span } = &space.inner else { panic!("Space is a struct") };
    let offsets: Vec<_> = members.iter().map(|m| (m.name.as_deref().unwrap_or(""), m.offset as usize)).collect();
    macro_rules! fields {
        ($($field:ident),+) => {{
            let _all = |value: Space| { let Space { $($field: _),+ } = value; };
            vec![$((stringify!($field), std::mem::offset_of!(Space, $field))),+]
        }};
    }
    let fields = fields!(
        clip_from_world,
        focal_px,
        focal_times_baseline,
        doffs_px,
        cx_px,
        cy_px,
        low,
        high,
        least_px,
        most_px,
        target_width,
        target_height,
        scale_px,
        every,
        columns,
        colouring,
        unused
    );
    assert_eq!((offsets, *span as usize), (fields, size_of::<Space>()));
    let constant = |name: &str| {
        let (_, c) = module.constants.iter().find(|(_, c)| c.name.as_deref() == Some(name)).expect(name);
        match module.global_expressions[c.init] {
            naga::Expression::Literal(naga::Literal::F32(v)) => f64::from(v),
            naga::Expression::Literal(naga::Literal::U32(v)) => f64::from(v),
            ref other => panic!("{name}: {other:?}"),
        }
    };
    for (name, value) in [
        ("INVALID", f64::from(INVALID as u16)),
        ("STEPS_PER_PX", f64::from(stereopsis_stereo::map::SUBPIXEL_STEPS)),
        ("HELD", f64::from(reason::HELD)),
        ("FILLED", f64::from(reason::FILLED)),
        ("MAX_STEP_PX", stereopsis_images::MAX_STEP_PX),
    ] {
        assert!((constant(name) - value).abs() < 1e-12, "{name}");
    }
    assert_eq!([Colouring::Picture, Colouring::Depth, Colouring::Confidence].map(|c| c as u32), [0, 1, 2]);
}

/// Returns a map of a scene with known depth along each ray, with disparities rounded as stored.
fn measured(scene: &Scene, depth_m: impl Fn(DVec3) -> Option<f64>) -> DisparityMap {
    let (width, height) = scene.size;
    let values = Image::from_fn(width, height, |x, y| {
        let ray = DVec3::from(scene.geometry.point_m(x as f64, y as f64, 1.0));
        depth_m(ray).map_or(INVALID, |z| (16.0 * scene.geometry.disparity_px(z)).round() as i16)
    });
    DisparityMap { reasons: values.map(|_| 0), values, confidence: None }
}

/// Returns the largest distance of a point from a surface, relative to the depth error of 1/16 px, and the number of points.
fn worst(scene: &Scene, map: &DisparityMap, distance_m: impl Fn(DVec3) -> f64) -> (f64, usize) {
    let picture = Picture { luma: Luma::U8(Image::filled(scene.size.0, scene.size.1, 7)), rgb: None };
    let settings = SpaceSettings { is_limited: false, ..NO_LINES };
    let points = shown_points(map, &picture, scene, &settings, &[[0; 3]; 256]);
    assert!(points.colors.pixels().iter().all(|color| *color == [7; 3]));
    let mut worst: (f64, usize) = (0.0, 0);
    for (x, y) in (0..scene.size.1).flat_map(|y| (0..scene.size.0).map(move |x| (x, y))) {
        let z = f64::from(points.depth_m.at(x, y));
        if z.is_nan() {
            continue;
        }
        let point = DVec3::from(scene.geometry.point_m(x as f64, y as f64, z));
        let Geometry { focal_px, baseline_m, .. } = scene.geometry;
        let expected_m = z * z / (focal_px * baseline_m) / 16.0;
        worst = (worst.0.max(distance_m(point).abs() / expected_m), worst.1 + 1);
    }
    worst
}

#[test]
fn a_plane_and_a_sphere_keep_their_shape_within_the_error_of_a_disparity() {
    let geometry = Geometry::new(300.0, 0.08, 4.0, [160.0, 121.0]);
    let scene = Scene { geometry, size: (320, 240), ..scene() };
    let (normal, offset_m) = (dvec3(0.3, -0.2, 1.0).normalize(), 1.8);
    let map = measured(&scene, |ray| Some(offset_m / normal.dot(ray)));
    let (share, points) = worst(&scene, &map, |point| normal.dot(point) - offset_m);
    assert_eq!(points, 320 * 240);
    assert!((0.3..=1.0).contains(&share), "the plane: {share}");

    let (centre, radius_m) = (dvec3(0.1, -0.05, 1.5), 0.4);
    let sphere = |ray: DVec3| {
        let (a, b, c) = (ray.length_squared(), ray.dot(centre), centre.length_squared() - radius_m * radius_m);
        let root = b * b - a * c;
        (root > 0.0).then(|| (b - root.sqrt()) / a)
    };
    let (share, points) = worst(&scene, &measured(&scene, sphere), |point| point.distance(centre) - radius_m);
    assert!(points > 10_000 && (0.3..=1.0).contains(&share), "the sphere: {share} of {points} points");
}

#[test]
fn the_file_has_the_points_and_colours_that_are_drawn() {
    let Some(gpu) = Gpu::for_test() else { return };
    let values = Image::from_fn(SIZE.0, SIZE.1, |x, y| match (x * 7 + y * 5) % 11 {
        0 => (INVALID, 9),
        1 => (stored(0.3), 80), // nearer than the range
        i => (stored(1.0 + i as f64 / 4.0), (20 * i) as u8),
    });
    let map = DisparityMap {
        values: values.map(|pixel| pixel.0),
        reasons: values.map(|_| 0),
        confidence: Some(values.map(|pixel| pixel.1)),
    };
    let rgb = Image::from_fn(SIZE.0, SIZE.1, colour_of);
    let picture = Picture { luma: Luma::U8(rgb.map(|color| color[0])), rgb: Some(rgb) };
    let colours = std::array::from_fn(|i| [i as u8, 255 - i as u8, 9]);
    for colouring in [Colouring::Picture, Colouring::Depth, Colouring::Confidence] {
        let settings = SpaceSettings { colouring, ..NO_LINES };
        let image = drawn(&gpu, &values, settings, &Pose::of_left_camera(2.0), (640, 480));
        let points = shown_points(&map, &picture, &scene(), &settings, &colours);
        for (x, y) in (0..SIZE.1).flat_map(|y| (0..SIZE.0).map(move |x| (x, y))) {
            let seen = image.at(10 * x + 5, 10 * y + 5);
            let wanted = if points.depth_m.at(x, y).is_nan() { BACKGROUND } else { points.colors.at(x, y) };
            let is_same = seen.iter().zip(wanted).all(|(a, b)| a.abs_diff(b) <= 1);
            assert!(is_same, "{colouring} at ({x}, {y}): {seen:?} instead of {wanted:?}");
        }
    }
}

//! Tests of the truth of each data set: layouts, scales, masks, and errors.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use image::{GrayImage, ImageBuffer};
use std::fs;
use std::path::PathBuf;

/// Creates a folder of images: name, size, value. The prefix `deep-` stands for 16 bits and is removed.
fn folder_of(files: &[(&str, (u32, u32), u16)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for &(name, (width, height), value) in files {
        let path = root.path().join(name.trim_start_matches("deep-"));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if name.starts_with("deep-") {
            ImageBuffer::from_pixel(width, height, image::Luma([value])).save(path).unwrap();
        } else {
            GrayImage::from_pixel(width, height, image::Luma([value as u8])).save(path).unwrap();
        }
    }
    root
}

fn write_pfm(path: &Path, (width, height): (usize, usize), values: &[f32]) {
    let pixels: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(path, [format!("Pf\n{width} {height}\n-1\n").as_bytes(), &pixels].concat()).unwrap();
}

fn read_beside(left: &Path, size: (usize, usize)) -> Truth {
    truth_beside(left, size).unwrap().unwrap().read(size, MaxPixels::default()).unwrap().truth
}

#[test]
fn middlebury_2014_has_floats_with_a_mask() {
    let root = folder_of(&[("mask0nocc.png", (2, 1), 255)]);
    write_pfm(&root.path().join("disp0.pfm"), (2, 1), &[1.25, f32::INFINITY]);
    let left = root.path().join("im0.png");
    let truth = read_beside(&left, (2, 1));
    assert!((truth.left_px.at(0, 0) - 1.25).abs() < 1e-6 && truth.left_px.at(1, 0).is_nan());
    assert!(!truth.is_occluded(0, 0) && truth.occluded.is_some() && truth.right_px.is_none());
    let root = folder_of(&[("mask0nocc.png", (2, 1), 128)]);
    write_pfm(&root.path().join("disp0GT.pfm"), (2, 1), &[1.0, 1.5]);
    assert!(read_beside(&root.path().join("im0.png"), (2, 1)).is_occluded(0, 0), "128 is hidden: as in ETH3D");
}

#[test]
fn computes_occlusions_from_the_truth_of_both_views() {
    let root = tempfile::tempdir().unwrap();
    write_pfm(&root.path().join("disp0.pfm"), (4, 1), &[2.0, 1.0, 1.0, f32::INFINITY]);
    write_pfm(&root.path().join("disp1.pfm"), (4, 1), &[1.5, 5.0, f32::INFINITY, 1.0]);
    let truth = read_beside(&root.path().join("im0.png"), (4, 1));
    // partner outside the image; agreement; partner much nearer; unknown
    assert_eq!([0, 1, 2, 3].map(|x| truth.is_occluded(x, 0)), [true, false, true, true]);
    assert!(truth.right_px.unwrap().at(2, 0).is_nan());
}

#[test]
fn scales_of_8_bits_follow_from_the_sizes_of_the_sets() {
    for (left, disparities, size, scale) in [
        ("im2.png", "disp2.png", (450, 375), 4.0),
        ("im2.ppm", "disp2.pgm", (434, 383), 8.0),
        ("view1.png", "disp1.png", (427, 370), 3.0),
        ("view1.png", "disp1.png", (1282, 1110), 1.0),
    ] {
        let root = folder_of(&[(disparities, size, 96)]);
        let size = (size.0 as usize, size.1 as usize);
        let truth = read_beside(&root.path().join(left), size);
        assert!((truth.left_px.at(5, 5) - 96.0 / scale).abs() < 1e-6, "{disparities} {size:?}");
        assert!(truth.occluded.is_none(), "nothing tells");
    }
    let root = folder_of(&[("disp2.png", (640, 480), 96)]);
    let why = truth_beside(&root.path().join("im2.png"), (640, 480)).unwrap_err().to_string();
    assert!(why.contains("disp2.png") && why.contains("truth-scale") && why.contains("640x480"), "{why}");
    assert!(truth_beside(&root.path().join("left.png"), (640, 480)).unwrap().is_none());
}

#[test]
fn kitti_has_two_folders_of_16_bits() {
    let root = folder_of(&[
        ("deep-disp_occ_0/000000_10.png", (3, 2), 640),
        ("deep-disp_noc_0/000000_10.png", (3, 2), 0),
        ("deep-disp_occ/000007_10.png", (3, 2), 256),
    ]);
    let truth = read_beside(&root.path().join("image_2/000000_10.png"), (3, 2));
    assert!((truth.left_px.at(2, 1) - 2.5).abs() < 1e-6 && truth.is_occluded(2, 1));
    assert!(truth_beside(&root.path().join("image_2/000000_11.png"), (3, 2)).unwrap().is_none());
    let truth = read_beside(&root.path().join("colored_0/000007_10.png"), (3, 2));
    assert!((truth.left_px.at(0, 0) - 1.0).abs() < 1e-6 && truth.occluded.is_none());
}

#[test]
fn a_named_file_has_a_default_scale_or_a_given_one() {
    let root = folder_of(&[("deep-a.png", (9, 2), 512), ("b.png", (9, 2), 30)]);
    let read = |words: &str| {
        let file = DisparityFile::from(&*root.path().join(words).to_string_lossy());
        read_disparities(&file, (9, 2), MaxPixels::default())
            .map(|read| read.px.at(1, 1))
            .map_err(|err| err.to_string())
    };
    assert_eq!((read("a.png"), read("a.png:64"), read("b.png:16")), (Ok(2.0), Ok(8.0), Ok(1.875)));
    let why = read("b.png").unwrap_err();
    assert!(why.contains("b.png") && why.contains("truth-scale"), "{why}");
    assert_eq!(DisparityFile::from("c:0"), DisparityFile::new("c:0"), "no scale");
}

#[test]
fn truth_is_read_from_floats_of_tiff_and_numpy() {
    let root = tempfile::tempdir().unwrap();
    let (tiff_path, npy_path) = (root.path().join("t.tiff"), root.path().join("t.npy"));
    let values = [2.5_f32, f32::NAN, 0.0, 1.25, f32::INFINITY, 2.0];
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(&tiff_path).unwrap()).unwrap();
    encoder.write_image::<tiff::encoder::colortype::Gray32Float>(3, 2, &values).unwrap();
    let header = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }\n";
    let data: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(&npy_path, [&b"\x93NUMPY\x01\0"[..], &[header.len() as u8, 0], header.as_bytes(), &data].concat())
        .unwrap();
    for path in [&tiff_path, &npy_path] {
        let image = disparities(path, None).unwrap().px;
        let known: Vec<_> = image.pixels().iter().map(|d| if d.is_nan() { -1.0 } else { *d }).collect();
        assert_eq!((image.size(), &known[..]), ((3, 2), &[2.5, -1.0, -1.0, 1.25, -1.0, 2.0][..]), "{path:?}");
        let half = disparities(path, Some(2)).unwrap().px;
        assert_eq!((half.at(0, 0), half.at(2, 1)), (1.25, 1.0));
    }
}

#[test]
fn refuses_negative_truth_without_a_negative_scale() {
    let root = tempfile::tempdir().unwrap();
    let path = root.path().join("disp.pfm");
    write_pfm(&path, (3, 1), &[-2.0, f32::NAN, -2.5]);
    let text = disparities(&path, None).unwrap_err().to_string();
    assert!(text.contains("all its disparities are negative") && text.contains("truth-scale -1"), "{text}");
    let turned = disparities(&path, Some(-1)).unwrap().px;
    assert_eq!((turned.at(0, 0), turned.at(1, 0).is_nan(), turned.at(2, 0)), (2.0, true, 2.5));
    write_pfm(&path, (3, 1), &[-2.0, f32::NAN, 2.5]);
    let mixed = disparities(&path, None).unwrap().px;
    assert_eq!(
        (mixed.at(0, 0).is_nan(), mixed.at(2, 0)),
        (true, 2.5),
        "one sign is that of the set, the other unknown"
    );
    write_pfm(&path, (3, 1), &[0.0, f32::NAN, f32::INFINITY]);
    let files = TruthFiles::of_left(DisparityFile::new(&path));
    let text = files.read_known((3, 1), MaxPixels::default()).unwrap_err().to_string();
    assert!(text.contains("disp.pfm has no disparity"), "{text}");
}

#[test]
fn refuses_a_file_of_depths() {
    let text = read_disparities(&DisparityFile::new("000000_left_depth.npy"), (1, 1), MaxPixels::default())
        .unwrap_err()
        .to_string();
    assert!(text.contains("name is that of a depth") && text.contains("rename"), "{text}");
}

/// Returns the folder of the data sets; without one, prints a note and returns `None`.
fn data() -> Option<PathBuf> {
    let data = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from);
    if data.is_none() {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
    }
    data
}

/// Copies files of a data set to a folder, under their published names.
fn as_published(data: &Path, files: &[(&str, &str)]) -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    for (from, to) in files {
        let to = root.path().join(to);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(data.join(from), to).unwrap();
    }
    root
}

#[test]
fn reads_files_of_the_real_data_sets() {
    let Some(data) = data() else { return };
    let teddy = as_published(
        &data.join("middlebury2003/teddy"),
        &[
            ("left.png", "im2.png"),
            ("right.png", "im6.png"),
            ("disp.png", "disp2.png"),
            ("disp_right.png", "disp6.png"),
        ],
    );
    let truth = read_beside(&teddy.path().join("im2.png"), (450, 375));
    let known: Vec<f32> = truth.left_px.pixels().iter().copied().filter(|d| d.is_finite()).collect();
    let share = known.len() as f32 / (450.0 * 375.0);
    assert!((share - 0.9798).abs() < 1e-3, "{share}");
    let (min, max) = known.iter().fold((f32::MAX, 0.0_f32), |(min, max), d| (min.min(*d), max.max(*d)));
    assert_eq!((min, max), (12.5, 52.75));

    let reindeer = as_published(
        &data.join("middlebury2005/reindeer"),
        &[("left.png", "view1.png"), ("disp.png", "disp1.png"), ("disp_right.png", "disp5.png")],
    );
    let truth = read_beside(&reindeer.path().join("view1.png"), (447, 370));
    // a mask that another program computed by the same rule
    let mask = image::open(data.join("middlebury2005/reindeer/nonocc_derived.png")).unwrap().to_luma8();
    let differing = mask.enumerate_pixels().filter(|(x, y, visible)| {
        let (x, y) = (*x as usize, *y as usize);
        truth.left_px.at(x, y).is_finite() && truth.is_occluded(x, y) == (visible.0[0] == 255)
    });
    let share = differing.count() as f64 / (447.0 * 370.0);
    assert!(share < 0.005, "{share} of the pixels differ");

    let kitti = data.join("formats/kitti_disp16/000139_10.png");
    let left_px = disparities(&kitti, None).unwrap().px;
    assert_eq!(left_px.size(), (1242, 375));
    let known = left_px.pixels().iter().filter(|d| d.is_finite());
    let (min, max) = known.fold((f32::MAX, 0.0_f32), |(min, max), d| (min.min(*d), max.max(*d)));
    assert_eq!((min, max), (194.0 / 256.0, 18_594.0 / 256.0));

    let float = disparities(&data.join("sceneflow/scene0/disp.pfm"), None).unwrap().px;
    let max = float.pixels().iter().fold(0.0_f32, |max, d| max.max(*d));
    assert!(float.size() == (960, 540) && (max - 75.883).abs() < 1e-3, "{max}");
}

/// Reads a truth as that of a pair of its own size.
fn disparities(path: &Path, scale: Option<i32>) -> Result<Disparities, CaptureError> {
    let file = DisparityFile { path: path.to_owned(), scale };
    let size = numbers(&file, MaxPixels::default())?.values.size();
    read_disparities(&file, size, MaxPixels::default())
}

/// Writes a TIFF of 4x1 numbers with the tag by which GDAL names "no value", as rasterio 1.4.4 (GDAL 3.10.3) does.
fn write_tiff<C: tiff::encoder::colortype::ColorType>(path: &Path, no_value: &str, values: &[C::Inner])
where
    [C::Inner]: tiff::encoder::TiffValue,
{
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(path).unwrap()).unwrap();
    let mut image = encoder.new_image::<C>(4, 1).unwrap();
    image.encoder().write_tag(tiff::tags::Tag::GdalNodata, no_value).unwrap();
    image.write_data(values).unwrap();
}

#[test]
fn a_number_that_gdal_names_is_unknown() {
    use tiff::encoder::colortype::{Gray16, Gray32Float, GrayI16};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.tif");
    let known = |read: Disparities| read.px.pixels().iter().map(|d| d.is_finite()).collect::<Vec<_>>();
    for no_value in ["9999", "3.4028234663852886e+38", "nan", "2.5"] {
        let number: f32 = no_value.parse().unwrap();
        write_tiff::<Gray32Float>(&path, no_value, &[1.5, number, 3.0, number]);
        assert_eq!(known(disparities(&path, None).unwrap()), [true, false, true, false], "{no_value}");
    }
    write_tiff::<GrayI16>(&path, "-32768", &[2, -32_768, 3, 0]);
    let read = disparities(&path, Some(2)).unwrap();
    assert_eq!((read.px.at(0, 0), read.px.at(2, 0), known(read)), (1.0, 1.5, vec![true, false, true, false]));
    assert!(disparities(&path, None).unwrap_err().to_string().contains("truth-scale"), "whole numbers");
    write_tiff::<Gray16>(&path, "65535", &[256, 65_535, 512, 0]);
    assert_eq!(known(disparities(&path, None).unwrap()), [true, false, true, false]);
}

/// rasterio 1.4.4: `scales`, `offsets`, and a mask in the file (`write_mask`).
#[test]
fn scale_offset_and_mask_of_gdal_are_known() {
    use tiff::encoder::colortype::{Gray8, Gray16};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.tif");
    let mut encoder = tiff::encoder::TiffEncoder::new(fs::File::create(&path).unwrap()).unwrap();
    let mut image = encoder.new_image::<Gray16>(9, 1).unwrap();
    let metadata = "<GDALMetadata>\n  <Item name=\"OFFSET\" sample=\"0\" role=\"offset\">-1</Item>\n  \
                    <Item name=\"SCALE\" sample=\"0\" role=\"scale\">0.0625</Item>\n</GDALMetadata>";
    image.encoder().write_tag(tiff::tags::Tag::Unknown(42_112), metadata).unwrap();
    image.write_data(&[48, 16, 0, 80, 0, 0, 0, 0, 0]).unwrap();
    let px = disparities(&path, None).unwrap().px;
    assert_eq!((px.at(0, 0), px.at(1, 0).is_nan(), px.at(3, 0)), (2.0, true, 4.0));
    assert_eq!(disparities(&path, Some(16)).unwrap().px.pixels()[3..4], [5.0], "the user's scale wins");
    let mut mask = encoder.new_image::<Gray8>(9, 1).unwrap();
    mask.encoder().write_tag(tiff::tags::Tag::NewSubfileType, 4_u32).unwrap();
    mask.write_data(&[255; 9]).unwrap();
    let remark = disparities(&path, None).unwrap().remark.unwrap();
    assert!(remark.contains("truth.tif: its mask is not read"), "{remark}");
}

#[test]
fn a_disparity_of_the_images_width_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.pfm");
    write_pfm(&path, (4, 1), &[1.0, 1e9, 1e9, 3.5]);
    let read = disparities(&path, None).unwrap();
    assert!(read.px.at(1, 0).is_nan() && read.px.pixels()[3..] == [3.5]);
    let remark = read.remark.unwrap();
    assert!(remark.contains("truth.pfm") && remark.contains("2 numbers of 4 px"), "{remark}");
    write_pfm(&path, (4, 1), &[16.0, 32.0, 64.0, 1.0]);
    let why = disparities(&path, None).unwrap_err().to_string();
    assert!(why.contains("6.4e1 px in an image 4 px wide") && why.contains("truth-scale"), "another scale: {why}");
    write_pfm(&path, (4, 1), &[1e9, 1e9, 1e9, 1e9]);
    assert!(disparities(&path, None).is_err());
}

/// pandora 1.9.0: right minus left, and -9999 without a tag.
#[test]
fn no_value_of_negative_disparities_stays_none_when_their_sign_is_turned() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.pfm");
    for sentinel in [-9999.0, -999.0, -32_768.0] {
        write_pfm(&path, (2, 2), &[-1.0, sentinel, -1.5, f32::NAN]);
        let px = disparities(&path, Some(-1)).unwrap().px;
        assert_eq!((px.at(0, 1), px.at(0, 0), px.at(1, 1).is_nan()), (1.0, 1.5, true), "{sentinel}");
        let why = disparities(&path, None).unwrap_err().to_string();
        assert!(why.contains("truth-scale -1"), "{why}");
    }
}

#[test]
fn numbers_in_three_channels_are_read_by_their_scale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("truth.png");
    let save = |pixel: [u8; 3]| image::RgbImage::from_pixel(200, 2, image::Rgb(pixel)).save(&path).unwrap();
    save([3, 192, 64]); // 4 r + g / 64 + b / 16384
    let px = disparities(&path, Some(16_384)).unwrap().px.at(1, 1);
    assert!((px - 15.003_906).abs() < 1e-5, "{px}");
    save([1, 137, 40]); // (255 * 255 r + 255 g + b) / 1000
    let px = disparities(&path, Some(1000)).unwrap().px.at(1, 1);
    assert!((px - 100.0).abs() < 1e-4, "{px}");
    for scale in [None, Some(8)] {
        let why = disparities(&path, scale).unwrap_err().to_string();
        assert!(why.contains("in colours") && why.contains("16384") && why.contains("1000"), "{why}");
    }
    save([24, 24, 24]);
    assert!((disparities(&path, Some(8)).unwrap().px.at(0, 0) - 3.0).abs() < 1e-6, "grey saved as RGB");
}

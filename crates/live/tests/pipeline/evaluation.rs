//! Tests of the evaluation against truth: the layouts of the data sets, from tiny files, and the figures of an independent script.

use std::fs;
use std::path::{Path, PathBuf};
use stereopsis_base::image::Image;
use stereopsis_frame::MaxPixels;
use stereopsis_images::picture_files::truth::{PairWithTruth, TruthPair, find_truth_pairs};
use stereopsis_metrics::{COLUMNS, Figures, figures};
use stereopsis_stereo::{DisparityMap, INVALID};

fn make_folder(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
}

fn pictures(root: &Path, names: &[&str], (width, height): (u32, u32), value: u8) {
    for name in names {
        let path = root.join(name);
        make_folder(&path);
        image::GrayImage::from_pixel(width, height, image::Luma([value])).save(path).unwrap();
    }
}

/// Writes a 16-bit image, as in KITTI.
fn deep_picture(root: &Path, name: &str, (width, height): (u32, u32), values: &[u16]) {
    let path = root.join(name);
    make_folder(&path);
    image::ImageBuffer::<image::Luma<u16>, _>::from_raw(width, height, values.to_vec()).unwrap().save(path).unwrap();
}

/// Writes floats in rows from the bottom.
fn pfm(root: &Path, name: &str, (width, height): (usize, usize), values: &[f32]) {
    let path = root.join(name);
    make_folder(&path);
    let pixels: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
    fs::write(path, [format!("Pf\n{width} {height}\n-1\n").as_bytes(), &pixels].concat()).unwrap();
}

fn found(root: &Path) -> Vec<TruthPair> {
    find_truth_pairs(root).unwrap()
}

fn one(root: &Path) -> PairWithTruth {
    let pairs = found(root);
    assert_eq!(pairs.len(), 1, "{pairs:?}");
    pairs[0].read(MaxPixels::default()).unwrap()
}

fn regions(pair: &PairWithTruth) -> Vec<&'static str> {
    pair.regions.present().iter().map(|(region, _)| region.word()).collect()
}

#[test]
fn middlebury_grey_truth_has_the_scale_of_its_size() {
    for (left, right, truth, size, px, layout) in [
        ("im2.png", "im6.png", "disp2.png", (450, 375), 24.0, "Middlebury 2001, 2003"),
        ("im2.ppm", "im6.ppm", "disp2.pgm", (434, 383), 12.0, "Middlebury 2001, 2003"),
        ("view1.png", "view5.png", "disp1.png", (427, 370), 32.0, "Middlebury 2005, 2006"),
        (
            "scene1.row3.col3.ppm",
            "scene1.row3.col4.ppm",
            "truedisp.row3.col3.pgm",
            (384, 288),
            6.0,
            "Middlebury 2001, Tsukuba",
        ),
    ] {
        let root = tempfile::tempdir().unwrap();
        pictures(&root.path().join("set/scene"), &[left, right, truth], size, 96);
        // other views in the same folder
        pictures(&root.path().join("set/scene"), &["im3.png", "view3.png"], size, 9);
        let pair = one(root.path());
        assert_eq!((pair.name.as_str(), pair.group(), pair.layout), ("set/scene", "scene", layout));
        assert!((pair.truth.left_px.at(7, 5) - px).abs() < 1e-6, "{left}: {}", pair.truth.left_px.at(7, 5));
        assert_eq!(pair.num_disparities, px as u32 + 1, "one more than the largest true one");
        assert_eq!(regions(&pair), ["all"], "nothing tells what is hidden");
    }
}

#[test]
fn evaluation_3_and_eth3d_have_a_mask_and_a_range() {
    let root = tempfile::tempdir().unwrap();
    pictures(root.path(), &["im0.png", "im1.png"], (3, 1), 50);
    pfm(root.path(), "disp0GT.pfm", (3, 1), &[2.5, 1.5, f32::INFINITY]);
    image::GrayImage::from_raw(3, 1, vec![255, 128, 0]).unwrap().save(root.path().join("mask0nocc.png")).unwrap();
    let calibration = "cam0=[1 0 1; 0 1 1; 0 0 1]\nndisp=64\n";
    fs::write(root.path().join("calib.txt"), calibration).unwrap();
    let pair = one(root.path());
    assert_eq!((pair.layout, pair.num_disparities), ("Middlebury evaluation 3, ETH3D", 64));
    assert_eq!(pair.name, root.path().file_name().unwrap().to_str().unwrap(), "called by its folder");
    let visible = pair.regions.nonocc.as_ref().unwrap();
    assert_eq!(visible.pixels(), [true, false, false]);
    fs::remove_file(root.path().join("disp0GT.pfm")).unwrap();
    pfm(root.path(), "disp0.pfm", (3, 1), &[2.5, 1.5, f32::INFINITY]);
    assert_eq!(one(root.path()).layout, "Middlebury 2014, 2021");
}

#[test]
fn both_years_of_kitti_have_16_bits_and_a_visible_part() {
    for (left, right, all, visible, layout) in [
        ("image_2", "image_3", "disp_occ_0", "disp_noc_0", "KITTI 2015"),
        ("image_0", "image_1", "disp_occ", "disp_noc", "KITTI 2012"),
        ("colored_0", "colored_1", "disp_occ", "disp_noc", "KITTI 2012"),
    ] {
        let root = tempfile::tempdir().unwrap();
        let place = root.path().join("training");
        // the second pair of KITTI's flow has no truth
        for name in ["000000_10.png", "000000_11.png"] {
            pictures(&place, &[&format!("{left}/{name}"), &format!("{right}/{name}")], (3, 1), 80);
        }
        deep_picture(&place, &format!("{all}/000000_10.png"), (3, 1), &[512, 640, 0]);
        deep_picture(&place, &format!("{visible}/000000_10.png"), (3, 1), &[512, 0, 0]);
        let pair = one(root.path());
        assert_eq!((pair.name.as_str(), pair.layout), ("training/000000_10", layout));
        assert_eq!(pair.truth.left_px.pixels()[..2], [2.0, 2.5]);
        assert!(pair.truth.left_px.at(2, 0).is_nan());
        assert_eq!(pair.regions.nonocc.as_ref().unwrap().pixels(), [true, false, false]);
        assert_eq!(pair.num_disparities, 4);
    }
}

/// Numbers of three channels: 4 r + g / 64 + b / 16384 px (`sintel_io.py` of MPI Sintel's stereo training data, 2015).
#[test]
fn sintel_has_disparities_in_three_channels() {
    let root = tempfile::tempdir().unwrap();
    let names = ["clean_left/alley_1/frame_0001.png", "clean_right/alley_1/frame_0001.png"];
    pictures(root.path(), &names, (40, 2), 9);
    let truth = root.path().join("disparities/alley_1/frame_0001.png");
    make_folder(&truth);
    image::RgbImage::from_pixel(40, 2, image::Rgb([3, 32, 128])).save(truth).unwrap();
    let pair = one(root.path());
    let px = pair.truth.left_px.at(7, 1);
    assert!((px - 12.507_812).abs() < 1e-5 && pair.layout == "MPI Sintel", "{px} {}", pair.layout);
}

#[test]
fn scene_flow_has_a_tree_of_truth_beside_the_pictures() {
    let root = tempfile::tempdir().unwrap();
    let below = "TRAIN/A/0000";
    for tree in ["frames_cleanpass", "frames_finalpass"] {
        for side in ["left", "right"] {
            pictures(root.path(), &[&format!("{tree}/{below}/{side}/0006.png")], (9, 1), 70);
        }
    }
    for side in ["left", "right"] {
        pfm(
            root.path(),
            &format!("disparity/{below}/{side}/0006.pfm"),
            (9, 1),
            &[7.5, 8.0, 0., 0., 0., 0., 0., 0., 0.],
        );
    }
    let pairs = found(root.path());
    let names: Vec<_> = pairs.iter().map(|pair| (pair.name.as_str(), pair.truth.layout)).collect();
    let expected = ["frames_cleanpass", "frames_finalpass"].map(|tree| format!("{tree}/{below}/0006"));
    assert_eq!(names, [(expected[0].as_str(), "Scene Flow"), (expected[1].as_str(), "Scene Flow")]);
    let pair = pairs[0].read(MaxPixels::default()).unwrap();
    assert_eq!((pair.truth.left_px.at(0, 0), pair.num_disparities), (7.5, 9));
}

#[test]
fn a_meta_json_names_truth_and_masks() {
    let root = tempfile::tempdir().unwrap();
    let set = root.path().join("set/a");
    pictures(&set, &["left.png", "right.png", "disp.png", "nonocc.png", "all.png"], (3, 1), 255);
    image::GrayImage::from_raw(3, 1, vec![0, 128, 255]).unwrap().save(set.join("disc.png")).unwrap();
    let masks = r#""nonocc": { "file": "nonocc.png" }, "all": { "file": "all.png" }, "disc": { "file": "disc.png" }"#;
    let disp = r#""disp": { "file": "disp.png", "scale": 255 }"#;
    let write = |place: &Path, text: &str| fs::write(place.join("meta.json"), text).unwrap();
    write(&set, &format!(r#"{{ "left": "left.png", "right": "right.png", {disp}, "masks": {{ {masks} }} }}"#));
    // a pair without truth, and the format of another data set
    for (name, text) in [("b", r#"{ "left": "left.png", "right": "right.png" }"#), ("c", r#"{ "boards": 3 }"#)] {
        let folder = root.path().join("set").join(name);
        pictures(&folder, &["left.png", "right.png"], (3, 1), 9);
        write(&folder, text);
    }
    let pair = one(root.path());
    assert_eq!((pair.name.as_str(), pair.layout, pair.num_disparities), ("set/a", "meta.json", 2));
    assert_eq!(regions(&pair), ["nonocc", "all", "disc"]);
    assert_eq!(pair.regions.disc.as_ref().unwrap().pixels(), [false, false, true]);
    write(
        &set,
        &format!(r#"{{ "left": "left.png", "masks": {{ "nonocc_derived": {{ "file": "disc.png" }} }}, {disp} }}"#),
    );
    assert_eq!(regions(&one(root.path())), ["nonocc", "all"]);
    write(&set, &format!(r#"{{ "left": "left.png", {} }}"#, disp.replace("disp.png", "gone.png")));
    let why = one_error(root.path());
    assert!(why.contains("gone.png"), "{why}");
}

#[test]
fn unusable_truth_is_refused_by_name() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path();
    pictures(folder, &["left.png", "right.png"], (2, 2), 9);
    let why = find_truth_pairs(folder).unwrap_err().to_string();
    for word in ["has no pair with truth", "KITTI 2015", "disp0GT.pfm", "Scene Flow", "meta.json"] {
        assert!(why.contains(word), "no '{word}': {why}");
    }
    pictures(folder, &["a/im0.png"], (2, 1), 9);
    pfm(folder, "a/disp0.pfm", (2, 1), &[1.0, 2.0]);
    let why = find_truth_pairs(folder).unwrap_err().to_string();
    assert!(why.contains("im0.png") && why.contains("no right image"), "{why}");
    pictures(folder, &["a/im1.png"], (2, 1), 9);
    pfm(folder, "a/disp0.pfm", (1, 1), &[1.0]);
    let why = one_error(folder);
    assert!(why.contains("disp0.pfm") && why.contains("1x1") && why.contains("2x1"), "{why}");
}

fn one_error(root: &Path) -> String {
    found(root)[0].read(MaxPixels::default()).unwrap_err().to_string()
}

/// Returns a map near the truth, with every size of error up to 5 px and holes, in integers alone.
fn made_map(truth_px: &Image<f32>) -> DisparityMap {
    let (width, height) = truth_px.size();
    let values = Image::from_fn(width, height, |x, y| {
        let exact = truth_px.at(x, y);
        let steps = if exact.is_finite() { (exact * 16.0).floor() as i16 } else { 0 };
        let hole = (x * 3 + y * 5) % 11 == 0;
        if hole { INVALID } else { steps + ((x * 7 + y * 13) % 97) as i16 - 20 }
    });
    DisparityMap { values, reasons: Image::filled(width, height, 0), confidence: None }
}

/// Output of the script for such maps, as printed by numpy: scene, region, pixels, and the figures in the order of [`SCRIPT`].
const BY_THE_SCRIPT: &str = "\
middlebury2001/tsukuba all 87696 84.06540777230433 69.07270571063674 50.32726692209451 20.336161284437146 65.98013145351463 45.36024283779037 90.90950556467799 2.020524716522001 2.4747621806842646 1.75
middlebury2001/tsukuba nonocc 85438 84.07617219504202 69.0851845782907 50.34059786043681 20.359793066317096 65.98629819455533 45.36276302572952 90.88929984316113 2.0205993896000205 2.4748136509801197 1.75
middlebury2001/tsukuba disc 15790 84.09119696010133 69.00569981000633 50.32932235592147 20.531982267257757 65.86216517857143 45.291573660714285 90.79164027865738 2.019435337611607 2.4749826185708774 1.75
middlebury2003/teddy all 165344 84.05506096380878 69.04090865105476 50.29393264950648 20.323688794271337 65.94710022485066 45.326698686818965 90.91469905167409 2.019803737975812 2.474253118526893 1.75
middlebury2003/teddy nonocc 147651 84.04209927464088 69.03644404711109 50.29833864992448 20.318860014493637 65.93978856712882 45.32769115006668 90.90829049583138 2.0195964671787343 2.4740626361829867 1.75
middlebury2003/teddy disc 40517 83.99190463262335 68.95870869017944 50.25298023052052 20.31246143594047 65.85120825414064 45.27287537333695 90.90011600069107 2.017850597339126 2.4730059707970544 1.75
middlebury2006/aloe all 153393 84.68248225147171 69.7039630230845 50.33150143748411 20.341215048926614 66.67622762735199 45.36771454795778 90.91418773998814 2.008835356407288 2.460331648388421 1.729166030883789
middlebury2006/aloe nonocc 133011 84.6847253234695 69.70476126034688 50.30411018637556 20.334408432385292 66.67769251124636 45.33854855781953 90.9157889197134 2.0085219305859385 2.460079676553019 1.729166030883789
sceneflow/scene0 all 518400 85.00405092592592 70.00868055555556 50.54089506172839 20.551311728395063 66.93168114037047 45.466572231332535 90.69502314814815 2.004624834949621 2.4550565787867664 1.7255773544311523";

const SCRIPT: [&str; 10] = [
    "bad_05_percent",
    "bad_1_percent",
    "bad_2_percent",
    "bad_4_percent",
    "badv_1_percent",
    "badv_2_percent",
    "density_percent",
    "average_px",
    "rms_px",
    "a50_px",
];

fn figure(figures: &Figures, name: &str) -> f64 {
    (COLUMNS.iter().find(|column| column.name == name).unwrap().of)(figures)
}

#[test]
fn figures_match_the_independent_script() {
    let Some(data) = std::env::var_os("STEREOPSIS_DATA").map(PathBuf::from) else {
        eprintln!("skipped: STEREOPSIS_DATA is not set");
        return;
    };
    let all = found(&data);
    for line in BY_THE_SCRIPT.lines() {
        let words: Vec<_> = line.split(' ').collect();
        let (scene, region, expected) = (words[0], words[1], &words[2..]);
        let pair = all.iter().find(|pair| pair.name == scene).unwrap().read(MaxPixels::default()).unwrap();
        let map = made_map(&pair.truth.left_px);
        let present = pair.regions.present();
        let num_regions = BY_THE_SCRIPT.lines().filter(|line| line.starts_with(&format!("{scene} "))).count();
        assert_eq!(present.len(), num_regions, "{scene}");
        let (_, mask) = present.into_iter().find(|(present, _)| present.word() == region).unwrap();
        let figures = figures(&map, &pair.truth.left_px, mask).unwrap();
        assert_eq!(figures.pixels().to_string(), expected[0], "{scene} {region}");
        for (name, expected) in SCRIPT.iter().zip(&expected[1..]) {
            let value = figure(&figures, name).to_string();
            assert_eq!(&value, expected, "{scene} {region}: {name}, and by the script");
        }
    }
}

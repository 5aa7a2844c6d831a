//! Tests of the listing of pairs: known names, natural order, partners by time, and remarks on other files.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;

/// Lists the pairs of a folder with these empty files, as `name: left right`.
fn found(files: &[&str]) -> Result<Vec<String>, String> {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("data");
    std::fs::create_dir(&folder).unwrap();
    for file in files {
        let path = folder.join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let show = |path: &Path| path.strip_prefix(&folder).unwrap().to_string_lossy().replace('\\', "/");
    let pairs = list_pairs(&folder).map_err(|err| err.to_string())?;
    Ok(pairs.pairs.iter().map(|pair| format!("{}: {} {}", pair.name, show(&pair.left), show(&pair.right))).collect())
}

#[test]
fn pairs_by_name_in_natural_order() {
    let files = ["left10.png", "right10.png", "left9.png", "right9.png", "notes.txt", ".left1.png"];
    assert_eq!(found(&files).unwrap(), ["left9: left9.png right9.png", "left10: left10.png right10.png"]);
    let files = ["b_LEFT.tif", "b_right.tif", "a_left.pgm", "a_right.png"];
    assert_eq!(found(&files).unwrap(), ["a_left: a_left.pgm a_right.png", "b_LEFT: b_LEFT.tif b_right.tif"]);
}

#[test]
fn pairs_in_two_folders() {
    let files = ["left/1.png", "right/1.png", "left/2.jpg", "right/2.png", "left/3.png"];
    assert_eq!(found(&files).unwrap(), ["1: left/1.png right/1.png", "2: left/2.jpg right/2.png"]);
    let files = ["left/left01.jpg", "right/right01.jpg", "left/left02.jpg", "right/right03.jpg"];
    assert_eq!(found(&files).unwrap(), ["left01: left/left01.jpg right/right01.jpg"]);
    assert_eq!(found(&["cam0/7.png", "cam1/7.png"]).unwrap(), ["7: cam0/7.png cam1/7.png"]);
}

#[test]
fn scenes_are_named_after_their_folder() {
    assert_eq!(found(&["im0.png", "im1.png"]).unwrap(), ["data: im0.png im1.png"]);
    let files = ["tsukuba/im0.ppm", "tsukuba/im1.ppm", "art/left.png", "art/right.png", "empty/readme.md"];
    let expected = ["art: art/left.png art/right.png", "tsukuba: tsukuba/im0.ppm tsukuba/im1.ppm"];
    assert_eq!(found(&files).unwrap(), expected);
}

#[test]
fn remarks_on_the_number_of_files_left_out() {
    let losses = |files: &[&str]| {
        let root = tempfile::tempdir().unwrap();
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        list_pairs(root.path()).unwrap().losses.concat()
    };
    assert_eq!(losses(&["left1.png", "right1.png", "notes.txt", "disp1.png"]), "");
    let text = losses(&["left1.png", "right1.png", "right2\u{1b}[2J.png"]);
    assert!(text.contains(": 1 image has no partner and is left out: right2\\u{1b}[2J.png"), "{text}");
    let text = losses(&["left/1.png", "right/1.png", "left/2.png", "left/1.jpg", "right/3.png", "right/4.png"]);
    assert!(text.contains(": 4 images have no partner") && text.contains("and 1 more"), "{text}");
    let text = losses(&["a/left1.png", "a/right1.png", "a/left2.png", "a/right2.png", "b/left1.png"]);
    assert!(text.contains("1 image has no partner") && text.contains("and 1 others are left out"), "{text}");
}

#[test]
fn an_error_lists_the_known_names() {
    let text = found(&["a.png", "b.png"]).unwrap_err();
    assert!(text.contains("left*") && text.contains("im0"), "{text}");
    let text = found(&["left3.png", "right4.png"]).unwrap_err();
    assert!(text.contains("left3.png") && text.contains("partner"), "{text}");
    let text = list_pairs(Path::new("no/such/folder")).unwrap_err().to_string();
    assert!(text.contains("no/such/folder") && text.contains("no such"), "{text}");
}

#[test]
fn finds_views_by_words_letters_and_cameras() {
    for (files, pairs) in [
        (&["0007_L.png", "0007_R.png", "0008_L.png", "0008_R.png"][..], &["0007_L", "0008_L"][..]),
        (&["l_3.bmp", "R_3.bmp"], &["l_3"]),
        (&["imgL9.png", "imgR9.png", "imgL10.png", "imgR10.png"], &["imgL9", "imgL10"]),
        (&["frame_left_0001.png", "frame_right_0001.png"], &["frame_left_0001"]),
        (&["image_00000012_0.png", "image_00000012_1.png"], &["image_00000012_0"]),
        (&["cam0_5.png", "cam1_5.png"], &["cam0_5"]),
        (&["a_0005_leftImg8bit.png", "a_0005_rightImg8bit.png"], &["a_0005_leftImg8bit"]),
    ] {
        let names: Vec<_> =
            found(files).unwrap().iter().map(|pair| pair.split(':').next().unwrap().to_owned()).collect();
        assert_eq!(names, pairs, "{files:?}");
    }
    // successive images are not pairs
    for files in [["image_0.png", "image_1.png"], ["000000_10.png", "000000_11.png"], ["1.png", "r.png"]] {
        assert!(found(&files).is_err(), "{files:?}");
    }
}

#[test]
fn finds_views_in_folders_and_below_them() {
    for (files, pairs) in [
        (&["cam0/data/12.png", "cam1/data/12.png"][..], &["12: cam0/data/12.png cam1/data/12.png"][..]),
        (
            &["image_02/data/0000000003.png", "image_03/data/0000000003.png", "image_00/data/0000000003.png"],
            &["0000000003: image_02/data/0000000003.png image_03/data/0000000003.png"],
        ),
        (
            &["image_left/7_left.png", "image_right/7_right.png", "depth_left/7_left.png", "depth_right/7_right.png"],
            &["7_left: image_left/7_left.png image_right/7_right.png"],
        ),
        (
            &["clean_left/a/f1.png", "clean_left/b/f1.png", "clean_right/a/f1.png", "clean_right/b/f1.png"],
            &[
                "clean_left-a-f1: clean_left/a/f1.png clean_right/a/f1.png",
                "clean_left-b-f1: clean_left/b/f1.png clean_right/b/f1.png",
            ],
        ),
        (&["Camera_0/rgb_1.jpg", "Camera_1/rgb_1.jpg"], &["rgb_1: Camera_0/rgb_1.jpg Camera_1/rgb_1.jpg"]),
        (
            &["mav0/cam0/data/1.png", "mav0/cam1/data/1.png", "mav0/cam0/data/2.png", "mav0/cam1/data/2.png"],
            &["1: mav0/cam0/data/1.png mav0/cam1/data/1.png", "2: mav0/cam0/data/2.png mav0/cam1/data/2.png"],
        ),
    ] {
        assert_eq!(found(files).unwrap(), pairs);
    }
}

fn losses_of(files: &[&str]) -> (Vec<String>, String) {
    let root = tempfile::tempdir().unwrap();
    for file in files {
        let path = root.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "").unwrap();
    }
    let found = list_pairs(root.path()).unwrap();
    (found.pairs.into_iter().map(|pair| pair.name).collect(), found.losses.join("; "))
}

#[test]
fn leaves_out_disparities_depths_and_masks() {
    let files = ["left.png", "right.png", "left_disp.png", "right_disp.png", "left_mask.png", "right_mask.png"];
    let (pairs, losses) = losses_of(&["7/left.png", "7/right.png"].into_iter().chain(files).collect::<Vec<_>>());
    assert_eq!(pairs.len(), 1);
    assert!(losses.contains("4 images have a name of disparities") && losses.contains("left_disp.png"), "{losses}");
    assert!(losses.contains("truth FILE"), "{losses}");
    let (pairs, losses) = losses_of(&["left/1.png", "right/1.png", "left/1_depth.png", "right/1_depth.png"]);
    assert_eq!((pairs.len(), losses.contains("left/1_depth.png")), (1, true), "{losses}");
    let text = found(&["leftdisp.png", "rightdisp.png"]).unwrap_err();
    assert!(text.contains("leftdisp.png") && text.contains("rename"), "{text}");
}

#[test]
fn pairs_names_with_times_by_the_nearest_time() {
    let files = [
        "left/1650000000000000000.png",
        "left/1650000000050000000.png",
        "left/1650000000100000000.png",
        "right/1650000000003100000.png",
        "right/1650000000101000000.png",
        "right/1650000000149000000.png",
    ];
    let pairs = [
        "1650000000000000000: left/1650000000000000000.png right/1650000000003100000.png",
        "1650000000100000000: left/1650000000100000000.png right/1650000000101000000.png",
    ];
    assert_eq!(found(&files).unwrap(), pairs);
    let (_, losses) = losses_of(&files);
    assert!(losses.contains("2 images have no partner") && losses.contains("up to 3.1 ms apart"), "{losses}");
    let seconds = ["left_12.0000.png", "right_12.0004.png", "left_12.0500.png", "right_12.0496.png"];
    let pairs =
        ["left_12.0000: left_12.0000.png right_12.0004.png", "left_12.0500: left_12.0500.png right_12.0496.png"];
    assert_eq!(found(&seconds).unwrap(), pairs);
    assert_eq!(losses_of(&seconds).1, "", "0.4 ms are few");
    let two_clocks =
        ["left/1650000000000.png", "left/1650000000050.png", "right/1650000100000.png", "right/1650000100050.png"];
    let text = found(&two_clocks).unwrap_err();
    assert!(text.contains("99.950 s away") && text.contains("two clocks"), "{text}");
}

#[test]
fn an_error_names_the_images_found() {
    let text = found(&["a/x1.png", "a/y1.png"]).unwrap_err();
    assert!(text.contains("such as a/x1.png and a/y1.png") && text.contains("side-by-side"), "{text}");
    assert_eq!(name_of_folder(Path::new(".")), name(&std::env::current_dir().unwrap()));
    let text = found(&["left.heic", "right.heic"]).unwrap_err();
    assert!(text.contains("left.heic is of a format that is not read"), "{text}");
    let text = found(&["l/1.png", "l/2.png", "r/3.png"]).unwrap_err();
    assert!(text.contains("3 images have no partner, such as l/1.png and r/3.png"), "{text}");
}

#[test]
fn pairs_by_order_where_no_word_tells_and_says_how() {
    for (files, pairs, said) in [
        (
            &["left/DSC_0012.JPG", "left/DSC_0013.JPG", "right/DSC_0107.JPG", "right/DSC_0108.JPG"][..],
            &["DSC_0012: left/DSC_0012.JPG right/DSC_0107.JPG", "DSC_0013: left/DSC_0013.JPG right/DSC_0108.JPG"][..],
            "paired by order, DSC_0012.JPG and DSC_0107.JPG to DSC_0013.JPG and DSC_0108.JPG",
        ),
        (
            &["A/0.png", "A/1.png", "B/0.png", "B/1.png"],
            &["0: A/0.png B/0.png", "1: A/1.png B/1.png"],
            "A is taken as left and B as right",
        ),
        (
            &["port/3.png", "port/4.png", "starboard/3.png", "starboard/4.png"],
            &["3: port/3.png starboard/3.png", "4: port/4.png starboard/4.png"],
            "images of one name",
        ),
        (
            &["lframe00.jpg", "lframe01.jpg", "rframe00.jpg", "rframe01.jpg"],
            &["lframe00: lframe00.jpg rframe00.jpg", "lframe01: lframe01.jpg rframe01.jpg"],
            "the first by name is taken as left",
        ),
        (
            &["2234567_000.png", "2234567_001.png", "2234599_000.png", "2234599_001.png"],
            &["2234567_000: 2234567_000.png 2234599_000.png", "2234567_001: 2234567_001.png 2234599_001.png"],
            "such as 2234567_000.png and 2234599_000.png",
        ),
    ] {
        assert_eq!(found(files).unwrap(), pairs);
        let (_, losses) = losses_of(files);
        assert!(losses.contains(said) && losses.contains("swap-pictures"), "{losses}");
    }
    for files in [
        // successive images, of KITTI 2015 and of two scenes
        &["000000_10.png", "000000_11.png", "000001_10.png", "000001_11.png"][..],
        // the numbers may be those of the views
        &["a-1.png", "a-2.png", "b-1.png", "b-2.png"],
        &["a_01.png", "a_02.png", "b_01.png"],
        &["a_01.png", "a_02.png", "b_01.png", "b_02.png", "c_01.png", "c_02.png"],
        &["A/0.png", "A/1.png", "B/0.png"],
    ] {
        assert!(found(files).is_err(), "{files:?}");
    }
}

#[test]
fn lists_each_image_of_both_views_as_a_pair() {
    let root = tempfile::tempdir().unwrap();
    for file in ["b10.png", "b9.png", "b9_depth.png"] {
        std::fs::write(root.path().join(file), "").unwrap();
    }
    let all = list_pictures_of_both(root.path(), Arrangement::TopBottom).unwrap();
    assert_eq!(all.pairs.iter().map(|pair| &pair.name[..]).collect::<Vec<_>>(), ["b9", "b10"]);
    assert!(all.losses.concat().contains("b9_depth.png"), "{:?}", all.losses);
    let one = list_pictures_of_both(&root.path().join("b10.png"), Arrangement::TopBottom).unwrap();
    assert_eq!(
        (one.pairs.len(), one.pairs[0].both_views.clone()),
        (1, Some(FileOfBoth::of_halves(Arrangement::TopBottom)))
    );
    let empty = tempfile::tempdir().unwrap();
    let text = list_pictures_of_both(empty.path(), Arrangement::SideBySide).unwrap_err().to_string();
    assert!(text.contains("no image of both views"), "{text}");
}

#[test]
fn reads_camera_numbers_from_kitti_folders() {
    let of = |left: &str, right: &str| {
        FilePair { left: left.into(), right: right.into(), name: String::new(), both_views: None }.camera_numbers()
    };
    assert_eq!(of("drive/image_02/data/7.png", "drive/image_03/data/7.png"), Some([2, 3]));
    assert_eq!(of("/a/00/image_0/7.png", "/a/00/image_1/7.png"), Some([0, 1]));
    assert_eq!(of("colored_0/7_10.png", "colored_1/7_10.png"), Some([2, 3]));
    assert_eq!(of("/a/image_01/data/7.png", "/a/image_01/data/../../image_00/data/7.png"), Some([1, 0]));
    assert_eq!(of("left/7.png", "right/7.png"), None);
    assert_eq!(of("image_2/7.png", "image_5/7.png"), None);
}

//! Tests of image files as a source: streams, stills, watched folders, truth, geometry, and errors.

#![allow(clippy::unwrap_used, reason = "a test may fail")]

use super::*;
use stereopsis_base::image::Luma;
use stereopsis_frame::Arrangement;
use stereopsis_frame::picture_file::FileOfBoth;

fn write_grey(path: &Path, width: u32, height: u32, value: u8) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    image::GrayImage::from_pixel(width, height, image::Luma([value])).save(path).unwrap();
}

fn sequence_of(count: u8) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for k in 0..count {
        write_grey(&folder.path().join(format!("left{k}.png")), 4, 3, k);
        write_grey(&folder.path().join(format!("right{k}.png")), 4, 3, k);
    }
    folder
}

fn next(source: &mut FileSource) -> Option<Box<RawPair>> {
    loop {
        match source.next(Duration::from_secs(5)).unwrap() {
            Next::Pair(pair) => return Some(pair),
            Next::Waiting => {}
            Next::End => return None,
        }
    }
}

#[test]
fn a_folder_is_played_in_order_and_ends() {
    let folder = sequence_of(12);
    let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
    assert_eq!((source.info().num_pairs, source.info().width, source.info().height), (Some(12), 4, 3));
    for k in 0..12_u8 {
        let pair = next(&mut source).unwrap();
        assert_eq!((pair.sequence, pair.name.as_str()), (u64::from(k), format!("left{k}").as_str()));
        assert_eq!(pair.left.luma, Luma::U8(stereopsis_base::image::Image::filled(4, 3, k)));
    }
    assert!(next(&mut source).is_none());
}

#[test]
fn a_looped_folder_starts_again() {
    for count in [1, 2] {
        let folder = sequence_of(count);
        let options = SourceOptions { looped: true, ..SourceOptions::default() };
        let mut source = FileSource::folder(folder.path(), &options).unwrap();
        assert_eq!(source.info().num_pairs, None);
        let pairs: Vec<_> = (0..5).map(|_| next(&mut source).unwrap()).collect();
        assert_eq!(pairs[4].sequence, 4);
        assert_eq!(pairs[4].name, "left0");
    }
}

#[test]
fn refuses_a_pair_of_two_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right): (PathBuf, PathBuf) = (folder.path().join("l.png"), folder.path().join("r.png"));
    write_grey(&left, 4, 3, 0);
    write_grey(&right, 5, 3, 0);
    let err = FileSource::pair(&left, &right, None, &SourceOptions::default()).err().unwrap().to_string();
    assert!(err.contains("4x3") && err.contains("5x3") && err.contains("r.png"), "{err}");
}

#[test]
fn a_damaged_file_ends_the_stream_with_its_name() {
    let folder = sequence_of(3);
    std::fs::write(folder.path().join("right1.png"), "").unwrap();
    let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
    assert!(next(&mut source).is_some());
    let err = loop {
        match source.next(Duration::from_secs(5)) {
            Ok(Next::Waiting) => {}
            Ok(other) => panic!("{other:?}"),
            Err(err) => break err.to_string(),
        }
    };
    assert!(err.contains("right1.png") && err.contains("empty"), "{err}");
}

fn watched() -> SourceOptions {
    SourceOptions { watched: true, looped: true, rate_hz: Some(30.0), ..SourceOptions::default() }
}

/// Returns the next pair; `None` if there is none within 0.1 s.
fn soon(source: &mut FileSource) -> Option<Box<RawPair>> {
    let deadline = std::time::Instant::now() + Duration::from_millis(100);
    while std::time::Instant::now() < deadline {
        match source.next(Duration::from_millis(20)).unwrap() {
            Next::Pair(pair) => return Some(pair),
            Next::Waiting => {}
            Next::End => panic!("a watched source does not end"),
        }
    }
    None
}

#[test]
fn a_watched_still_is_delivered_once() {
    for folder in [false, true] {
        let pictures = sequence_of(1);
        let file = |name: &str| pictures.path().join(name);
        let mut source = if folder {
            FileSource::folder(pictures.path(), &watched()).unwrap()
        } else {
            FileSource::pair(&file("left0.png"), &file("right0.png"), None, &watched()).unwrap()
        };
        assert_eq!(source.info().rate_hz, None, "no stream has a rate");
        assert!(source.transport().is_none(), "there is nothing to go to");
        assert_eq!(next(&mut source).unwrap().sequence, 0);
        assert!((0..3).all(|_| soon(&mut source).is_none()));
    }
}

#[test]
fn a_watched_folder_is_held_at_its_start_stepped_and_played() {
    let folder = sequence_of(9);
    let mut source = FileSource::folder(folder.path(), &watched()).unwrap();
    let transport = source.transport().unwrap();
    assert!((source.info().rate_hz.unwrap() - 30.0).abs() < 0.01);
    assert_eq!(next(&mut source).unwrap().name, "left0");
    assert!(soon(&mut source).is_none(), "it is held");
    for (step, name) in [(1, "left1"), (1, "left2"), (-1, "left1"), (99, "left8")] {
        transport.step(step);
        assert_eq!(next(&mut source).unwrap().name, name);
        assert!(soon(&mut source).is_none());
    }
    let playing = transport.get();
    assert_eq!((playing.name(3), playing.name(9), playing.num_pairs()), (Some("left3"), None, 9));
    assert_eq!(playing.time(6).map(|time| (time.as_secs_f64() * 1e3).round()), Some(200.0));
    transport.seek(5);
    transport.play();
    let sequences: Vec<_> = (0..6).map(|_| next(&mut source).unwrap().sequence).collect();
    assert_eq!(sequences, [5, 6, 7, 8, 0, 1], "looped");
}

#[test]
fn a_watched_folder_reports_its_damaged_files() {
    let folder = sequence_of(4);
    std::fs::write(folder.path().join("right1.png"), "").unwrap();
    let mut source = FileSource::folder(folder.path(), &watched()).unwrap();
    let transport = source.transport().unwrap();
    next(&mut source).unwrap();
    assert_eq!(source.state(), SourceState::default());
    transport.step(1);
    assert!(soon(&mut source).is_none());
    let state = source.state();
    assert!(state.unreadable.is_some_and(|why| why.contains("right1.png") && why.contains("empty")));
    assert!(state.remarks.concat().contains("a pair of the files was left out"), "{:?}", state.remarks);
    transport.step(1);
    assert_eq!(next(&mut source).unwrap().name, "left2");
    assert_eq!(source.state().unreadable, None);
    transport.step(-1);
    assert!(soon(&mut source).is_none() && source.state().unreadable.is_some(), "also on the way back");

    std::fs::write(folder.path().join("left0.png"), "").unwrap();
    let mut source = FileSource::folder(folder.path(), &watched()).unwrap();
    assert_eq!(next(&mut source).unwrap().name, "left2", "the first one that can be read");
    for name in ["left2.png", "left3.png"] {
        std::fs::write(folder.path().join(name), "").unwrap();
    }
    let err = FileSource::folder(folder.path(), &watched()).err().unwrap().to_string();
    assert!(err.contains("left0.png"), "{err}");
}

/// Writes a grey pair in the layout of Middlebury, with truth and this calibration file.
fn scene(folder: &Path, calib: &str) {
    for name in ["im0.png", "im1.png"] {
        write_grey(&folder.join(name), 4, 3, 9);
    }
    let pixels: Vec<u8> = (0..12).flat_map(|k| (k as f32 / 4.0).to_le_bytes()).collect();
    std::fs::write(folder.join("disp0.pfm"), [b"Pf\n4 3\n-1\n", &pixels[..]].concat()).unwrap();
    std::fs::write(folder.join("calib.txt"), calib).unwrap();
}

/// Calibration file for images of a hundred times the width and height.
const CALIB: &str = "cam0=[400 0 199.5; 0 400 149.5; 0 0 1]\ncam1=[400 0 219.5; 0 400 149.5; 0 0 1]\ndoffs=20\nbaseline=100\n\
                     width=400\nheight=300\n";

#[test]
fn reads_truth_and_geometry_beside_a_pair() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), CALIB);
    let (left, right) = (folder.path().join("im0.png"), folder.path().join("im1.png"));
    for mut source in [
        FileSource::folder(folder.path(), &SourceOptions::default()).unwrap(),
        FileSource::pair(&left, &right, None, &SourceOptions::default()).unwrap(),
    ] {
        let info = source.info();
        assert!(info.is_rectified);
        let geometry = info.geometry.unwrap();
        let found = [geometry.focal_px, geometry.doffs_px, geometry.cx_px, geometry.baseline_m];
        assert!(found.iter().zip([4.0, 0.2, 1.5, 0.1]).all(|(a, b)| (a - b).abs() < 1e-9), "{geometry:?}");
        for name in ["im0.png", "im1.png", "disp0.pfm", "calib.txt"] {
            assert!(source.files().contains(&folder.path().join(name)), "{name} is read and never replaced");
        }
        let truth = next(&mut source).unwrap().truth.unwrap();
        assert_eq!((truth.left_px.at(1, 2), truth.left_px.at(0, 0)), (0.25, 2.0));
        assert!(truth.left_px.at(0, 2).is_nan(), "0 is unknown");
        assert_eq!(source.state(), SourceState::default());
    }
}

#[test]
fn remarks_on_unusable_truth_and_calibration() {
    let folder = tempfile::tempdir().unwrap();
    scene(folder.path(), "cam0=[500 0 1.5; 0 500 1; 0 0 1]\n");
    std::fs::write(folder.path().join("disp0.pfm"), "Pf\n2 2\n-1\n0123012301230123").unwrap();
    let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
    assert!(source.info().geometry.is_none() && next(&mut source).unwrap().truth.is_none());
    let remarks = source.state().remarks.join("; ");
    assert!(remarks.contains("calib.txt") && remarks.contains("disp0.pfm has 2x2 and its pair 4x3 px"), "{remarks}");
    // truth that the user names must be usable
    let named = DisparityFile::new(folder.path().join("disp0.pfm"));
    let (left, right) = (folder.path().join("im0.png"), folder.path().join("im1.png"));
    let err = FileSource::pair(&left, &right, Some(&named), &SourceOptions::default()).err().unwrap().to_string();
    assert!(err.contains("disp0.pfm"), "{err}");
}

#[test]
fn splits_an_image_of_both_views() {
    let folder = tempfile::tempdir().unwrap();
    for (name, arrangement, size) in
        [("a.png", Arrangement::SideBySide, (6, 4)), ("b.png", Arrangement::TopBottom, (3, 8))]
    {
        let path = folder.path().join(name);
        let is_right = |x, y| if arrangement == Arrangement::SideBySide { x >= 3 } else { y >= 4 };
        let level = |x, y| image::Luma([if is_right(x, y) { 200 } else { 10 }]);
        image::GrayImage::from_fn(size.0, size.1, level).save(&path).unwrap();
        let options = SourceOptions { both_views: Some(arrangement), ..SourceOptions::default() };
        let mut source = FileSource::folder(&path, &options).unwrap();
        assert_eq!((source.info().width, source.info().height, source.info().num_pairs), (3, 4, Some(1)));
        let pair = next(&mut source).unwrap();
        assert_eq!(pair.left.luma, Luma::U8(stereopsis_base::image::Image::filled(3, 4, 10)));
        assert_eq!(pair.right.luma, Luma::U8(stereopsis_base::image::Image::filled(3, 4, 200)));
        let files = FilePair::of_both(&path, FileOfBoth::of_halves(arrangement));
        let right = files.read_view(true, MaxPixels::default(), Some((3, 4))).unwrap();
        assert_eq!(right.luma, pair.right.luma);
        assert!(files.read_view(true, MaxPixels::default(), Some((4, 4))).is_err());
    }
    let odd = folder.path().join("odd.png");
    write_grey(&odd, 5, 4, 1);
    let options = SourceOptions { both_views: Some(Arrangement::SideBySide), ..SourceOptions::default() };
    let err = FileSource::folder(&odd, &options).err().unwrap().to_string();
    assert!(err.contains("odd.png has 5x4") && err.contains("even number of columns"), "{err}");
}

#[test]
fn reduces_the_deeper_image_of_a_pair_with_a_remark() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right) = (folder.path().join("left.png"), folder.path().join("right.png"));
    write_grey(&left, 4, 3, 77);
    image::ImageBuffer::from_pixel(4, 3, image::Luma([78_u16 << 8 | 3])).save(&right).unwrap();
    let mut source = FileSource::pair(&left, &right, None, &SourceOptions::default()).unwrap();
    let pair = next(&mut source).unwrap();
    assert_eq!(
        (pair.left.luma.bits(), &pair.right.luma),
        (8, &Luma::U8(stereopsis_base::image::Image::filled(4, 3, 78)))
    );
    let remarks = source.state().remarks.concat();
    assert!(remarks.contains("right.png has 16 bits and its partner 8"), "{remarks}");
}

#[test]
fn computes_skew_from_times_in_names() {
    let folder = tempfile::tempdir().unwrap();
    write_grey(&folder.path().join("left/1650000000000000000.png"), 4, 3, 7);
    write_grey(&folder.path().join("right/1650000000001500000.png"), 4, 3, 7);
    let mut source = FileSource::folder(folder.path(), &SourceOptions::default()).unwrap();
    assert!((next(&mut source).unwrap().skew_s - 0.0015).abs() < 1e-12);
}

#[test]
fn suggests_a_remedy_for_two_sizes() {
    let folder = tempfile::tempdir().unwrap();
    let (left, right) = (folder.path().join("l.png"), folder.path().join("r.png"));
    let why = |(wl, hl), (wr, hr)| {
        write_grey(&left, wl, hl, 0);
        write_grey(&right, wr, hr, 0);
        FileSource::pair(&left, &right, None, &SourceOptions::default()).err().unwrap().to_string()
    };
    let text = why((4, 3), (8, 6));
    assert!(text.contains("`convert ") && text.contains("r.png -resize 4x3 OUT.png`"), "{text}");
    let text = why((4, 3), (4, 2));
    assert!(
        text.contains("give the calibration of both cameras") && text.contains("crop rectified ones to 4x2"),
        "{text}"
    );
    let text = why((4, 3), (3, 4));
    assert!(text.contains("turn one of them by 90 degrees"), "{text}");
}

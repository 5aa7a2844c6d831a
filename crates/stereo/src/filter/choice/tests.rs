//! Tests of the learned choice.

use super::*;
use crate::StereoParams;
use crate::map::ON_PLANE;
use stereopsis_base::image::{Luma, Picture};

/// Returns a map of two surfaces: the near one at 20 px is `edge` columns wide, the far one lies at 10 px.
fn map(edge: usize) -> DisparityMap {
    let values = Image::from_fn(60, 30, |x, _| if x < edge { 320 } else { 160 });
    let confidence = Some(values.map(|&value| if value == 320 { 204 } else { 51 }));
    DisparityMap { values, reasons: Image::filled(60, 30, 0), confidence }
}

fn with_chances() -> StereoParams {
    StereoParams { confidence: true, ..StereoParams::default() }
}

fn picture() -> Picture {
    let rgb = Image::from_fn(60, 30, |x, y| {
        let grain = ((37 * x + 91 * y + x * y) % 9) as u8;
        if x < 30 { [180 + grain, 40, 40] } else { [60, 110 + grain, 60] }
    });
    Picture { luma: Luma::U8(rgb.map(|color| color[0])), rgb: Some(rgb) }
}

fn candidates(chooser: &Chooser<'_>, x: usize, y: usize) -> Vec<i16> {
    let (candidates, count) = chooser.candidates(x, y);
    candidates[..count].iter().map(|candidate| candidate.value).collect()
}

/// Returns [`map`] with the near surface sloped by 1/8 px for each column and 1/4 px for each row.
fn slanted(edge: usize) -> DisparityMap {
    let mut slanted = map(edge);
    slanted.values = Image::from_fn(60, 30, |x, y| if x < edge { 320 + 2 * x as i16 + 4 * y as i16 } else { 160 });
    slanted
}

#[test]
fn a_slope_is_that_of_a_surface_up_to_its_edge() {
    let picture = picture();
    let mut slanted = slanted(33);
    slanted.reasons.set(3, 3, reason::FILLED);
    slanted.values.set(3, 3, 700);
    let chooser = Chooser::new(&slanted, [PictureRef::from(&picture); 2], None, &ChoiceSettings::of(&with_chances()));
    let slope = |across, down| Slope { across, down };
    assert_eq!(chooser.slope((15, 15)), slope(2 << SLOPE_BITS, 4 << SLOPE_BITS));
    assert_eq!(
        chooser.slope((3, 3)),
        slope(2 << SLOPE_BITS, 4 << SLOPE_BITS),
        "what was filled along its row is level"
    );
    assert_eq!(chooser.slope((50, 15)), slope(0, 0));
    // the near surface has changes along rows up to column 28, the far one from column 37 on
    assert_eq!(chooser.slope((31, 15)).across, 64 * (10 * 16) / (15 * 8), "across the edge nothing is measured");
    assert_eq!(slope(-96, 160).ahead(3, -2), (-96 * 3 - 160 * 2 + 32) >> 6);
    assert_eq!(Slope::of([40, 40], [4, 3]), slope(80, 0), "of too few changes none");
}

#[test]
fn candidates_go_on_along_their_slopes_and_are_supported_there() {
    let picture = picture();
    let pictures = [PictureRef::from(&picture); 2];
    // a far pixel within the near surface, without support of its own
    let mut hole = slanted(60);
    hole.values.set(20, 15, 160);
    let chooser = Chooser::new(&hole, pictures, None, &ChoiceSettings::of(&with_chances()));
    let (candidates, count) = chooser.candidates(20, 15);
    let here = 320 + 2 * 20 + 4 * 15;
    assert_eq!(count, 2, "all directions agree: {:?}", &candidates[..count]);
    assert_eq!((candidates[1].value, candidates[1].distance, candidates[1].votes), (here, 1, 8));
    let evidence = chooser.all_evidence(20, 15);
    assert_eq!((evidence[0].1[5], evidence[1].1[5]), (255 / 56, 255 * 55 / 56), "itself, and all others of its colour");
    // on its own slope the surface is no other candidate; a found candidate takes the slope of its place
    assert_eq!(self::candidates(&chooser, 21, 15), [here + 2, 160 + 2]);
    // nothing leaves the search range
    let narrow = StereoParams { num_disparities: 26, ..with_chances() };
    assert_eq!(
        self::candidates(&Chooser::new(&hole, pictures, None, &ChoiceSettings::of(&narrow)), 20, 15),
        [160, 400]
    );
}

#[test]
fn candidates_are_other_disparities_of_like_colour() {
    let picture = picture();
    let pictures = [PictureRef::from(&picture); 2];
    let chooser = Chooser::new(&map(33), pictures, None, &ChoiceSettings::of(&with_chances()));
    // a pixel of the far surface with the near disparity finds only that of its own surface
    assert_eq!(candidates(&chooser, 31, 15), [320, 160]);
    assert_eq!(chooser.candidates(20, 15).1, 1, "the near surface has one disparity");
    assert!(chooser.is_sure((10, 15)) && !chooser.is_sure((31, 15)));
    let mut holes = map(33);
    holes.reasons.set(40, 15, reason::FILLED);
    let chooser = Chooser::new(&holes, pictures, None, &ChoiceSettings::of(&with_chances()));
    assert!(!chooser.is_sure((40, 15)) && !chooser.is_sure((42, 15)) && chooser.is_sure((43, 15)));
    assert_eq!(chooser.chosen(10, 15).value, 320, "a sure pixel keeps its own");
}

#[test]
fn evidence_counts_supporters_and_occlusion() {
    let picture = picture();
    let chooser = Chooser::new(&map(33), [PictureRef::from(&picture); 2], None, &ChoiceSettings::of(&with_chances()));
    let evidence = chooser.all_evidence(31, 15);
    let &[(own, near), (other, far)] = &evidence[..] else { panic!("{evidence:?}") };
    assert_eq!((own, other), (320, 160));
    // of the window's columns 30 to 36 are of like colour, 30 to 32 have its own disparity
    assert_eq!((near[0], far[0]), (255 * 33 / 77, 255 * 44 / 77));
    assert_eq!((near[4], far[4]), (255 * 11 / 77, 0));
    // the right camera sees 20 px at the partner of the first candidate, and no disparity at that of the second one
    assert_eq!(([near[19], near[20]], [far[19], far[20]]), ([0, 0], [64, 0]));
    let hidden = chooser.all_evidence(23, 15);
    assert_eq!((hidden.len(), hidden[0].1[20]), (1, 0), "a sure pixel has its own disparity alone");
    assert_eq!((near[28], near[29], far[29], far[30]), (204, 204, 51, 51));
    assert_eq!(
        [&near[31..], &far[31..]],
        [[0; 5], [24 * 3, 4 * 2, 0, 0, 0]],
        "found to the right, and in both diagonals"
    );
}

#[test]
fn last_disparity_is_a_candidate_with_the_temporal_filter() {
    let picture = picture();
    let pictures = [PictureRef::from(&picture); 2];
    let over_time = StereoParams { choice: true, temporal: crate::Temporal::On, ..StereoParams::default() };
    let last = |value| DisparityMap { values: Image::filled(60, 30, value), ..map(33) };
    let candidates = |last: &DisparityMap, params: &StereoParams| {
        self::candidates(&Chooser::new(&map(33), pictures, Some(last), &ChoiceSettings::of(params)), 31, 15)
    };
    assert_eq!(candidates(&last(700), &over_time), [320, 160, 700]);
    assert_eq!(
        candidates(&last(700), &StereoParams { temporal: crate::Temporal::Off, ..over_time.clone() }),
        [320, 160]
    );
    assert_eq!(candidates(&last(150), &over_time), [320, 160], "near one that is there");
    assert_eq!(candidates(&last(INVALID), &over_time), [320, 160]);
    // without colours nothing else favours a disparity: the more pixels had it before, the more take it
    let grey = Picture { luma: Luma::U8(Image::filled(60, 30, 100)), rgb: None };
    let count = |last: Option<&DisparityMap>| {
        let mut map = map(33);
        choose(&mut map, [PictureRef::from(&grey); 2], last, &ChoiceSettings::of(&over_time));
        map.values.pixels().iter().filter(|&&value| value == 320).count()
    };
    let [far, near] = [160, 320].map(|value| count(Some(&last(value))));
    assert!(far <= count(None) && count(None) <= near && far < near, "{far} {} {near}", count(None));
}

#[test]
fn only_unlikely_pixels_are_dropped() {
    let picture = picture();
    let pictures = [PictureRef::from(&picture); 2];
    let mut before = map(33);
    before.reasons.set(40, 15, reason::LEFT_RIGHT | reason::FILLED);
    let chosen = |params: &StereoParams| {
        let mut map = before.clone();
        choose(&mut map, pictures, None, &ChoiceSettings::of(params));
        map
    };
    let all = chosen(&with_chances());
    let chances = all.confidence.as_ref().unwrap();
    let chooser = Chooser::new(&before, pictures, None, &ChoiceSettings::of(&with_chances()));
    let unsure: Vec<_> = (0..60 * 30).map(|n| (n % 60, n / 60)).filter(|&(x, y)| !chooser.is_sure((x, y))).collect();
    // a limit above the chance of the filled pixel and of some others
    let most = unsure.iter().map(|&(x, y)| chances.at(x, y)).max().unwrap();
    let percent = (100 * u32::from(most) / 255).clamp(1, 99);
    for confidence in [false, true] {
        let some = chosen(&StereoParams { confidence, min_chance: Some(percent), ..with_chances() });
        let mut count = 0;
        for (x, y) in (0..60 * 30).map(|n| (n % 60, n / 60)) {
            let is_dropped = !chooser.is_sure((x, y)) && 100 * u32::from(chances.at(x, y)) < 255 * percent;
            count += usize::from(is_dropped);
            assert_eq!(some.values.at(x, y), if is_dropped { INVALID } else { all.values.at(x, y) }, "{x} {y}");
            let reasons = match before.reasons.at(x, y) {
                0 if is_dropped => reason::UNIQUENESS,
                reasons if is_dropped => reasons & !reason::FILLED,
                reasons => reasons,
            };
            assert_eq!(some.reasons.at(x, y), reasons, "{x} {y}");
        }
        assert!(count > 0 && count < unsure.len(), "{count} of {}", unsure.len());
    }
    let none = chosen(&StereoParams { confidence: false, min_chance: Some(1), ..with_chances() });
    assert_eq!(none.reasons.at(10, 15), 0, "a sure pixel is never dropped");
}

#[test]
fn pixels_on_planes_keep_their_disparity_unless_unlikely() {
    let picture = picture();
    let pictures = [PictureRef::from(&picture); 2];
    // a plane's 25 px amid like-coloured pixels with 10 px
    let filled = |mark: u8| {
        let mut map = map(33);
        map.values.set(40, 15, 400);
        map.reasons.set(40, 15, reason::LEFT_RIGHT | mark);
        map
    };
    let chosen = |mark: u8, params: &StereoParams| {
        let mut map = filled(mark);
        choose(&mut map, pictures, None, &ChoiceSettings::of(params));
        let on_plane = map.reasons.pixels().iter().filter(|&&reasons| reasons & reason::HELD != 0).count();
        assert_eq!(on_plane, 0, "the mark ends with the choice");
        (map.values.at(40, 15), map.reasons.at(40, 15), map.confidence.map(|confidence| confidence.at(40, 15)))
    };
    let plain = StereoParams { confidence: false, ..StereoParams::default() };
    let as_filled = reason::LEFT_RIGHT | reason::FILLED;
    assert_eq!(chosen(reason::FILLED, &plain), (160, as_filled, None), "filled along its row it may change");
    assert_eq!(chosen(ON_PLANE, &plain), (400, as_filled, None));
    // its own disparity is the only candidate, even with another one in the pair before
    let over_time = StereoParams { choice: true, temporal: crate::Temporal::On, ..with_chances() };
    let last = DisparityMap { values: Image::filled(60, 30, 700), ..map(33) };
    let marked = filled(ON_PLANE);
    let chooser = Chooser::new(&marked, pictures, Some(&last), &ChoiceSettings::of(&over_time));
    assert_eq!(candidates(&chooser, 40, 15), [400]);
    assert!(!chooser.is_sure((40, 15)) && chooser.is_other((40, 15), 400, (41, 15)));
    assert!(!chooser.is_other((41, 15), 160, (40, 15)), "it is no evidence");
    let [(400, evidence)] = chooser.all_evidence(40, 15)[..] else { panic!("its own") };
    assert_eq!((evidence[17], evidence[35]), (255, 255), "evidence says that it was filled, and from a plane");
    let chance = net().chance_of(net().score(&evidence));
    assert_eq!(chosen(ON_PLANE, &with_chances()), (400, as_filled, Some(chance)));
    let percent = 100 * u32::from(chance) / 255;
    for confidence in [false, true] {
        let at_least = |percent| StereoParams { confidence, min_chance: Some(percent), ..plain.clone() };
        let of = |chance| confidence.then_some(chance);
        assert_eq!(chosen(ON_PLANE, &at_least(percent)), (400, as_filled, of(chance)));
        assert_eq!(chosen(ON_PLANE, &at_least(percent + 1)), (INVALID, reason::LEFT_RIGHT, of(0)));
    }
}

#[test]
fn a_map_without_disparities_stays_empty() {
    let picture = picture();
    let mut empty = map(33);
    empty.values = Image::filled(60, 30, INVALID);
    let before = empty.clone();
    choose(&mut empty, [PictureRef::from(&picture); 2], None, &ChoiceSettings::of(&StereoParams::default()));
    assert_eq!(empty.values, before.values);
}

#[test]
fn the_shader_has_room_for_the_network() {
    let sizes: Vec<_> = net().layers.iter().map(|layer| (layer.inputs, layer.outputs)).collect();
    assert_eq!(sizes, [(EVIDENCE, 32), (32, 16), (16, 1)], "shaders/filter/choice.wgsl has these numbers");
}

use crate::detect::{Detector, Seen};
use crate::fixture::{Shot, Studio, random_pose, random_rig, truth};
use crate::image::Image;
use crate::{Board, Corner, Eye, Pose};
use fastrand::Rng;
use glam::{DMat3, DVec2, DVec3};

const BOARD: &str = "aprilgrid:6x6:30mm:9mm";

fn detect(named: &str, picture: &Image<u8>) -> Seen {
    Detector::new(&named.parse().unwrap()).unwrap().detect(picture, None)
}

/// Tags whose corners all lie well inside of a picture, by the corners that it shows.
fn whole_tags(board: &Board, corners: &[Corner]) -> Vec<[usize; 4]> {
    let (across, _) = board.inner();
    let inside = |id: &usize| {
        let place = corners.iter().find(|corner| corner.id == *id).map(|corner| corner.at);
        place.is_some_and(|at| at.cmpge(DVec2::splat(6.0)).all() && at.cmple(DVec2::new(633.0, 473.0)).all())
    };
    let firsts = (0..board.rows).flat_map(|row| (0..board.columns).map(move |column| 2 * (row * across + column)));
    let tags = firsts.map(|first| [first, first + 1, first + across, first + across + 1]);
    tags.filter(|tag| tag.iter().all(inside)).collect()
}

#[test]
fn tags_are_found_at_all_tilts_with_blur_and_noise() {
    let board: Board = BOARD.parse().unwrap();
    let (mut whole, mut found, mut errors) = (0, 0, Vec::new());
    for seed in 0..20 {
        let rig = random_rig(seed);
        let pose = random_pose(&rig, &board, &mut Rng::with_seed(seed));
        let shot = Shot::usual(seed);
        let picture = Studio::new(&rig).picture(&board, &pose, &shot, Eye::Left);
        let truth = truth(&rig, &board, &pose, &shot);
        let truth = truth.of(Eye::Left);
        let seen = detect(BOARD, &picture);
        let at = |id: usize| seen.corners().iter().find(|corner| corner.id == id);
        let tags = whole_tags(&board, truth);
        let n = tags.iter().filter(|tag| tag.iter().all(|id| at(*id).is_some())).count();
        let side = truth.windows(2).map(|w| w[0].at.distance(w[1].at)).fold(0.0, f64::max);
        eprintln!("{seed}: {n} of {} side {side:.0} tilt {:.0} {:?}", tags.len(), pose.rotation.z_axis.angle_between(DVec3::Z).to_degrees(), if seen.corners().is_empty() { Some(&seen) } else { None });
        whole += tags.len();
        found += n;
        for corner in truth {
            errors.extend(at(corner.id).map(|found| found.at.distance(corner.at)));
        }
    }
    errors.sort_by(f64::total_cmp);
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    eprintln!("{found} of {whole} tags, {median:.3} px median, p99 {:.3} {worst:.3} px at most", errors[errors.len()*99/100]);
    assert!(found * 100 >= whole * 90, "{found} of {whole} tags");
    assert!(median < 0.1 && worst < 1.0, "{median:.3} px median, {worst:.3} px at most");
}

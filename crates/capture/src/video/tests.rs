//! Tests of videos and streams from a small writer, which also dies, stalls and changes its size.
#![cfg(unix)] // the programs are shell scripts

use super::*;
use crate::video::program::Limits;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use stereopsis_base::image::Picture;
use stereopsis_base::testing::{found, until};
use stereopsis_calibration::Curve;
use stereopsis_frame::{Arrangement, Next, RawPair, SourceSpec, Speed};

/// Returns a frame with this brightness in the left half and the next one in the right half.
fn planes((width, height): (usize, usize), value: u8) -> Vec<u8> {
    let row = [vec![value; width / 2], vec![value + 1; width / 2]].concat();
    let luma = row.repeat(height);
    [luma, vec![128; 2 * width.div_ceil(2) * height.div_ceil(2)]].concat()
}

/// Returns a YUV4MPEG2 stream with increasing brightness from `first` on.
fn y4m((width, height): (usize, usize), rate: &str, first: u8, count: u8) -> Vec<u8> {
    let mut bytes = format!("YUV4MPEG2 W{width} H{height} F{rate} Ip C420jpeg\n").into_bytes();
    for k in 0..count {
        bytes.extend(b"FRAME\n");
        bytes.extend(planes((width, height), first + k));
    }
    bytes
}

fn script(folder: &Path, name: &str, text: &str) -> PathBuf {
    let path = folder.join(name);
    // another process writes it: other tests' child processes would inherit a file open for writing here, and it could not be executed
    let mut shell = Command::new("sh");
    shell.args(["-c", "cat >\"$0\" && chmod 755 \"$0\""]).arg(&path);
    let mut writer = shell.stdin(Stdio::piped()).spawn().unwrap();
    write!(writer.stdin.take().unwrap(), "#!/bin/sh\n{text}\n").unwrap();
    assert!(writer.wait().unwrap().success());
    path
}

fn pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

fn feed(path: &Path, bytes: Vec<u8>) -> std::thread::JoinHandle<()> {
    let path = path.to_owned();
    let write = move || {
        let mut file = std::fs::OpenOptions::new().write(true).open(path).unwrap();
        let _ = file.write_all(&bytes); // the reader may go
    };
    std::thread::Builder::new().name("writer".into()).spawn(write).unwrap()
}

/// Waits until the process of this number has ended.
fn ends(what: &str, number: &str) {
    let command_line = Path::new("/proc").join(number.trim()).join("cmdline");
    let is_gone = || std::fs::read(&command_line).unwrap_or_default().is_empty();
    until(&format!("{what} has ended"), || !cfg!(target_os = "linux") || is_gone());
}

/// Returns the last line of a file that programs write, once there are `count`.
fn line(path: &Path, count: usize) -> String {
    found("a line is written", || {
        let text = std::fs::read_to_string(path).ok()?;
        (text.lines().count() >= count).then(|| text.lines().last().map(str::to_owned))?
    })
}

/// Returns programs with short time limits.
fn hasty() -> Programs {
    let [first, silence, pause] = [1500, 300, 10].map(Duration::from_millis);
    Programs { limits: Limits { first, silence, pause }, ..Programs::default() }
}

fn film_in(folder: &Path) -> VideoInput {
    let path = folder.join("clip.mp4");
    std::fs::write(&path, y4m((16, 6), "30:1", 10, 9)).unwrap();
    VideoInput::File(path)
}

/// Stand-in for `ffprobe`: each film has 30 frames, 30 per second, and can be entered at each.
fn promise(folder: &Path) -> PathBuf {
    probe(folder, r#"{"streams":[{"avg_frame_rate":"30/1","duration":"1.0"}]}"#)
}

/// Stand-in for `ffprobe` that describes each film by these words.
fn probe(folder: &Path, film: &str) -> PathBuf {
    let packets = r#"{"packets":[{"pts_time":"0.0","flags":"K__"}]}"#;
    script(folder, "ffprobe", &format!("case \"$*\" in *packet=*) echo '{packets}' ;; *) echo '{film}' ;; esac"))
}

/// Stand-in for `ffmpeg`: gives the frames that a YUV4MPEG2 file of 16x6 px really has, from the one at the `start_time` of its filter on,
/// and runs `end`. It writes a line into `starts`.
fn decoder(folder: &Path, end: &str) -> PathBuf {
    let (header, frame) = (y4m((16, 6), "30:1", 0, 0).len(), 6 + planes((16, 6), 0).len());
    let text = format!(
        r#"echo $$ >>{}
while [ $# -gt 0 ]; do
  case $1 in -vf) case $2 in *start_time=*) time=${{2#*start_time=}} ;; esac ;; -i) file=${{2#file:}} ;; esac
  shift
done
time=${{time:-0}}
first=$(awk "BEGIN {{ printf \"%d\", ${{time%%,*}} * 30 + 0.5 }}")
head -c {header} "$file"
tail -c +$(({header} + 1 + first * {frame})) "$file"
{end}"#,
        folder.join("starts").display()
    );
    script(folder, "ffmpeg", &text)
}

fn starts(folder: &Path) -> usize {
    std::fs::read_to_string(folder.join("starts")).unwrap().lines().count()
}

fn address(text: &str) -> Vec<VideoInput> {
    let Ok(SourceSpec::Video(inputs)) = SourceSpec::parse(text) else { panic!("{text} is no video") };
    inputs
}

fn options() -> SourceOptions {
    SourceOptions { speed: Speed::Max, looped: false, ..SourceOptions::default() }
}

fn next(source: &mut dyn PairSource) -> Result<Option<Box<RawPair>>, CaptureError> {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        match source.next(Duration::from_millis(20))? {
            Next::Pair(pair) => return Ok(Some(pair)),
            Next::End => return Ok(None),
            Next::Waiting => assert!(Instant::now() < deadline, "waited in vain"),
        }
    }
}

fn brightness(pair: &RawPair) -> (u8, u8) {
    let of = |picture: &Picture| picture.luma.to_u8().at(0, 0);
    (of(&pair.left), of(&pair.right))
}

fn rest(source: &mut dyn PairSource) -> Vec<(u8, u8)> {
    std::iter::from_fn(|| next(source).unwrap()).map(|pair| brightness(&pair)).collect()
}

#[test]
fn plays_a_file_to_its_end_and_seeks() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("clip.y4m");
    std::fs::write(&path, y4m((16, 6), "25:1", 10, 9)).unwrap();
    let input = [VideoInput::Y4m(path)];
    let mut source = open(&input, &options()).unwrap();
    let info = source.info();
    assert_eq!((info.width, info.height, info.num_pairs, &*info.name), (8, 6, Some(9), "clip"));
    let all: Vec<_> = (10..19).map(|k| (k, k + 1)).collect();
    assert_eq!(rest(&mut *source), all);

    let mut source = open(&input, &SourceOptions { watched: true, ..options() }).unwrap();
    let transport = source.transport().unwrap();
    transport.pause();
    for place in [6, 2, 8, 0] {
        transport.seek(place);
        let pair = next(&mut *source).unwrap().unwrap();
        assert_eq!((pair.sequence, brightness(&pair).0), (place, 10 + place as u8));
    }
    transport.seek_time(Duration::from_millis(130));
    assert_eq!(next(&mut *source).unwrap().unwrap().sequence, 3, "25 frames a second");
}

#[test]
fn pairs_two_files_by_number_and_rejects_unequal_ones() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, bytes: Vec<u8>| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        VideoInput::Y4m(path)
    };
    let left = write("l.y4m", y4m((8, 4), "30:1", 10, 4));
    let right = write("r.y4m", y4m((8, 4), "30:1", 50, 3));
    let mut source = open(&[left.clone(), right], &options()).unwrap();
    assert_eq!(rest(&mut *source), [(10, 50), (11, 51), (12, 52)]);
    let remark = &source.state().remarks[0];
    assert!(remark.contains("has 4") && remark.contains("the first 3"), "{remark}");
    let refusal = |right: VideoInput| open(&[left.clone(), right], &options()).err().unwrap().to_string();
    let text = refusal(write("small.y4m", y4m((6, 4), "30:1", 50, 3)));
    assert!(text.contains("8x4") && text.contains("6x4"), "{text}");
    let text = refusal(write("text.y4m", b"hello\n".to_vec()));
    assert!(text.contains("text.y4m") && text.contains("no YUV4MPEG2"), "{text}");
    let odd = write("odd.y4m", y4m((4, 4), "30:1", 5, 1).iter().map(|&b| if b == b'4' { b'5' } else { b }).collect());
    assert!(open(&[odd], &options()).is_err());
}

#[test]
fn spherical_metadata_tell_that_images_are_not_flat() {
    let folder = tempfile::tempdir().unwrap();
    let curve = |projection: &str| {
        let side_data = format!(r#"[{{"side_data_type":"Stereo 3D"}},{{"projection":"{projection}"}}]"#);
        let streams = format!(r#"[{{"avg_frame_rate":"30/1","duration":"1.0","side_data_list":{side_data}}}]"#);
        let ffprobe = probe(folder.path(), &format!("{{\"streams\":{streams}}}"));
        let programs = Programs { ffmpeg: decoder(folder.path(), ""), ffprobe, ..Programs::default() };
        let source = files::VideoFiles::open(programs, &[film_in(folder.path())], &options()).unwrap();
        source.info().curved.map(|found| (found.curve, found.why))
    };
    // each view is 8x6 px: a part
    let (found, why) = curve("half equirectangular").unwrap();
    assert!(found == Curve::Equirectangular && why.contains("clip.mp4 say (half equirectangular)"), "{why}");
    assert_eq!(curve("fisheye").map(|found| found.0), Some(Curve::Fisheye));
    assert_eq!(curve("rectilinear"), None);
}

/// Opens films by stand-ins for both programs, the first of which describes each film by these words.
fn opened(folder: &Path, film: &str, options: &SourceOptions) -> Result<Box<dyn PairSource>, CaptureError> {
    let programs = Programs { ffmpeg: decoder(folder, ""), ffprobe: probe(folder, film), ..Programs::default() };
    open_with(programs, &[film_in(folder)], options)
}

#[test]
fn views_lie_as_the_film_says() {
    let folder = tempfile::tempdir().unwrap();
    let film = |words: &str, frame: &str| {
        let stream = format!(r#"{{"avg_frame_rate":"30/1","duration":"0.3",{words}}}"#);
        format!(r#"{{"streams":[{stream}],"frames":[{{"stream_index":0,"best_effort_timestamp_time":"0"{frame}}}]}}"#)
    };
    let side_data = |kind: &str, inverted: u8| {
        film(&format!(r#""side_data_list":[{{"type":"{kind}","inverted":{inverted}}}]"#), "")
    };
    let tag = |tag: &str| film(&format!(r#""tags":{{"stereo_mode":"{tag}"}}"#), "");
    let packed = film(r#""index":0"#, r#","tags":{"stereo_mode":"top_bottom"}"#);
    let shown = |film: &str, options: SourceOptions| {
        let mut source = opened(folder.path(), film, &options).unwrap();
        let size = (source.info().width, source.info().height);
        (size, brightness(&next(&mut *source).unwrap().unwrap()), source.state().remarks)
    };
    let (beside, above, by_default) = ((8, 6), (16, 3), options());
    for (film, size, values, says) in [
        (side_data("side by side", 0), beside, (10, 11), None),
        (side_data("side by side", 1), beside, (11, 10), Some("side-by-side, the right view first")),
        (side_data("top and bottom", 1), above, (10, 10), Some("top-bottom, the right view first")),
        (tag("right_left"), beside, (11, 10), Some("side-by-side, the right view first")),
        (packed.clone(), above, (10, 10), Some("top-bottom")),
        (side_data("2D", 0), beside, (10, 11), None),
    ] {
        let (found_size, found_values, remarks) = shown(&film, by_default.clone());
        assert_eq!((found_size, found_values), (size, values), "{film}");
        assert_eq!(remarks.len(), usize::from(says.is_some()), "{remarks:?}");
        assert!(says.is_none_or(|says| remarks[0].contains(&format!("the file says {says}:"))), "{remarks:?}");
    }
    // what the user says wins
    let beside_said = SourceOptions { both_views: Some(Arrangement::SideBySide), ..options() };
    let (size, values, remarks) = shown(&packed, beside_said.clone());
    assert_eq!((size, values), (beside, (10, 11)));
    assert!(remarks[0].contains("says top-bottom: side-by-side, as you say, is taken"), "{remarks:?}");
    let swapped = SourceOptions { swapped_views: true, ..options() };
    let (_, values, remarks) = shown(&side_data("side by side", 1), swapped.clone());
    assert!(
        values == (10, 11) && remarks.iter().all(|remark| !remark.contains("as you say")),
        "exchanged later: {remarks:?}"
    );
    let (_, values, remarks) = shown(&side_data("side by side", 0), swapped);
    assert!(values == (10, 11) && remarks[0].contains("swap-pictures, as you say"), "{remarks:?}");
    // other layouts are named with what brings the views side by side
    for (film, says) in [
        (
            side_data("interleaved lines", 1),
            "by row, the right view first, which are not read: bring them side by side (ffmpeg -i FILE -vf \"stereo3d=irr:sbsl\"",
        ),
        (tag("col_interleaved_lr"), "stereo3d=icl:sbsl"),
        (tag("block_rl"), "stereo3d=ar:sbsl"),
        (side_data("checkerboard", 0), "geq="),
        (tag("anaglyph_cyan_red"), "an anaglyph, in which the views cannot be told apart"),
    ] {
        let text = opened(folder.path(), &film, &options()).err().unwrap().to_string();
        assert!(text.contains(says), "{text}");
        assert!(opened(folder.path(), &film, &beside_said).is_ok(), "the user says otherwise");
    }
}

#[test]
fn a_second_track_of_the_same_size_is_the_right_view() {
    let folder = tempfile::tempdir().unwrap();
    let track = |index: u8, width: u32| {
        format!(r#"{{"index":{index},"width":{width},"height":6,"avg_frame_rate":"30/1","duration":"0.3"}}"#)
    };
    let film = |tracks: [String; 2]| format!(r#"{{"streams":[{}]}}"#, tracks.join(","));
    let two = film([track(0, 16), track(1, 16)]);
    let source = opened(folder.path(), &two, &options()).unwrap();
    let remarks = source.state().remarks;
    assert!(
        (source.info().width, remarks.len()) == (16, 1) && remarks[0].contains("the second one the right view"),
        "{remarks:?}"
    );
    let words = r#"for word; do case $word in 0:V:*) echo "$word" >>"$0.tracks" ;; esac; done; exit 1"#;
    let ffmpeg = script(folder.path(), "ffmpeg", words);
    let programs = Programs { ffmpeg, ffprobe: probe(folder.path(), &two), ..Programs::default() };
    let mut exchanged = options();
    exchanged.cameras.swapped_halves = true;
    assert!(open_with(programs, &[film_in(folder.path())], &exchanged).is_err());
    let first = std::fs::read_to_string(folder.path().join("ffmpeg.tracks")).unwrap();
    assert!(first.starts_with("0:V:1"), "the left view comes from the second one: {first}");
    let said = SourceOptions { both_views: Some(Arrangement::SideBySide), ..options() };
    let source = opened(folder.path(), &two, &said).unwrap();
    assert!(source.info().width == 8 && source.state().remarks[0].contains("is taken for the first one"));
    let with_small = film([track(0, 16), track(1, 4)]);
    let source = opened(folder.path(), &with_small, &options()).unwrap();
    assert_eq!((source.info().width, source.state().remarks), (8, Vec::new()), "a small one is a preview");
}

#[test]
fn the_number_of_frames_is_that_of_the_video() {
    let folder = tempfile::tempdir().unwrap();
    let count = |words: &str, start: &str, format: &str| {
        let counted = format!(r#""nb_read_packets":"9","avg_frame_rate":"30/1",{words}"#);
        let frame = format!(r#"{{"stream_index":0{start}}}"#);
        let film = format!(r#"{{"streams":[{{{counted}}}],"frames":[{frame}],"format":{{{format}}}}}"#);
        let source = opened(folder.path(), &film, &options()).unwrap();
        (source.info().num_pairs, source.state().remarks)
    };
    let at = |time: &str| format!(r#","best_effort_timestamp_time":"{time}""#);
    let longer_sound = r#""format_name":"matroska,webm","start_time":"0.0","duration":"2.0""#;
    for (words, start, format) in [
        (r#""duration":"0.3","start_time":"1.0""#, "1.0", r#""format_name":"mov,mp4","duration":"1.3""#),
        (r#""duration":"0.4","start_time":"1.0""#, "1.1", r#""format_name":"mov,mp4""#),
        // Matroska: the end of the track
        (r#""start_time":"0.023","tags":{"DURATION":"00:00:00.323000000"}"#, "0.023", longer_sound),
        (r#""start_time":"0.0""#, "0.0", longer_sound),
        // the last frames of MPEG-PS have no times of their own
        (r#""start_time":"0.5","duration":"0.2""#, "0.5", r#""format_name":"mpeg","duration":"0.2""#),
    ] {
        assert_eq!(count(words, &at(start), format), (Some(9), Vec::new()), "{words}");
    }
    let (frames, remarks) = count(r#""index":0"#, "", r#""format_name":"h264""#);
    assert!(frames == Some(9) && remarks[0].contains("at 30.0000 frames a second"), "{remarks:?}");
}

#[test]
fn a_film_is_entered_before_the_frame_that_is_sought() {
    let folder = tempfile::tempdir().unwrap();
    let [started, asked] = ["started", "asked"].map(|name| folder.path().join(name));
    // from 3.5 s on only later key frames are found: frame 150 is at 5 s behind a begin at 1.6 s
    let text = format!(
        r#"case "$*" in *packet=*) echo "$*" >>{}
key=9.9; awk "BEGIN {{ exit !(${{6%%%*}} < 3.5) }}" && key=2.5
echo '{{"packets":[{{"pts_time":"'$key'","flags":"K_"}}]}}' ;;
*) echo '{{"streams":[{{"avg_frame_rate":"30/1","duration":"9","start_time":"1.6"}}],"format":{{"start_time":"1.4"}}}}' ;; esac"#,
        asked.display()
    );
    let ffprobe = script(folder.path(), "ffprobe", &text.replace("${6%%%*}", "${8%%%*}"));
    let ffmpeg = script(folder.path(), "ffmpeg", &format!("echo \"$@\" >>{}; exit 1", started.display()));
    let programs = Programs { ffmpeg, ffprobe, ..Programs::default() };
    let at_5_s = SourceOptions { start_at: Duration::from_secs(5), ..options() };
    assert!(open_with(programs, &[film_in(folder.path())], &at_5_s).is_err());
    let words = std::fs::read_to_string(&started).unwrap().lines().next().unwrap().to_owned();
    // 6.6 s, 4.6 s and then from the file's begin on
    let asked = std::fs::read_to_string(&asked).unwrap();
    assert!(
        asked.lines().next().unwrap().contains("-read_intervals 6.575") && asked.contains("-read_intervals 4.6"),
        "{asked}"
    );
    assert!(!words.contains("-ss") && words.contains("-vf setpts=PTS-STARTPTS,fps=30 "), "{words}");
}

#[test]
fn two_videos_begun_apart_are_paired_by_time() {
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, rate: &str, first: u8, count: u8| {
        let path = folder.path().join(name);
        std::fs::write(&path, y4m((8, 4), rate, first, count)).unwrap();
        VideoInput::Y4m(path)
    };
    let left = write("l.y4m", "10:1", 10, 5);
    let right = write("r.y4m", "10:1", 50, 5);
    let shifted = |shift_s: f64| SourceOptions { right_shift_s: shift_s, ..options() };
    let pairs = |shift_s: f64| {
        let mut source = open(&[left.clone(), right.clone()], &shifted(shift_s)).unwrap();
        assert!(source.state().remarks.is_empty());
        rest(&mut *source)
    };
    assert_eq!(pairs(0.3), [(13, 50), (14, 51)], "the right video began later");
    assert_eq!(pairs(-0.2), [(10, 52), (11, 53), (12, 54)]);
    let fast = write("fast.y4m", "20:1", 50, 9);
    let mut source = open(&[left.clone(), fast], &options()).unwrap();
    let remark = &source.state().remarks[0];
    assert!(
        remark.contains("has 10.0000 and the right one 20.0000") && remark.contains("up to 25 ms apart"),
        "{remark}"
    );
    assert_eq!(rest(&mut *source), [(10, 50), (11, 52), (12, 54), (13, 56), (14, 58)]);
    let refusal = |inputs: &[VideoInput], shift_s| open(inputs, &shifted(shift_s)).err().unwrap().to_string();
    let text = refusal(&[left.clone(), right], 9.0);
    assert!(text.contains("no time in common"), "{text}");
    let text = refusal(std::slice::from_ref(&left), 1.0);
    assert!(text.contains("l.y4m is one"), "{text}");
    let text = refusal(&[left, VideoInput::Csi(0)], 1.0);
    assert!(text.contains("csi:0 is none"), "{text}");
}

#[test]
fn pipe_ends_with_its_writer_without_a_truncated_frame() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let mut bytes = y4m((16, 6), "30:1", 10, 5);
    bytes.truncate(bytes.len() - 7);
    let writer = feed(&path, bytes);
    let mut source = open(&[VideoInput::Y4m(path)], &options()).unwrap();
    assert!(!source.info().is_camera && source.transport().is_none());
    assert_eq!(rest(&mut *source), [(10, 11), (11, 12), (12, 13), (13, 14)]);
    writer.join().unwrap();
}

#[test]
fn a_pipe_may_change_its_size() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let writer = feed(&path, [y4m((16, 6), "30:1", 10, 2), y4m((12, 8), "30:1", 40, 1)].concat());
    let mut source = open(&[VideoInput::Y4m(path)], &options()).unwrap();
    let sizes: Vec<_> = std::iter::from_fn(|| next(&mut *source).unwrap()).map(|pair| pair.left.size()).collect();
    assert_eq!(sizes, [(8, 6), (8, 6), (6, 8)]);
    writer.join().unwrap();
}

#[test]
fn pairs_two_pipes_by_number() {
    let folder = tempfile::tempdir().unwrap();
    let paths = ["left", "right"].map(|name| folder.path().join(name));
    for path in &paths {
        pipe(path);
    }
    let writers = [feed(&paths[0], y4m((8, 4), "30:1", 10, 40)), feed(&paths[1], y4m((8, 4), "30:1", 100, 40))];
    let mut source = open(&paths.map(VideoInput::Y4m), &options()).unwrap();
    let all: Vec<_> = (0..40).map(|k| (10 + k, 100 + k)).collect();
    assert_eq!(rest(&mut *source), all);
    for writer in writers {
        writer.join().unwrap();
    }
}

#[test]
fn restarts_a_broken_live_stream_and_kills_its_program() {
    let folder = tempfile::tempdir().unwrap();
    let frames = folder.path().join("frames");
    std::fs::write(&frames, [planes((64, 4), 10), planes((64, 4), 20)].concat()).unwrap();
    let shown = folder.path().join("started");
    let text = format!(
        "echo $$ >>{0}\necho \"$@\" >>{0}\ncat {1}; sleep 0.3\n[ $(wc -l <{0}) -gt 2 ] && exec sleep 1000\necho gone >&2",
        shown.display(),
        frames.display()
    );
    let programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..Programs::default() };
    let options = SourceOptions { size: Some((64, 4)), rate_hz: Some(25.0), ..options() };
    let mut source = open_with(programs, &[VideoInput::Csi(1)], &options).unwrap();
    assert!(source.info().is_camera);
    for _ in 0..3 {
        next(&mut *source).unwrap().unwrap();
    }
    let remark = found("it is said", || source.state().remarks.first().cloned());
    assert!(remark.contains("csi:1 broke and was begun again 1 time: it ended (gone)"), "{remark}");
    let started = std::fs::read_to_string(&shown).unwrap();
    assert!(
        started.contains("--codec yuv420") && started.contains("--camera 1 --width 64 --height 4 --framerate 25"),
        "{started}"
    );
    assert_eq!(source.state().begun_again, 1);
    drop(source);
    let last = started.lines().rev().nth(1).unwrap().to_owned();
    ends("the program", &last);
}

#[test]
fn pairs_two_live_streams_by_arrival_with_a_remark() {
    let folder = tempfile::tempdir().unwrap();
    let frame = folder.path().join("frame");
    std::fs::write(&frame, planes((64, 4), 10)).unwrap();
    let text = format!("while cat {}; do sleep 0.05; done", frame.display());
    let programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..Programs::default() };
    let options = SourceOptions { size: Some((64, 4)), rate_hz: Some(20.0), ..options() };
    let mut source = open_with(programs, &[VideoInput::Csi(0), VideoInput::Csi(1)], &options).unwrap();
    assert_eq!((source.info().width, source.info().rate_hz), (64, Some(20.0)));
    for _ in 0..5 {
        assert_eq!(brightness(&next(&mut *source).unwrap().unwrap()), (10, 10));
    }
    let state = source.state();
    assert!(state.skew.is_none() && state.remarks.iter().any(|remark| remark.contains("not known")), "{state:?}");
}

#[test]
fn a_stream_that_comes_back_and_says_nothing_is_begun_again_and_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let [frames, started, wake] = ["frames", "started", "wake"].map(|name| folder.path().join(name));
    std::fs::write(&frames, planes((64, 4), 10)).unwrap();
    let text = format!(
        "echo $$ >>{0}\n[ $(wc -l <{0}) = 1 ] && exec cat {1}\n[ -e {2} ] || exec sleep 1000\nwhile cat {1}; do sleep 0.02; done",
        started.display(),
        frames.display(),
        wake.display()
    );
    let mut programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..hasty() };
    programs.limits.first = Duration::from_millis(300);
    let options = SourceOptions { size: Some((64, 4)), ..options() };
    let mut source = open_with(programs, &[VideoInput::Csi(0)], &options).unwrap();
    next(&mut *source).unwrap().unwrap();
    let silent = line(&started, 2);
    let error = found("the silence is an error", || source.state().unreadable);
    assert!(error.contains("no frame of csi:0 has come for more than"), "{error}");
    line(&started, 4);
    ends("the silent program", &silent);
    std::fs::write(&wake, "").unwrap();
    next(&mut *source).unwrap().unwrap();
    until("frames come", || next(&mut *source).is_ok() && source.state().unreadable.is_none());
    assert!(source.state().begun_again >= 3, "{:?}", source.state());
}

#[test]
fn a_silent_program_ends_with_its_source() {
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let text = format!("echo $$ >{}\nexec sleep 1000", number.display());
    let mut programs = Programs { rpicam: script(folder.path(), "rpicam-vid", &text), ..hasty() };
    programs.limits.first = Duration::from_millis(300);
    let error = open_with(programs, &[VideoInput::Csi(0)], &options()).err().unwrap().to_string();
    assert!(error.contains("csi:0"), "{error}");
    ends("the silent camera's program", &line(&number, 1));

    // a film whose decoder blocks behind its third frame, while the player waits for it
    let sent = y4m((16, 6), "30:1", 10, 3);
    std::fs::write(folder.path().join("sent"), sent).unwrap();
    let text = format!("echo $$ >{}\ncat {}\nexec sleep 1000", number.display(), folder.path().join("sent").display());
    let ffmpeg = script(folder.path(), "ffmpeg", &text);
    let mut programs = Programs { ffmpeg, ffprobe: promise(folder.path()), ..Programs::default() };
    programs.limits.first = Duration::from_mins(10);
    let mut source = open_with(programs, &[film_in(folder.path())], &options()).unwrap();
    for _ in 0..3 {
        next(&mut *source).unwrap().unwrap();
    }
    assert!(matches!(source.next(Duration::from_millis(100)), Ok(Next::Waiting)));
    drop(source);
    ends("the blocked decoder", &line(&number, 1));
}

#[test]
fn a_decoder_ends_with_a_killed_program() {
    // this test plays the program, too
    if let Some(folder) = std::env::var_os("PLAYS_THE_PROGRAM") {
        let folder = Path::new(&folder);
        let programs = Programs { rpicam: folder.join("rpicam-vid"), ..Programs::default() };
        let options = SourceOptions { size: Some((64, 4)), ..options() };
        let _source = open_with(programs, &[VideoInput::Csi(0)], &options).unwrap();
        std::fs::write(folder.join("open"), "open\n").unwrap();
        return std::thread::sleep(Duration::from_secs(1000));
    }
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let frame = folder.path().join("frame");
    std::fs::write(&frame, planes((64, 4), 10)).unwrap();
    let text = format!("echo $$ >{}\ncat {}\nexec sleep 1000", number.display(), frame.display());
    script(folder.path(), "rpicam-vid", &text);
    let mut program = Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "video::tests::a_decoder_ends_with_a_killed_program"]).stdout(Stdio::null());
    let mut program = program.env("PLAYS_THE_PROGRAM", folder.path()).spawn().unwrap();
    line(&folder.path().join("open"), 1);
    program.kill().unwrap();
    program.wait().unwrap();
    ends("the decoder", &line(&number, 1));
}

#[test]
fn programs_that_block_or_never_end_their_answer_are_ended() {
    let folder = tempfile::tempdir().unwrap();
    let number = folder.path().join("number");
    let mut programs = Programs { ffprobe: promise(folder.path()), ..hasty() };
    programs.limits.first = Duration::from_millis(300);
    let refusal = |programs: &Programs| {
        open_with(programs.clone(), &[film_in(folder.path())], &options()).err().unwrap().to_string()
    };
    let blocks = format!("echo $$ >{}\nexec sleep 1000", number.display());
    programs.ffmpeg = script(folder.path(), "ffmpeg", &blocks);
    let text = refusal(&programs);
    assert!(text.contains("clip.mp4") && text.contains("nothing came"), "{text}");
    ends("the decoder", &line(&number, 1));
    std::fs::remove_file(&number).unwrap();
    programs.ffprobe = script(folder.path(), "ffprobe", &blocks);
    let text = refusal(&programs);
    assert!(text.contains("clip.mp4") && text.contains("ffprobe") && text.contains("nothing came"), "{text}");
    ends("ffprobe", &line(&number, 1));
    programs.limits.first = Duration::from_mins(1);
    programs.ffprobe = script(folder.path(), "ffprobe", "exec cat /dev/zero");
    let text = refusal(&programs);
    assert!(text.contains("its answer has no end"), "{text}");
}

#[test]
fn only_plain_files_with_films_are_opened() {
    let folder = tempfile::tempdir().unwrap();
    let started = folder.path().join("started");
    let words = "echo \"[playlist @ 0x1] Format not on whitelist '$5'\" >&2; echo \"$8: Invalid argument\" >&2; exit 1";
    let ffprobe = script(folder.path(), "ffprobe", &format!("echo \"$@\" >>{}; {words}", started.display()));
    let refusal = |input| {
        let programs = Programs { ffprobe: ffprobe.clone(), ..Programs::default() };
        open_with(programs, &[input], &options()).err().unwrap().to_string()
    };
    let path = folder.path().join("pipe.mp4");
    pipe(&path);
    let text = refusal(VideoInput::File(path));
    assert!(text.contains("it is a pipe") && text.contains("y4m:-"), "{text}");
    assert!(!started.exists(), "no program waits for a pipe");
    let text = refusal(film_in(folder.path()));
    assert!(text.contains("its content is 'playlist'") && text.contains("out.mkv") && text.contains("y4m:-"), "{text}");
    let words = line(&started, 1);
    assert!(
        words.contains("-format_whitelist mov,matroska,avi") && !words.contains("hls") && words.contains("-i file:/"),
        "{words}"
    );
}

#[test]
fn a_cut_film_ends_behind_its_last_frame_with_one_remark() {
    // newer versions report an error where no frame is left
    for end in ["exit 0", "echo cut >&2; exit 1"] {
        let folder = tempfile::tempdir().unwrap();
        let (ffmpeg, ffprobe) = (decoder(folder.path(), end), promise(folder.path()));
        let programs = Programs { ffmpeg, ffprobe, ..Programs::default() };
        let film = film_in(folder.path());
        let mut source = open_with(programs.clone(), std::slice::from_ref(&film), &options()).unwrap();
        assert_eq!(source.info().num_pairs, Some(30));
        let all: Vec<_> = (10..19).map(|k| (k, k + 1)).collect();
        assert_eq!(rest(&mut *source), all, "{end}");
        let remarks = source.state().remarks;
        assert!(matches!(&remarks[..], [one] if one.contains("clip.mp4 ends after frame 9 of 30")), "{remarks:?}");
        assert_eq!(source.info().num_pairs, Some(9));
        assert!(starts(folder.path()) <= if end == "exit 0" { 1 } else { 9 }, "{end}: {}", starts(folder.path()));

        // the time line is shortened where a frame behind the end is sought
        let watched = SourceOptions { watched: true, ..options() };
        let mut source = open_with(programs.clone(), std::slice::from_ref(&film), &watched).unwrap();
        let transport = source.transport().unwrap();
        transport.pause();
        transport.seek(25);
        assert_eq!(next(&mut *source).unwrap().unwrap().sequence, 8, "{end}");
        assert_eq!(transport.get().num_pairs(), 9);

        // of two films the shorter one decides
        let right = folder.path().join("right.mp4");
        std::fs::write(&right, y4m((16, 6), "30:1", 50, 5)).unwrap();
        let mut source = open_with(programs.clone(), &[film.clone(), VideoInput::File(right)], &options()).unwrap();
        assert_eq!(rest(&mut *source).len(), 5, "{end}");
        assert!(source.state().remarks[0].contains("right.mp4 ends after frame 5 of 30"));

        // its end is that of the pairs also where frames of other numbers are pairs
        let shifted = SourceOptions { right_shift_s: 0.2, ..options() };
        let again = VideoInput::File(folder.path().join("again.mp4"));
        std::fs::copy(film.path().unwrap(), again.path().unwrap()).unwrap();
        let mut source = open_with(programs.clone(), &[film.clone(), again], &shifted).unwrap();
        assert_eq!(rest(&mut *source).len(), 3, "{end}: frames 6 to 8 of the left one");
        assert_eq!(source.info().num_pairs, Some(3));

        let late = SourceOptions { start_at: Duration::from_millis(900), ..options() };
        let mut source = open_with(programs, &[film], &late).unwrap();
        assert_eq!(rest(&mut *source), [(18, 19)], "{end}: the last one for a time behind the end");
    }
}

#[test]
fn names_reach_the_decoder_as_they_are() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let programs =
        Programs { ffmpeg: decoder(folder.path(), ""), ffprobe: promise(folder.path()), ..Programs::default() };
    let names: [&[u8]; 2] = [b"2026-11-28T12:30:05.mp4", b"caf\xe9.mp4"];
    for name in &names[..if cfg!(target_os = "linux") { 2 } else { 1 }] {
        let path = folder.path().join(std::ffi::OsStr::from_bytes(name));
        std::fs::write(&path, y4m((16, 6), "30:1", 10, 2)).unwrap();
        let mut source = open_with(programs.clone(), &[VideoInput::File(path)], &options()).unwrap();
        assert_eq!(rest(&mut *source), [(10, 11), (11, 12)], "{name:?}");
    }
}

#[test]
fn good_frames_before_a_damaged_one_are_given() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("pipe");
    pipe(&path);
    let writer = feed(&path, [y4m((16, 6), "30:1", 10, 3), b"garbage\n".to_vec()].concat());
    let mut source = open(&[VideoInput::Y4m(path)], &options()).unwrap();
    writer.join().unwrap();
    for k in 10..13 {
        std::thread::sleep(Duration::from_millis(30)); // the error is queued behind the last one
        assert_eq!(brightness(&next(&mut *source).unwrap().unwrap()).0, k);
    }
    let error = next(&mut *source).unwrap_err().to_string();
    assert!(error.contains("the stream is damaged"), "{error}");
}

#[test]
fn ffmpeg_limits_the_silence_of_each_protocol_by_an_option_that_it_has() {
    let folder = tempfile::tempdir().unwrap();
    let [options_of, words] = ["options", "words"].map(|name| folder.path().join(name));
    let text =
        format!("[ \"$2\" = -h ] && exec cat {}\necho \"$@\" >>{}\nexit 1", options_of.display(), words.display());
    let programs = Programs { ffmpeg: script(folder.path(), "ffmpeg", &text), ..Programs::default() };
    let asked = |text: &str, place: &str| {
        std::fs::write(&options_of, text).unwrap();
        let _ = std::fs::remove_file(&words);
        assert!(open_with(programs.clone(), &address(place), &options()).is_err());
        line(&words, 1)
    };
    let version_4 = "  -timeout <int> .D... maximum timeout (in seconds) to wait for incoming connections\n  \
                     -stimeout <int> .D... timeout (in microseconds) of socket TCP I/O operations\n";
    let version_5 =
        "  -listen_timeout <int> .D... timeout (in seconds)\n  -timeout <int64> .D... timeout (in microseconds)\n";
    for (text, place, option) in [
        (version_4, "RTSP://cam/x", " -stimeout 10000000 -i rtsp://cam/x "),
        (version_5, "rtsps://cam/x", " -rtsp_transport tcp -timeout 10000000 -i rtsps://cam/x "),
        ("", "rtsp://cam/x", " -rtsp_transport tcp -i rtsp://cam/x "),
        ("", "HTTP://cam/X", " -rw_timeout 10000000 -i http://cam/X "),
        ("", "udp://cam:5000", " -timeout 10000000 -i udp://cam:5000 "),
    ] {
        let words = asked(text, place);
        assert!(words.contains(option), "{place}: {words}");
    }
}

#[test]
fn errors_have_advice_and_no_password() {
    let folder = tempfile::tempdir().unwrap();
    let refusal = |programs: Programs| {
        open_with(programs, &address("rtsp://admin:geheim@10.0.0.5/x"), &options()).err().unwrap().to_string()
    };
    let text = refusal(Programs { ffmpeg: "/nowhere/ffmpeg".into(), ..Programs::default() });
    assert!(text.contains("rtsp://***@10.0.0.5/x") && text.contains("sudo apt install ffmpeg"), "{text}");
    let ffmpeg = script(folder.path(), "ffmpeg", "echo \"401 Unauthorized: $@\" >&2; sleep 0.1; exit 1");
    let text = refusal(Programs { ffmpeg, ..Programs::default() });
    assert!(text.contains("401 Unauthorized") && !text.contains("geheim"), "{text}");
    let text = open(&[VideoInput::Csi(0)], &SourceOptions { size: Some((100, 40)), ..options() }).err().unwrap();
    assert!(text.to_string().contains("multiple of 64"), "{text}");
    let missing = Programs { ffprobe: "/nowhere/ffprobe".into(), ..Programs::default() };
    let missing = open_with(missing, &[film_in(folder.path())], &options());
    assert!(missing.err().unwrap().to_string().contains("brew install ffmpeg"));
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_and_seeks_a_video() {
    let folder = tempfile::tempdir().unwrap();
    let (raw, clip) = (folder.path().join("raw.y4m"), folder.path().join("clip.mkv"));
    std::fs::write(&raw, y4m((64, 32), "30:1", 10, 90)).unwrap();
    let made = Command::new("ffmpeg")
        .args(["-v", "error", "-i"])
        .arg(&raw)
        .args(["-c:v", "ffv1"])
        .arg(&clip)
        .status()
        .unwrap();
    assert!(made.success());
    let mut source = open(&[VideoInput::File(clip.clone())], &options()).unwrap();
    let all: Vec<_> = (10..100).map(|k| (k, k + 1)).collect();
    assert_eq!(rest(&mut *source), all);
    assert_eq!(source.state().remarks, Vec::<String>::new());
    let mut source = open(&[VideoInput::File(clip)], &SourceOptions { watched: true, ..options() }).unwrap();
    let transport = source.transport().unwrap();
    transport.pause();
    for place in [80, 3, 70, 89, 0] {
        transport.seek(place);
        let pair = next(&mut *source).unwrap().unwrap();
        assert_eq!((pair.sequence, brightness(&pair).0), (place, 10 + place as u8));
    }
}

/// Runs ffmpeg in a folder.
fn ffmpeg(folder: &Path, words: &str) {
    let made = Command::new("ffmpeg").current_dir(folder).args(["-v", "error", "-y"]).args(words.split(' ')).status();
    assert!(made.unwrap().success(), "{words}");
}

/// Writes `raw.y4m`: frames of 64x32 px, 10 per second, each two grey levels brighter than the one before.
fn steps(folder: &Path, count: u8) {
    let frame = |k: u8| [b"FRAME\n".to_vec(), planes((64, 32), 20 + 2 * k)].concat();
    let header = b"YUV4MPEG2 W64 H32 F10:1 Ip C420jpeg\n".to_vec();
    let bytes = [header, (0..count).flat_map(frame).collect()].concat();
    std::fs::write(folder.join("raw.y4m"), bytes).unwrap();
}

/// Returns the number of the step that a pair shows, whatever a lossy codec made of its brightness.
fn step(pair: &RawPair) -> u64 {
    u64::from((brightness(pair).0.saturating_sub(19)) / 2)
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_each_container_frame_by_frame_wherever_it_is_entered() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 90);
    let x264 = "-c:v libx264 -bf 2 -g 12";
    // by ffmpeg 5.1; the frames of MPEG-PS have a rate that MPEG-2 knows
    for (name, words) in [
        ("a.mp4", x264),
        ("pieces.mp4", "-c:v libx264 -bf 2 -g 12 -movflags frag_keyframe+empty_moov"),
        ("a.mkv", x264),
        ("a.flv", x264),
        ("a.ts", x264),
        ("long.ts", "-c:v libx264 -bf 2 -g 250"),
        ("open.ts", "-c:v libx264 -bf 2 -g 12 -x264-params open-gop=1"),
        ("a.m2ts", x264),
        ("a.mpg", "-r 25 -c:v mpeg2video -q:v 2 -bf 2 -g 12"),
        ("a.avi", "-c:v mpeg4 -q:v 2 -bf 2 -g 12"),
        ("a.wmv", "-c:v wmv2 -q:v 2 -g 12"),
        ("a.ivf", "-c:v libvpx -b:v 1M -g 12"),
        ("a.nut", "-c:v ffv1"),
        ("a.h264", x264),
        ("a.hevc", "-c:v libx265 -x265-params log-level=error"),
        ("a.mjpeg", "-c:v mjpeg -q:v 2"),
        ("no_ending", "-c:v libx264 -f matroska"),
    ] {
        ffmpeg(folder.path(), &format!("-i raw.y4m {words} {name}"));
        let input = match SourceSpec::from_paths(&[folder.path().join(name)]) {
            Ok(SourceSpec::Video(inputs)) => inputs,
            other => panic!("{name}: {other:?}"),
        };
        let mut source = open(&input, &options()).unwrap();
        let shown: Vec<_> = std::iter::from_fn(|| next(&mut *source).unwrap()).map(|pair| step(&pair)).collect();
        let repeated = if name == "a.mpg" { 5 } else { 2 };
        let expected = |place: u64| if name == "a.mpg" { place * 2 / repeated } else { place };
        assert_eq!(shown.len(), if name == "a.mpg" { 225 } else { 90 }, "{name}");
        let is_right = |place: usize, step: u64| step.abs_diff(expected(place as u64)) <= u64::from(name == "a.mpg");
        assert!(shown.iter().enumerate().all(|(place, step)| is_right(place, *step)), "{name}: {shown:?}");
        let remarks = source.state().remarks;
        assert_eq!(remarks.len(), usize::from(["a.h264", "a.hevc", "a.mjpeg"].contains(&name)), "{name}: {remarks:?}");
        let mut source = open(&input, &SourceOptions { watched: true, ..options() }).unwrap();
        let transport = source.transport().unwrap();
        transport.pause();
        for place in [80, 3, 71, 89, 40, 0, 12, 11] {
            transport.seek(place);
            let pair = next(&mut *source).unwrap().unwrap();
            assert_eq!((pair.sequence, step(&pair)), (place, shown[place as usize]), "{name}");
        }
    }
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_the_frames_of_films_that_begin_late_or_vary() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 12);
    ffmpeg(folder.path(), "-i raw.y4m -c:v libx264 -bf 2 plain.mp4");
    let sound = "-f lavfi -t 2 -i sine=440";
    for (name, words) in [
        ("late.mp4", format!("{sound} -itsoffset 1 -i plain.mp4 -c:v copy -map 0:a -map 1:v late.mp4")),
        ("half.mkv", format!("{sound} -itsoffset 0.05 -i plain.mp4 -c:v copy -map 0:a -map 1:v half.mkv")),
        ("late.ts", format!("{sound} -itsoffset 0.3 -i plain.mp4 -c:v copy -map 0:a -map 1:v late.ts")),
        ("early.avi", "-itsoffset -0.5 -i raw.y4m -copyts -c:v mpeg4 -q:v 2 early.avi".to_owned()),
    ] {
        ffmpeg(folder.path(), &words);
        let mut source = open(&[VideoInput::File(folder.path().join(name))], &options()).unwrap();
        let shown: Vec<_> = std::iter::from_fn(|| next(&mut *source).unwrap()).map(|pair| step(&pair)).collect();
        let cut = if name == "early.avi" { shown[0] } else { 0 };
        assert_eq!(shown, (cut..12).collect::<Vec<_>>(), "{name}");
        assert_eq!(source.state().remarks, Vec::<String>::new(), "{name}");
    }
    // a recording that begins behind a key frame
    steps(folder.path(), 60);
    ffmpeg(folder.path(), "-i raw.y4m -c:v libx264 -bf 2 -g 12 whole.ts");
    let whole = std::fs::read(folder.path().join("whole.ts")).unwrap();
    let cut = folder.path().join("cut.ts");
    std::fs::write(&cut, &whole[188 * 40..]).unwrap();
    let mut source = open(&[VideoInput::File(cut)], &options()).unwrap();
    let shown: Vec<_> = std::iter::from_fn(|| next(&mut *source).unwrap()).map(|pair| step(&pair)).collect();
    assert!(shown.len() > 40 && shown.iter().copied().eq(60 - shown.len() as u64..60), "{shown:?}");
    assert_eq!(source.state().remarks, Vec::<String>::new());
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_packed_frames_of_h264_and_h265_as_they_say() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 4);
    ffmpeg(folder.path(), "-i raw.y4m -c:v libx264 -x264-params frame-packing=4 packed.mp4");
    ffmpeg(folder.path(), "-i raw.y4m -c:v libx265 -x265-params log-level=error plain.hevc");
    // a message before the first image, as H.265 (ITU-T, 2021, D.2.16) writes it: one above the other, the left view first
    let bytes = std::fs::read(folder.path().join("plain.hevc")).unwrap();
    let image = (3..bytes.len()).find(|&at| bytes[at - 3..at] == [0, 0, 1] && (bytes[at] >> 1) < 32).unwrap() - 3;
    let message = b"\0\0\x01\x4e\x01\x2d\x06\x82\x01\0\0\x03\0\x02\x80";
    std::fs::write(folder.path().join("packed.hevc"), [&bytes[..image], message, &bytes[image..]].concat()).unwrap();
    for name in ["packed.mp4", "packed.hevc"] {
        let source = open(&[VideoInput::File(folder.path().join(name))], &options()).unwrap();
        let remarks = source.state().remarks;
        assert_eq!((source.info().width, source.info().height), (64, 16), "{name}");
        assert!(remarks.last().unwrap().contains("the file says top-bottom: its images are taken so"), "{remarks:?}");
    }
}

#[test]
#[ignore = "needs ffmpeg, which the nightly tests install"]
fn ffmpeg_plays_interleaved_views_side_by_side_after_the_command_in_the_message() {
    let folder = tempfile::tempdir().unwrap();
    steps(folder.path(), 4);
    for (filter, mode) in [
        ("irr", "row_interleaved_rl"),
        ("icl", "col_interleaved_lr"),
        ("icr", "col_interleaved_rl"),
        ("al", "block_lr"),
        ("chl", "checkerboard_lr"),
        ("chr", "checkerboard_rl"),
    ] {
        let name = folder.path().join(format!("{filter}.mkv"));
        let words =
            format!("-i raw.y4m -vf stereo3d=sbsl:{filter} -c:v ffv1 -metadata:s:v:0 stereo_mode={mode} {filter}.mkv");
        ffmpeg(folder.path(), &words);
        let text = open(&[VideoInput::File(name)], &options()).err().unwrap().to_string();
        let command = text.split_once("(ffmpeg ").unwrap().1.split_once("), or").unwrap().0;
        let mut shell = Command::new("sh");
        let command = format!("ffmpeg -v error {}", command.replace("FILE", &format!("{filter}.mkv")));
        assert!(shell.current_dir(folder.path()).args(["-c", &command]).status().unwrap().success(), "{command}");
        let made = folder.path().join("out.mkv");
        let mut source = open(&[VideoInput::File(made.clone())], &options()).unwrap();
        let pair = next(&mut *source).unwrap().unwrap();
        assert_eq!(brightness(&pair), (20, 21), "{mode}");
        assert_eq!(source.state().remarks, Vec::<String>::new(), "{mode}");
        std::fs::remove_file(made).unwrap();
    }
}

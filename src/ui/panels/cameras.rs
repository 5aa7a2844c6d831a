//! The chooser: what each camera sees; a click makes it left, a second one right.

use crate::capture::decode_camera::PixelFormat;
use crate::capture::webcam::{CameraInfo, Mode};
use crate::capture::{Orientation, SourceSpec};
use crate::console::foreign;
use crate::ui::session::{Session, camera_name};
use crate::ui::widgets;
use egui::{Button, Color32, Image, RichText, Role, Sense, Ui, WidgetInfo, vec2};

const WIDTH: f32 = 192.0;

/// Shows the chooser while it is open.
pub(crate) fn show(ui: &mut Ui, session: &mut Session) {
    if session.chooser.is_none() {
        return;
    }
    session.update_thumbnails(ui.ctx());
    let mut open = true;
    let window = egui::Window::new("Cameras").default_pos([330.0, 90.0]).resizable(false).collapsible(false);
    window.open(&mut open).show(ui, |ui| content(ui, session));
    if !open {
        session.toggle_chooser();
    }
}

fn content(ui: &mut Ui, session: &mut Session) {
    match session.cameras.clone().as_deref() {
        None => drop(ui.label("looking for cameras …")),
        Some([]) => drop(ui.label("no camera found: plug one in, then look again")),
        Some(cameras) => {
            let left = session.chooser.as_ref().and_then(|chooser| chooser.left.clone());
            widgets::note(
                ui,
                match &left {
                    None => "Click what the left camera sees, as seen from behind the cameras.",
                    Some(_) => "Now click what the right camera sees; the same one again takes it back.",
                },
            );
            ui.horizontal_wrapped(|ui| {
                for camera in cameras {
                    ui.push_id(camera.index, |ui| ui.vertical(|ui| tile(ui, session, camera)));
                }
            });
        }
    }
    ui.horizontal(|ui| {
        if ui.button("Look again").on_hover_text("List the cameras anew.").clicked() {
            session.find_cameras();
        }
        let swap = Button::new("Swap left and right");
        if ui.add_enabled(session.can_swap(), swap).on_hover_text("Exchange the eyes of the open source.").clicked() {
            session.swap_eyes();
        }
    });
    if session.source.is_camera() {
        ui.separator();
        wishes(ui, session);
    }
}

/// One camera: picture, name, port, what it is used for.
fn tile(ui: &mut Ui, session: &mut Session, camera: &CameraInfo) {
    ui.set_width(WIDTH);
    let chooser = session.chooser.as_ref();
    let is_left = chooser.is_some_and(|chooser| chooser.left.as_ref() == Some(&camera_name(camera)));
    let used = eye_of(session, camera);
    let title = format!("{} {}", camera.index, foreign(&camera.name));
    let texture = chooser.and_then(|chooser| chooser.thumbnails.get(&camera.index)).map(|t| t.texture.clone());
    let help = "Click: the first camera is left, the second one right.";
    // the same room with and without a picture: nothing jumps under the pointer
    let (rect, response) = ui.allocate_exact_size(vec2(WIDTH, WIDTH * 0.75), Sense::click());
    ui.painter().rect_filled(rect, 2.0, ui.visuals().extreme_bg_color);
    if let Some(texture) = texture {
        let size = texture.size_vec2();
        let fitted = egui::Rect::from_center_size(rect.center(), size * (rect.size() / size).min_elem());
        Image::new(&texture).paint_at(ui, fitted);
    } else {
        let why = session.preview_problem(camera).unwrap_or_else(|| "opening …".into());
        let text = egui::Label::new(RichText::new(why).small()).wrap();
        ui.put(rect.shrink(8.0), text);
    }
    if is_left || used.is_some() {
        let color = if is_left { ui.visuals().selection.bg_fill } else { Color32::from_rgb(90, 160, 90) };
        ui.painter().rect_stroke(response.rect, 2.0, (3.0, color), egui::StrokeKind::Inside);
    }
    response.widget_info(|| WidgetInfo::selected(Role::Button, true, is_left, format!("camera {title}")));
    if response.on_hover_text(help).clicked() {
        session.pick_camera(camera);
    }
    let role = if is_left { Some("left") } else { used };
    let name = RichText::new(role.map_or(title.clone(), |role| format!("{title} · {role}")));
    ui.add(egui::Label::new(name).truncate());
    let bus = camera.bus.map_or(String::new(), |bus| format!(" · {bus}"));
    let port = if camera.port.is_empty() { "port not known".to_owned() } else { foreign(&camera.port) };
    ui.add(egui::Label::new(RichText::new(format!("{port}{bus}")).small().weak()).truncate()).on_hover_text(port);
    let proposed = camera.proposes_side_by_side();
    let both = if proposed { "Use: both eyes in one picture" } else { "both eyes in one picture" };
    if ui.small_button(both).on_hover_text("This one camera gives left and right side by side.").clicked() {
        session.pick_side_by_side(camera);
    }
}

/// What the present source uses a camera for.
fn eye_of(session: &Session, camera: &CameraInfo) -> Option<&'static str> {
    let used = &session.status.cameras.cameras;
    let position = used.iter().position(|used| used.index == camera.index)?;
    Some(match (used.len(), position) {
        (1, _) => "both eyes",
        (_, 0) => "left",
        _ => "right",
    })
}

/// Mode and orientation of the cameras in use; a change opens them again.
fn wishes(ui: &mut Ui, session: &mut Session) {
    let before = session.rig.options.clone();
    let mut options = before.clone();
    let modes = modes_in_use(session);
    let eyes = if matches!(session.source, SourceSpec::WebcamSideBySide(_)) { 2 } else { 1 };
    widgets::row(ui, "size per eye", "What is asked of the cameras; what they have nearest to it is taken.", |ui| {
        let mut sizes: Vec<(usize, usize)> = modes.iter().map(|m| (m.width / eyes, m.height)).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let words: Vec<(Option<(usize, usize)>, String)> =
            sizes.into_iter().map(|size| (Some(size), format!("{}×{}", size.0, size.1))).collect();
        list(ui, "Size per eye", "640×480", &words, &mut options.size);
    });
    widgets::row(ui, "format", "How pixels travel: MJPEG spares the bus, YUYV and grey lose nothing.", |ui| {
        let formats = PixelFormat::ALL.iter().filter(|&&format| modes.iter().any(|mode| mode.format == format));
        let words: Vec<(Option<PixelFormat>, String)> =
            formats.map(|&format| (Some(format), format.name().to_owned())).collect();
        list(ui, "Format", "any", &words, &mut options.cameras.format);
    });
    widgets::row(ui, "rate", "Frames per second asked of the cameras.", |ui| {
        let mut rates: Vec<u32> = modes.iter().map(|mode| mode.rate_hz).collect();
        rates.sort_unstable();
        rates.dedup();
        let words: Vec<(Option<f64>, String)> =
            rates.into_iter().map(|hz| (Some(f64::from(hz)), format!("{hz}/s"))).collect();
        list(ui, "Rate", "any", &words, &mut options.rate_hz);
    });
    let names: &[&str] = if eyes == 2 { &["picture"] } else { &["left", "right"] };
    for (eye, name) in names.iter().enumerate() {
        widgets::row(ui, name, "How the picture is turned.", |ui| {
            let words: Vec<_> = Orientation::ALL.iter().map(|&o| (o, o.word(), o.help())).collect();
            let label = format!("Orientation {name}");
            widgets::choice(
                ui,
                &label,
                "How the picture is turned.",
                &words,
                &mut options.cameras.eyes[eye].orientation,
            );
        });
    }
    granted(ui, session);
    if options != before {
        session.reopen(options);
    }
}

/// What the cameras granted.
fn granted(ui: &mut Ui, session: &Session) {
    for camera in &session.status.cameras.cameras {
        let text = format!("camera {}: {}, {:.1}/s come", camera.index, camera.mode, camera.rate_hz);
        widgets::note(ui, text);
    }
}

/// Modes that all cameras in use have.
fn modes_in_use(session: &Session) -> Vec<Mode> {
    let used = &session.status.cameras.cameras;
    let all = session.cameras.iter().flatten();
    let cameras = all.filter(|camera| used.iter().any(|used| used.index == camera.index));
    let mut modes: Option<Vec<Mode>> = None;
    for camera in cameras {
        let shared = |mode: &Mode| camera.modes.iter().any(|m| m.size() == mode.size());
        modes = Some(match modes {
            None => camera.modes.clone(),
            Some(modes) => modes.into_iter().filter(shared).collect(),
        });
    }
    modes.unwrap_or_default()
}

/// A list with a first member for no wish.
fn list<T: Clone + PartialEq>(
    ui: &mut Ui,
    label: &str,
    none: &str,
    words: &[(Option<T>, String)],
    chosen: &mut Option<T>,
) {
    let text = words.iter().find(|(value, _)| value == chosen).map_or(none, |(_, word)| word.as_str());
    let combo = egui::ComboBox::from_id_salt(label).selected_text(text).width(120.0);
    let response = combo.show_ui(ui, |ui| {
        ui.selectable_value(chosen, None, none);
        for (value, word) in words {
            ui.selectable_value(chosen, value.clone(), word.as_str());
        }
    });
    let text = text.to_owned();
    response.response.widget_info(|| {
        let mut info = WidgetInfo::labeled(Role::ComboBox, true, label);
        info.current_text_value = Some(text.clone());
        info
    });
}

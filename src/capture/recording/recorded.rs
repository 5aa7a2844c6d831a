//! What was recorded of a pair's result, as numbers to be looked at beside what is computed now.

use crate::frame::Recorded;
use crate::image::Image;
use crate::recording::format::decode;
use crate::recording::message::{DisparityBody, Encoding, ImageBody};
use crate::recording::{Body, Packet, topic};

/// Depth and disparity among the packets of a result; `None` where there is neither, or what is there cannot be read.
pub(super) fn of(packets: &[Packet]) -> Option<Recorded> {
    let mut recorded = Recorded::default();
    for packet in packets {
        let body = |packet: &Packet| {
            let message = decode(&packet.channel, &packet.data);
            message.inspect_err(|err| log::debug!("{err}")).ok().map(|message| message.body)
        };
        match packet.channel.topic.as_str() {
            topic::DEPTH => {
                if let Some(Body::Image(image)) = body(packet) {
                    recorded.depth_m = depth_m(&image);
                }
            }
            topic::DISPARITY => {
                if let Some(Body::Disparity(disparity)) = body(packet) {
                    recorded.disparity_px = Some(disparity_px(&disparity));
                }
            }
            _ => {}
        }
    }
    (recorded != Recorded::default()).then_some(recorded)
}

/// Metres of a picture of depth; NaN where there is none.
fn depth_m(image: &ImageBody) -> Option<Image<f32>> {
    let (width, height, step) = (image.width as usize, image.height as usize, image.step as usize);
    let bytes = match image.encoding {
        Encoding::DepthMm => 2,
        Encoding::Float32 => 4,
        _ => return None,
    };
    if width == 0 || step < width * bytes || image.data.len() < step * height {
        return None;
    }
    let pixel = |at: &[u8]| match *at {
        [low, high] => f32::from(u16::from_le_bytes([low, high])) / 1000.0,
        [a, b, c, d] => f32::from_le_bytes([a, b, c, d]),
        _ => f32::NAN,
    };
    let rows = image.data.chunks_exact(step).take(height);
    let pixels = rows.flat_map(|row| row[..width * bytes].chunks_exact(bytes).map(pixel));
    let pixels: Vec<_> = pixels.map(|z| if z > 0.0 && z.is_finite() { z } else { f32::NAN }).collect();
    Some(Image::new(width, height, pixels))
}

fn disparity_px(body: &DisparityBody) -> Image<f32> {
    let lowest = body.min_disparity;
    body.disparity_px.map(|&d| if d >= lowest { d } else { f32::NAN })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recording::{Format, Message};
    use std::sync::Arc;
    use std::time::SystemTime;

    fn packet(topic: &str, body: Body) -> Packet {
        let channel = Arc::new(Format::Ros2.channel(topic, &body));
        let message = Message { stamp: SystemTime::UNIX_EPOCH, frame_id: "left".into(), body };
        let data = Format::Ros2.encode(&message);
        Packet { channel, sequence: 0, log_time_ns: 0, publish_time_ns: 0, data }
    }

    #[test]
    fn millimetres_become_metres_and_what_is_missing_stays_missing() {
        let data: Vec<u8> = [1284_u16, 0, 65_535, 7].iter().flat_map(|mm| mm.to_le_bytes()).collect();
        let image = ImageBody { width: 2, height: 2, encoding: Encoding::DepthMm, step: 4, data: data.into() };
        let disparity = DisparityBody {
            disparity_px: Image::new(3, 1, vec![4.5, f32::NAN, 0.0]),
            focal_px: 500.0,
            baseline_m: 0.1,
            min_disparity: 0.0,
            max_disparity: 63.0,
            delta_d: 1.0 / 16.0,
        };
        let depth = packet(topic::DEPTH, Body::Image(image));
        let recorded = of(&[depth.clone(), packet(topic::DISPARITY, Body::Disparity(disparity))]).unwrap();
        let z = recorded.depth_m.unwrap();
        let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
        assert!(near(z.at(0, 0), 1.284) && near(z.at(0, 1), 65.535) && near(z.at(1, 1), 0.007), "{z:?}");
        let d = recorded.disparity_px.unwrap();
        assert!(z.at(1, 0).is_nan() && d.at(1, 0).is_nan());
        assert!(near(d.at(0, 0), 4.5) && near(d.at(2, 0), 0.0), "{d:?}");

        assert!(of(&[]).is_none());
        let cut = Packet { data: depth.data[..depth.data.len() / 2].to_vec(), ..depth };
        assert!(of(&[cut]).is_none(), "what cannot be read is not there");
    }
}

//! Recorded result of a pair, for comparison with a new one.

use crate::Packet;
use crate::unpack::UnpackedResult;
use stereopsis_frame::Recorded;

/// Returns depth and disparity of a result; `None` if there is neither, or they cannot be read.
pub(super) fn of(packets: &[Packet]) -> Option<Recorded> {
    UnpackedResult::of(packets).inspect_err(|err| log::debug!("{err}")).ok()?.recorded()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::{DisparityBody, Encoding, ImageBody};
    use crate::{Body, Format, Message, topic};
    use std::sync::Arc;
    use std::time::SystemTime;
    use stereopsis_base::image::Image;

    fn packet(topic: &str, body: Body) -> Packet {
        let channel = Arc::new(Format::Ros2.channel(topic, &body));
        let message = Message { stamp: SystemTime::UNIX_EPOCH, frame_id: "left".into(), body };
        let data = Format::Ros2.encode(&message);
        Packet { channel, sequence: 0, log_time_ns: 0, publish_time_ns: 0, data }
    }

    #[test]
    fn converts_millimetres_and_keeps_holes() {
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

//! Drawing of images and maps into textures that egui shows, for both engines.
//! In: a frame and an output; out: one `Rgba8Unorm` texture per view, drawn again only after a change.
//! All work is submitted without waiting, because the engine shares this device and queue.

mod map_pass;
mod picture_pass;
mod upload;

use crate::space::Inputs;
use crate::view::{ViewKind, anaglyph, rows};
use eframe::egui_wgpu::RenderState;
pub(crate) use map_pass::Display;
use map_pass::MapPass;
pub(crate) use picture_pass::Drawable;
use picture_pass::PicturePass;
use std::sync::Arc;
use stereopsis_frame::engine::Output;
pub(crate) use stereopsis_images::screen::FloatMap;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct MapDisplays {
    /// Disparity, with its range in px.
    pub(crate) disparity: Display,
    /// Depth; `None` without geometry.
    pub(crate) depth: Option<Display>,
    /// Confidence; `None` where it is not computed.
    pub(crate) confidence: Option<Display>,
    /// Recorded map of the pair.
    pub(crate) recorded: Option<Display>,
    /// Difference from the recorded disparity or the truth.
    pub(crate) difference: Option<Display>,
    /// 256 colours, far to near.
    pub(crate) colours: Arc<[[u8; 3]; 256]>,
}

pub(crate) struct Screens {
    state: RenderState,
    pass: MapPass,
    picture_pass: PicturePass,
    views: [Option<wgpu::Texture>; ViewKind::ALL.len()],
    map: Option<wgpu::Texture>,
    recorded: Option<wgpu::Texture>,
    reference: Option<wgpu::Texture>,
    /// Map from which `reference` was packed.
    packed_reference: Option<Arc<FloatMap>>,
    shown: Option<Arc<Output>>,
    displays: Option<MapDisplays>,
    open: Vec<ViewKind>,
}

impl Screens {
    /// Compiles the shader for this window's device.
    pub(crate) fn new(state: &RenderState) -> Self {
        Self {
            pass: MapPass::new(state),
            picture_pass: PicturePass::new(state),
            state: state.clone(),
            views: Default::default(),
            map: None,
            recorded: None,
            reference: None,
            packed_reference: None,
            shown: None,
            displays: None,
            open: Vec::new(),
        }
    }

    /// Returns the image of `view`, or `None` before it is drawn.
    pub(crate) fn picture(&self, view: ViewKind) -> Option<Drawable<'_>> {
        self.views[view as usize].as_ref().map(|texture| self.drawable(texture))
    }

    /// Returns a texture of gamma-encoded colours, ready to draw into the window.
    pub(crate) fn drawable<'a>(&'a self, texture: &'a wgpu::Texture) -> Drawable<'a> {
        Drawable { pass: &self.picture_pass, texture }
    }

    /// Returns the shown map and left image for the points in space, or `None` before both exist.
    pub(crate) fn space_inputs(&self) -> Option<Inputs<'_>> {
        let left = self.views[ViewKind::Left as usize].as_ref()?;
        let map = self.map.as_ref().filter(|map| map.size() == left.size())?;
        Some(Inputs { map, picture: left, colours: self.pass.colours() })
    }

    /// Draws `output`'s pair and map with `displays` in the open `views`, cheaply if nothing has changed.
    pub(crate) fn update(
        &mut self,
        output: &Arc<Output>,
        recorded: Option<&FloatMap>,
        reference: Option<&Arc<FloatMap>>,
        displays: &MapDisplays,
        views: &[ViewKind],
    ) {
        let frame = &output.job.frame;
        let opened = self.open != views;
        self.open = views.to_vec();
        let shown = self.shown.replace(Arc::clone(output));
        if opened || !shown.as_ref().is_some_and(|shown| Arc::ptr_eq(&shown.job.frame, frame)) {
            let (left, right) = (&*frame.left, &*frame.right);
            // the points in space have the colours of the left image
            let pictures = ViewKind::ALL.iter().copied().filter(|view| match view {
                ViewKind::Left => [ViewKind::Left, ViewKind::Space].iter().any(|view| views.contains(view)),
                ViewKind::Space => false,
                view => views.contains(view) && !view.is_map(),
            });
            for view in pictures {
                let bytes = match view {
                    ViewKind::Right => stereopsis_images::screen::rgba(right),
                    ViewKind::Anaglyph => anaglyph(left, right),
                    ViewKind::Rows => rows(left, right, frame.axis),
                    _ => stereopsis_images::screen::rgba(left),
                };
                let screen = self.screen(view, frame.size());
                upload::write(&self.state.queue, &screen, &bytes);
            }
            let state = &self.state;
            let packed = |map: &FloatMap, old| upload::packed(state, &map.words, map.size, old);
            self.recorded = recorded.map(|map| packed(map, self.recorded.take()));
        }
        let is_known = match (&self.packed_reference, reference) {
            (Some(known), Some(reference)) => Arc::ptr_eq(known, reference),
            (known, reference) => known.is_none() && reference.is_none(),
        };
        if !is_known {
            let state = &self.state;
            let packed = |map: &Arc<FloatMap>, old| upload::packed(state, &map.words, map.size, old);
            self.reference = reference.map(|map| packed(map, self.reference.take()));
            self.packed_reference = reference.cloned();
        }
        let new_map = !shown.is_some_and(|shown| Arc::ptr_eq(&shown, output));
        if new_map {
            self.map = match (&output.texture, &output.map) {
                (Some(texture), _) => Some(texture.clone()),
                (None, Some(map)) => Some(upload::map(&self.state, map, self.map.take())),
                (None, None) => None,
            };
        }
        if new_map || opened || !is_known || self.displays.as_ref() != Some(displays) {
            self.displays = Some(displays.clone());
            self.draw_maps(displays);
        }
    }

    fn draw_maps(&mut self, displays: &MapDisplays) {
        self.pass.set_colours(&self.state.queue, &displays.colours[..]);
        let mut encoder = self.state.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let (map, recorded, reference) = (self.map.clone(), self.recorded.clone(), self.reference.clone());
        let maps = [
            (ViewKind::Disparity, &map, Some(displays.disparity)),
            (ViewKind::Depth, &map, displays.depth),
            (ViewKind::Confidence, &map, displays.confidence),
            (ViewKind::Recorded, &recorded, displays.recorded),
            (ViewKind::Difference, &map, displays.difference.filter(|_| reference.is_some())),
        ];
        for (view, map, display) in maps {
            if let (Some(map), Some(display)) = (map, display.filter(|_| self.open.contains(&view))) {
                let target = self.screen(view, (map.width() as usize, map.height() as usize));
                self.pass.draw(&self.state.device, &mut encoder, map, reference.as_ref(), &target, &display);
            }
        }
        self.state.queue.submit([encoder.finish()]);
    }

    /// Returns the view's texture, recreated after a change of size.
    fn screen(&mut self, view: ViewKind, (width, height): (usize, usize)) -> wgpu::Texture {
        let slot = &mut self.views[view as usize];
        if let Some(texture) = slot
            && (texture.width(), texture.height()) == (width as u32, height as u32)
        {
            return texture.clone();
        }
        let texture = upload::texture(
            &self.state.device,
            view.word(),
            (width, height),
            wgpu::TextureFormat::Rgba8Unorm,
            wgpu::TextureUsages::TEXTURE_BINDING
                | wgpu::TextureUsages::COPY_DST
                | wgpu::TextureUsages::RENDER_ATTACHMENT,
        );
        slot.insert(texture).clone()
    }
}

/// Returns whether the state's adapter computes on the CPU.
pub(crate) fn is_software(state: &RenderState) -> bool {
    state.adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// Returns names and offsets of the members of a shader's struct, and the size of the struct, bytes.
#[cfg(test)]
fn struct_of(source: &str, name: &str) -> (Vec<(String, usize)>, usize) {
    let module = wgpu::naga::front::wgsl::parse_str(source).expect("a shader");
    let (_, found) = module.types.iter().find(|(_, t)| t.name.as_deref() == Some(name)).expect("the struct");
    let wgpu::naga::TypeInner::Struct { members, span } = &found.inner else { panic!("{name} is a struct") };
    (members.iter().map(|m| (m.name.clone().unwrap_or_default(), m.offset as usize)).collect(), *span as usize)
}

//! Explanation of the pixel under the pointer, while its page is open.

use crate::core::{Action, Core, Feature, Waker, picture::Figure};
use std::time::Instant;
use stereopsis_live::{ExplainRequest, PixelExplainer};

pub(crate) struct Explain(PixelExplainer);

impl Explain {
    pub(crate) fn start(waker: &Waker) -> std::io::Result<Self> {
        let wake = waker.clone();
        Ok(Self(PixelExplainer::start(Box::new(move || wake.wake()))?))
    }
}

impl Feature for Explain {
    /// Requests the explanation of the pixel under the pointer, or else of the held one, and takes the newest explanation.
    fn update(&mut self, core: &mut Core, _now: Instant) {
        // the costs may be drawn for the page of saved images
        let is_chosen = core.is_open(Action::Pictures) && core.picture.chosen == Some(Figure::Costs);
        if is_chosen && core.pipeline.explained.is_some() {
            return;
        }
        if !core.is_open(Action::Explain) {
            self.0.wish(None);
            core.pipeline.explained = None;
            return;
        }
        if let Some((output, pixel)) = core.output().zip(core.pointer.pixel()) {
            self.0.wish(Some(ExplainRequest { job: output.job.clone(), map: output.map.clone(), pixel }));
        }
        // the last explanation stays when the pointer leaves the images, so that its button can be reached
        core.pipeline.explained = self.0.newest();
    }
}

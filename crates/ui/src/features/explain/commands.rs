//! Explanation of the pixel under the pointer, while its page is open.

use crate::core::Core;
use crate::core::action::Action;
use crate::core::waker::Waker;
use crate::features::picture::state::Figure;
use stereopsis_live::{ExplainRequest, PixelExplainer};

pub(crate) fn start_explainer(waker: &Waker) -> std::io::Result<PixelExplainer> {
    let wake = waker.clone();
    PixelExplainer::start(Box::new(move || wake.wake()))
}

/// Requests the explanation of the pixel under the pointer, or else of the held one, and takes the newest explanation.
pub(crate) fn update(core: &mut Core) {
    // the costs may be drawn for the page of saved images
    let is_chosen = core.is_open(Action::Pictures) && core.picture.chosen == Some(Figure::Costs);
    if is_chosen && core.pipeline.explained.is_some() {
        return;
    }
    if !core.is_open(Action::Explain) {
        core.explainer.wish(None);
        core.pipeline.explained = None;
        return;
    }
    if let Some((output, pixel)) = core.output().zip(core.pointer.pixel()) {
        let wish = ExplainRequest { job: output.job.clone(), map: output.map.clone(), pixel };
        core.explainer.wish(Some(wish));
    }
    // the last explanation stays when the pointer leaves the images, so that its button can be reached
    core.pipeline.explained = core.explainer.newest();
}

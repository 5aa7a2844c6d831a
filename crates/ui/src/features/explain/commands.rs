//! Explanation of the pixel under the pointer, while its page is open.

use crate::action::Action;
use crate::features::picture::state::Figure;
use crate::session::Session;
use crate::waker::Waker;
use stereopsis_live::{ExplainRequest, PixelExplainer};

pub(crate) fn start_explainer(waker: &Waker) -> std::io::Result<PixelExplainer> {
    let wake = waker.clone();
    PixelExplainer::start(Box::new(move || wake.wake()))
}

/// Requests the explanation of the pixel under the pointer, or else of the held one, and takes the newest explanation.
pub(crate) fn update(session: &mut Session) {
    let state = &mut session.state;
    // the costs may be drawn for the page of saved images
    let is_chosen = state.is_open(Action::Pictures) && state.picture.chosen == Some(Figure::Costs);
    if is_chosen && state.pipeline.explained.is_some() {
        return;
    }
    if !state.is_open(Action::Explain) {
        session.explainer.wish(None);
        state.pipeline.explained = None;
        return;
    }
    if let Some((output, pixel)) = state.output().zip(state.pointer.pixel()) {
        let wish = ExplainRequest { job: output.job.clone(), map: output.map.clone(), pixel };
        session.explainer.wish(Some(wish));
    }
    // the last explanation stays when the pointer leaves the images, so that its button can be reached
    state.pipeline.explained = session.explainer.newest();
}

//! The explanation of the pixel under the pointer, while its page is open.

use super::Session;
use crate::live::Wish;
use crate::ui::action::Action;

impl Session {
    /// Wishes for the pixel under the pointer, or else the held one, of the newest result; takes what was explained last.
    pub(super) fn update_explained(&mut self) {
        let state = &mut self.state;
        if !state.is_open(Action::Explain) {
            self.explainer.wish(None);
            state.pipeline.explained = None;
            return;
        }
        if let Some((output, pixel)) = state.output().zip(state.pointer.pixel()) {
            let wish = Wish { job: output.job.clone(), map: output.map.clone(), pixel };
            self.explainer.wish(Some(wish));
        }
        // the last one stays when the pointer leaves the pictures, for its button
        state.pipeline.explained = self.explainer.newest();
    }
}

//! Work that waits for a result: check of a range, fit of colours, files to write.

use stereopsis_settings::settings::Settings;

pub(crate) struct AwaitedWork {
    /// Settings that wait for the first pair, whose width and geometry determine whether the range fits and `near-m` in px.
    pub(super) settings: Option<Settings>,
    /// Number of outdated results since the change, while a fit of the depth range is due.
    pub(crate) outdated: Option<u32>,
    /// Whether the user has requested the fit, which makes it a step of the history.
    pub(super) is_asked: bool,
    /// Whether a fit of the search range to the next result with the present calibration is due.
    pub(crate) range: bool,
    pub(crate) snapshot: bool,
    /// Whether the points of a result are counted or saved.
    pub(crate) points: bool,
}

impl AwaitedWork {
    pub(super) fn new(settings: Settings, fits_depth: bool) -> Self {
        Self {
            settings: Some(settings),
            outdated: fits_depth.then_some(0),
            is_asked: false,
            range: false,
            snapshot: false,
            points: false,
        }
    }

    /// Requests a fit of the depth range to the next result with the present settings.
    pub(crate) fn fit_depth(&mut self) {
        self.fits_depth(true);
    }

    /// Requests such a fit for the user, as a step of the history.
    pub(crate) fn fit_depth_as_asked(&mut self) {
        self.fit_depth();
        self.is_asked = true;
    }

    pub(crate) fn fits_depth(&mut self, fits: bool) {
        (self.outdated, self.is_asked) = (fits.then_some(0), false);
    }

    /// Requests a check of settings with the next pair.
    pub(super) fn check(&mut self, settings: Settings) {
        self.settings = Some(settings);
    }
}

//! Rules between parameters: penalties follow the cost, P2 follows P1, and the checks of a whole set.

use super::StereoParams;
use super::limits::MAX_SUM;
use super::words::{AdaptiveP2, CostKind, Penalties};
use stereopsis_base::parameter::{Parameter, Value};

/// Reason why parameters are invalid; the text names the flags.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ParamsError(pub String);

impl StereoParams {
    /// Returns the defaults with this cost and its default penalties.
    pub fn for_cost(cost: CostKind) -> Self {
        let Penalties { p1, p2, p2_min, p2_alpha } = cost.penalties();
        Self { cost, p1, p2, p2_min, p2_alpha, ..Self::default() }
    }

    /// Returns the penalties.
    pub fn penalties(&self) -> Penalties {
        Penalties { p1: self.p1, p2: self.p2, p2_min: self.p2_min, p2_alpha: self.p2_alpha }
    }

    /// Sets one parameter; a new cost changes the penalties too. The caller then calls [`Self::repair`].
    pub fn set(&mut self, parameter: &Parameter<Self>, value: Value) {
        let before = self.cost;
        (parameter.set)(self, value);
        if self.cost != before {
            let cost = std::mem::replace(&mut self.cost, before);
            self.set_cost(cost);
        }
    }

    /// Raises P2 and the smallest P2 above P1, except for parameters for which `is_set` is true: those that the user named. Window,
    /// flags and remote clients share this rule. Without paths nothing changes.
    pub fn repair(&mut self, is_set: impl Fn(&str) -> bool) {
        if self.paths == 0 {
            return;
        }
        if !is_set("p2") {
            self.p2 = self.p2.max(self.p1 + 1);
        }
        if !is_set("p2-min") && self.adaptive_p2 != AdaptiveP2::Off {
            self.p2_min = self.p2_min.max(self.p1 + 1);
        }
    }

    /// Changes the cost and scales the penalties by its largest value; penalties at the old cost's defaults become the new defaults.
    pub fn set_cost(&mut self, cost: CostKind) {
        let (old, old_largest) = (self.cost.penalties(), self.largest_cost());
        let at_defaults = self.penalties() == old;
        self.cost = cost;
        let new = cost.penalties();
        if at_defaults {
            (self.p1, self.p2, self.p2_min, self.p2_alpha) = (new.p1, new.p2, new.p2_min, new.p2_alpha);
            return;
        }
        let largest = self.largest_cost();
        let scale = |v: u32| (v * largest + old_largest / 2) / old_largest;
        self.p1 = scale(self.p1).min(4096);
        self.p2 = scale(self.p2).clamp(self.p1 + 1, 8191);
        self.p2_min = scale(self.p2_min).clamp(self.p1 + 1, self.p2);
        self.p2_alpha = scale(self.p2_alpha).min(4096);
    }

    /// Checks the range of each parameter and the rules between them.
    ///
    /// # Errors
    /// The first broken rule, in words that name the flags.
    pub fn validate(&self) -> Result<(), ParamsError> {
        let fail = |text: String| Err(ParamsError(text));
        for parameter in Self::table() {
            let value = (parameter.get)(self);
            if !parameter.accepts(value) {
                let text = parameter.parse(&value.to_string()).err().unwrap_or_default();
                return fail(format!("--{} {text}", parameter.name));
            }
        }
        for (name, window) in Self::table().iter().filter(|p| p.properties.is_odd).map(|p| (p.name, (p.get)(self))) {
            if matches!(window, Value::Integer(v) if v % 2 == 0) {
                return fail(format!("--{name} {window}: a window has a centre, so its size is odd"));
            }
        }
        if self.paths == 0 {
            return Ok(());
        }
        if self.p2 <= self.p1 {
            return fail(format!(
                "--p1 {} is not below --p2 {}: P1 punishes a step of 1 px and P2 a larger one, so P2 has to be larger",
                self.p1, self.p2
            ));
        }
        if self.adaptive_p2 != AdaptiveP2::Off && self.p2_min <= self.p1 {
            return fail(format!(
                "--p2-min {} is not above --p1 {}: use at least {}",
                self.p2_min,
                self.p1,
                self.p1 + 1
            ));
        }
        self.validate_sum()
    }

    fn validate_sum(&self) -> Result<(), ParamsError> {
        let (cost, p2) = (self.largest_cost(), self.largest_p2());
        let paths = self.summed_paths();
        if paths * (cost + p2) <= MAX_SUM {
            return Ok(());
        }
        let flag = if p2 > self.p2 { "p2-min" } else { "p2" };
        let fewer = if self.paths <= self.max_paths() {
            "the smaller images of --gating need as many; use --gating off".to_owned()
        } else {
            format!("use at most {} paths", self.max_paths())
        };
        let fits = Some(self.max_p2()).filter(|&largest| largest > self.p1);
        let or_p2 = fits.map_or(String::new(), |largest| format!(", or --{flag} up to {largest}"));
        Err(ParamsError(format!(
            "--{flag} {p2}: {paths} paths of cost {cost} and penalty {p2} exceed the 16-bit sum; {fewer}{or_p2}"
        )))
    }

    /// Checks that the search range has a partner somewhere in an image `width` px wide. Only the command line requires this; the
    /// algorithm accepts any range.
    ///
    /// # Errors
    /// The range lies outside the image.
    pub fn validate_range(&self, width: usize) -> Result<(), ParamsError> {
        let (first, last) =
            (i64::from(self.min_disparity), i64::from(self.min_disparity) + i64::from(self.num_disparities) - 1);
        let width = width as i64;
        if first >= width || last <= -width {
            return Err(ParamsError(format!(
                "disparities {first} to {last} px can match nowhere in an image {width} px wide: choose --min-disparity between {} and {}",
                -width + 1,
                width - 1
            )));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(params: &mut StereoParams, name: &str, v: i64) {
        params.set(StereoParams::parameter(name).unwrap(), Value::Integer(v));
        params.repair(|set| set == name);
    }

    #[test]
    fn p1_raises_p2_and_its_minimum_unless_they_are_set_too() {
        let mut params = StereoParams::default();
        set(&mut params, "p1", 90);
        assert_eq!((params.p1, params.p2, params.p2_min), (90, 91, 91));
        params.validate().unwrap();
        set(&mut params, "p2", 3);
        let err = params.validate().unwrap_err().to_string();
        assert!(err.starts_with("--p1 90 is not below --p2 3"), "{err}");
    }

    #[test]
    fn parameters_of_costs_exist() {
        for cost in CostKind::ALL {
            for name in cost.description().parameters {
                assert!(
                    StereoParams::parameter(name).is_some_and(|p| p.properties.belongs.is_some()),
                    "{cost}: {name}"
                );
            }
        }
    }
}

//! Rules between parameters: penalties follow the cost, P2 follows P1, and the checks of a whole set.

use super::limits::MAX_SUM;
use super::words::{AdaptiveP2, CostKind, Penalties};
use super::{ParamsError, StereoParams};
use stereopsis_base::parameter::{Parameter, Value};

impl StereoParams {
    /// Returns the defaults with this cost and its default penalties.
    pub fn for_cost(cost: CostKind) -> Self {
        let Penalties { p1, p2, p2_min, p2_alpha } = cost.penalties();
        Self { cost, p1, p2, p2_min, p2_alpha, ..Self::default() }
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
        let at_defaults = Penalties::of(self) == old;
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
    /// The first broken rule.
    pub fn validate(&self) -> Result<(), ParamsError> {
        for parameter in Self::table() {
            let value = (parameter.get)(self);
            if !parameter.accepts(value) {
                parameter.parse(&value.to_string()).map_err(|why| ParamsError::Value { name: parameter.name, why })?;
            }
        }
        for (name, value) in Self::table().iter().filter(|p| p.properties.is_odd).map(|p| (p.name, (p.get)(self))) {
            if matches!(value, Value::Integer(v) if v % 2 == 0) {
                return Err(ParamsError::EvenWindow { name, value });
            }
        }
        if self.paths == 0 {
            return Ok(());
        }
        let Self { p1, p2, p2_min, .. } = *self;
        if p2 <= p1 {
            return Err(ParamsError::Penalties { p1, p2 });
        }
        if self.adaptive_p2 != AdaptiveP2::Off && p2_min <= p1 {
            return Err(ParamsError::SmallestPenalty { p2_min, p1 });
        }
        self.validate_sum()
    }

    fn validate_sum(&self) -> Result<(), ParamsError> {
        let (cost, p2, paths) = (self.largest_cost(), self.largest_p2(), self.summed_paths());
        if paths * (cost + p2) <= MAX_SUM {
            return Ok(());
        }
        Err(ParamsError::Sum {
            name: if p2 > self.p2 { "p2-min" } else { "p2" },
            p2,
            paths,
            cost,
            max_paths: Some(self.max_paths()).filter(|&most| self.paths > most),
            max_p2: Some(self.max_p2()).filter(|&largest| largest > self.p1),
        })
    }

    /// Checks that the search range has a partner somewhere in an image `width` px wide. Only the command line requires this; the
    /// algorithm accepts any range.
    ///
    /// # Errors
    /// The range lies outside the image.
    pub fn validate_range(&self, width: usize) -> Result<(), ParamsError> {
        let (first, width) = (i64::from(self.min_disparity), width as i64);
        let last = first + i64::from(self.num_disparities) - 1;
        if first >= width || last <= -width { Err(ParamsError::Range { first, last, width }) } else { Ok(()) }
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
        assert!(err.starts_with("p1 90 is not below p2 3"), "{err}");
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

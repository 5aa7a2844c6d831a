//! Presets in the order in which flags and the window list them: the program's own first, then presets of papers.

use stereopsis_stereo::{Preset, StereoParams};

/// Heading of the presets of papers.
pub const FROM_THE_LITERATURE: &str = "from the literature";

/// Presets under one heading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PresetGroup {
    /// Heading; `None` for the program's own presets.
    pub heading: Option<&'static str>,
    /// Presets of the group, in order.
    pub presets: Vec<Preset>,
}

/// Returns the groups of all presets.
pub fn preset_groups() -> Vec<PresetGroup> {
    let (own, literature): (Vec<_>, Vec<_>) = Preset::ALL.iter().partition(|preset| preset.paper().is_none());
    let all = [(None, own), (Some(FROM_THE_LITERATURE), literature)];
    all.into_iter().map(|(heading, presets)| PresetGroup { heading, presets }).collect()
}

/// Returns a short citation of a preset's paper: `Ernst, Hirschmüller 2008`.
pub fn paper_in_short(preset: Preset) -> Option<String> {
    let paper = preset.paper()?;
    let (authors, rest) = paper.split_once(": ")?;
    let year = rest.split_whitespace().next_back()?;
    let first = authors.split(", ").next()?;
    Some(if authors.matches(", ").count() > 2 { format!("{first} et al. {year}") } else { format!("{authors} {year}") })
}

/// Returns the preset with these parameters, for any search range.
pub fn preset_of(params: &StereoParams) -> Option<Preset> {
    Preset::ALL.iter().copied().find(|&preset| {
        let mut base = params.clone();
        preset.apply(&mut base);
        differences(params, &base).is_empty()
    })
}

/// Formats the differences from the parameters of a preset, for the user: `P1 14 → 20`.
pub fn differences(params: &StereoParams, base: &StereoParams) -> Vec<String> {
    let table = StereoParams::table().iter();
    let differing = table.filter(|parameter| (parameter.get)(params) != (parameter.get)(base));
    differing.map(|p| format!("{} {} → {}", p.label, (p.get)(base), (p.get)(params))).collect()
}

/// Returns settings that lead to `params`: preset and cost first, because they change the base of the rest.
pub fn words_to(params: &StereoParams, preset: Preset) -> Vec<(&'static str, String)> {
    let mut base = StereoParams::default();
    let mut words = Vec::new();
    preset.apply(&mut base);
    if base != StereoParams::default() {
        words.push(("preset", preset.to_string()));
    }
    if base.cost != params.cost {
        base.set_cost(params.cost);
        words.push(("cost", params.cost.to_string()));
    }
    let values = params.words().zip(base.words());
    words.extend(values.filter(|((_, v), (_, default))| v != default).map(|((name, v), _)| (name, v.to_string())));
    words
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::{Origin, Settings, Word, read_file};
    use stereopsis_stereo::{CostKind, Subpixel};

    #[test]
    fn every_preset_is_offered_once_and_papers_under_their_heading() {
        let groups = preset_groups();
        assert_eq!(groups.iter().map(|group| group.heading).collect::<Vec<_>>(), [None, Some(FROM_THE_LITERATURE)]);
        assert_eq!(groups.iter().map(|group| group.presets.len()).sum::<usize>(), Preset::ALL.len());
        for group in groups {
            assert!(!group.presets.is_empty());
            assert!(group.presets.iter().all(|preset| preset.paper().is_some() == group.heading.is_some()));
        }
    }

    #[test]
    fn papers_are_named_by_authors_and_year() {
        for &preset in Preset::ALL {
            let Some(short) = paper_in_short(preset) else { continue };
            let (authors, year) = short.rsplit_once(' ').unwrap();
            assert!(preset.word().contains(year) && year.len() == 4, "{preset}: {short}");
            let first = authors.split([',', ' ']).next().unwrap().to_lowercase();
            assert!(preset.word().starts_with(&first) && short.len() < 40, "{preset}: {short}");
        }
        assert_eq!(paper_in_short(Preset::Balanced), None);
    }

    #[test]
    fn recognises_presets_and_lists_differences() {
        let mut params = StereoParams { min_disparity: -3, num_disparities: 40, ..StereoParams::default() };
        for &preset in Preset::ALL {
            preset.apply(&mut params);
            assert_eq!(preset_of(&params), Some(preset));
            assert!(differences(&params, &params.clone()).is_empty());
        }
        Preset::Balanced.apply(&mut params);
        let p1 = params.p1;
        params.p1 += 1;
        params.subpixel = Subpixel::Off;
        assert_eq!(preset_of(&params), None);
        let mut base = params.clone();
        Preset::Balanced.apply(&mut base);
        let said = differences(&params, &base);
        assert_eq!((said.len(), &said[0]), (2, &format!("P1 {p1} → {}", p1 + 1)));
        assert!(said[1].starts_with("Sub-pixel ") && said[1].contains(" → "), "{said:?}");
    }

    #[test]
    fn no_preset_sets_the_search_range() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("settings.toml");
        let range = |params: &StereoParams| (params.min_disparity, params.num_disparities);
        for &preset in Preset::ALL {
            std::fs::write(&path, format!("min-disparity = -7\nnum-disparities = 96\npreset = \"{preset}\"\n"))
                .unwrap();
            let settings = Settings::resolve(&read_file(&path).unwrap()).unwrap();
            assert_eq!((settings.preset, range(&settings.params)), (Some(preset), (-7, 96)), "{preset}");
            assert_eq!(preset_of(&settings.params), Some(preset));
            // without a range the default one stays
            let word = Word { name: "preset".into(), text: preset.to_string(), origin: Origin::Flag };
            let flagged = Settings::resolve(&[word]).unwrap();
            assert_eq!(range(&flagged.params), range(&StereoParams::default()), "{preset}");
            let size_of = |settings: &Settings| (settings.near_m, settings.engine, settings.threads);
            assert_eq!(size_of(&flagged), size_of(&Settings::default()), "{preset} sets the method alone");
        }
    }

    #[test]
    fn words_resolve_to_the_same_parameters() {
        let mut rank = StereoParams::default();
        Preset::Banz2011.apply(&mut rank);
        rank.p1 += 3;
        rank.p2_min = rank.p1 + 1;
        let mut sad = StereoParams { p1: 9, min_disparity: -4, left_right: None, ..StereoParams::default() };
        sad.set_cost(CostKind::Sad);
        for (params, preset) in
            [(StereoParams::default(), Preset::Balanced), (rank, Preset::Banz2011), (sad, Preset::Balanced)]
        {
            let words: Vec<_> = words_to(&params, preset)
                .into_iter()
                .map(|(name, text)| Word { name: name.to_owned(), text, origin: Origin::Flag })
                .collect();
            assert_eq!(Settings::resolve(&words).unwrap().params, params, "{words:?}");
        }
        assert!(words_to(&StereoParams::default(), Preset::Balanced).is_empty());
    }
}

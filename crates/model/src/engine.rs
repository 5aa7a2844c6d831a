//! Engine that matches pairs by a model, on a thread of its own: the thread that asks it never waits for a run.

use crate::description::Description;
use crate::error::ModelError;
use crate::fit::{Fit, to_map};
use crate::loaded::LoadedModel;
use crate::trial::{POLL_INTERVAL, Trial, TrialResult};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};
use stereopsis_base::console;
use stereopsis_base::image::{Image, Picture, PictureRef};
use stereopsis_base::threads::{Answers, Latest, Work};
use stereopsis_cpu::CpuEngine;
use stereopsis_frame::engine::{
    Engine, EngineError, EngineInfo, EngineKind, Job, ModelDevice, ModelFile, Output, StageTime,
};
use stereopsis_stereo::{DisparityMap, Maps, StereoParams};

/// Engine with a model of the user. It takes one job at a time.
pub struct ModelEngine {
    info: Arc<EngineInfo>,
    file: ModelFile,
    worker: Latest<Submitted, Result<Output, EngineError>>,
    /// Whether the filters forget earlier pairs before the next one.
    forgets: bool,
    /// Trial in a child process for pairs of this size.
    trial: Option<((usize, usize), Trial)>,
    /// Sizes that were tried, with their results.
    tried: HashMap<(usize, usize), Result<Option<TrialResult>, Arc<ModelError>>>,
    last_size: Option<(usize, usize)>,
}

struct Submitted {
    job: Job,
    at: Instant,
    /// Whether the filters forget earlier pairs before this one.
    forgets: bool,
}

/// Longest wait for a result in one call.
const WAIT: Duration = Duration::from_millis(5);

impl ModelEngine {
    /// Starts the thread of an engine. The file is opened with the first pair.
    ///
    /// # Errors
    /// There is no such file, its description is wrong, or the system gives no thread.
    pub fn open(file: ModelFile, threads: Option<usize>) -> Result<Self, EngineError> {
        let path = &file.path;
        std::fs::metadata(path).map_err(ModelError::read(path)).map_err(|err| err.of_file(path))?;
        let description = Description::beside(path)?;
        let info = Arc::new(EngineInfo {
            kind: EngineKind::Model,
            adapter: name(&file, description.as_ref()),
            software: false,
        });
        let matching = Matching {
            file: file.clone(),
            threads,
            info: Arc::clone(&info),
            opened: None,
            filters: CpuEngine::new(threads),
        };
        let no_thread = |err| EngineError::Device(ModelError::NoThread("model", err).into());
        // a run of a model may take seconds
        let worker = Latest::start_work("model", matching).map_err(no_thread)?.detached();
        Ok(Self { info, file, worker, forgets: false, trial: None, tried: HashMap::new(), last_size: None })
    }

    /// Starts, or polls, the trial for pairs of this size. Returns whether its result is known.
    fn is_tried(&mut self, size: (usize, usize)) -> bool {
        if self.tried.contains_key(&size) {
            return true;
        }
        if self.trial.as_ref().is_none_or(|(of, _)| *of != size) {
            let Some(trial) = Trial::start(&self.file, size) else {
                self.tried.insert(size, Ok(None));
                return true;
            };
            self.trial = Some((size, trial));
        }
        let Some(result) = self.trial.as_mut().and_then(|(_, trial)| trial.result()) else { return false };
        self.trial = None;
        self.tried.insert(size, result.map(Some).map_err(Arc::new));
        true
    }
}

/// Returns the name of the file, with the licence of its weights if the description has it, and with the device.
fn name(ModelFile { path, device }: &ModelFile, description: Option<&Description>) -> String {
    let name = path.file_name().map_or_else(String::new, |name| console::foreign(&name.to_string_lossy()));
    let license = description.and_then(|description| description.license.as_deref());
    let license = license.map(|license| format!("licence {}", console::foreign(license)));
    let device = (*device != ModelDevice::BuiltIn).then(|| format!("ONNX Runtime on {device}"));
    [Some(name), license, device].into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl Engine for ModelEngine {
    fn info(&self) -> Arc<EngineInfo> {
        Arc::clone(&self.info)
    }

    fn slots(&self) -> usize {
        1
    }

    fn memory_bytes(&mut self) -> Option<usize> {
        let result = self.tried.get(&self.last_size?)?.as_ref().ok()?.as_ref()?;
        result.peak_bytes.map(|bytes| bytes as usize)
    }

    fn prepare(&mut self, job: &Job) -> bool {
        self.is_tried(job.frame.size())
    }

    fn forget(&mut self) {
        self.forgets = true;
    }

    fn submit(&mut self, job: Job) -> Result<(), EngineError> {
        let size = job.frame.size();
        while !self.is_tried(size) {
            std::thread::sleep(POLL_INTERVAL);
        }
        if let Some(Err(err)) = self.tried.get(&size) {
            return Err(EngineError::Unsupported(Arc::clone(err).into()));
        }
        self.last_size = Some(size);
        if self.worker.has_ended() {
            return Err(EngineError::Device(ModelError::Ended.into()));
        }
        let forgets = std::mem::take(&mut self.forgets);
        self.worker.wish(Submitted { job, at: Instant::now(), forgets });
        Ok(())
    }

    fn collect(&mut self) -> Result<Option<Output>, EngineError> {
        let has_ended = self.worker.has_ended();
        match self.worker.take().and_then(Arc::into_inner) {
            Some(result) => result.map(Some),
            None if has_ended => Err(EngineError::Device(ModelError::Ended.into())),
            None => Ok(None),
        }
    }

    fn wait(&mut self) {
        self.worker.wait(WAIT);
    }
}

/// Model with its conventions.
struct OpenModel {
    model: LoadedModel,
    description: Description,
}

struct Matching {
    file: ModelFile,
    threads: Option<usize>,
    /// Description of the engine; it has the licence once the file is open.
    info: Arc<EngineInfo>,
    opened: Option<OpenModel>,
    filters: CpuEngine,
}

impl Work<Submitted, Result<Output, EngineError>> for Matching {
    fn answer(&mut self, request: Submitted, answers: &Answers<Submitted, Result<Output, EngineError>>) {
        if request.forgets {
            self.filters.forget();
        }
        answers.publish(self.match_job(request.job, request.at));
    }

    /// Does not rest: the engine's owner decides which pairs are matched.
    fn rest(&self, _: Duration) -> Duration {
        Duration::ZERO
    }
}

impl Matching {
    fn match_job(&mut self, job: Job, submitted: Instant) -> Result<Output, EngineError> {
        let Self { file, threads, opened, filters, info } = self;
        opened.take_if(|opened| opened.model.has_ended());
        let OpenModel { model, description } = if let Some(opened) = opened {
            opened
        } else {
            let model = LoadedModel::open(file, *threads)?;
            let description = Description::of_model(&file.path, &model)?;
            let now = opened.insert(OpenModel { model, description });
            let adapter = name(file, Some(&now.description));
            *info = Arc::new(EngineInfo { adapter, ..(**info).clone() });
            now
        };
        let pair = job.frame.pictures();
        // both judge the sums of semi-global matching, which a model does not have
        let params = StereoParams { choice: false, confidence: false, ..(*job.params).clone() };
        let of_file = |err: ModelError| err.of_file(&file.path);
        let fit = Fit::new(job.frame.size(), description).map_err(of_file)?;
        fit.check_range(description, &params).map_err(of_file)?;
        let mut stages = Vec::new();
        let mut clock = Instant::now();
        let mut lap = |name| {
            let ms = clock.elapsed().as_secs_f64() * 1e3;
            clock = Instant::now();
            stages.push(StageTime { name, ms });
        };
        let mut run = |pair: [PictureRef<'_>; 2]| -> Result<DisparityMap, ModelError> {
            let output = model.run(fit.inputs(pair, description), &description.output);
            let found = output.and_then(|output| fit.disparities(&output, description));
            Ok(to_map(&found.map_err(of_file)?, &params))
        };
        let left = run(pair)?;
        lap("model");
        let right = if job.wants_right || params.left_right.is_some() {
            let [left, right] = [&job.frame.left, &job.frame.right].map(|picture| mirrored(picture));
            let right = run(PictureRef::pair(&right, &left))?.mirrored();
            lap("mirrored model");
            Some(right)
        } else {
            None
        };
        let maps = filters.filter(Maps { left, right }, pair, &params, job.wants_right)?;
        lap("filters");
        Ok(Output {
            engine: of_size(info, fit),
            map: Some(Arc::new(maps.left)),
            right_map: maps.right.map(Arc::new),
            texture: None,
            stages,
            compute_time: submitted.elapsed(),
            job,
        })
    }
}

/// Returns the description of the engine for images that come into the model in this way.
fn of_size(info: &Arc<EngineInfo>, fit: Fit) -> Arc<EngineInfo> {
    let Some(change) = fit.words() else { return Arc::clone(info) };
    Arc::new(EngineInfo { adapter: format!("{}, {change}", info.adapter), ..(**info).clone() })
}

fn mirrored(picture: &Picture) -> Picture {
    Picture { luma: picture.luma.mirrored(), rgb: picture.rgb.as_ref().map(Image::mirrored) }
}

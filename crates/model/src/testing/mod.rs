//! Small models for tests, written as bytes: block matching by shifted differences, with the conventions of known exports, and
//! files that no runtime can use.

mod onnx;

use crate::brightness::Brightness;
use onnx::{Attribute, Extent, Graph};

/// Conventions of a model that matches blocks.
#[derive(Clone, Copy, Debug)]
pub struct BlockMatching {
    /// Names of the inputs: of the left and the right image, or twice the same.
    pub inputs: [&'static str; 2],
    /// Channels of an image: 1 or 3, of which the first one is matched.
    pub channels: i64,
    /// Brightness that the model expects. It reads only 64 steps between the darkest and the brightest value, and clips others.
    pub brightness: Brightness,
    /// Width and height of the images; any multiple of two if `None`.
    pub size: Option<(i64, i64)>,
    /// Whether the right image comes first in the one input.
    pub is_swapped: bool,
    /// Name of the output.
    pub output: &'static str,
    /// Factor of the output.
    pub scale: f32,
    /// Whether the output has half the width and height.
    pub is_halved: bool,
    /// Whether the output has a second channel of zeros.
    pub is_flow: bool,
    /// Number of disparities from 0.
    pub disparities: i64,
    /// Side of the window, odd, px.
    pub window: i64,
}

impl Default for BlockMatching {
    fn default() -> Self {
        Self {
            inputs: ["left", "right"],
            channels: 1,
            brightness: Brightness::Bytes,
            size: None,
            is_swapped: false,
            output: "disparity",
            scale: 1.0,
            is_halved: false,
            is_flow: false,
            disparities: 32,
            window: 5,
        }
    }
}

/// Brightness of pixels that do not exist: their difference is larger than any other.
const NOWHERE: f32 = 1e4;
/// Steps of brightness that the model reads, except with bytes, of which it reads each.
const STEPS: f32 = 64.0;

impl BlockMatching {
    /// Returns the bytes of the file.
    pub fn file(&self) -> Vec<u8> {
        self.graph(Graph::default()).into_file(&[("license", "MIT")])
    }

    /// Returns the bytes of the file and those of its weights, which lie in a file of this name; the model says `length` of them.
    #[cfg(test)]
    pub(crate) fn file_and_weights(&self, name: &str, length: Option<u64>) -> [Vec<u8>; 2] {
        let mut graph = self.graph(Graph::with_weights_in(name, length));
        let weights = graph.take_weights();
        [graph.into_file(&[("license", "MIT")]), weights]
    }

    fn graph(&self, mut graph: Graph) -> Graph {
        let [left, right] = self.images(&mut graph);
        let (count, edge) = (self.disparities, self.window / 2);
        // disparity d looks d columns to the left
        let mut kernel = vec![0.0; (count * count) as usize];
        (0..count).for_each(|d| kernel[(d * count + count - 1 - d) as usize] = 1.0);
        let kernel = graph.floats(&[count, 1, 1, count], &kernel);
        let (pads, nowhere) = (graph.integers(&[0, 0, 0, count - 1, 0, 0, 0, 0]), graph.floats(&[], &[NOWHERE]));
        let right = graph.node("Pad", &[&right, &pads, &nowhere], &[Attribute::Text("mode", "constant")]);
        // the runtime does not know their defaults
        let [strides, dilations] = ["strides", "dilations"].map(|name| Attribute::Numbers(name, &[1, 1]));
        let pads = Attribute::Numbers("pads", &[0; 4]);
        let right = graph.node("Conv", &[&right, &kernel], &[strides, dilations, pads]);
        let difference = graph.node("Sub", &[&left, &right], &[]);
        let difference = graph.node("Abs", &[&difference], &[]);
        let pads = graph.integers(&[0, 0, edge, edge, 0, 0, edge, edge]);
        let difference = graph.node("Pad", &[&difference, &pads], &[Attribute::Text("mode", "edge")]);
        let window = [self.window; 2];
        let [strides, pads] =
            [("strides", &[1_i64; 2][..]), ("pads", &[0; 4])].map(|(name, list)| Attribute::Numbers(name, list));
        let shape = [Attribute::Numbers("kernel_shape", &window), strides, pads];
        let mean = graph.node("AveragePool", &[&difference], &shape);
        let best = graph.node("ArgMin", &[&mean], &[Attribute::Number("axis", 1), Attribute::Number("keepdims", 1)]);
        let best = graph.node("Cast", &[&best], &[Attribute::Number("to", 1)]);
        let scale = graph.floats(&[], &[self.scale]);
        let mut found = graph.node("Mul", &[&best, &scale], &[]);
        if self.is_halved {
            let [start, end, axes, steps] = [[0, 0], [1 << 30; 2], [2, 3], [2, 2]].map(|list| graph.integers(&list));
            found = graph.node("Slice", &[&found, &start, &end, &axes, &steps], &[]);
        }
        if self.is_flow {
            let zero = graph.floats(&[], &[0.0]);
            let still = graph.node("Mul", &[&found, &zero], &[]);
            found = graph.node("Concat", &[&found, &still], &[Attribute::Number("axis", 1)]);
        }
        graph.named_node(("Identity", ""), &[&found], self.output, &[]);
        let divisor = if self.is_halved { 2 } else { 1 };
        let [width, height] = self.extents().map(|extent| extent.map(|px| px / divisor));
        graph.output(self.output, &[Some(1), Some(if self.is_flow { 2 } else { 1 }), height, width]);
        graph
    }

    fn extents(&self) -> [Extent; 2] {
        self.size.map_or([None; 2], |(width, height)| [Some(width), Some(height)])
    }

    /// Adds the inputs, and returns both images in the steps that are compared.
    fn images(&self, graph: &mut Graph) -> [String; 2] {
        let [width, height] = self.extents();
        let channels = self.channels;
        let is_one = self.inputs[0] == self.inputs[1];
        let mut images = if is_one {
            graph.input(self.inputs[0], &[Some(1), Some(2 * channels), height, width]);
            [0, channels].map(|first| channel(graph, self.inputs[0], first))
        } else {
            self.inputs.map(|name| {
                graph.input(name, &[Some(1), Some(channels), height, width]);
                channel(graph, name, 0)
            })
        };
        if self.is_swapped {
            images.swap(0, 1);
        }
        images.map(|image| self.stepped(graph, &image))
    }

    fn stepped(&self, graph: &mut Graph, image: &str) -> String {
        let (factor, offset) = self.brightness.of_channel(0);
        let (darkest, brightest) = (offset, 255.0 * factor + offset);
        let [low, high] = [darkest, brightest].map(|limit| graph.floats(&[], &[limit]));
        let image = graph.node("Clip", &[image, &low, &high], &[]);
        if self.brightness == Brightness::Bytes {
            return image;
        }
        let image = graph.node("Sub", &[&image, &low], &[]);
        let steps = graph.floats(&[], &[STEPS / (brightest - darkest)]);
        let image = graph.node("Mul", &[&image, &steps], &[]);
        graph.node("Floor", &[&image], &[])
    }
}

/// Returns channel `first` of an input.
fn channel(graph: &mut Graph, input: &str, first: i64) -> String {
    let [start, end, axes] = [first, first + 1, 1].map(|value| graph.integers(&[value]));
    graph.node("Slice", &[input, &start, &end, &axes], &[])
}

/// Returns a model that needs an operator of another domain.
pub fn custom_operator() -> Vec<u8> {
    let mut graph = Graph::default();
    let any = [Some(1), Some(3), None, None];
    graph.input("left", &any);
    graph.input("right", &any);
    graph.named_node(("CostVolume", "acme"), &["left", "right"], "disparity", &[]);
    graph.output("disparity", &[Some(1), Some(1), None, None]);
    graph.into_file(&[])
}

/// Returns a model of one image.
pub fn classifier() -> Vec<u8> {
    let mut graph = Graph::default();
    graph.input("image", &[Some(1), Some(3), Some(224), Some(224)]);
    graph.named_node(("GlobalAveragePool", ""), &["image"], "classes", &[]);
    graph.output("classes", &[Some(1), Some(3), Some(1), Some(1)]);
    graph.into_file(&[])
}

/// Returns a model whose output has no number: 0 / 0 everywhere.
pub fn without_numbers() -> Vec<u8> {
    let mut graph = Graph::default();
    let any = [Some(1), Some(1), None, None];
    graph.input("left", &any);
    graph.input("right", &any);
    let zero = graph.floats(&[], &[0.0]);
    let nothing = graph.node("Mul", &["left", &zero], &[]);
    graph.named_node(("Div", ""), &[&nothing, &nothing], "disparity", &[]);
    graph.output("disparity", &any);
    graph.into_file(&[])
}

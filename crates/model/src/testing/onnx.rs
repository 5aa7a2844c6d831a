//! Writer of ONNX files: the fields of its protocol buffers that small models need, by the numbers in `onnx.proto` (ONNX 1.16).

/// Protocol buffer on its way into bytes.
#[derive(Default)]
pub(super) struct Message(Vec<u8>);

impl Message {
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }

    pub(super) fn number(mut self, field: u64, value: i64) -> Self {
        self.varint(field << 3);
        self.varint(value.cast_unsigned());
        self
    }

    pub(super) fn bytes(mut self, field: u64, bytes: &[u8]) -> Self {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(super) fn text(self, field: u64, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(super) fn message(self, field: u64, message: Self) -> Self {
        self.bytes(field, &message.0)
    }

    pub(super) fn messages(self, field: u64, messages: impl IntoIterator<Item = Self>) -> Self {
        messages.into_iter().fold(self, |all, message| all.message(field, message))
    }

    pub(super) fn numbers(self, field: u64, values: &[i64]) -> Self {
        values.iter().fold(self, |all, &value| all.number(field, value))
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

const FLOAT: i64 = 1;
const INT64: i64 = 7;

/// Attribute of a node.
pub(super) enum Attribute<'a> {
    Number(&'a str, i64),
    Numbers(&'a str, &'a [i64]),
    Text(&'a str, &'a str),
}

impl Attribute<'_> {
    fn message(&self) -> Message {
        match *self {
            Self::Number(name, value) => Message::default().text(1, name).number(3, value).number(20, 2),
            Self::Text(name, text) => Message::default().text(1, name).text(4, text).number(20, 3),
            Self::Numbers(name, values) => Message::default().text(1, name).numbers(8, values).number(20, 7),
        }
    }
}

/// Extent of one dimension: fixed, or any.
pub(super) type Extent = Option<i64>;

/// Model on its way into a file.
#[derive(Default)]
pub(super) struct Graph {
    nodes: Vec<Message>,
    constants: Vec<Message>,
    inputs: Vec<Message>,
    outputs: Vec<Message>,
    names: usize,
    /// File of the larger constants, if they lie beside the model.
    weights: Option<Weights>,
}

struct Weights {
    name: String,
    /// Length of a constant that the model says, bytes; the true one if `None`.
    length: Option<u64>,
    bytes: Vec<u8>,
}

/// Largest constant that is always in the model, bytes.
const SMALL: usize = 64;

impl Graph {
    #[cfg(test)]
    pub(super) fn with_weights_in(name: &str, length: Option<u64>) -> Self {
        Self { weights: Some(Weights { name: name.to_owned(), length, bytes: Vec::new() }), ..Self::default() }
    }

    /// Returns the bytes of the file of weights.
    #[cfg(test)]
    pub(super) fn take_weights(&mut self) -> Vec<u8> {
        self.weights.take().map_or_else(Vec::new, |weights| weights.bytes)
    }

    /// Adds a node with one output, and returns the name of that output.
    pub(super) fn node(&mut self, operator: &str, inputs: &[&str], attributes: &[Attribute<'_>]) -> String {
        self.names += 1;
        let output = format!("{operator}_{}", self.names);
        self.named_node((operator, ""), inputs, &output, attributes);
        output
    }

    /// Adds a node of an operator and its domain, with an output of this name.
    pub(super) fn named_node(
        &mut self,
        (operator, domain): (&str, &str),
        inputs: &[&str],
        output: &str,
        attributes: &[Attribute<'_>],
    ) {
        let node = inputs.iter().fold(Message::default(), |node, input| node.text(1, input));
        let node = node.text(2, output).text(3, &format!("{output}_node")).text(4, operator).text(7, domain);
        self.nodes.push(node.messages(5, attributes.iter().map(Attribute::message)));
    }

    /// Adds a constant of floats, and returns its name.
    pub(super) fn floats(&mut self, extents: &[i64], values: &[f32]) -> String {
        self.constant(extents, FLOAT, &values.iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<_>>())
    }

    /// Adds a constant list of integers, and returns its name.
    pub(super) fn integers(&mut self, values: &[i64]) -> String {
        let bytes: Vec<_> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.constant(&[values.len() as i64], INT64, &bytes)
    }

    fn constant(&mut self, extents: &[i64], kind: i64, bytes: &[u8]) -> String {
        self.names += 1;
        let name = format!("constant_{}", self.names);
        let tensor = Message::default().numbers(1, extents).number(2, kind).text(8, &name);
        self.constants.push(match &mut self.weights {
            Some(weights) if bytes.len() > SMALL => {
                let (offset, length) = (weights.bytes.len(), weights.length.unwrap_or(bytes.len() as u64));
                weights.bytes.extend(bytes);
                let entry = |(key, value): (&str, String)| Message::default().text(1, key).text(2, &value);
                let place = [
                    ("location", weights.name.clone()),
                    ("offset", offset.to_string()),
                    ("length", length.to_string()),
                ];
                tensor.messages(13, place.into_iter().map(entry)).number(14, 1)
            }
            _ => tensor.bytes(9, bytes),
        });
        name
    }

    pub(super) fn input(&mut self, name: &str, extents: &[Extent]) {
        self.inputs.push(port(name, extents));
    }

    pub(super) fn output(&mut self, name: &str, extents: &[Extent]) {
        self.outputs.push(port(name, extents));
    }

    /// Returns the bytes of the file, with these properties.
    pub(super) fn into_file(self, properties: &[(&str, &str)]) -> Vec<u8> {
        let graph = Message::default().messages(1, self.nodes).text(2, "graph").messages(5, self.constants);
        let graph = graph.messages(11, self.inputs).messages(12, self.outputs);
        let property = |(key, value): &(&str, &str)| Message::default().text(1, key).text(2, value);
        let file = Message::default().number(1, 9).text(2, "stereopsis-tests").message(7, graph);
        let file = file.message(8, Message::default().text(1, "").number(2, 19));
        file.messages(14, properties.iter().map(property)).into_bytes()
    }
}

fn port(name: &str, extents: &[Extent]) -> Message {
    let extent = |(i, extent): (usize, &Extent)| match extent {
        Some(value) => Message::default().number(1, *value),
        None => Message::default().text(2, &format!("extent_{i}")),
    };
    let shape = Message::default().messages(1, extents.iter().enumerate().map(extent));
    let tensor = Message::default().number(1, FLOAT).message(2, shape);
    Message::default().text(1, name).message(2, Message::default().message(1, tensor))
}

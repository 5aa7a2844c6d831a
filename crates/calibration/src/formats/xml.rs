//! XML of OpenCV and of DICe as a tree.

use super::FileError;
use super::tree::{MAX_DEPTH, Node, check_key};
use roxmltree::{Document, ParsingOptions};

const MAX_ATTRIBUTES: usize = 4_000;
/// Root elements of the files that are read: OpenCV's, and that of Trilinos' Teuchos, in which DICe writes.
const ROOTS: [&str; 2] = ["opencv_storage", "ParameterList"];

/// Parses a text with one of the known root elements.
pub(super) fn parse(text: &str) -> Result<Node, FileError> {
    // far above any calibration; bounds the parser's time and depth
    let options = ParsingOptions { nodes_limit: 100_000, ..ParsingOptions::default() };
    let open = text.matches('<').count();
    if open > 50_000 {
        return Err(FileError::XmlElements(open));
    }
    // the parser compares each attribute with all others of its element; OpenCV writes one per matrix
    let attributes = text.matches('=').count();
    if attributes > MAX_ATTRIBUTES {
        return Err(FileError::XmlAttributes(attributes));
    }
    let document = Document::parse_with_options(text, options).map_err(FileError::Xml)?;
    let root = document.root_element();
    if !ROOTS.contains(&root.tag_name().name()) {
        return Err(FileError::OtherXml(root.tag_name().name().to_owned()));
    }
    node(root, 0)
}

fn node(element: roxmltree::Node<'_, '_>, depth: usize) -> Result<Node, FileError> {
    if depth > MAX_DEPTH {
        return Err(FileError::XmlDepth);
    }
    let children: Vec<_> = element.children().filter(roxmltree::Node::is_element).collect();
    if children.is_empty() {
        if let Some(value) = element.attribute("value") {
            return Ok(Node::Word(value.trim().to_owned()));
        }
        return Ok(Node::Word(element.text().unwrap_or_default().trim().to_owned()));
    }
    if children.iter().all(|child| child.tag_name().name() == "_") {
        return Ok(Node::List(children.into_iter().map(|child| node(child, depth + 1)).collect::<Result<_, _>>()?));
    }
    let mut entries: Vec<(String, Node)> = Vec::new();
    for child in children {
        // Teuchos names each element by an attribute
        let name = child.attribute("name").unwrap_or(child.tag_name().name()).to_owned();
        check_key(&entries, &name)?;
        entries.push((name, node(child, depth + 1)?));
    }
    Ok(Node::Map(entries))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matrices_sizes_and_lists_of_opencv_are_found() {
        let found = parse(
            "<?xml version=\"1.0\"?>\n<opencv_storage>\n<K1 type_id=\"opencv-matrix\">\n  <rows>1</rows>\n  \
             <cols>3</cols>\n  <dt>d</dt>\n  <data>\n    1. 2.5e-1\n    .Nan</data></K1>\n<size>\n  640 480</size>\n\
             <list><_>1</_><_>2</_></list></opencv_storage>",
        )
        .unwrap();
        let k1 = found.get(&["K1"]).unwrap().matrix("K1").unwrap();
        assert_eq!((k1.shape, k1.data[1]), (Some((1, 3)), 0.25));
        assert!(k1.data[2].is_nan());
        for name in ["size", "list"] {
            assert_eq!(found.get(&[name]).unwrap().matrix(name).unwrap().data.len(), 2);
        }
    }

    #[test]
    fn broken_deep_and_large_files_are_refused() {
        let refused = |text: &str| parse(text).unwrap_err().to_string();
        assert!(refused("<opencv_storage><K1></opencv_storage>").contains("cannot be read"));
        assert!(refused("<opencv_storage><b>1</b><b>2</b></opencv_storage>").contains("b is there twice"));
        let deep = format!("<opencv_storage>{}{}</opencv_storage>", "<a>".repeat(200), "</a>".repeat(200));
        assert!(refused(&deep).contains("nested too deep") || refused(&deep).contains("cannot be read"));
        let wide = (0..5000).map(|i| format!("<k{i}/>")).collect::<Vec<_>>().concat();
        assert!(refused(&format!("<opencv_storage>{wide}</opencv_storage>")).contains("more keys"));
        assert!(refused(&"<a>".repeat(60_000)).contains("too many"));
        let attributes = (0..200_000).map(|k| format!("a{k}='' ")).collect::<Vec<_>>().concat();
        assert!(refused(&format!("<opencv_storage {attributes}/>")).contains("200000 attributes"));
        let long = "k".repeat(200);
        assert!(
            refused(&format!("<opencv_storage><{long}/></opencv_storage>"))
                .contains("more than those of any calibration")
        );
    }
}

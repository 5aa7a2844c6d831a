//! The pipeline from a source to results, with a source made for the test.

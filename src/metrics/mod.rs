//! Figures about a result: error against truth, rates and latencies.

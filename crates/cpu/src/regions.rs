//! Connected regions: runs of pixels in rows, joined into sets.

/// Sets of runs that belong together: each run points to one with a smaller number, the first of a set to itself.
#[derive(Default)]
pub(super) struct Regions {
    parent: Vec<u32>,
    pixels: Vec<u32>,
}

impl Regions {
    /// Takes in the runs of the next strip; the number of its first one.
    pub(super) fn append(&mut self, strip: Self) -> u32 {
        let first = self.parent.len() as u32;
        self.parent.extend(strip.parent.iter().map(|run| first + run));
        self.pixels.extend(strip.pixels);
        first
    }

    /// A run of `pixels` pixels, alone at first; its number.
    pub(super) fn start(&mut self, pixels: u32) -> u32 {
        let run = self.parent.len() as u32;
        self.parent.push(run);
        self.pixels.push(pixels);
        run
    }

    /// One pixel more for a run.
    pub(super) fn grow(&mut self, run: u32) {
        self.pixels[run as usize] += 1;
    }

    /// The first run of its set.
    pub(super) fn first(&mut self, mut run: u32) -> u32 {
        while self.parent[run as usize] != run {
            let grandparent = self.parent[self.parent[run as usize] as usize];
            self.parent[run as usize] = grandparent;
            run = grandparent;
        }
        run
    }

    /// Joins the sets of two runs.
    pub(super) fn join(&mut self, a: u32, b: u32) {
        let (a, b) = (self.first(a), self.first(b));
        self.parent[a.max(b) as usize] = a.min(b);
    }

    /// For each run the first one of its set, and for each of these the pixels of its set; for other runs any number.
    pub(super) fn sets(mut self) -> (Vec<u32>, Vec<u32>) {
        for run in 0..self.parent.len() as u32 {
            let first = self.first(run);
            self.parent[run as usize] = first;
            if first != run {
                self.pixels[first as usize] += self.pixels[run as usize];
            }
        }
        (self.parent, self.pixels)
    }
}

//! Faults of image files, of their folders and of their truth.

use std::io;
use std::path::{Path, PathBuf};
use stereopsis_base::console::{self, foreign};
use stereopsis_base::files;
use stereopsis_base::process::memory::FreeMemory;
use stereopsis_base::remedy::{Remedy, option};
use stereopsis_frame::jpeg::JpegError;
use stereopsis_frame::picture_file::UnreadImage;
use stereopsis_frame::source::names::EXTENSIONS;
use stereopsis_frame::{Arrangement, CaptureError, TooManyPixels};
use zune_jpeg::errors::DecodeErrors;

const CUT_OFF: &str = "is it cut off?";
const SAVE_AS: &str = "save it anew, with 8 or 16 bits, grey or RGB, or as one band of 32-bit floats";

/// Reason why the content of a file is no image, or no disparities.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The file has no bytes.
    #[error("the file is empty")]
    Empty,
    /// The bytes are of no known kind.
    #[error("it is no PNG, JPEG, TIFF, BMP, WebP, PGM, PPM, PFM or NPY file")]
    NoImage,
    /// Format that is not read.
    #[error("it is {}", .0.words(Path::new("FILE")))]
    Unread(UnreadImage),
    /// TIFF whose images are smaller copies of one that is not there.
    #[error("its image is marked as a smaller copy ({}x{} px), and the whole one is not in the file", .0.0, .0.1)]
    Reduced((u64, u64)),
    /// TIFF of a packing that is not read.
    #[error("{}", packed(*.0, Path::new("IN.tif")))]
    Packing(u64),
    /// TIFF whose bits lie in reverse order.
    #[error("{}", reversed(Path::new("IN.tif")))]
    Reversed,
    /// JPEG of a kind that is not read.
    #[error("it is a JPEG {0}, which is not read: save it as PNG, or as a JPEG of 8 bits")]
    JpegKind(&'static str),
    /// Numbers where an image with a white level is needed.
    #[error("it holds {0}, and no brightness from black to white: {SAVE_AS}")]
    Numbers(&'static str),
    /// More pixels than the limit.
    #[error(transparent)]
    TooManyPixels(#[from] TooManyPixels),
    /// Another size than the one that is wanted.
    #[error("it has {}x{} px instead of {}x{}", .size.0, .size.1, .wanted.0, .wanted.1)]
    OtherSize {
        /// Width and height, px.
        size: (usize, usize),
        /// Width and height that are wanted, px.
        wanted: (usize, usize),
    },
    /// More bytes than an image of this size has.
    #[error("it has {bytes} bytes, and an image of its size has no more than {most}")]
    TooLong {
        /// Number of bytes.
        bytes: u64,
        /// Largest number for an image of this size.
        most: u64,
    },
    /// Decoding takes more memory than is free.
    #[error(
        "its {}x{} px take {} of memory to read, and {free}: make it smaller", .size.0, .size.1, console::bytes(*.bytes)
    )]
    NoMemory {
        /// Width and height, px.
        size: (u32, u32),
        /// Memory that decoding takes, bytes.
        bytes: u64,
        /// Free memory.
        free: FreeMemory,
    },
    /// Pixels of a type without a defined white level.
    #[error("its pixels are {0:?}; {SAVE_AS}")]
    Pixels(image::ColorType),
    /// The bytes end before the image does.
    #[error("it ends before its image does; {CUT_OFF}")]
    Truncated,
    /// The headers of a JPEG are damaged.
    #[error("its headers are damaged: {0:?}; {CUT_OFF}")]
    JpegHeaders(DecodeErrors),
    /// A JPEG does not say its size.
    #[error("it does not say its size; {CUT_OFF}")]
    NoSize,
    /// The image of a JPEG is damaged.
    #[error("damaged: {0}; {CUT_OFF}")]
    Jpeg(#[from] JpegError),
    /// The decoder of other formats fails.
    #[error("{}; {}", sentence(.0), if matches!(.0, image::ImageError::Unsupported(_)) { SAVE_AS } else { CUT_OFF })]
    Image(#[from] image::ImageError),
    /// The decoder of TIFF fails.
    #[error("{}", of_tiff(.0))]
    Tiff(#[from] tiff::TiffError),

    /// The header of a file of numbers has another fault, which continues the sentence.
    #[error("its header {0}")]
    Header(&'static str),
    /// Array of numbers of another type.
    #[error("its type {} is not read: save disparities as float32", foreign(.0))]
    NumberType(String),
    /// Array of another shape.
    #[error("its shape ({}) is not that of rows and columns", foreign(.0))]
    Shape(String),
    /// Fewer bytes than the numbers take.
    #[error("it has {got} of {bytes} bytes{}; {CUT_OFF}", if *.of_pixels { " of its pixels" } else { "" })]
    Short {
        /// Number of bytes that are there.
        got: u64,
        /// Number of bytes that the header announces.
        bytes: u64,
        /// Whether the header is not counted.
        of_pixels: bool,
    },
    /// PFM in colour.
    #[error("it is a PFM in colour: disparities have one number a pixel (Pf)")]
    PfmInColour,
    /// No PFM.
    #[error("it is no PFM file, which begins with Pf")]
    NoPfm,
    /// More pixels than the bytes can hold.
    #[error("its {bytes} bytes cannot hold {}x{} pixels", .size.0, .size.1)]
    TooFewBytes {
        /// Number of bytes.
        bytes: u64,
        /// Width and height, px.
        size: (u32, u32),
    },
    /// Other than one number per pixel.
    #[error("it has {numbers} numbers for {}x{} pixels", .size.0, .size.1)]
    Count {
        /// Number of the numbers.
        numbers: usize,
        /// Width and height, px.
        size: (u32, u32),
    },
    /// The numbers take more memory than is free.
    #[error("it takes {} of memory, and {free}", console::bytes(*.bytes))]
    NumbersMemory {
        /// Memory that they take, bytes.
        bytes: u64,
        /// Free memory.
        free: FreeMemory,
    },
}

impl PictureError {
    /// Returns the operation on an image file that fails.
    fn task(&self) -> &'static str {
        match self {
            Self::Empty | Self::NoImage | Self::Unread(_) | Self::Reduced(_) | Self::Packing(_) => "read",
            Self::Reversed | Self::JpegKind(_) => "read",
            Self::TooManyPixels(_) | Self::OtherSize { .. } | Self::TooLong { .. } => "use",
            Self::NoMemory { .. } | Self::Pixels(_) | Self::Numbers(_) => "use",
            _ => "decode",
        }
    }

    /// Returns the text for a file, which is in the commands.
    fn of_file(&self, path: &Path) -> String {
        match self {
            Self::Unread(kind) => format!("it is {}", kind.words(path)),
            // some formats have no mark
            Self::NoImage => match UnreadImage::of_file(path) {
                Some(kind) => format!("it is {}", kind.words(path)),
                None => self.to_string(),
            },
            Self::Packing(number) => packed(*number, path),
            Self::Reversed => reversed(path),
            other => other.to_string(),
        }
    }
}

/// Returns the text of an error of the decoder of TIFF.
fn of_tiff(err: &tiff::TiffError) -> String {
    use tiff::{TiffError, TiffUnsupportedError};
    match err {
        TiffError::UnsupportedError(TiffUnsupportedError::UnsupportedCompressionMethod(method)) => {
            packed(method.to_u16().into(), Path::new("IN.tif"))
        }
        TiffError::UnsupportedError(_) => format!("{}; {SAVE_AS}", sentence(err)),
        _ => format!("{}; {CUT_OFF}", sentence(err)),
    }
}

/// Returns what to do about a TIFF with FillOrder 2 (tiffcp of libtiff 4.5.0).
fn reversed(path: &Path) -> String {
    let out = path.with_file_name(format!("{}_msb.tif", path.file_stem().unwrap_or_default().to_string_lossy()));
    let [path, out] = [path, &out].map(|path| console::quoted(&path.to_string_lossy()));
    format!("its bits lie in reverse order, which is not read: `tiffcp -f msb2lsb {path} {out}` turns them")
}

/// Returns what to do about a TIFF of a packing that is not read (tiffcp of libtiff 4.5.0 reads LZMA and LERC).
fn packed(number: u64, path: &Path) -> String {
    let out = path.with_file_name(format!("{}_zip.tif", path.file_stem().unwrap_or_default().to_string_lossy()));
    let [path, out] = [path, &out].map(|path| console::quoted(&path.to_string_lossy()));
    let cure = match number {
        34_887 | 34_925 | 50_000 => format!("`tiffcp -c zip {path} {out}` packs it by deflate"),
        _ => "save it packed by deflate or LZW".to_owned(),
    };
    format!("it is packed by {}, which is not read: {cure}", packing(number))
}

/// Returns the name of a packing of TIFF by its number (registered tags of libtiff 4.5).
fn packing(number: u64) -> String {
    let name = match number {
        6 => "JPEG in its old form",
        33_003 | 33_005 | 34_712 => "JPEG 2000",
        34_661 => "JBIG",
        34_887 => "LERC",
        34_892 => "JPEG as in raw photos",
        34_925 => "LZMA",
        50_000 => "zstd",
        50_002 | 52_546 => "JPEG XL",
        other => return format!("a method with the number {other}"),
    };
    name.to_owned()
}

/// Fault of the files of pairs.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("cannot read {}: {}", console::path(.path), files::read_cause(.path, .cause))]
    Read { path: PathBuf, cause: io::Error },
    #[error("cannot {} {}: {}", .cause.task(), console::path(.path), .cause.of_file(.path))]
    Picture { path: PathBuf, cause: PictureError },
    #[error("cannot read {}: {cause}", console::path(.path))]
    Numbers { path: PathBuf, cause: PictureError },
    #[error(
        "the images of a pair have one size, but {} has {}x{} and {} has {}x{} pixels: {}",
        console::path(&.paths[0]), .sizes[0].0, .sizes[0].1, console::path(&.paths[1]), .sizes[1].0, .sizes[1].1,
        cure_of_sizes(.paths, .sizes, *.turned_differently)
    )]
    PairSizes { paths: [PathBuf; 2], sizes: [(usize, usize); 2], turned_differently: bool },
    #[error(
        "{} has {}x{} pixels, and {} needs an even number of {}: it does not show two views of one size",
        console::path(.path), .size.0, .size.1, option(.arrangement.word()), halved(*.arrangement)
    )]
    OddSize { path: PathBuf, size: (usize, usize), arrangement: Arrangement },
    #[error("{} holds {kind} and {} brightness: give both images of one kind", console::path(&.paths[0]), console::path(&.paths[1]))]
    OneOfNumbers { paths: [PathBuf; 2], kind: &'static str },
    #[error("{} has no pixel with a number", console::path(.0))]
    NoNumber(PathBuf),

    // folders
    #[error("cannot open {}: there is no such file or folder", console::path(.0))]
    NoFolder(PathBuf),
    #[error(
        "{} is a file: give the left and the right image as LEFT,RIGHT, or a folder, or say with {} or {} that it shows both views",
        console::path(.0), option(Arrangement::SideBySide.word()), option(Arrangement::TopBottom.word())
    )]
    NotAFolder(PathBuf),
    #[error("cannot read folder {}: {}", console::path(.path), files::cause(.cause))]
    Folder { path: PathBuf, cause: io::Error },
    #[error("{} is {}", console::path(.path), .kind.words(.path))]
    Unread { path: PathBuf, kind: UnreadImage },
    #[error("{} has no image of both views: looked for files as {}", console::path(.0), EXTENSIONS.join(", "))]
    NoneOfBothViews(PathBuf),

    // truth
    #[error("cannot use the truth {}: {cause}", console::path(.path))]
    Truth { path: PathBuf, cause: TruthError },
    #[error(
        "{} is not used as truth: nothing says how many grey levels are 1 px in a pair of {}x{} px: open the pair alone, with {} {}",
        console::path(.path), .size.0, .size.1,
        Remedy::set("truth", console::path(.path)), Remedy::set("truth-scale", "LEVELS")
    )]
    TruthLevels { path: PathBuf, size: (usize, usize) },
    #[error("the truth {} has no disparity: all its numbers are 0, infinite or none", console::path(.0))]
    NoDisparity(PathBuf),
    #[error(
        "the truth {} has {}x{} and its pair {}x{} px",
        console::path(.path), .found.0, .found.1, .wanted.0, .wanted.1
    )]
    TruthSize { path: PathBuf, found: (usize, usize), wanted: (usize, usize) },
    #[error(
        "{} has truth ({layout}) and no right image beside it: add the right image, or move it away", console::path(.left)
    )]
    TruthWithoutRight { left: PathBuf, layout: &'static str },
    #[error(
        "{} has no pair with truth; looked there and in the folders below for{}",
        console::path(.folder),
        .layouts.iter().map(|(set, files)| format!("\n  {set}: {files}")).collect::<Vec<_>>().concat()
    )]
    NoTruth { folder: PathBuf, layouts: &'static [(&'static str, &'static str)] },
}

/// Fault of the numbers of a truth.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TruthError {
    #[error(
        "its name is that of a depth, and truth is disparities in px: disparity = focal_px * baseline_m / depth; rename it if it holds \
         these"
    )]
    NameOfDepth,
    #[error(
        "nothing says how many of its whole numbers are 1 px: give {} (Middlebury 2003: 4 at quarter size; 2005 and 2006: 3 at third \
         size; Tsukuba: 16)",
        option("truth-scale")
    )]
    NoScale,
    #[error(
        "it has disparities of up to {disparity_px:e} px in an image {width_px} px wide: give the scale of its numbers ({scale}), and \
         mark unknown pixels by 0, infinity or NaN",
        scale = option("truth-scale")
    )]
    TooLarge { disparity_px: f32, width_px: f32 },
    #[error(
        "its three channels differ: a map in colours for people is no truth; of whole numbers in three channels two kinds are read, those of \
         MPI Sintel ({}) and of FoundationStereo ({})",
        Remedy::set("truth-scale", 16_384),
        Remedy::set("truth-scale", 1000)
    )]
    Colours,
    #[error(
        "all its disparities are negative: is its sign that of right minus left? Then give {} {}",
        Remedy::set("truth", console::path(.path)), Remedy::set("truth-scale", .scale.saturating_neg())
    )]
    Negative { path: PathBuf, scale: i32 },
}

impl From<FileError> for CaptureError {
    fn from(err: FileError) -> Self {
        Self::File(err.into())
    }
}

/// Returns the text of a decoder's error within a sentence.
fn sentence(err: &impl ToString) -> String {
    err.to_string().trim_end_matches('.').to_lowercase()
}

fn halved(arrangement: Arrangement) -> &'static str {
    match arrangement {
        Arrangement::SideBySide => "columns",
        Arrangement::TopBottom => "rows",
    }
}

fn cure_of_sizes(
    paths: &[PathBuf; 2],
    &[(wl, hl), (wr, hr)]: &[(usize, usize); 2],
    turned_differently: bool,
) -> String {
    let calibrated = format!(
        "give the calibration of both cameras ({} FILE), which brings them into one size",
        option("calibration")
    );
    if turned_differently {
        "their orientation tags differ: take both with cameras that are held alike, or remove the tags".to_owned()
    } else if (wl, hl) == (hr, wr) {
        "turn one of them by 90 degrees".to_owned()
    } else if wl * hr == hl * wr {
        let (path, width, height) = if wl > wr { (&paths[0], wr, hr) } else { (&paths[1], wl, hl) };
        let path = console::quoted(&path.to_string_lossy());
        format!("{calibrated}, or resize the larger one: `convert {path} -resize {width}x{height} OUT.png`")
    } else {
        let (width, height) = (wl.min(wr), hl.min(hr));
        format!(
            "{calibrated}; or crop rectified ones to {width}x{height}: `convert FILE -crop {width}x{height}+0+0 +repage OUT.png`"
        )
    }
}

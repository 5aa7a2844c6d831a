from os import PathLike
from typing import Any, Dict, Iterator, Optional, Tuple, Union

import numpy as np
import numpy.typing as npt

__version__: str
REASONS: Dict[str, int]

_Path = Union[str, "PathLike[str]"]
_Picture = Union[npt.NDArray[np.uint8], npt.NDArray[np.uint16]]

class Matcher:
    """Semi-global and local matching of rectified pairs on all cores.

    Parameters have the names of the program's flags, with underscores: ``num_disparities``, ``preset``, ``cost``, ``p1``, ``p2``,
    ``paths``, ``uniqueness``, ``threads`` and all others of ``stereopsis compute --help``. ``None`` stands for ``off``, bools for
    ``on`` and ``off``. With ``vertical`` the left image is the upper one of cameras one above the other, and left pixel (x, y) shows
    what right pixel (x, y - d) shows. The engine keeps its memory from pair to pair. Calls release the GIL; those of several threads with one matcher
    wait for each other.
    """

    def __init__(
        self, *, vertical: bool = False, num_disparities: int = ..., preset: str = ..., cost: str = ..., paths: int = ..., p1: int = ..., p2: int = ..., threads: int = ..., **parameters: Any
    ) -> None: ...
    @staticmethod
    def from_settings(path: _Path, *, vertical: bool = False, **parameters: Any) -> "Matcher":
        """Read a settings file that the window or ``optimize`` has written; parameters change it further.

        An engine or adapter in the file has no effect: all engines give the same bits, and this one is the CPU's.
        """
    def compute(self, left: _Picture, right: _Picture) -> npt.NDArray[np.int16]:
        """Disparity in 1/16 px as OpenCV has it: (height, width); ``(min_disparity - 1) * 16`` where there is none.

        The images are rectified: brightness of shape (height, width), uint8 or uint16, or colours of shape (height, width, 3), uint8,
        in OpenCV's order (blue, green, red). Filters that follow edges see colours where both images have them.
        """
    def disparity(self, left: _Picture, right: _Picture) -> npt.NDArray[np.float32]:
        """Disparity in px: (height, width); NaN where there is none."""
    @property
    def reasons(self) -> npt.NDArray[np.uint8]:
        """Why pixels of the last pair have no disparity, or where they have it from: bits of ``REASONS``; (height, width)."""
    @property
    def confidence(self) -> npt.NDArray[np.uint8]:
        """Confidence of the last pair's disparities, 0 to 255; (height, width). Needs ``Matcher(confidence=True)``."""
    @property
    def parameters(self) -> Dict[str, Union[int, str]]:
        """All parameters by their names, as ints or the words of the flags."""

class Calibration:
    """A stereo rig from a calibration file of OpenCV, ROS, Kalibr, ZED, Middlebury or Stereopsis."""

    @staticmethod
    def load(*paths: _Path, unit: Optional[str] = None, alpha: float = 0.0, swapped: bool = False) -> "Calibration":
        """Read one file, or one of each camera. ``unit`` is the file's unit of length: 'm', 'cm' or 'mm'; without it the one that
        gives a plausible baseline. ``alpha`` 0 shows no black pixels, 1 shows all raw pixels."""
    @property
    def baseline_m(self) -> float: ...
    @property
    def vertical(self) -> bool:
        """Whether one camera stands above the other: then rectified pairs need ``Matcher(vertical=True)``."""
    @property
    def size(self) -> Optional[Tuple[int, int]]:
        """Width and height of the images that were calibrated with."""
    def focal_px(self, width: int, height: int) -> float:
        """Focal length of rectified images of this size, px."""
    def rectify(self, left: npt.NDArray[Any], right: npt.NDArray[Any]) -> Tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Rectified images: (height, width) of uint8 or uint16, or (height, width, 3) of uint8 in any order of channels."""
    def depth(self, disparity_px: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Depth in m: (height, width); NaN where there is none."""
    def points(self, disparity_px: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
        """Points in m in the left camera's frame, x to the right, y down, z forwards: (height, width, 3); NaN where there are none."""

class Pair:
    """One pair of a recording."""

    @property
    def name(self) -> str: ...
    @property
    def sequence(self) -> int: ...
    @property
    def time_s(self) -> float:
        """Capture time of the left image, s since 1970."""
    @property
    def left(self) -> _Picture:
        """(height, width), as recorded: see ``Recording.are_rectified``."""
    @property
    def right(self) -> _Picture: ...
    @property
    def left_rgb(self) -> Optional[npt.NDArray[np.uint8]]:
        """(height, width, 3), red first; None without colours."""
    @property
    def disparity(self) -> Optional[npt.NDArray[np.float32]]:
        """Recorded disparity, px; NaN where there is none."""
    @property
    def depth(self) -> Optional[npt.NDArray[np.float32]]:
        """Recorded depth, m; NaN where there is none."""

class Recording:
    def __init__(self, path: _Path) -> None: ...
    @property
    def are_rectified(self) -> bool: ...
    def __len__(self) -> int: ...
    def __iter__(self) -> Iterator[Pair]: ...
    def __next__(self) -> Pair: ...

def read(path: _Path) -> Recording:
    """Yield the pairs of a recording in their order. A damaged pair raises ValueError in its place; ``next`` goes on behind it."""

def StereoSGBM_create(
    minDisparity: int = 0,
    numDisparities: int = 16,
    blockSize: int = 3,
    P1: int = 0,
    P2: int = 0,
    disp12MaxDiff: int = 0,
    preFilterCap: int = 0,
    uniquenessRatio: int = 0,
    speckleWindowSize: int = 0,
    speckleRange: int = 0,
    mode: int = 0,
) -> Matcher:
    """A ``Matcher`` for the arguments of ``cv2.StereoSGBM_create``; a warning says what they become."""

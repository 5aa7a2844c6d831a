//! End of `stereopsis --help`: examples, environment variables and exit codes.

use stereopsis_doctor::{VARIABLES, Variable};

const EXAMPLES: &str = "\
Examples:
  stereopsis                                      live depth of the built-in scene
  stereopsis left.png right.png                   open a pair of images
  stereopsis live --source webcam:0,1 --rectify auto --baseline-m 0.06    two webcams, no calibration
  stereopsis live --source webcam:0,1 --calibration stereo.yml --calibration-unit mm
  stereopsis live --rig desk.toml
  stereopsis live --publish foxglove              the same in the Foxglove app, which can tune it
  stereopsis live --publish ros2                  the same in RViz and all nodes of ROS 2 (rmw_zenoh_cpp)
  stereopsis live --source ros2:/left/image_raw,/right/image_raw    the images of a driver of ROS 2
  stereopsis live --headless --frames 300         no window: a status line, then a preview image
  stereopsis compute left.png right.png -o disparity.pfm --color disparity.png
  stereopsis compute pairs/ -o results/ --cost census-7x7 --fill
  stereopsis record --source webcam:0,1 --calibration stereo.yml --seconds 60 -o walk.mcap
  stereopsis walk.mcap                            play it: pause, step, seek, and tune on it
  stereopsis recompute walk.mcap -o walk-accurate.mcap --preset accurate
  stereopsis export walk.mcap --to walk/          images, depth, points and calibration as files
  stereopsis measure wall.mcap --region 192,144,256,192 --distance-m 1.5 --csv wall.csv
  stereopsis eval MiddEval3/trainingH/ --presets balanced,accurate --errors errors/     against truth, as benchmarks do
  stereopsis optimize walk.mcap --max-ms 33 -o walk.toml     the setting that suits its pairs best, for --settings
  stereopsis bench --size 640x480 --num-disparities 128
  stereopsis bench --presets --engine cpu         every preset side by side, with its paper
  stereopsis tune --size 1280x720 --num-disparities 128     once for each GPU and size
  stereopsis model inspect las2.onnx              test a learned matcher of yours, a neural network as ONNX
  stereopsis live --model las2.onnx               depth by it; in the window A keeps semi-global matching beside it
  stereopsis devices --gpu
  stereopsis doctor                               what this machine has and what is wrong with it, to paste into a question
  stereopsis integrate ~/.local/share             manual pages, completions and an entry in the menu, where no package brought them
  stereopsis calibrate --print-board board.pdf    print it, measure it, glue it to something flat
  stereopsis calibrate --source webcam:0,1 --board charuco:10x7:26mm:19.5mm:DICT_5X5_100 -o desk.toml
  stereopsis calibrate pairs/ --board chessboard:9x6:25mm -o rig.yml
  stereopsis calibrate --check desk.toml pairs/
  stereopsis calibration show left.yaml,right.yaml
  stereopsis head --name pi --source webcam:0,1 --listen tcp/0.0.0.0:7447 --open     raw pairs for other machines
  stereopsis engine --connect tcp/192.168.1.5:7447     this machine matches them
  stereopsis live --source zenoh:pi@192.168.1.5 --engine network     and this one shows the results
  stereopsis net --connect tcp/192.168.1.5:7447 --watch     who is there, rates, drops, clocks
  stereopsis plan --fov-deg 70 --baseline-m 0.06
  stereopsis plan --focal-mm 11 --sensor-width-mm 15.36 --size 1280x480 --baseline-m 0.456 --plot reach.svg";

/// Examples that this build can run, environment variables and exit codes.
pub(super) fn examples() -> String {
    let known = |line: &&str| {
        let is_network = ["zenoh:", "ros2", "--listen"].iter().any(|word| line.contains(word));
        let is_model = line.contains(".onnx");
        (cfg!(feature = "publish") || !line.contains("--publish"))
            && (cfg!(feature = "zenoh") || !is_network)
            && (cfg!(feature = "model") || !is_model)
    };
    let is_read = |variable: &&Variable| match variable.name {
        "STEREOPSIS_NETWORK_PASSWORD" => cfg!(feature = "zenoh"),
        "STEREOPSIS_PUBLISH_TOKEN" => cfg!(feature = "publish"),
        "STEREOPSIS_DATA" => false,
        _ => true,
    };
    let variables = VARIABLES.iter().filter(is_read).map(|own| format!("  {}: {}", own.name, own.effect));
    let variables = variables.collect::<Vec<_>>().join("\n");
    let examples = EXAMPLES.lines().filter(known).collect::<Vec<_>>().join("\n");
    format!("{examples}\n\nEnvironment:\n{variables}\n\n{}", super::short_help::EXIT_CODE)
}

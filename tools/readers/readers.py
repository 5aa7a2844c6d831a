"""Opens recordings with programs that this project did not write, and compares what they see.

    readers.py FOLDER      every *.mcap in FOLDER with every reader that opens its format

What the readers see has to be the same among them, the same in both formats of one recording, and what expected.json says
where FOLDER has one. Readers: mcap with mcap-ros2-support and mcap-protobuf-support, rosbags, rerun.
"""

import json
import sys
import tempfile
import textwrap
from pathlib import Path

import numpy as np
from mcap.reader import make_reader
from mcap_protobuf.decoder import DecoderFactory as ProtobufDecoders
from mcap_ros2.decoder import DecoderFactory as Ros2Decoders
from PIL import Image
from rosbags.highlevel import AnyReader
from rosbags.interfaces import QosDurability, QosReliability
from rosbags.rosbag2 import Reader
from rosbags.typesys import Stores, get_typestore
from ruamel.yaml import YAML

LATCHED = ("/tf_static", "/stereopsis/about")
MISTAKES = []


def wrong(words):
    MISTAKES.append(words)
    print(f"  WRONG: {words}")


def checksum(data):
    """A sum in which every byte counts by its place; crates/live/tests/recording/formats.rs computes the same."""
    data = np.frombuffer(bytes(data), np.uint8).astype(np.uint64)
    places = np.arange(len(data), dtype=np.uint64) % np.uint64(65521) + np.uint64(1)
    return int((data * places).sum(dtype=np.uint64))


def disparity(width, height, data, smallest):
    """Disparity with -1 where there is none, whichever way the format says so."""
    pixels = np.frombuffer(bytes(data), "<f4")
    pixels = np.where(np.isnan(pixels) | (pixels < smallest), np.float32(-1), pixels)
    return {"size": [width, height], "checksum": checksum(pixels.astype("<f4").tobytes())}, pixels


def image(picture):
    return {"size": [picture.width, picture.height], "checksum": checksum(picture.data)}


def pixels_of(picture):
    kinds = {"mono8": "u1", "8UC1": "u1", "mono16": "<u2", "16UC1": "<u2"}
    return np.frombuffer(bytes(picture.data), kinds[picture.encoding]) if picture.encoding in kinds else None


def seen_ros2(kind, message):
    """What a reader of ROS 2's messages saw: what it holds, whose it is, its numbers, its pixels."""
    if kind == "std_msgs/msg/String":
        return "json", "", None, {"json": json.loads(message.data)}, None
    if kind == "tf2_msgs/msg/TFMessage":
        (moved,) = message.transforms
        t, r = moved.transform.translation, moved.transform.rotation
        numbers = {"child": moved.child_frame_id, "translation_m": [t.x, t.y, t.z], "rotation": [r.x, r.y, r.z, r.w]}
        return "transform", moved.header.frame_id, moved.header.stamp, numbers, None
    head = (message.header.frame_id, message.header.stamp)
    if kind == "sensor_msgs/msg/Image":
        return "image", *head, image(message), pixels_of(message)
    if kind == "sensor_msgs/msg/CompressedImage":
        return "compressed", *head, {"checksum": checksum(message.data)}, None
    if kind == "stereo_msgs/msg/DisparityImage":
        inner = message.image
        assert inner.encoding == "32FC1", inner.encoding
        numbers, pixels = disparity(inner.width, inner.height, inner.data, message.min_disparity)
        return "disparity", *head, numbers, pixels
    assert kind == "sensor_msgs/msg/CameraInfo", kind
    numbers = {"size": [message.width, message.height], **{m: list(map(float, getattr(message, m))) for m in "krpd"}}
    return "camera", *head, numbers, None


def seen_foxglove(kind, channel, message):
    """The same of Foxglove's messages."""
    if kind == "foxglove.FrameTransform":
        t, r = message.translation, message.rotation
        numbers = {"child": message.child_frame_id, "translation_m": [t.x, t.y, t.z], "rotation": [r.x, r.y, r.z, r.w]}
        return "transform", message.parent_frame_id, message.timestamp, numbers, None
    head = (message.frame_id, message.timestamp)
    if kind == "foxglove.RawImage" and message.encoding == "32FC1":
        numbers, pixels = disparity(message.width, message.height, message.data, -np.inf)
        return "disparity", *head, numbers, pixels
    if kind == "foxglove.RawImage":
        return "image", *head, image(message), pixels_of(message)
    if kind == "foxglove.CompressedImage":
        return "compressed", *head, {"checksum": checksum(message.data)}, None
    assert kind == "foxglove.CameraCalibration", kind
    matrices = {m: list(getattr(message, m.upper())) for m in "krpd"}
    return "camera", *head, {"size": [message.width, message.height], **matrices}, None


def row(topic, sequence, log_ns, publish_ns, holds, frame_id, stamp, numbers, pixels):
    if stamp is not None:
        seconds = getattr(stamp, "sec", None)
        stamp_ns = stamp.ToNanoseconds() if seconds is None else seconds * 10**9 + stamp.nanosec
        if stamp_ns != publish_ns:
            wrong(f"{topic}: its stamp is {stamp_ns}, its publish time {publish_ns}")
    row = {"topic": topic, "sequence": sequence, "log_time_ns": log_ns, "publish_time_ns": publish_ns}
    return {**row, "holds": holds, "frame_id": frame_id, "expected": numbers, "pixels": pixels}


def with_mcap(path):
    """With the MCAP library, by the schemas in the file."""
    rows = []
    with path.open("rb") as file:
        reader = make_reader(file, validate_crcs=True, decoder_factories=[Ros2Decoders(), ProtobufDecoders()])
        profile = reader.get_header().profile
        if profile != {"ros2": "ros2"}.get(path.stem.split("_")[-1], ""):
            wrong(f"the profile of {path.name} is '{profile}'")
        counts = {}
        for schema, channel, message in reader.iter_messages(log_time_order=False):
            counts[channel.topic] = counts.get(channel.topic, 0) + 1
            times = (channel.topic, message.sequence, message.log_time, message.publish_time)
            if channel.message_encoding == "json":
                assert (schema.encoding, json.loads(schema.data)) == ("jsonschema", {"type": "object"})
                rows.append(row(*times, "json", "", None, {"json": json.loads(message.data)}, None))
                continue
            factory = Ros2Decoders() if channel.message_encoding == "cdr" else ProtobufDecoders()
            decoded = factory.decoder_for(channel.message_encoding, schema)(message.data)
            if channel.message_encoding == "cdr":
                rows.append(row(*times, *seen_ros2(schema.name, decoded)))
            else:
                rows.append(row(*times, *seen_foxglove(schema.name, channel, decoded)))
        summary = reader.get_summary()
        said = {summary.channels[k].topic: n for k, n in summary.statistics.channel_message_counts.items()}
        if said != counts:
            wrong(f"{path.name} says it has {said}, and has {counts}")
    return rows


def with_rosbags(path):
    """With rosbags, which knows ROS 2's own definitions: ours must have the same hashes."""
    rows = []
    known = get_typestore(Stores.ROS2_JAZZY)
    with AnyReader([path]) as reader:
        for connection in reader.connections:
            kind = connection.msgtype
            if reader.typestore.hash_rihs01(kind) != known.hash_rihs01(kind):
                wrong(f"the definition of {kind} is not that of ROS 2")
            (qos,) = connection.ext.offered_qos_profiles
            latched = QosDurability.TRANSIENT_LOCAL if connection.topic in LATCHED else QosDurability.VOLATILE
            if (qos.durability, qos.reliability) != (latched, QosReliability.RELIABLE):
                wrong(f"{connection.topic} is offered as {qos}")
        for connection, log_ns, data in reader.messages():
            message = reader.deserialize(data, connection.msgtype)
            holds, frame_id, stamp, numbers, pixels = seen_ros2(connection.msgtype, message)
            stamp_ns = None if stamp is None else stamp.sec * 10**9 + stamp.nanosec
            rows.append(row(connection.topic, None, log_ns, stamp_ns, holds, frame_id, stamp, numbers, pixels))
    return rows


def check_bag_metadata(path, rows):
    """The record for `ros2 bag` is a bag's metadata.yaml: as such, beside the file, rosbags opens the folder as a bag."""
    with path.open("rb") as file:
        *_, record = [record for record in make_reader(file).iter_metadata() if record.name == "rosbag2"]
    with tempfile.TemporaryDirectory() as folder:
        yaml = record.metadata["serialized_metadata"]
        (name,) = YAML(typ="safe").load(yaml)["relative_file_paths"]
        if name != path.name:
            wrong(f"{path.name} tells ros2 bag that it is called {name}")
        (Path(folder) / name).symlink_to(path.resolve())
        (Path(folder) / "metadata.yaml").write_text("rosbag2_bagfile_information:\n" + textwrap.indent(yaml, "  "))
        with Reader(folder) as bag:
            told = {topic: info.msgcount for topic, info in bag.topics.items()}
            offered = {connection.topic: connection.ext.offered_qos_profiles[0].durability for connection in bag.connections}
            counts = {topic: len(of_topic(rows, topic)) for topic in {row["topic"] for row in rows}}
            if (told, bag.message_count) != (counts, len(rows)):
                wrong(f"{path.name} tells ros2 bag of {told} messages, and has {counts}")
            if {topic for topic, durability in offered.items() if durability == QosDurability.TRANSIENT_LOCAL} != {
                topic for topic in counts if topic in LATCHED
            }:
                wrong(f"{path.name} offers ros2 bag {offered}")


def of_topic(rows, topic):
    return [row for row in rows if row["topic"] == topic]


def same(name, rows, other_name, others):
    """Whether two readers saw the same; None is what one of them does not tell."""
    topics = sorted({row["topic"] for row in rows} | {row["topic"] for row in others})
    for topic in topics:
        one, two = of_topic(rows, topic), of_topic(others, topic)
        if len(one) != len(two):
            wrong(f"{topic}: {name} has {len(one)} messages, {other_name} has {len(two)}")
            continue
        for a, b in zip(one, two):
            for key in ("holds", "frame_id", "sequence", "log_time_ns", "publish_time_ns", "expected"):
                if a[key] is not None and b[key] is not None and a[key] != b[key]:
                    wrong(f"{topic} {a['sequence']}: {key} is {a[key]} in {name} and {b[key]} in {other_name}")
                    break


def check_depth(rows):
    """Depth in mm belongs to disparity by the rectified cameras: z = fx B / (d + cx_right - cx_left)."""
    cameras = {side: of_topic(rows, f"/stereo/rectified/{side}/camera_info") for side in ("left", "right")}
    pairs = {row["sequence"]: row for row in of_topic(rows, "/stereo/disparity")}
    if not all(cameras.values()) or not pairs:
        return
    left, right = (cameras[side][0]["expected"] for side in ("left", "right"))
    fx_baseline_mm, doffs = -1000 * right["p"][3], right["p"][2] - left["p"][2]
    for depth in of_topic(rows, "/stereo/depth/image_raw"):
        if depth["sequence"] not in pairs:
            continue
        d = pairs[depth["sequence"]]["pixels"].astype(np.float64)
        with np.errstate(divide="ignore"):
            wanted = np.where(d < 0, 0, fx_baseline_mm / (d + doffs))
        told = depth["pixels"].astype(np.float64)
        off = np.abs(told - wanted)[(told > 0) & (wanted < 65535)]
        if off.size and off.max() > 0.51 + 1e-4 * wanted.max(where=wanted < 65535, initial=0):
            wrong(f"depth {depth['sequence']}: up to {off.max():.2f} mm away from what disparity and cameras say")
        if (told[d < 0] != 0).any():
            wrong(f"depth {depth['sequence']}: a distance where there is no disparity")


def check_export(path, rows):
    """What `export` made of a recording, where it stands beside it, is what the recording holds, number for number."""
    folder = path.with_suffix(".export")
    if not folder.exists():
        return
    compared = 0
    numbers = {row["sequence"]: k for k, row in enumerate(of_topic(rows, "/stereopsis/pairs"))}
    for topic, ending in (("/stereo/left/image_raw", "left"), ("/stereo/depth/image_raw", "depth_mm")):
        for row in of_topic(rows, topic):
            file = folder / f"{numbers[row['sequence']]:06}_{ending}.png"
            with Image.open(file) as picture:
                pixels = np.asarray(picture)
            depth = pixels.astype("<u2") if ending == "depth_mm" else pixels
            if row["expected"] != {"size": [pixels.shape[1], pixels.shape[0]], "checksum": checksum(depth.tobytes())}:
                wrong(f"{file.name} is not what {topic} {row['sequence']} holds")
            compared += 1
    print(f"  export: {compared} images are those of the recording")
    if not compared:
        wrong(f"nothing in {folder} to compare")


def describe(rows):
    for topic in sorted({row["topic"] for row in rows}):
        found = of_topic(rows, topic)
        first, last = found[0], found[-1]
        size = first["expected"].get("size")
        seconds = (last["log_time_ns"] - first["log_time_ns"]) / 1e9
        words = f"{len(found):5} x {first['holds']:10} {'x'.join(map(str, size)) if size else '':9} over {seconds:.3f} s"
        print(f"    {topic:40}{words}")


def with_rerun(path):
    """With rerun, as it opens a file that is dropped on it: images, depth, cameras and transforms are there by its own words."""
    from rerun.chunk import McapReader

    rows = []
    for chunk in McapReader(path).stream().to_chunks():
        batch = chunk.to_record_batch()
        topic = chunk.entity_path
        if chunk.is_static or topic.startswith("/__") or topic.startswith("/stereopsis/"):
            continue
        components = [name for name in batch.schema.names if ":" in name]
        log_times, publish_times = (
            batch.column(name).cast("int64").to_pylist() for name in ("message_log_time", "message_publish_time")
        )
        for k in range(chunk.num_rows):
            found = {name: batch.column(name)[k].values for name in components}
            held = {name: values[0] for name, values in found.items() if values}
            kinds = {name.split(":")[0] for name in held}
            holds, numbers = None, None
            if picture := kinds & {"Image", "DepthImage"}:
                (picture,) = picture
                holds = picture
                size = [held[f"{picture}:format"][side].as_py() for side in ("width", "height")]
                numbers = {"size": size, "checksum": checksum(held[f"{picture}:buffer"].values.to_numpy())}
            elif "EncodedImage" in kinds:
                holds, numbers = "EncodedImage", {"checksum": checksum(held["EncodedImage:blob"].values.to_numpy())}
            elif "Pinhole" in kinds:
                # rerun has matrices of 32 bits, column by column.
                holds, numbers = "Pinhole", {"k": np.reshape(held["Pinhole:image_from_camera"].as_py(), (3, 3)).T.ravel().tolist()}
            elif "Transform3D" in kinds:
                named = {name: held[f"Transform3D:{name}"].as_py() for name in ("parent_frame", "child_frame", "translation")}
                holds, numbers = "Transform3D", named
            row = {"topic": topic, "log_time_ns": log_times[k], "publish_time_ns": publish_times[k]}
            rows.append({**row, "holds": holds or "raw", "expected": numbers or {}})
    return rows


def check_rerun(path, rows, is_ros2):
    """What rerun makes of a file. Of ROS 2's images it takes all with one channel for depth, and disparity for unknown."""
    rerun = with_rerun(path)
    describe(rerun)
    for topic in sorted({row["topic"] for row in rows if not row["topic"].startswith("/stereopsis/")}):
        ours, theirs = of_topic(rows, topic), of_topic(rerun, topic)
        if [row["log_time_ns"] for row in ours] != [row["log_time_ns"] for row in theirs]:
            wrong(f"{topic}: rerun has {len(theirs)} messages of {len(ours)}, or other times")
            continue
        for one, two in zip(ours, theirs):
            wanted, told = one["expected"], two["expected"]
            if one["holds"] == "image":
                expected_kind = "DepthImage" if is_ros2 and one["pixels"] is not None else "Image"
                is_same = two["holds"] == expected_kind and wanted == told
            elif one["holds"] == "compressed":
                is_same = two["holds"] == "EncodedImage" and wanted == told
            elif one["holds"] == "camera":
                is_same = two["holds"] == "Pinhole" and np.allclose(wanted["k"], told["k"], rtol=1e-6)
            elif one["holds"] == "transform":
                is_same = (told.get("parent_frame"), told.get("child_frame")) == (one["frame_id"], wanted["child"])
                is_same = is_same and np.allclose(told["translation"], wanted["translation_m"], rtol=1e-6)
            else:
                is_same = one["holds"] == "disparity"
            if not is_same:
                wrong(f"{topic} {one['sequence']}: rerun has {two['holds']} {told} of {one['holds']} {wanted}")
                break


def same_in_both(ros2, foxglove):
    """Whether two recordings of one source, in two formats, hold the same images, numbers and cameras."""
    by_key = {(row["topic"], row["sequence"]): row for row in foxglove}
    for topic in sorted({row["topic"] for row in ros2 + foxglove if row["holds"] != "json"}):
        both = [(row, by_key[topic, row["sequence"]]) for row in of_topic(ros2, topic) if (topic, row["sequence"]) in by_key]
        if not both:
            wrong(f"{topic}: no message of the same pair in both formats")
        for one, two in both:
            if any(one[key] != two[key] for key in ("holds", "frame_id", "expected")):
                wrong(f"{topic} {one['sequence']}: {one['expected']} in ROS 2's words, {two['expected']} in Foxglove's")
                break
    print(f"  in both formats: the same {len({row['topic'] for row in ros2})} topics")


def main():
    folder = Path(sys.argv[1])
    expected = folder / "expected.json"
    expected = json.loads(expected.read_text()) if expected.exists() else {}
    found = {}
    for path in sorted(folder.glob("*.mcap")):
        print(f"{path.name}:\n  mcap:")
        *name, form = path.stem.split("_")
        rows = found["_".join(name), form] = with_mcap(path)
        describe(rows)
        if path.name in expected:
            same("mcap", rows, "expected.json", [{**row, "pixels": None} for row in expected[path.name]])
        check_depth(rows)
        check_export(path, rows)
        if form == "ros2":
            print("  rosbags:")
            others = with_rosbags(path)
            describe(others)
            same("mcap", rows, "rosbags", others)
            check_bag_metadata(path, rows)
        print("  rerun:")
        check_rerun(path, rows, form == "ros2")
    for (name, form), rows in found.items():
        if form == "ros2" and (name, "foxglove") in found:
            print(f"{name or 'fixtures'}:")
            same_in_both(rows, found[name, "foxglove"])
    if not found:
        wrong(f"no recordings in {folder}")


if __name__ == "__main__":
    main()
    sys.exit(f"{len(MISTAKES)} mistakes" if MISTAKES else 0)

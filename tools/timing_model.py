#!/usr/bin/env python3
"""Writes a model of convolutions with random weights, to time a runtime: its disparities mean nothing, its time is that of a matcher with as
many multiplications, which it prints. Needs the package onnx.

    tools/timing_model.py timing.onnx --size 640x480
    stereopsis bench --model timing.onnx --size 640x480 --left-right off
"""

import argparse
import pathlib

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--size", default="640x480", help="of the images, a multiple of 4 [default: 640x480]")
    parser.add_argument("--channels", type=int, default=48, help="[default: 48]")
    parser.add_argument("--layers", type=int, default=40, help="3x3 convolutions at a quarter of the size [default: 40]")
    args = parser.parse_args()
    width, height = map(int, args.size.split("x"))
    rng = np.random.default_rng(1)
    nodes, weights, products = [], [], 0

    def convolve(name, before, from_channels, to_channels, stride, pixels):
        nonlocal products
        kernel = rng.normal(0, (2 / (9 * from_channels)) ** 0.5, (to_channels, from_channels, 3, 3)).astype(np.float32)
        weights.append(numpy_helper.from_array(kernel, f"{name}_weights"))
        nodes.append(helper.make_node("Conv", [before, f"{name}_weights"], [name], kernel_shape=[3, 3], strides=[stride] * 2,
                                      dilations=[1, 1], pads=[1] * 4, group=1))
        products += 9 * from_channels * to_channels * pixels
        return name

    nodes.append(helper.make_node("Concat", ["left", "right"], ["pair"], axis=1))
    now = convolve("half", "pair", 6, args.channels, 2, width * height // 4)
    now = convolve("quarter", now, args.channels, args.channels, 2, width * height // 16)
    for layer in range(args.layers):
        now = convolve(f"layer_{layer}", now, args.channels, args.channels, 1, width * height // 16)
        nodes.append(helper.make_node("Relu", [now], [f"{now}_positive"]))
        now = f"{now}_positive"
    convolve("disparity", now, args.channels, 1, 1, width * height // 16)
    image = [helper.make_tensor_value_info(name, TensorProto.FLOAT, [1, 3, height, width]) for name in ("left", "right")]
    output = helper.make_tensor_value_info("disparity", TensorProto.FLOAT, [1, 1, height // 4, width // 4])
    graph = helper.make_graph(nodes, "timing", image, [output], weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
    onnx.save(model, args.file)
    print(f"{args.file}: {products / 1e9:.1f} thousand million multiplications for a pair of {args.size}")


if __name__ == "__main__":
    main()

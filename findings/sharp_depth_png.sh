#!/usr/bin/env bash
# sharp 0.35.5 (npm; libvips inside), a depth image as 16-bit grey PNG in millimetres, as TUM, ScanNet, RealSense and ROS tools write it:
#
# - sharp(png).extract(...).png(), or resize: an 8-bit PNG of three channels. 1000 mm is 3.
# - sharp(png).raw({depth: 'ushort'}): 16-bit numbers, three channels, and the values are still those of 8 bits: 3.
# - metadata() says 'ushort' and 'grey16', stats() says the right range: the image was read as it is, and reduced on the way out.
# Only toColourspace('grey16') keeps the millimetres.
#
# A good guess: PNG in, PNG out, of the same depth, and depth: 'ushort' gives the 16-bit values. sharp is what web servers cut images with:
# a depth map that went through one has its distances divided by 257 and in 256 steps, and looks right as a picture.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init -y >log
npm install --silent --no-fund --no-audit sharp@0.35.5 >>log

node - <<'SCRIPT'
const sharp = require('sharp');

const first = async (image) => {
  const { data, info } = await image.toBuffer({ resolveWithObject: true });
  const values = info.depth === 'ushort' ? new Uint16Array(data.buffer, data.byteOffset, data.length / 2) : data;
  return `${info.depth}, ${info.channels} channel(s), ${values[0]}`;
};
const shape = (m) => `${m.depth}, ${m.space}, ${m.channels} channel(s)`;

(async () => {
  const depth = new Uint16Array(64 * 48).fill(1000); // a wall at one metre
  const png = await sharp(depth, { raw: { width: 64, height: 48, channels: 1 } }).toColourspace('grey16').png().toBuffer();
  const half = { left: 0, top: 0, width: 32, height: 48 };
  const cut = await sharp(png).extract(half).png().toBuffer();
  const kept = await sharp(png).extract(half).toColourspace('grey16').png().toBuffer();
  const seen = {
    'the PNG': shape(await sharp(png).metadata()),
    'largest value': String((await sharp(png).stats()).channels[0].max),
    'cut to PNG': shape(await sharp(cut).metadata()),
    'value in it': await first(sharp(cut).raw()),
    'raw ushort': await first(sharp(png).raw({ depth: 'ushort' })),
    'cut to PNG as grey16': shape(await sharp(kept).metadata()),
    'value in that': await first(sharp(kept).toColourspace('grey16').raw({ depth: 'ushort' })),
  };
  const expected = {
    'the PNG': 'ushort, grey16, 1 channel(s)',
    'largest value': '1000',
    'cut to PNG': 'uchar, srgb, 3 channel(s)',
    'value in it': 'uchar, 3 channel(s), 3',
    'raw ushort': 'ushort, 3 channel(s), 3',
    'cut to PNG as grey16': 'ushort, grey16, 1 channel(s)',
    'value in that': 'ushort, 1 channel(s), 1000',
  };
  for (const [what, value] of Object.entries(seen)) console.log(`${what}: ${value}`);
  const asSeen = JSON.stringify(seen) === JSON.stringify(expected);
  console.log(asSeen ? 'as described' : 'CHANGED');
  process.exit(asSeen ? 0 : 1);
})();
SCRIPT

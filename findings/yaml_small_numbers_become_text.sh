#!/usr/bin/env bash
# A calibration written by yaml 2.9.1 (npm, YAML 1.2) and read by PyYAML 6.0.4 (PyPI, YAML 1.1): numbers below 0.000001 that have one digit
# come back as text. 1e-7 needs a point for PyYAML (1.0e-7); -3.2e-7, which has one, is a number.
#
# So a file is read well or not by the digits of its smallest coefficients. numpy.array of the list makes text of ALL of it ('<U32'), and what
# fails is an arithmetic far from the file. ruamel.yaml 0.19.1 reads the same file as numbers, and so does whatever follows YAML 1.2.
#
# A good guess: two YAML libraries agree on a JSON number (JSON is a part of YAML 1.2, and 1e-7 is JSON). Tangential distortion and k3 to
# k6 of a good stereo lens are of that size, and rounded to few digits by the tools that print them; a calibration made in a web page then
# fails in the Python script beside the camera, on some cameras only.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/python"
"$folder/python/bin/pip" install -q --disable-pip-version-check PyYAML==6.0.4 ruamel.yaml==0.19.1 numpy==2.4.6
cd "$folder"
npm init -y >log
npm install --silent --no-fund --no-audit yaml@2.9.1 >>log
node -e '
const calibration = { fx: 600, distortion: [-0.1, 0.05, 1e-7, -3.2e-7, 4e-8] };
require("fs").writeFileSync("left.yaml", require("yaml").stringify(calibration));
require("fs").writeFileSync("left.json.yaml", JSON.stringify(calibration));'

"$folder/python/bin/python" - <<'PYTHON'
import sys

import numpy as np
import ruamel.yaml
import yaml

as_seen = True
for name in ("left.yaml", "left.json.yaml"):
    text = open(name).read()
    one = yaml.safe_load(text)["distortion"]
    two = [float(value) for value in ruamel.yaml.YAML(typ="safe").load(text)["distortion"]]
    print(f"{name}: PyYAML {one}, numpy.array of it {np.array(one).dtype}; ruamel.yaml {two}")
    as_seen &= one == [-0.1, 0.05, "1e-7", -3.2e-7, "4e-8"] and two == [-0.1, 0.05, 1e-7, -3.2e-7, 4e-8]
print("as described" if as_seen else "CHANGED")
sys.exit(0 if as_seen else 1)
PYTHON

"""The script that draws charts on pages: Vega, Vega-Lite and their embedding, bundled once and shipped.

    python -m tools.make_chart_library

Bundling takes two seconds and 150 MB, so it is not done for each page. Run it again when the pin of vl-convert-python
in `constraints.txt` changes; a test compares the versions. The licences of what is inside are in `vega.LICENSES.txt`
beside the script: look through them again when a new version brings new parts.
"""

from importlib.metadata import version
from pathlib import Path

import vl_convert

TARGET = Path(__file__).parents[1] / "src/assay/report/html/assets/vega.js"

_NOTICE = """/* Vega {vega} (c) 2013 Trifacta Inc.; Vega-Lite {lite}, vega-embed {embed}, vega-themes, vega-tooltip
(c) 2015 University of Washington Interactive Data Lab: BSD-3-Clause. D3 and TopoJSON (c) Mike Bostock: ISC. Further
parts and all texts: vega.LICENSES.txt in the package assay-eval. Bundled by vl-convert-python {bundler}. */
"""


def main() -> None:
    TARGET.write_text(library(), encoding="utf-8")
    print(f"{TARGET.name}: {TARGET.stat().st_size:,} bytes")


def library() -> str:
    """The bundle in a function of its own: its names stay inside; it hangs what is needed on the window."""
    bundle = vl_convert.javascript_bundle(None)  # type: ignore[arg-type]  # its stub forgets that None is the default
    notice = _NOTICE.format(
        vega=vl_convert.get_vega_version(),
        lite=vl_convert.get_vegalite_versions()[-1],
        embed=vl_convert.get_vega_embed_version(),
        bundler=version("vl-convert-python"),
    )
    inside = bundle.replace("</script", "<\\/script").replace("<!--", "<\\!--")
    return f"{notice}(function(){{{inside}}})();"


if __name__ == "__main__":
    main()

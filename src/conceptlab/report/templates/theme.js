"use strict";
// What the report and the studio show alike: charts in the reader's light or dark theme, and sheets of samples. Their colours are those of the printed figures, chosen for white paper:
// on dark ground ink becomes light, and what is too dark to be seen is lightened until it can be.
window.theme = (() => {
  const dark = matchMedia("screen and (prefers-color-scheme: dark)");
  const token = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const SEEN = 3.5;
  const INKS = { "#1a1c20": "--ink", "#5c626b": "--muted" };

  // Red, green, blue and, if there is one, opacity, of #rrggbb, rgb(…) or rgba(…).
  const parts = (colour) => {
    if (/^#[0-9a-f]{6}$/i.test(colour)) return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
    return /^rgba?\(/.test(colour) ? colour.match(/[\d.]+/g).map(Number) : null;
  };
  const luminance = (rgb) => rgb.slice(0, 3).map((v) => v / 255)
    .map((v) => (v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4))
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);

  const seen = (colour) => {
    if (!dark.matches) return colour;
    const ink = INKS[colour.toLowerCase()];
    const rgb = parts(colour);
    if (ink || !rgb) return ink ? token(ink) : colour;
    const needed = SEEN * (luminance(parts(token("--paper"))) + 0.05) - 0.05;
    const mixed = (share) => rgb.slice(0, 3).map((v) => Math.round(v + share * (255 - v)));
    let share = 0;
    while (share < 1 && luminance(mixed(share)) < needed) share += 0.05;
    return rgb.length === 4 ? `rgba(${[...mixed(share), rgb[3]]})` : `rgb(${mixed(share)})`;
  };

  const strokes = (look) => {
    if (!look) return look;
    const own = Array.isArray(look.color) ? look.color.map(seen) : typeof look.color === "string" ? seen(look.color) : look.color;
    return { ...look, color: own, ...(look.line && { line: strokes(look.line) }) };
  };
  const trace = (given) => ({
    ...given,
    ...(given.line && { line: strokes(given.line) }),
    ...(given.marker && { marker: strokes(given.marker) }),
    ...(given.fillcolor && { fillcolor: seen(given.fillcolor) }),
  });
  const axis = (own) => ({ zeroline: false, ...own, gridcolor: token("--rule"), linecolor: token("--muted"), color: token("--ink") });
  const axes = (names, given) => Object.fromEntries(names.map((name) => [name, axis(given[name])]));

  // A plotly figure, coloured for the page it stands on; what was given stays as it was.
  const chart = ({ data, layout }) => {
    const coloured = layout.scene
      ? { scene: { ...layout.scene, ...axes(["xaxis", "yaxis", "zaxis"], layout.scene) } }
      : axes(["xaxis", "yaxis"], layout);
    return { data: data.map(trace), layout: { ...layout, font: { ...layout.font, color: token("--ink") }, ...coloured } };
  };
  // Rows of a sheet of samples are as high as its pictures are, which must not be shrunk if there is room for them.
  const MOST = 72;
  const unshrunk = (sheet, picture, rows) => {
    sheet.style.removeProperty("--row");
    const beside = Array.from(sheet.children).reduce((sum, part) => sum + (part === picture ? 0 : part.offsetWidth + 16), 0);
    const own = picture.naturalHeight / rows;
    const fits = (own * (sheet.clientWidth - beside)) / picture.naturalWidth;
    const row = Math.min(own, fits, MOST);
    if (row > picture.offsetHeight / rows) sheet.style.setProperty("--row", `${row}px`);
  };
  const onChange = (act) => dark.addEventListener("change", act);
  return { chart, seen, onChange, unshrunk };
})();

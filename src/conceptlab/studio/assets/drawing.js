"use strict";
// Line charts that follow a slider: a few dozen SVG elements each, drawn anew in a millisecond.
window.drawing = (() => {
  const [LEFT, RIGHT, TOP, BOTTOM] = [52, 14, 12, 44];
  const DASHES = { solid: "", dash: "8 5", dot: "2 4" };
  const shape = (tag, parent, attributes, text) => {
    const made = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const name in attributes) made.setAttribute(name, attributes[name]);
    if (text !== undefined) made.textContent = text;
    parent.append(made);
    return made;
  };
  const written = (value) => String(Number(value.toPrecision(3))).replace("-", "−");

  // Round numbers, about `count` of them, in a range.
  const ticks = ([low, high], count) => {
    const raw = (high - low) / Math.max(count, 1);
    const power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].find((times) => times * power >= raw) * power;
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high; k++) found.push(Number((k * step).toPrecision(12)));
    return found;
  };

  const axes = (svg, chart, px, py, width, height) => {
    const [bottom, right] = [height - BOTTOM, width - RIGHT];
    ticks(chart.x.range, width / 100).forEach((at) => {
      shape("line", svg, { class: "grid", x1: px(at), x2: px(at), y1: TOP, y2: bottom });
      shape("text", svg, { x: px(at), y: bottom + 16, "text-anchor": "middle" }, written(at));
    });
    ticks(chart.y.range, height / 45).forEach((at) => {
      shape("line", svg, { class: "grid", x1: LEFT, x2: right, y1: py(at), y2: py(at) });
      shape("text", svg, { x: LEFT - 6, y: py(at) + 4, "text-anchor": "end" }, written(at));
    });
    shape("path", svg, { class: "axis", d: `M${LEFT},${TOP}V${bottom}H${right}` });
    shape("text", svg, { x: (LEFT + right) / 2, y: height - 6, "text-anchor": "middle" }, chart.x.title);
    const middle = (TOP + bottom) / 2;
    const turned = { x: 12, y: middle, "text-anchor": "middle", transform: `rotate(-90 12 ${middle})` };
    shape("text", svg, turned, chart.y.title);
  };

  const star = (x, y, size) => {
    const corner = (k) => {
      const [far, turn] = [k % 2 ? 0.45 * size : size, (Math.PI * k) / 5];
      return `${x + far * Math.sin(turn)},${y - far * Math.cos(turn)}`;
    };
    return `M${Array.from({ length: 10 }, (_, k) => corner(k)).join("L")}Z`;
  };
  const marker = (svg, dot, x, y) => {
    const colour = window.theme.seen(dot.colour);
    const look = { fill: colour };
    let made;
    if (dot.shape === "star") made = shape("path", svg, { ...look, d: star(x, y, dot.size) });
    else if (dot.shape === "diamond") {
      const s = dot.size;
      const d = `M${x},${y - s}L${x + s},${y}L${x},${y + s}L${x - s},${y}Z`;
      made = shape("path", svg, { d, fill: "none", stroke: colour, "stroke-width": 2 });
    } else made = shape("circle", svg, { ...look, cx: x, cy: y, r: dot.size });
    if (dot.says) shape("title", made, {}, dot.says);
    if (!dot.text) return;
    const [dx, dy, anchor] = dot.beside;
    shape("text", svg, { x: x + dx, y: y + dy, "text-anchor": anchor }, dot.text);
  };

  const draw = (box) => {
    const [chart, width, height] = [box.chart, box.clientWidth, box.clientHeight];
    if (!chart || !width) return;
    const scale = ([low, high], from, to) => (value) => from + ((value - low) / (high - low)) * (to - from);
    const px = scale(chart.x.range, LEFT, width - RIGHT);
    const py = scale(chart.y.range, height - BOTTOM, TOP);
    const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
    svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    axes(svg, chart, px, py, width, height);
    chart.lines.forEach((line) => {
      const d = "M" + line.x.map((x, i) => `${px(x).toFixed(1)},${py(line.y[i]).toFixed(1)}`).join("L");
      const look = { stroke: window.theme.seen(line.colour), "stroke-width": line.width, "stroke-dasharray": DASHES[line.dash] };
      shape("path", svg, { class: "curve", d, ...look });
    });
    chart.dots.forEach((dot) => marker(svg, dot, px(dot.x), py(dot.y)));
    box.replaceChildren(svg);
    if (!chart.lines[0] || !chart.lines[0].name) return;
    // What the curves are at the pointer: one point of time for all of them.
    const says = shape("text", svg, { class: "says", x: width - RIGHT, y: TOP + 10, "text-anchor": "end" });
    const guide = shape("line", svg, { class: "guide", y1: TOP, y2: height - BOTTOM });
    const times = chart.lines[0].x;
    svg.onpointerleave = () => { says.textContent = ""; guide.removeAttribute("x1"); guide.style.opacity = 0; };
    svg.onpointermove = (event) => {
      const at = event.clientX - svg.getBoundingClientRect().left;
      const i = times.reduce((best, x, k) => (Math.abs(px(x) - at) < Math.abs(px(times[best]) - at) ? k : best), 0);
      const values = chart.lines.map((line) => `${line.name} ${written(line.y[i])}`);
      says.textContent = `time ${written(times[i])}: ${values.join(", ")}`;
      guide.setAttribute("x1", px(times[i]));
      guide.setAttribute("x2", px(times[i]));
      guide.style.opacity = 1;
    };
  };

  const follow = new ResizeObserver((seen) => seen.forEach((entry) => draw(entry.target)));
  window.theme.onChange(() => document.querySelectorAll(".drawing").forEach(draw));
  // Charts by the id of the element they are drawn in.
  const all = (charts) => {
    for (const id in charts || {}) {
      const box = document.getElementById(id);
      if (!box) continue;
      box.chart = charts[id];
      draw(box);
      follow.observe(box);
    }
    return window.dash_clientside.no_update;
  };
  return { all };
})();

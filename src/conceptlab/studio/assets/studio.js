"use strict";
// What happens in the browser alone: scrubbing, playing, copying, and turning positions of sliders into numbers.
window.studio = (() => {
  const skip = () => window.dash_clientside.no_update;
  const element = (tag, className, text) => {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  };

  // Samples at one step: a chip and its words, the picture, the accuracy. Texts come from users: textContent only.
  const sheet = (place, data) => {
    const box = document.getElementById("run-sheet");
    if (!box) return [skip(), skip(), skip()];
    if (!data || !data.frames || !data.frames.length) {
      box.replaceChildren(element("p", "hint", (data && data.problem) || "Nothing has been drawn yet."));
      return [skip(), "", ""];
    }
    const frame = data.frames[Math.min(Number(place), data.frames.length - 1)];
    const labels = element("ol", "rows");
    data.rows.forEach((row) => {
      const item = element("li");
      const chip = element("span", "chip", row.code);
      chip.style.background = row.colour;
      chip.style.color = row.ink;
      item.append(chip, element("small", "", row.words));
      labels.append(item);
    });
    const values = element("ol", "rows right");
    const measured = frame.accuracy.some((value) => value !== null);
    if (measured) frame.accuracy.forEach((value) => values.append(element("li", "", value === null ? "–" : value.toFixed(2))));
    const picture = element("img", "pixels");
    picture.src = frame.src;
    picture.alt = `What was drawn for every class at step ${frame.step}`;
    picture.style.setProperty("--rows", data.rows.length);
    picture.addEventListener("load", () => window.theme.unshrunk(box, picture, data.rows.length));
    box.replaceChildren(labels, picture, values);
    return [skip(), String(frame.step), data.note || ""];
  };

  const setValue = (input, value) => {
    // React listens to the setter of the prototype, not to the property of the element.
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(input, String(value));
    input.dispatchEvent(new Event("input", { bubbles: true }));
  };
  let timer = 0;
  const play = (clicks, sliderId, buttonId) => {
    if (clicks) toggle(sliderId, buttonId);
    return skip();
  };
  const toggle = (sliderId, buttonId) => {
    const [input, button] = [sliderId, buttonId].map((id) => document.getElementById(id));
    const stop = () => { clearInterval(timer); timer = 0; button.textContent = "Play"; };
    if (timer) return stop();
    if (Number(input.value) >= Number(input.max)) setValue(input, 0);
    button.textContent = "Pause";
    timer = setInterval(() => {
      if (!document.contains(input) || Number(input.value) >= Number(input.max)) return stop();
      setValue(input, Number(input.value) + 1);
    }, 350);
  };

  // Prompting: a class has a place on every axis; a place on an axis is a set of numbers.
  const axesOfClass = (code, ids, data) => ids.map((id) => {
    const axis = data.axes[id.name];
    return axis.anchors.length === 2 ? data.classes[code][id.name] : 1;
  });
  const entriesOfAxes = (values, axes, ids, code, data) => {
    const numbers = {};
    axes.forEach((id, i) => {
      const { anchors, places } = data.axes[id.name];
      const own = data.classes[code][id.name];
      const t = Number(values[i]);
      places.forEach((place, k) => {
        const others = anchors.filter((_, j) => j !== own).map((anchor) => anchor[k]);
        const mean = others.reduce((sum, x) => sum + x, 0) / Math.max(others.length, 1);
        const [from, to] = anchors.length === 2 ? [anchors[0][k], anchors[1][k]] : [mean, anchors[own][k]];
        numbers[place] = Math.round(1e4 * (from + t * (to - from))) / 1e4;
      });
    });
    return ids.map((id) => numbers[id.name]);
  };

  document.addEventListener("click", async (event) => {
    const button = event.target.closest("button.copy");
    if (!button) return;
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.dataset.copied = code.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  });

  // A picture in full size, in a window of its own that a click or Escape closes.
  const dialog = element("dialog");
  dialog.append(element("img"));
  dialog.addEventListener("click", () => dialog.close());
  document.addEventListener("click", (event) => {
    const picture = event.target.closest(".enlarge")?.querySelector("img");
    if (!picture) return;
    Object.assign(dialog.firstChild, { src: picture.src, alt: picture.alt });
    document.body.append(dialog);
    dialog.showModal();
  });

  // Arrow keys turn a space as dragging does.
  document.addEventListener("keydown", (event) => {
    const box = event.target.closest ? event.target.closest(".graph") : null;
    const plot = box && event.target === box && box.querySelector(".js-plotly-plot");
    const eye = plot && plot._fullLayout && plot._fullLayout.scene && plot._fullLayout.scene.camera.eye;
    const moves = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] };
    const move = moves[event.key];
    if (!eye || !move) return;
    event.preventDefault();
    const [cos, sin] = [Math.cos(move[0]), Math.sin(move[0])];
    window.Plotly.relayout(plot, { "scene.camera.eye": { x: eye.x * cos - eye.y * sin, y: eye.x * sin + eye.y * cos, z: eye.z + move[1] } });
  });

  // A studio that was ended does not answer, and the page would go on showing what was asked for before. What a browser
  // breaks off itself, as when another page is opened, is no sign of that.
  const silent = Object.assign(element("p", "problem silent"), { role: "alert", hidden: true });
  silent.append(
    element("span", "mark", "!"),
    "The studio does not answer. If it was ended, start it again; then reload this page.",
  );
  const ask = window.fetch;
  window.fetch = async (...given) => {
    try {
      const answer = await ask(...given);
      silent.hidden = true;
      return answer;
    } catch (error) {
      if (error.name !== "AbortError") {
        silent.hidden = false;
        document.body.append(silent);
      }
      throw error;
    }
  };

  // A chart in the colours of the page. Plotly draws labels that a space did not have before at half their size
  // (plotly.js#5754): one with new labels is made anew, and looked at from where the reader was.
  const labels = (chart) => chart.data.filter((trace) => trace.type === "scatter3d").flatMap((trace) => trace.text ?? []);
  const paint = (id, chart) => {
    if (!chart) return skip();
    const painted = window.theme.chart(chart);
    const plot = document.querySelector(`#${id} .js-plotly-plot`);
    const camera = plot?._fullLayout?.scene?.camera;
    if (!camera) return painted;
    const [had, { uirevision, scene }] = [new Set(labels(plot)), painted.layout];
    const kept = scene && uirevision !== undefined && plot.layout.uirevision === uirevision;
    if (labels(chart).some((label) => !had.has(label))) window.Plotly.purge(plot);
    return kept ? { ...painted, layout: { ...painted.layout, scene: { ...scene, camera } } } : painted;
  };

  // Charts are coloured anew when the page becomes light or dark.
  window.theme.onChange(() => window.dash_clientside.set_props("scheme", { data: Date.now() }));

  return { sheet, play, paint, axesOfClass, entriesOfAxes };
})();

"use strict";
(() => {
  const all = (selector, root = document) => Array.from(root.querySelectorAll(selector));
  const json = (element) => JSON.parse(element.textContent);

  // Charts and plotly.js come packed, or they would be half of the page; everything else is there before them.
  const unpacked = (element) => {
    const bytes = Uint8Array.from(atob(element.textContent), (character) => character.charCodeAt(0));
    return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
  };
  // Charts that are shown in several places are carried once; each place turns its own.
  const charts = new Map();
  const specs = async (element) => {
    const found = JSON.parse(await unpacked(element));
    element.remove();
    all(".chart").forEach((place) => charts.set(place, structuredClone(found[place.dataset.chart])));
  };
  const library = async (element) => {
    const script = document.createElement("script");
    script.textContent = await unpacked(element);
    element.replaceWith(script);
  };

  // Charts are drawn when they come into view and again when the theme changes.
  // Names of lines lie along the lower edge, in as many rows as they need; the plot and the name of its axis end above.
  const below = (axis) => (axis?.title ? { ...axis, automargin: true, title: { ...axis.title, standoff: 6 } } : axis);
  const themed = (spec) => {
    const { data: traces, layout } = window.theme.chart(spec);
    const place = layout.scene ? { y: 0 } : { yref: "container", y: 0, yanchor: "bottom" };
    const looks = {
      autosize: true, paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", hovermode: "closest",
      font: { ...layout.font, size: 12, family: getComputedStyle(document.body).fontFamily },
      legend: { orientation: "h", x: 0, tracegroupgap: 0, ...place },
      ...(layout.xaxis && { xaxis: below(layout.xaxis) }),
    };
    return [traces, { ...layout, ...looks }];
  };
  const draw = (element) => {
    Plotly.react(element, ...themed(structuredClone(charts.get(element))), { displayModeBar: false, responsive: true, scrollZoom: false });
    element.dataset.drawn = "yes";
  };
  // Arrow keys turn a space as dragging does.
  const turn = (element, event) => {
    const eye = element._fullLayout?.scene?.camera?.eye;
    const [across, up] = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, 0.15], ArrowDown: [0, -0.15] }[event.key] ?? [0, 0];
    if (!eye || (!across && !up)) return;
    event.preventDefault();
    const [cos, sin] = [Math.cos(across), Math.sin(across)];
    Plotly.relayout(element, { "scene.camera.eye": { x: eye.x * cos - eye.y * sin, y: eye.x * sin + eye.y * cos, z: eye.z + up } });
  };
  const watch = () => {
    const seen = new IntersectionObserver((entries) => entries.forEach((entry) => {
      const [element, scene] = [entry.target, charts.get(entry.target).layout.scene];
      if (entry.isIntersecting && !element.dataset.drawn) draw(element);
      // Browsers keep only a few 3-D contexts alive: give one back when its chart is far away, and keep the view.
      if (!entry.isIntersecting && element.dataset.drawn && scene) {
        scene.camera = element._fullLayout.scene.camera;
        Plotly.purge(element);
        delete element.dataset.drawn;
      }
    }), { rootMargin: "400px" });
    charts.forEach((_, element) => { element.addEventListener("keydown", (event) => turn(element, event)); seen.observe(element); });
    // Paper shows what nobody scrolled to as well.
    addEventListener("beforeprint", () => charts.forEach((_, element) => element.offsetParent && !element.dataset.drawn && draw(element)));
    window.theme.onChange(() => charts.forEach((_, element) => element.dataset.drawn && draw(element)));
  };
  const plotly = document.getElementById("plotly");
  if (plotly) Promise.all([library(plotly), specs(document.getElementById("charts"))]).then(watch);

  // Contents take a whole screen of a narrow window: they are folded there, and never anywhere else.
  const [contents, narrow] = [document.querySelector("nav details"), matchMedia("(max-width: 600px)")];
  const fold = () => { contents.open = !narrow.matches; };
  narrow.addEventListener("change", fold);
  fold();

  // A browser that comes back to the page restores what was chosen, after this script has run and without an event.
  const restored = (act) => addEventListener("pageshow", act);

  // One setting of a sweep at a time.
  all("select[data-chooses]").forEach((select) => {
    const choose = () =>
      all("." + select.dataset.chooses).forEach((block, i) => { block.hidden = i !== Number(select.value); });
    select.addEventListener("change", choose);
    restored(choose);
  });

  // The table of claims by verdict.
  all(".filters button").forEach((button) => button.addEventListener("click", () => {
    all(".filters button").forEach((other) => other.setAttribute("aria-pressed", String(other === button)));
    all("tr[data-verdict]").forEach((row) => { row.hidden = button.dataset.show !== "" && row.dataset.verdict !== button.dataset.show; });
  }));

  all(".copy").forEach((button) => button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch {
      // A page opened from a file may not use the clipboard everywhere: select the text instead.
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = "Copy"; }, 1500);
  }));

  // A picture in full size.
  const dialog = document.createElement("dialog");
  dialog.append(document.createElement("img"));
  dialog.addEventListener("click", () => dialog.close());
  document.body.append(dialog);
  all("a.enlarge").forEach((link) => link.addEventListener("click", (event) => {
    event.preventDefault();
    const [shown, picture] = [dialog.firstChild, link.querySelector("img")];
    shown.src = picture.src;
    shown.alt = picture.alt;
    dialog.showModal();
  }));
  // Pictures that appear twice are embedded once.
  all("img[data-same]").forEach((image) => { image.src = document.querySelector(`#${image.dataset.same} .enlarge img`).src; });

  // Samples through training. Members that several figures rest on have theirs in the page once.
  const pictures = document.getElementById("frames");
  const frames = pictures ? json(pictures) : [];
  all("[data-timeline]").forEach((box) => {
    const lines = json(box.querySelector('script[type="application/json"]'));
    const part = (name) => box.querySelector(`[data-${name}]`);
    const [member, slider, play] = [part("member"), part("step"), part("play")];
    const [sheet, picture] = [box.querySelector(".sheet"), part("frame")];
    picture.addEventListener("load", () => window.theme.unshrunk(sheet, picture, lines[Number(member.value)].rows.length));
    const show = () => {
      const line = lines[Number(member.value)];
      slider.max = line.frames.length - 1;
      slider.disabled = play.disabled = line.frames.length < 2;
      const frame = line.frames[Number(slider.value)];
      part("frame").src = frames[frame.src];
      part("now").textContent = frame.step;
      slider.setAttribute("aria-valuetext", `step ${frame.step}`);
      part("note").textContent = line.note;
      all("li", part("accuracy")).forEach((item, i) => {
        const value = frame.accuracy[i];
        item.textContent = value === null || value === undefined ? "–" : value.toFixed(2);
      });
    };
    const relabel = () => {
      const line = lines[Number(member.value)];
      part("frame").style.setProperty("--rows", line.rows.length);
      part("rows").replaceChildren(...line.rows.map((row) => {
        const [item, chip, words] = ["li", "span", "small"].map((tag) => document.createElement(tag));
        chip.className = "chip";
        chip.style.background = row.colour;
        chip.style.color = row.ink;
        chip.textContent = row.code;
        words.textContent = row.words;
        item.append(chip, words);
        return item;
      }));
      part("accuracy").replaceChildren(...line.rows.map(() => document.createElement("li")));
    };
    let timer = 0;
    const stop = () => { clearInterval(timer); timer = 0; play.textContent = "Play"; play.setAttribute("aria-pressed", "false"); };
    play.addEventListener("click", () => {
      if (timer) return stop();
      if (slider.value === slider.max) slider.value = 0;
      play.textContent = "Pause";
      play.setAttribute("aria-pressed", "true");
      show();
      timer = setInterval(() => {
        if (slider.value === slider.max) return stop();
        slider.value = Number(slider.value) + 1;
        show();
      }, 350);
    });
    slider.addEventListener("input", () => { stop(); show(); });
    const change = () => { relabel(); show(); };
    member.addEventListener("change", change);
    restored(change);
    show();
  });
})();

// Numbers as text, elements and line charts, for page.js. All text enters the page as text: what
// comes from keys is never markup.
'use strict';
const draw = (() => {
  const NONE = '–';

  const add = (parent, tag, text, name) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (name) element.className = name;
    parent.appendChild(element);
    return element;
  };
  const known = (value) => typeof value === 'number' && Number.isFinite(value);

  // Three digits or so: 0.123, 1.23, 12.3, 123.
  const digits = (value) => {
    const size = Math.abs(value);
    const places = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
    return value.toLocaleString('en-US', {maximumFractionDigits: places});
  };
  const scaled = (value, step, units) => {
    if (!known(value)) return NONE;
    let unit = 0;
    while (Math.abs(value) >= step && unit < units.length - 1) { value /= step; ++unit; }
    return digits(value) + units[unit];
  };
  const count = (value) => known(value) && Math.abs(value) < 1e5
      ? value.toLocaleString('en-US', {maximumFractionDigits: Math.abs(value) < 10 ? 1 : 0})
      : scaled(value, 1000, ['', ' k', ' M', ' G', ' T']);
  const size = (value) => scaled(value, 1024, [' B', ' KiB', ' MiB', ' GiB', ' TiB', ' PiB']);
  // Of what drives are rated in.
  const written = (value) => scaled(value, 1000, [' B', ' kB', ' MB', ' GB', ' TB', ' PB']);
  const latency = (ns) => ns === Infinity ? 'over 1 s' : scaled(ns, 1000, [' ns', ' µs', ' ms', ' s']);
  const percent = (share) => known(share)
      ? (100 * share).toFixed(share === 0 || share === 1 ? 0 : share > 0.999 || share < 0.001 ? 3 : 1) + '%'
      : NONE;
  const UNITS = [[31557600, 'year'], [86400, 'day'], [3600, 'hour'], [60, 'minute'], [1, 'second']];
  const duration = (seconds) => {
    if (!known(seconds)) return NONE;
    const [length, name] = UNITS.find(([length]) => seconds >= length) || UNITS[UNITS.length - 1];
    const number = seconds / length;
    const text = number.toLocaleString('en-US', {maximumFractionDigits: number < 10 && length !== 1 ? 1 : 0});
    return text + ' ' + name + (text === '1' ? '' : 's');
  };

  const SVG = 'http://www.w3.org/2000/svg';
  const shape = (parent, tag, attributes, text) => {
    const element = document.createElementNS(SVG, tag);
    for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
    if (text !== undefined) element.textContent = text;
    parent.appendChild(element);
    return element;
  };

  // The least 1, 2 or 5 of a power of ten that is not below.
  const round_up = (value) => {
    const power = 10 ** Math.floor(Math.log10(value));
    return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= value * 0.9999);
  };

  // Lines without what is not known: [[[x, y], ...], ...].
  const runs = (points) => points.reduce((all, [at, value]) => {
    if (!known(value)) all.push([]);
    else all[all.length - 1].push([at, value]);
    return all;
  }, [[]]).filter((run) => run.length > 0);

  // A chart in `parent`; show(series, now_ms) draws it anew. series: [{name, points: [[at_ms,
  // value]]}], one or two of them, of the same times. format: a value as text. most: of the axis,
  // where it is fixed. The legend has the last values, or those under the pointer.
  const chart = (parent, title, format, most) => {
    const box = add(parent, 'div', undefined, 'chart');
    const svg = shape(box, 'svg', {role: 'img', 'aria-label': title + ' over time'});
    const legend = add(box, 'div', undefined, 'legend');
    let series = [], now = 0, pointed = null;

    const tell = (index) => {
      legend.replaceChildren();
      series.forEach((each, i) => {
        const point = index === null ? undefined : each.points[index];
        const label = add(legend, 'span');
        add(label, 'i', undefined, i === 0 ? 'first' : 'second');
        label.append(each.name + (point ? ' ' + (known(point[1]) ? format(point[1]) : NONE) : ''));
      });
      if (index !== null && series[0]) add(legend, 'span', duration((now - series[0].points[index][0]) / 1000) + ' ago');
    };

    const paint = () => {
      svg.replaceChildren();
      const width = svg.clientWidth || 300, height = svg.clientHeight || 118;
      const left = 54, right = 6, top = 8, bottom = 18;
      svg.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
      const times = series.length ? series[0].points.map(([at]) => at) : [];
      const values = series.flatMap((each) => each.points.map(([, value]) => value)).filter(known);
      if (values.length < 2) {
        shape(svg, 'text', {x: width / 2, y: height / 2, 'text-anchor': 'middle'}, 'nothing to draw yet');
        return tell(null);
      }
      const first = times[0], span = Math.max(now - first, 60000);
      const peak = most || round_up(Math.max(...values) || 1);
      const x = (at) => left + (width - left - right) * (1 - (now - at) / span);
      const y = (value) => top + (height - top - bottom) * (1 - Math.min(value / peak, 1));
      for (const share of [0, 0.5, 1]) {
        shape(svg, 'line', {x1: left, x2: width - right, y1: y(peak * share), y2: y(peak * share), 'class': 'grid-line'});
        if (share > 0) shape(svg, 'text', {x: left - 6, y: y(peak * share) + 4, 'text-anchor': 'end'}, format(peak * share));
      }
      shape(svg, 'text', {x: left, y: height - 4}, duration(span / 1000) + ' ago');
      shape(svg, 'text', {x: width - right, y: height - 4, 'text-anchor': 'end'}, 'now');
      series.forEach((each, i) => {
        const name = i === 0 ? 'first' : 'second';
        for (const run of runs(each.points)) {
          if (run.length === 1) shape(svg, 'circle', {cx: x(run[0][0]), cy: y(run[0][1]), r: 2, 'class': name});
          else shape(svg, 'polyline', {points: run.map(([at, value]) => x(at).toFixed(1) + ',' + y(value).toFixed(1)).join(' '), 'class': name});
        }
      });
      const at = pointed === null ? null : now - span * (1 - (pointed - left) / (width - left - right));
      const nearest = at === null ? null : times.reduce((best, time, i) => Math.abs(time - at) < Math.abs(times[best] - at) ? i : best, 0);
      if (nearest !== null) shape(svg, 'line', {x1: x(times[nearest]), x2: x(times[nearest]), y1: top, y2: height - bottom, 'class': 'cursor'});
      tell(nearest);
    };

    svg.addEventListener('pointermove', (event) => { pointed = event.offsetX; paint(); });
    svg.addEventListener('pointerleave', () => { pointed = null; paint(); });
    window.addEventListener('resize', paint);
    return {show: (lines, now_ms) => { series = lines; now = now_ms; paint(); }};
  };

  return {add, chart, count, duration, known, latency, percent, size, written, NONE};
})();

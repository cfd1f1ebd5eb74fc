// Numbers as text, elements and charts, for report.js. Colours come from report.css, so that a
// dark page has light ink: draw everything again when they change.
'use strict';
const page = (() => {
  // Okabe and Ito's colours, which colour-blind readers can tell apart, too.
  const COLOURS = ['#7f8c99', '#0072b2', '#e69f00', '#009e73', '#cc79a7', '#d55e00', '#56b4e9'];

  // A colour that report.css names.
  const ink = (name) => getComputedStyle(document.documentElement).getPropertyValue('--' + name).trim();

  const prepare_charts = () => {
    Object.values(Chart.instances).forEach((chart) => chart.destroy());
    Chart.defaults.animation = false;
    Chart.defaults.maintainAspectRatio = false;
    Chart.defaults.font.size = 11;
    Chart.defaults.color = ink('soft');
    Chart.defaults.borderColor = ink('line');
  };

  const add = (parent, tag, text, className) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    parent.appendChild(element);
    return element;
  };

  const digits = (value, places) =>
      value.toLocaleString('en-US', {minimumFractionDigits: places, maximumFractionDigits: places});
  const figure = (value) => {
    if (value === null || value === undefined) return '–';
    const size = Math.abs(value);
    return digits(value, size >= 100 || value === 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3);
  };
  const short = (value) => {
    const size = Math.abs(value);
    if (size >= 1e6) return figure(value / 1e6) + 'M';
    if (size >= 1e4) return figure(value / 1e3) + 'k';
    return figure(value);
  };
  const tick = (value) => value >= 1e6 ? value / 1e6 + 'M' : value >= 1e4 ? value / 1e3 + 'k' : value.toLocaleString('en-US');
  const bytes = (value) => {
    const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
    let unit = 0;
    while (value >= 1024 && unit < units.length - 1) { value /= 1024; ++unit; }
    return (unit === 0 ? digits(value, 0) : figure(value)) + ' ' + units[unit];
  };

  const card = (parent, title, hint) => {
    const box = add(parent, 'div', undefined, 'card');
    if (title) add(box, 'h4', title);
    if (hint) add(box, 'p', hint, 'hint');
    return add(add(add(box, 'div', undefined, 'scroll'), 'div', undefined, 'plot'), 'canvas');
  };

  // Many bars scroll sideways on a narrow page: at this width each can still be told from the next.
  const least_width = (groups, bars) => 60 + groups * (12 + 9 * bars) + 'px';

  // Writes a bar's value above it (below it if negative) where the bar is wide enough.
  const values_above_bars = {
    id: 'values',
    afterDatasetsDraw(chart) {
      const context = chart.ctx;
      context.save();
      context.font = '10px sans-serif';
      context.fillStyle = ink('text');
      context.textAlign = 'center';
      context.strokeStyle = ink('ground');  // no line of the grid through the figures
      context.lineWidth = 3;
      chart.data.datasets.forEach((set, at) => {
        chart.getDatasetMeta(at).data.forEach((bar, i) => {
          if (set.data[i] === null) return;
          const text = short(set.data[i]);
          if (context.measureText(text).width > bar.width + 1) return;
          const y = set.data[i] < 0 ? bar.y + 11 : bar.y - 4;
          context.strokeText(text, bar.x, y);
          context.fillText(text, bar.x, y);
        });
      });
      context.restore();
    },
  };

  const legend = {position: 'bottom', labels: {boxWidth: 12, padding: 10}};
  const value_axis = (unit, percent) => ({
    beginAtZero: true,
    grace: percent ? 0 : '10%',
    max: percent ? 100 : undefined,
    title: {display: true, text: unit},
    ticks: {callback: tick, maxTicksLimit: 6},
    grid: {color: ink('grid')},
  });

  const bar_chart = (canvas, labels, datasets, unit, percent) => {
    canvas.parentNode.style.minWidth = least_width(labels.length, datasets.length);
    return new Chart(canvas, {
      type: 'bar',
      data: {labels, datasets},
      options: {
        plugins: {legend},
        scales: {x: {grid: {display: false}}, y: value_axis(unit, percent)},
      },
      plugins: [values_above_bars],
    });
  };

  // Multiples of a round step within the axis. Chart.js would also mark the ends of the data, and
  // write the last label over the one before it.
  const round_ticks = (axis) => {
    const span = axis.max - axis.min;
    if (!(span > 0)) return;
    const least = span / 6;
    const power = Math.pow(10, Math.floor(Math.log10(least)));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= least * 0.999);
    const last = Math.floor(axis.max / step + 1e-6);
    axis.ticks = [];
    for (let i = Math.ceil(axis.min / step - 1e-6); i <= last; ++i) axis.ticks.push({value: i * step});
  };
  const round_label = (value) => (value || 0).toLocaleString('en-US', {maximumFractionDigits: 3});
  const plain_axis = (title, min) => ({
    type: 'linear', bounds: 'data', min, afterBuildTicks: round_ticks, ticks: {callback: round_label, maxRotation: 0},
    title: {display: true, text: title}, grid: {display: false},
  });

  // `shade`: {until, label}; that part of the x axis gets a grey ground.
  const line_chart = (canvas, datasets, unit, x_title, percent, shade) => new Chart(canvas, {
    type: 'line',
    data: {datasets},
    options: {
      plugins: {legend},
      elements: {point: {radius: 0, hitRadius: 6}, line: {borderWidth: 2, tension: 0}},
      scales: {
        x: plain_axis(x_title, shade ? undefined : 0),
        y: value_axis(unit, percent),
      },
    },
    plugins: [{
      id: 'shade',
      beforeDatasetsDraw(chart) {
        if (!shade) return;
        const area = chart.chartArea;
        const end = Math.min(chart.scales.x.getPixelForValue(shade.until), area.right);
        chart.ctx.save();
        chart.ctx.fillStyle = 'rgba(127, 140, 153, 0.13)';
        chart.ctx.fillRect(area.left, area.top, end - area.left, area.bottom - area.top);
        chart.ctx.fillStyle = ink('soft');
        chart.ctx.font = '10px sans-serif';
        chart.ctx.fillText(shade.label, area.left + 4, area.top + 11);
        chart.ctx.restore();
      },
    }],
  });

  const facts_table = (parent, rows) => {
    const table = add(parent, 'table', undefined, 'facts');
    for (const [name, value] of rows) {
      if (value === undefined || value === null || value === '') continue;
      const row = add(table, 'tr');
      add(row, 'th', name, 'text');
      add(row, 'td', value, 'text wrap');
    }
  };

  const value_table = (parent, head, rows) => {
    const table = add(add(parent, 'div', undefined, 'scroll'), 'table', undefined, 'wide');
    const top = add(table, 'tr');
    const is_text = (i) => i < head.text || head[i].startsWith('refused by');
    head.forEach((name, i) => add(top, 'th', name, is_text(i) ? 'text' : ''));
    for (const cells of rows) {
      const row = add(table, 'tr', undefined, cells.first ? 'first' : '');
      cells.forEach((cell, i) => add(row, 'td', cell, is_text(i) ? 'text wrap' : ''));
    }
  };

  return {COLOURS, add, bar_chart, bytes, card, digits, facts_table, figure, line_chart, prepare_charts, value_table};
})();

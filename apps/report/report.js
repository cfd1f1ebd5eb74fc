// Draws the documents in #data. Text goes into the page as text only.
'use strict';
(() => {
  const {COLOURS, add, bar_chart, bytes, card, digits, facts_table, figure, line_chart, prepare_charts, value_table} = page;
  const documents = JSON.parse(document.getElementById('data').textContent);
  const root = document.getElementById('report');

  const machine_rows = (machine) => machine ? [
    ['processor', machine.cpu],
    ['cores', String(machine.cores)],
    ['memory', machine.memory_bytes ? bytes(machine.memory_bytes) : ''],
    ['kernel', machine.kernel],
  ] : [];

  // ---- YCSB ----

  const METRICS = [
    {name: 'ops_per_second', title: 'Throughput', unit: 'operations/s', hint: 'more is better'},
    {name: 'block_reads_per_op', title: 'Block reads from disk per operation', unit: 'blocks', hint: 'less is better'},
    {name: 'tier_hit_ratio', title: 'Hit ratio of the second tier', unit: '%', scale: 100, hint: 'of its foreground lookups; more is better'},
    {name: 'tier_written_bytes', title: 'Written to the second tier', unit: 'MiB', scale: 1 / (1 << 20), hint: 'in the measured part; less is better'},
    {name: 'p50_us', title: 'Latency, median', unit: 'µs', hint: 'all operations; less is better'},
    {name: 'p95_us', title: 'Latency, 95th percentile', unit: 'µs', hint: 'all operations; less is better'},
    {name: 'p99_us', title: 'Latency, 99th percentile', unit: 'µs', hint: 'all operations; less is better'},
  ];

  const ENGINES = {rocksdb: 'RocksDB', wiredtiger: 'WiredTiger'};
  // A letter is a core workload of YCSB.
  const ycsb_workload_name = (name) => name.length === 1 ? 'YCSB ' + name.toUpperCase() : name;

  const ycsb_bars = (parent, doc) => {
    const workloads = doc.workloads.map((workload) => workload.name);
    const find = (workload, configuration) => doc.summary.find(
        (entry) => entry.workload === workload && entry.configuration === configuration);
    const grid = add(parent, 'div', undefined, 'grid');
    for (const metric of METRICS) {
      const datasets = doc.configurations.map((configuration, at) => ({
        label: configuration.name,
        backgroundColor: COLOURS[at % COLOURS.length],
        data: workloads.map((workload) => {
          const entry = find(workload, configuration.name);
          const spread = entry && entry.metrics[metric.name];
          return spread ? spread.median * (metric.scale || 1) : null;
        }),
      })).filter((set) => set.data.some((value) => value !== null));
      if (datasets.length === 0) continue;
      bar_chart(card(grid, metric.title, metric.hint), workloads.map(ycsb_workload_name), datasets,
                metric.unit, metric.unit === '%');
    }
  };

  const TIME_AXIS = 'seconds; the measured part begins at 0';
  const ycsb_lines = (parent, doc) => {
    const grid = add(parent, 'div', undefined, 'grid');
    const shade = {until: 0, label: 'warm-up'};
    for (const workload of doc.workloads) {
      const runs = doc.runs.filter((run) => run.workload === workload.name && run.round === 1);
      const lines = (field, scale) => doc.configurations.map((configuration, at) => {
        const run = runs.find((candidate) => candidate.configuration === configuration.name);
        const colour = COLOURS[at % COLOURS.length];
        const points = run ? run.series.at_seconds.map((at_seconds, i) => ({x: at_seconds - run.warmup_seconds, y: run.series[field][i]})) : [];
        return {
          label: configuration.name, borderColor: colour, backgroundColor: colour,
          data: points.filter((point) => point.y !== null).map(({x, y}) => ({x, y: y * scale})),
        };
      }).filter((set) => set.data.length > 1);
      const throughput = lines('ops_per_second', 1);
      const hits = lines('tier_hit_ratio', 100);
      const name = ycsb_workload_name(workload.name);
      if (throughput.length) {
        line_chart(card(grid, name + ': throughput over time'), throughput, 'operations/s', TIME_AXIS, false, shade);
      }
      if (hits.length) {
        line_chart(card(grid, name + ': hit ratio over time'), hits, '%', TIME_AXIS, true, shade);
      }
    }
  };

  const ycsb_results = (parent, doc) => {
    const head = ['workload', 'configuration', 'ops/s', 'slowest – fastest round', 'ratio', 'p50 µs', 'p95 µs',
                  'p99 µs', 'block reads/op', 'ratio', 'hit ratio', 'written', 'CPU µs/op'];
    head.text = 2;
    let last = '';
    value_table(parent, head, doc.summary.map((entry) => {
      const median = (name) => entry.metrics[name] ? entry.metrics[name].median : null;
      const ratio = (name) => entry.ratio_to_first[name] ? digits(entry.ratio_to_first[name].median, 2) : '–';
      const ops = entry.metrics.ops_per_second;
      const hit = median('tier_hit_ratio');
      const written = median('tier_written_bytes');
      const cells = [
        ycsb_workload_name(entry.workload), entry.configuration, figure(ops.median),
        entry.rounds > 1 ? figure(ops.min) + ' – ' + figure(ops.max) : '–', ratio('ops_per_second'),
        figure(median('p50_us')), figure(median('p95_us')), figure(median('p99_us')),
        figure(median('block_reads_per_op')), ratio('block_reads_per_op'),
        hit === null ? '–' : digits(100 * hit, 1) + '%', written === null ? '–' : bytes(written),
        figure(median('cpu_us_per_op')),
      ];
      cells.first = entry.workload !== last;
      last = entry.workload;
      return cells;
    }));
    add(parent, 'p', 'Medians over the rounds. Ratios are to ' + doc.configurations[0].name +
        ' in the same round. All second-tier figures are of the measured part.', 'hint');
  };

  const ycsb_tiers = (parent, doc) => {
    const entries = doc.summary.filter((entry) => entry.metrics.tier_inserts);
    if (entries.length === 0) return;
    add(parent, 'h3', 'What the second tiers did');
    const head = ['workload', 'configuration', 'lookups', 'inserts', 'removals', 'refused', 'OBP', 'OBP at end',
                  'written in warm-up', 'refused by reason (all rounds)'];
    head.text = 2;
    value_table(parent, head, entries.map((entry) => {
      const median = (name) => entry.metrics[name].median;
      const reasons = {};
      for (const run of doc.runs) {
        if (run.workload !== entry.workload || run.configuration !== entry.configuration) continue;
        for (const [reason, count] of Object.entries(run.refused)) reasons[reason] = (reasons[reason] || 0) + count;
      }
      const why = Object.entries(reasons).sort((a, b) => b[1] - a[1]).map(([reason, count]) => reason + ' ' + digits(count, 0)).join(', ');
      return [
        ycsb_workload_name(entry.workload), entry.configuration, digits(median('tier_lookups'), 0),
        digits(median('tier_inserts'), 0), digits(median('tier_removals'), 0), digits(median('tier_refused'), 0),
        digits(median('tier_overhead_ratio'), 3), digits(median('tier_overhead_ratio_at_end'), 3),
        bytes(median('tier_written_bytes_warmup')), why || 'none',
      ];
    }));
    add(parent, 'p', 'OBP, the overhead-bypass ratio: (inserts + removals) / foreground lookups, in the measured ' +
        'part; at end: what the admission policy decides by.', 'hint');
  };

  const show_ycsb = (doc) => {
    const section = add(root, 'section');
    const setup = doc.setup;
    add(section, 'h2', (doc.workloads[0].name.length === 1 ? 'YCSB on ' : 'Profile on ') + (ENGINES[doc.engine.name] || doc.engine.name) + ' ' + doc.engine.version);
    if (doc.command) add(section, 'pre', doc.command);
    facts_table(section, [
      ['workloads', doc.workloads.map((workload) => workload.name.toUpperCase() + ': ' + workload.mix + ', ' +
          workload.distribution).join('; ')],
      ['database', digits(setup.records, 0) + ' records of ' + setup.record_bytes + ' bytes, ' +
          bytes(setup.database_bytes) + (setup.load_seconds ? ', loaded in ' + digits(setup.load_seconds, 1) + ' s' : '')],
      ['runs', setup.threads + ' threads; ' + (setup.warmup_ops ? digits(setup.warmup_ops, 0) + ' operations (' + setup.warmup_seconds +
          ' s at most)' : setup.warmup_seconds + ' s') + ' warm-up' +
          (setup.warmup_threads > setup.threads ? ' by ' + setup.warmup_threads + ' threads' : '') +
          (setup.keep_tier ? ' of a cold tier, ' + setup.rewarm_seconds + ' s where none is cold (tiers are kept from run to run)' : '') +
          (setup.warmup_workload ? ' with workload ' + setup.warmup_workload.toUpperCase() : '') + ', ' +
          setup.seconds + ' s measured; ' + setup.rounds + (setup.rounds === 1 ? ' round' : ' rounds') +
          ', configurations in turn, each from the same database'],
      ['engine', bytes(setup.dram_cache_bytes) + ' DRAM cache, blocks of ' + doc.engine.block_bytes +
          ' bytes, direct I/O, compression ' + doc.engine.compression + ', log ' + doc.engine.write_ahead_log],
      ...doc.configurations.map((configuration) => [configuration.name, configuration.spec +
          (configuration.medium ? ' — on ' + configuration.medium + ', admission ' + configuration.admission +
           ', eviction ' + configuration.eviction : '')]),
      ...machine_rows(doc.machine),
      ['finished', doc.finished],
    ]);
    add(section, 'h3', 'Results');
    ycsb_results(section, doc);
    ycsb_bars(section, doc);
    add(section, 'h3', 'Over time' + (setup.rounds > 1 ? ' (first round)' : ''));
    ycsb_lines(section, doc);
    ycsb_tiers(section, doc);
  };

  // ---- Calibration ----

  const show_calibration = (doc) => {
    const section = add(root, 'section');
    add(section, 'h2', 'Calibration of ' + doc.medium);
    facts_table(section, [
      ['readers', doc.readers + ', random blocks of ' + bytes(doc.block_bytes) + (doc.virtual_time ? ', in virtual time' : '')],
      ['suggested OBP target', digits(doc.suggested_obp_target, 3) + ' (admission=obp(' +
          digits(doc.suggested_obp_target, 3) + '))'],
      ...machine_rows(doc.machine),
      ['made', doc.made],
      ...(doc.notes || []).map((note) => ['note', note]),
    ]);
    const line = (label, field, at) => ({
      label, borderColor: COLOURS[at], backgroundColor: COLOURS[at],
      data: doc.points.map((point) => ({x: point.writers, y: point[field]})),
    });
    add(section, 'h3', 'Reads against concurrent writers');
    const grid = add(section, 'div', undefined, 'grid');
    line_chart(card(grid, 'Throughput'), [line('reads', 'read_gb_s', 1), line('writes', 'write_gb_s', 2)], 'GB/s', 'writers');
    line_chart(card(grid, 'Mean read latency'), [line('a block read', 'read_latency_ns', 1)], 'ns', 'writers');
    const head = ['writers', 'reads GB/s', 'of alone', 'writes GB/s', 'mean read latency ns'];
    head.text = 0;
    const alone = doc.points.length ? doc.points[0].read_gb_s : 0;
    value_table(section, head, doc.points.map((point) => [
      String(point.writers), figure(point.read_gb_s), alone > 0 ? digits(100 * point.read_gb_s / alone, 0) + '%' : '–',
      figure(point.write_gb_s), figure(point.read_latency_ns),
    ]));
  };

  // ---- A paper's figures and tables (apps/report/figure_parts.h) ----

  const PAPERS = {'nvcache.hybrid/1': 'Hybrid Cache', 'nvcache.kv/1': 'NVMcached', 'nvcache.reproduce/1': 'All papers'};

  const cell_text = (cell, places) => {
    if (cell === null) return '–';
    if (typeof cell === 'string') return cell;
    let text = cell.text || '–';
    if (cell.median !== undefined) {
      const shown = (value) => digits(value, Math.abs(value) >= 1000 ? 0 : places);
      text = shown(cell.median);
      if (shown(cell.min) !== shown(cell.max)) text += ' [' + shown(cell.min) + ' – ' + shown(cell.max) + ']';
    }
    return cell.paper ? text + ' | ' + cell.paper : text;
  };

  const paper_chart = (parent, chart) => {
    const labels = chart.rows.map((row) => row.label);
    const datasets = chart.columns.map((name, at) => ({
      label: name,
      backgroundColor: COLOURS[(at + 1) % COLOURS.length],
      data: chart.rows.map((row) => row.cells[at] && row.cells[at].median !== undefined ? row.cells[at].median : null),
    })).filter((set) => set.data.some((value) => value !== null) && !/^(hit|written)/.test(set.label));
    if (datasets.length) bar_chart(card(parent), labels, datasets, chart.unit, false);
  };

  const show_paper = (doc) => {
    const section = add(root, 'section');
    const setup = doc.setup;
    add(section, 'h2', (PAPERS[doc.format] || 'Writes Hurt') + ': figures and tables on ' + setup.engine);
    if (doc.command) add(section, 'pre', doc.command);
    facts_table(section, [
      ['scale', setup.scale_text || 'sizes and rows 1/' + setup.size_factor + ', times 1/' + setup.time_factor + ', threads about 1/' + setup.thread_factor],
      ['medium of nvcache', setup.medium + (setup.emulated ? ' (EMULATED)' : '')],
      ['runs', setup.rounds + (setup.rounds === 1 ? ' round' : ' rounds') + ', configurations in turn, each from the same database; ' +
          (setup.runs_text || 'wtperf: ' + setup.warmup_seconds + ' s warm-up, ' + setup.seconds + ' s measured; YCSB: ' +
          setup.ycsb_warmup_seconds + ' s and ' + setup.ycsb_seconds + ' s')],
      ...doc.configurations.map((configuration) => [configuration.name, configuration.what + ' — ' +
          (configuration.block_cache || configuration.spec) + (configuration.emulated ? ' (EMULATED medium)' : '')]),
      ...setup.notes.map((note) => ['note', note]),
      ...doc.runs.filter((run) => run.error).map((run) => ['FAILED', run.workload + ' ' + run.variant + ' ' + run.configuration +
          ', round ' + run.round + ': ' + run.error]),
      ...machine_rows(doc.machine),
      ['finished', doc.finished],
    ]);
    add(section, 'p', 'A cell has the median over the rounds [the least – the most], then, after a bar, what is published, where text or tables say it.', 'hint');
    for (const chart of doc.figures) {
      add(section, 'h3', chart.id + ': ' + chart.title + (chart.unit ? ' [' + chart.unit + ']' : ''));
      if (chart.chart) paper_chart(section, chart);
      const head = ['', ...chart.columns];
      head.text = 1;
      value_table(section, head, chart.rows.map((row) => [row.label, ...row.cells.map((cell) => cell_text(cell, chart.digits))]));
      for (const note of chart.notes) add(section, 'p', note, 'hint');
    }
  };

  // ---- Replayed traces ----

  const short_spec = (spec) => spec.replace(/^nvcache:\/\/\?/, '').replace(/admission=|eviction=/g, '').replaceAll('&', '+');

  // Two charts: what a larger tier brings, and what a hit costs in bytes.
  const replay_charts = (parent, doc, title, results) => {
    const lines = (x, y) => doc.specs.map((spec, at) => ({
      label: short_spec(spec), borderColor: COLOURS[at % COLOURS.length], backgroundColor: COLOURS[at % COLOURS.length],
      pointRadius: 3, borderDash: at < COLOURS.length ? [] : [5, 3],
      data: results.filter((result) => result.spec === spec).map((result) => ({x: x(result), y: y(result)})),
    }));
    const percent = doc.tiers.every((tier) => tier.endsWith('%'));
    const hits = (result) => 100 * result.hit_ratio;
    const grid = add(parent, 'div', undefined, 'grid');
    line_chart(card(grid, title + ': hit ratio'), lines((result) => parseFloat(result.tier), hits), '% of the lookups',
               percent ? 'size of the tier, % of the distinct blocks' : 'size of the tier, blocks', true);
    line_chart(card(grid, title + ': hits and writes'), lines((result) => result.written_bytes / (1 << 30), hits),
               '% of the lookups', 'GiB written', true);
  };

  const replay_cell = (result) => digits(result.hit_ratio, 3) + ' / ' + digits(result.inserts_per_lookup, 2) + ' / ' + bytes(result.written_bytes);

  const replay_table = (parent, doc, results) => {
    const head = ['tier', ...doc.tiers];
    head.text = 1;
    value_table(parent, head, doc.specs.map((spec) => [short_spec(spec), ...doc.tiers.map((tier) =>
        replay_cell(results.find((result) => result.spec === spec && result.tier === tier)))]));
  };

  const show_replay = (doc) => {
    const section = add(root, 'section');
    add(section, 'h2', 'Policies on traces');
    facts_table(section, [
      ['above each tier', 'an LRU cache of ' + doc.dram + (doc.dram.endsWith('%') ? ' of the distinct blocks' : ' blocks')],
      ...doc.traces.map((trace) => [trace.trace, digits(trace.accesses, 0) + ' accesses' +
          (trace.distinct_blocks ? ', ' + digits(trace.distinct_blocks, 0) + ' blocks' : '') + ', ' +
          digits(trace.lookups, 0) + ' lookups in the tier' + (trace.cut_short ? '; CUT SHORT: ' + trace.cut_short : '') +
          (trace.skipped_lines ? '; LINES LEFT OUT: ' + digits(trace.skipped_lines, 0) : '')]),
    ]);
    add(section, 'p', 'A cell has the hit ratio of the tier, its inserts per lookup, and the bytes written.', 'hint');
    const parts = doc.traces.map((trace) => [trace.trace, trace.results]);
    if (parts.length > 1) parts.unshift(['mean of ' + parts.length + ' traces', doc.means]);
    for (const [title, results] of parts) {
      add(section, 'h3', title);
      replay_charts(section, doc, title, results);
      replay_table(section, doc, results);
    }
  };

  const SHOW = {calibration: show_calibration, ycsb: show_ycsb, paper: show_paper, replay: show_replay};
  const draw = () => {
    prepare_charts();
    root.textContent = '';
    for (const doc of documents) SHOW[doc.kind](doc);
  };
  draw();
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
})();

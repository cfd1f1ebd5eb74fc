// Asks the server for its numbers and shows them. A card is a row of CARDS. Names of numbers are
// those of the server's rows (metrics_table.cc): a name that it does not have is an error.
'use strict';
(() => {
  const EVERY_MS = 2000;
  const RECENT_MS = 60000;     // what `now` means, once the page has been open for so long
  const HISTORY_MS = 3600000;
  const FEW = 100;             // fewer samples tell little of one in a hundred
  const {add, count, duration, known, latency, percent, size, written, NONE} = draw;
  const by_id = (id) => document.getElementById(id);

  let status = null;           // the last answer of a server that serves
  let recent = [];             // numbers of the last minute: {at_ms, NAME: value}
  let history = [];            // the same, of the last hour, every 20 seconds
  let between_ms = 20000;

  // Of a point: the value of a row, which must be there.
  const get = (point, name) => {
    if (!(name in point)) throw new Error('the server has no number ' + name);
    return point[name];
  };
  const now = () => recent[recent.length - 1];
  const gauge = (name) => get(now(), name);
  // The newest point that is at least so old, else the oldest that there is.
  const before = (age_ms) => {
    const points = [...history, ...recent].sort((a, b) => a.at_ms - b.at_ms);
    const old = points.filter((point) => point.at_ms <= now().at_ms - age_ms);
    return old.length ? old[old.length - 1] : points[0];
  };
  const seconds = (from, to) => (to.at_ms - from.at_ms) / 1000;
  const grown = (from, to, names) => names.reduce((sum, name) => sum + get(to, name) - (from ? get(from, name) : 0), 0);
  const rate = (from, to, names) => seconds(from, to) > 0 ? grown(from, to, names) / seconds(from, to) : NaN;
  const recently = () => before(RECENT_MS);
  const span = (from) => 'in the last ' + duration(Math.max(1, Math.round(seconds(from, now()))));

  const GETS = ['get_hits_total', 'get_misses_total'];
  const SETS = ['cmd_set_total'];
  const OTHERS = ['delete_hits_total', 'delete_misses_total', 'touch_hits_total', 'touch_misses_total',
    'incr_hits_total', 'incr_misses_total', 'decr_hits_total', 'decr_misses_total'];
  const WRITTEN = ['store_medium_written_bytes_total'];
  const hit_ratio = (from, to) => grown(from, to, ['get_hits_total']) / grown(from, to, GETS);

  // How many requests of a kind took how long between two points; without the first, since the start.
  const latencies = (from, to, kind) => {
    const old = from ? get(from, 'request_seconds')[kind].counts : [];
    return get(to, 'request_seconds')[kind].counts.map((value, i) => value - (old[i] || 0));
  };
  const total = (counts) => counts.reduce((sum, each) => sum + each, 0);
  // Nanoseconds that a share of them took at most: within a step, evenly spread.
  const quantile = (counts, share) => {
    const bounds = status.latency_bounds_ns;
    let left = share * total(counts);
    if (left === 0) return NaN;
    const step = counts.findIndex((each) => { left -= each; return left <= 0; });
    if (step >= bounds.length) return Infinity;
    const low = step === 0 ? 0 : bounds[step - 1];
    return bounds[step] + (bounds[step] - low) * left / counts[step];
  };
  // Those of the shortest time that has enough of them.
  const enough = (kind) => {
    for (const [from, when] of [[recently(), span(recently())], [before(HISTORY_MS), span(before(HISTORY_MS))]]) {
      const counts = latencies(from, now(), kind);
      if (total(counts) >= FEW) return {counts, when};
    }
    return {counts: latencies(null, now(), kind), when: 'since the start'};
  };

  // [[at_ms, value(earlier, later)], ...] over the last hour.
  const line = (name, value) => ({name, points: [...history, now()].slice(1).map((point, i) => [point.at_ms, value(history[i], point)])});

  const unknown = (text) => ({big: text, unknown: true});

  const REMEMBERED = 'nvcached.drive.';
  const remembered = (name) => {
    try { return parseFloat(localStorage.getItem(REMEMBERED + name)); } catch { return NaN; }
  };
  const wear = () => {
    if (/^dram/.test(gauge('store_medium'))) return {...unknown('does not wear out'), note: 'The store is in DRAM: a drive is not written.'};
    const rated = remembered('rated_tb'), used = remembered('used_tb') || 0;
    const from = before(HISTORY_MS);
    const per_second = rate(from, now(), WRITTEN);
    const pace = (known(per_second) ? written(per_second * 86400) : NONE) + ' a day, at the pace ' + span(from).replace('in', 'of') + '.';
    if (!known(rated) || rated <= 0) return {...unknown('not known'), note: 'Give what the drive is rated for (TBW in its data sheet). nvcached writes ' + pace};
    if (used >= rated) return {big: 'past its rating', note: 'It is rated for ' + written(rated * 1e12) + '.'};
    if (!(per_second > 0)) return {...unknown('not known'), note: 'Nothing was written ' + span(from) + '.'};
    const days = (rated - used) * 1e12 / per_second / 86400;
    return {big: count(days < 10 ? days : Math.floor(days)) + (days >= 1 && days < 2 ? ' day' : ' days'),
      note: (days >= 366 ? 'That is ' + duration(days * 86400) + '. ' : '') + 'nvcached writes ' + pace + ' What the drive adds by itself is not in it.'};
  };

  // title; text(): {big, note, facts, meter}; lines(): of the chart; format, most: of its axis.
  const CARDS = [
    {id: 'hit-ratio', title: 'Hit ratio', format: percent, most: 1,
      text: () => {
        const from = recently(), ratio = hit_ratio(from, now()), all = hit_ratio(null, now());
        if (known(ratio)) return {big: percent(ratio), note: span(from) + '; ' + percent(all) + ' since the start'};
        if (known(all)) return {big: percent(all), note: 'since the start; no lookups ' + span(from)};
        return {...unknown('no lookups yet'), note: ''};
      },
      lines: () => [line('hit ratio', hit_ratio)]},
    {id: 'requests', title: 'Requests per second', format: count,
      text: () => {
        const from = before(10000), of = (names) => rate(from, now(), names);
        if (!known(of(GETS))) return {...unknown('a moment'), note: ''};
        return {big: count(of([...GETS, ...SETS, ...OTHERS])), note: 'gets ' + count(of(GETS)) + ', sets ' + count(of(SETS)) + ', others ' + count(of(OTHERS))};
      },
      lines: () => [line('gets', (from, to) => rate(from, to, GETS)), line('sets', (from, to) => rate(from, to, SETS))]},
    {id: 'latency', title: 'Latency', format: latency,
      text: () => {
        const kinds = ['get', 'set'].map((kind) => ({kind, ...enough(kind)})).filter(({counts}) => total(counts) > 0);
        if (kinds.length === 0) return {...unknown('no samples yet'), note: 'One of about ' + status.sampled_one_of + ' requests is timed.'};
        return {big: latency(quantile(kinds[0].counts, 0.5)),
          note: 'for half of the ' + kinds[0].kind + 's, ' + kinds[0].when + '. Inside nvcached, without the network.',
          facts: kinds.flatMap(({kind, counts}) => [['half of the ' + kind + 's within', latency(quantile(counts, 0.5))],
            ['99% of the ' + kind + 's within', total(counts) >= FEW ? latency(quantile(counts, 0.99)) : 'too few samples']]).slice(1)};
      },
      lines: () => ['get', 'set'].map((kind) => line('99% of ' + kind + 's', (from, to) => {
        const counts = latencies(from, to, kind);
        return total(counts) >= FEW / 5 ? quantile(counts, 0.99) : NaN;
      }))},
    {id: 'written', title: 'Written to the medium', format: (value) => written(value) + '/s',
      text: () => {
        const from = before(10000), pace = rate(from, now(), WRITTEN);
        return {big: known(pace) ? written(pace) + '/s' : 'a moment', unknown: !known(pace), note: written(gauge(WRITTEN[0])) + ' since the start'};
      },
      lines: () => [line('written', (from, to) => rate(from, to, WRITTEN))]},
    {id: 'wear', title: 'Until the drive is worn out', text: wear,
      inputs: [['rated_tb', 'rated for (TBW), TB'], ['used_tb', 'written before, TB']]},
    {id: 'restart', title: 'Last restart',
      text: () => {
        if (gauge('store_recovered') !== 'yes') return {big: 'a new store', note: 'Nothing was there to recover.'};
        return {big: count(gauge('recovered_items')) + ' items back', note: 'recovered in ' + latency(gauge('recovery_seconds') * 1e9),
          facts: [['away before', gauge('away_seconds') > 0 ? duration(gauge('away_seconds')) : 'not known, or less than a second'],
            ['serving for', duration(gauge('uptime_seconds'))], ['found damaged since', count(gauge('store_damaged_items_total'))],
            ['lookups of outdated items', count(gauge('get_outdated_total'))]]};
      }},
    {id: 'items', title: 'Items', format: count,
      text: () => {
        const items = gauge('items');
        return {big: count(items), note: items > 0 ? size(gauge('data_bytes') / items) + ' each, key and value' : 'none yet'};
      },
      lines: () => [line('items', (from, to) => get(to, 'items'))]},
    {id: 'evictions', title: 'Evictions per second', format: count,
      text: () => {
        const pace = rate(before(10000), now(), ['evictions_total']);
        return {big: known(pace) ? count(pace) : 'a moment', unknown: !known(pace), note: count(gauge('evictions_total')) + ' since the start'};
      },
      lines: () => [line('evictions', (from, to) => rate(from, to, ['evictions_total']))]},
    {id: 'room', title: 'Medium in use',
      text: () => ({big: percent(gauge('data_bytes') / gauge('size_bytes')), meter: gauge('data_bytes') / gauge('size_bytes'),
        note: size(gauge('data_bytes')) + ' of keys and values in a store of ' + size(gauge('size_bytes')),
        facts: [['medium', gauge('store_medium')], ['durability', gauge('store_durability')],
          ['places for items', count(gauge('items')) + ' of ' + count(gauge('store_table_places')) + ' taken']]})},
    {id: 'memory', title: 'DRAM',
      text: () => ({big: size(gauge('metadata_bytes') + gauge('buffer_bytes')), note: 'for metadata and buffers',
        facts: [['metadata of the store', size(gauge('metadata_bytes'))],
          ['requests and answers in flight', size(gauge('buffer_bytes')) + ' of ' + size(gauge('limit_buffer_bytes'))],
          ['clients closed for want of it', count(gauge('buffer_kicks_total'))]]})},
    {id: 'connections', title: 'Connections', format: count,
      text: () => ({big: count(gauge('connections')), note: 'of ' + count(gauge('max_connections')) + '; ' + count(gauge('connections_total')) + ' opened since the start, ' + count(gauge('connections_rejected_total')) + ' refused'}),
      lines: () => [line('connections', (from, to) => get(to, 'connections'))]},
  ];

  const keep_input = (card, [name, label]) => {
    const input = add(add(card.inputs_box, 'label', label), 'input');
    Object.assign(input, {type: 'number', min: '0', step: 'any', inputMode: 'decimal', id: name});
    const value = remembered(name);
    if (known(value)) input.value = value;
    input.addEventListener('input', () => {
      try { localStorage.setItem(REMEMBERED + name, input.value); } catch { /* not kept, then */ }
      if (status) show_card(card);
    });
  };
  const make_card = (card) => {
    const box = add(by_id('cards'), 'section', undefined, 'card');
    box.id = card.id;
    add(box, 'h2', card.title);
    card.big = add(box, 'p', NONE, 'big');
    card.meter = add(add(box, 'div', undefined, 'meter'), 'div');
    card.note = add(box, 'p', '', 'soft note');
    card.facts = add(box, 'dl');
    if (card.lines) card.chart = draw.chart(box, card.title, card.format, card.most);
    if (card.inputs) {
      card.inputs_box = add(box, 'div', undefined, 'inputs');
      card.inputs.forEach((each) => keep_input(card, each));
    }
  };
  const show_card = (card) => {
    const text = card.text();
    card.big.textContent = text.big;
    card.big.classList.toggle('unknown', Boolean(text.unknown));
    card.note.textContent = text.note;
    card.meter.parentElement.hidden = !known(text.meter);
    if (known(text.meter)) card.meter.style.width = Math.min(100, 100 * text.meter) + '%';
    card.facts.hidden = !text.facts;
    card.facts.replaceChildren();
    for (const [name, value] of text.facts || []) { add(card.facts, 'dt', name); add(card.facts, 'dd', value); }
    if (card.chart) card.chart.show(card.lines(), now().at_ms);
  };

  const show_prefixes = () => {
    const {samples, without_prefix, top, delimiter} = status.prefixes;
    by_id('prefixes-note').textContent = samples === 0 ? 'No key was sampled yet: about one of ' + status.sampled_one_of + ' is.'
        : 'What comes before the first “' + delimiter + '” of a key, by a sample of one key in ' + status.sampled_one_of +
          ', of the last million requests of each thread. ' + percent(without_prefix / samples) + ' of the keys have none.';
    by_id('prefixes').hidden = top.length === 0;
    const body = by_id('prefixes').tBodies[0];
    body.replaceChildren();
    for (const each of top) {
      const row = add(body, 'tr'), reads = each.hits + each.misses, all = reads + each.sets + each.deletes;
      add(row, 'td', each.prefix, 'text prefix');
      const share = add(add(row, 'td', undefined, 'bar'), 'div', undefined, 'share');
      add(share, 'span', percent(each.samples / samples));
      add(add(share, 'div', undefined, 'meter'), 'div').style.width = 100 * each.samples / samples + '%';
      for (const part of [each.hits / reads, reads / all, each.sets / all, each.deletes / all]) add(row, 'td', percent(part));
    }
  };

  const show_all = () => {
    if (!by_id('all').closest('details').open) return;
    const body = by_id('all').tBodies[0];
    body.replaceChildren();
    for (const row of status.rows) {
      const line_of = add(body, 'tr');
      add(line_of, 'td', row.stat || row.metric, 'text');
      add(line_of, 'td', typeof row.value === 'number' ? row.value.toLocaleString('en-US') : typeof row.value === 'string' ? row.value : 'above');
      add(line_of, 'td', row.help, 'text wrap');
    }
  };

  const set_state = (text, kind) => {
    by_id('state').textContent = text;
    by_id('state').className = 'badge ' + kind;
  };
  const show_notices = (lines) => {
    by_id('notices').replaceChildren();
    for (const text of lines) add(by_id('notices'), 'p', text, 'notice');
  };
  const troubles = () => [
    gauge('store_failed') > 0 && 'The medium failed: changes are refused. See the server’s log.',
    gauge('store_file_lost') > 0 && 'The data file is not at its path any more: the items end with the server, unless it gets its name back.',
    gauge('store_table_evictions_total') > 0 && 'The table of items is full: each new small item evicts another. The next start makes it larger.',
    gauge('connections_rejected_total') > 0 && count(gauge('connections_rejected_total')) + ' connections were refused: -c was reached.',
    gauge('store_no_memory_total') > 0 && count(gauge('store_no_memory_total')) + ' items were refused: no zone was free, or the medium failed.',
  ].filter(Boolean);

  const point_of = (answer) => {
    const point = {at_ms: answer.at_ms};
    for (const row of answer.rows) point[row.metric || row.stat] = row.value;
    return point;
  };
  const take = (answer) => {
    const point = point_of(answer);
    status = answer;
    recent = [...recent.filter((each) => each.at_ms >= point.at_ms - RECENT_MS), point];
    const last = history[history.length - 1];
    if (!last || point.at_ms - last.at_ms >= between_ms) history.push(point);
    history = history.filter((each) => each.at_ms >= point.at_ms - HISTORY_MS);
  };
  const show_serving = () => {
    const failed = gauge('store_failed') > 0 || gauge('store_file_lost') > 0;
    set_state(failed ? 'in trouble' : 'serving', failed ? 'bad' : 'good');
    by_id('about').textContent = 'version ' + gauge('version') + ', for ' + duration(gauge('uptime_seconds')) + ', on ' + gauge('store_medium');
    show_notices(troubles());
    by_id('starting').hidden = true;
    by_id('serving').hidden = false;
    CARDS.forEach(show_card);
    show_prefixes();
    show_all();
  };
  const show_starting = (answer) => {
    status = null;
    recent = [];
    set_state('starting', '');
    show_notices([]);
    by_id('about').textContent = '';
    by_id('serving').hidden = true;
    by_id('starting').hidden = false;
    by_id('doing').textContent = answer.doing;
    const bar = by_id('progress');
    if (answer.all > 0) { bar.max = answer.all; bar.value = answer.done; } else { bar.removeAttribute('value'); }
    by_id('progress-text').textContent = (answer.all > 0 ? count(answer.done) + ' of ' + count(answer.all) + ' ' + answer.unit + '. ' : '') +
        duration(answer.seconds) + ' so far. Clients are served afterwards.';
  };

  const ask = async (path) => {
    const answer = await fetch(path, {cache: 'no-store', signal: AbortSignal.timeout(10000)});
    if (!answer.ok) throw new Error('the server answers ' + answer.status);
    return answer.json();
  };
  const restarted = (answer) => status !== null &&
      (point_of(answer).uptime_seconds < gauge('uptime_seconds') || point_of(answer).pid !== gauge('pid'));
  let busy = false;
  const refresh = async () => {
    let answer = null;
    busy = true;
    try {
      answer = await ask('status.json');
      if (answer.state === 'starting') return show_starting(answer);
      const slept = status !== null && answer.at_ms - now().at_ms > between_ms;
      if (status === null || slept || restarted(answer)) {
        recent = [];
        ({points: history, between_ms} = await ask('history.json'));
      }
    } catch (error) {  // it is down, or the network is
      set_state('no answer', 'bad');
      show_notices(['nvcached does not answer (' + error.message + '). What is shown is the last that it said; asking on.']);
      return;
    } finally {
      busy = false;
    }
    take(answer);
    show_serving();
  };
  let waiting = null;
  const loop = async () => {
    clearTimeout(waiting);
    waiting = null;
    await refresh();
    if (!document.hidden) waiting = setTimeout(loop, EVERY_MS);
  };

  CARDS.forEach(make_card);
  by_id('all').closest('details').addEventListener('toggle', () => { if (status) show_all(); });
  document.addEventListener('visibilitychange', () => { if (!document.hidden && waiting === null && !busy) loop(); });
  loop();
})();

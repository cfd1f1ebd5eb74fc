// A Flink job with keyed state in RocksDB, which knows nothing of nvcache. A local cluster runs it
// twice: the first run fills the state, updates it in a skewed order and stops with a savepoint; the
// second one is restored from that, updates on, and at its end reads the whole state by timers.
// Prints a `name=value` a line, and "done": digests of all that each run has sent, what the last
// events of each run cost (`measured.` of the second one, `first.`), and the read calls (`reads.`).
//
// usage: FlinkJob
//
// Properties: keys=N (60000), updates=N of the first run (200000), warm=N (0) events of the second
// run that are not measured, and events=N (260000) that are, direct=true (RocksDB reads directly,
// not through the page cache), managed=BYTES of Flink's managed memory (16 MiB).
import java.nio.file.Path;
import java.util.Collection;
import java.util.SplittableRandom;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.LongAdder;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.state.FunctionInitializationContext;
import org.apache.flink.runtime.state.FunctionSnapshotContext;
import org.apache.flink.state.rocksdb.ConfigurableRocksDBOptionsFactory;
import org.apache.flink.state.rocksdb.RocksDBOptionsFactory;
import org.apache.flink.streaming.api.checkpoint.CheckpointedFunction;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.streaming.api.functions.sink.legacy.SinkFunction;
import org.apache.flink.streaming.api.functions.source.legacy.SourceFunction;
import org.apache.flink.util.Collector;
import org.rocksdb.ColumnFamilyOptions;
import org.rocksdb.DBOptions;

public final class FlinkJob {
  static final int KEYS = Integer.getInteger("keys", 60_000);
  static final long FIRST = KEYS + Long.getLong("updates", 200_000); // events of the first run
  static final long WARM = Long.getLong("warm", 0);
  static final long LAST = FIRST + WARM + Long.getLong("events", 260_000);
  static final int VALUE_CHARS = 400;
  static final int LOOKUPS_PER_UPDATE = 16; // most events ask for a total, and do not change it

  // Of the run that is under way; the cluster is in this process.
  static volatile CountDownLatch reached;
  static final LongAdder sent = new LongAdder();
  static final LongAdder digest = new LongAdder();
  static volatile Cost before_events, after_events;

  // The numbers from where it stood on. It waits at `limit`, unless the run ends there.
  public static final class Numbers implements SourceFunction<Long>, CheckpointedFunction {
    private final long limit;
    private final boolean ends;
    private volatile boolean running = true;
    private long next = 0;
    private transient ListState<Long> kept;

    Numbers(long limit, boolean ends) {
      this.limit = limit;
      this.ends = ends;
    }

    @Override
    public void run(SourceContext<Long> context) throws Exception {
      while (running && next < limit) {
        synchronized (context.getCheckpointLock()) {
          context.collect(next++);
        }
      }
      reached.countDown();
      while (running && !ends) Thread.sleep(10);
    }

    @Override
    public void cancel() {
      running = false;
    }

    @Override
    public void initializeState(FunctionInitializationContext context) throws Exception {
      kept = context.getOperatorStateStore().getListState(
          new ListStateDescriptor<>("next", Long.class));
      for (Long each : kept.get()) next = each;
    }

    @Override
    public void snapshotState(FunctionSnapshotContext context) throws Exception {
      kept.clear();
      kept.add(next);
    }
  }

  // The first events are of all keys, one each; of those that follow most are of few keys, which lie
  // spread over all of the state.
  static int keyOf(long event) {
    if (event < KEYS) return (int) event;
    double x = new SplittableRandom(event).nextDouble();
    return (int) ((long) (KEYS * x * x) * 7919 % KEYS);
  }

  static String padded(long total) {
    StringBuilder value = new StringBuilder(Long.toString(total)).append(':');
    SplittableRandom random = new SplittableRandom(total);
    while (value.length() < VALUE_CHARS) value.append(Long.toHexString(random.nextLong()));
    return value.substring(0, VALUE_CHARS);
  }

  // A total of each key, which tells every event that went into it, in their order.
  public static final class Totals extends KeyedProcessFunction<Integer, Long, String> {
    private transient ValueState<String> total;

    @Override
    public void open(OpenContext context) {
      total = getRuntimeContext().getState(new ValueStateDescriptor<>("total", String.class));
    }

    @Override
    public void processElement(Long event, Context context, Collector<String> out)
        throws Exception {
      if (event == KEYS || event == FIRST + WARM) before_events = Cost.now();
      String before = total.value();
      if (before != null && event % LOOKUPS_PER_UPDATE != 0) {
        out.collect(event + ":" + context.getCurrentKey() + "=" + before);
        note(event);
        return;
      }
      long sum = before == null ? 0 : Long.parseLong(before.substring(0, before.indexOf(':')));
      String after = padded((sum * 31 + event + 1) >>> 1);
      total.update(after);
      out.collect(context.getCurrentKey() + "=" + after);
      if (before == null) context.timerService().registerEventTimeTimer(Long.MAX_VALUE - 1);
      note(event);
    }

    private static void note(long event) {
      if (event == FIRST - 1 || event == LAST - 1) after_events = Cost.now();
    }

    // At the end of the second run.
    @Override
    public void onTimer(long timestamp, OnTimerContext context, Collector<String> out)
        throws Exception {
      out.collect("last " + context.getCurrentKey() + "=" + total.value());
    }
  }

  // Adds up what comes, in any order.
  public static final class Digest implements SinkFunction<String> {
    @Override
    public void invoke(String text, Context context) {
      long hash = 1125899906842597L;
      for (int i = 0; i < text.length(); ++i) hash = 31 * hash + text.charAt(i);
      sent.increment();
      digest.add(hash);
    }
  }

  public static final class DirectReads implements ConfigurableRocksDBOptionsFactory {
    @Override
    public DBOptions createDBOptions(DBOptions options, Collection<AutoCloseable> closed) {
      return options.setUseDirectReads(true);
    }

    @Override
    public ColumnFamilyOptions createColumnOptions(
        ColumnFamilyOptions options, Collection<AutoCloseable> closed) {
      return options;
    }

    @Override
    public RocksDBOptionsFactory configure(ReadableConfig configuration) {
      return this;
    }
  }

  static StreamExecutionEnvironment cluster(Path work, String savepoint) {
    Configuration settings = new Configuration();
    settings.setString("state.backend.type", "rocksdb");
    settings.setString("state.backend.rocksdb.localdir", work.resolve("rocksdb").toString());
    if (Boolean.getBoolean("direct")) {
      settings.setString("state.backend.rocksdb.options-factory", DirectReads.class.getName());
    }
    settings.setString("taskmanager.memory.managed.size", Long.getLong("managed", 16 << 20) + "b");
    settings.setString("execution.checkpointing.dir", work.resolve("checkpoints").toUri().toString());
    settings.setString("io.tmp.dirs", work.resolve("flink").toString());
    settings.setString("rest.bind-port", "0");
    if (savepoint != null) settings.setString("execution.state-recovery.path", savepoint);
    return StreamExecutionEnvironment.createLocalEnvironment(1, settings);
  }

  static JobClient start(StreamExecutionEnvironment environment, long limit, boolean ends)
      throws Exception {
    reached = new CountDownLatch(1);
    sent.reset();
    digest.reset();
    environment.addSource(new Numbers(limit, ends)).uid("numbers")
        .keyBy(FlinkJob::keyOf).process(new Totals()).uid("totals")
        .addSink(new Digest()).uid("digest");
    return environment.executeAsync();
  }

  static void report(String run, String what, long events) {
    System.out.println("sent." + run + "=" + sent.sum());
    System.out.println("digest." + run + "=" + digest.sum());
    System.out.println("reads." + run + "=" + before_events.callsUntil(after_events));
    before_events.print(what, events, after_events);
  }

  public static void main(String[] arguments) throws Exception {
    Path work = Path.of(System.getProperty("java.io.tmpdir")).resolve("job");
    JobClient first = start(cluster(work, null), FIRST, false);
    reached.await();
    String savepoint = first.stopWithSavepoint(
        false, work.resolve("savepoint").toUri().toString(), SavepointFormatType.NATIVE).get();
    report("first", "first", FIRST - KEYS);
    JobClient second = start(cluster(work, savepoint), LAST, true);
    second.getJobExecutionResult().get();
    report("second", "measured", LAST - FIRST - WARM);
    System.out.println("done");
  }
}

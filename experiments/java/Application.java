// A Kafka Streams application with several stores, which knows nothing of nvcache: totals by key,
// totals by key and window, and customers that orders are joined with. TopologyTestDriver runs it
// without a broker. It fills the stores, updates them in a skewed order, queries them, takes orders
// of which most only ask, and prints digests of all that it has sent, of what the queries found and
// of all that its stores hold, the read calls of the queries (`reads.`), and what the last orders
// cost (`measured.`), a `name=value` a line, and "done".
//
// usage: Application [exit | query]
//   exit    System.exit(0) with all stores open
//   query   queries the stores that such an end has left, and does not fill or update them
//
// Properties: keys=N (12000), updates=N orders that update (24000), queries=N (20000), each twice,
// warm=N orders of the last kind (0) that are not measured, and events=N (0) that are, cache=BYTES
// of each store (512 KiB), direct=true (RocksDB reads directly, not through the page cache).
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.TestOutputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.state.RocksDBConfigSetter;
import org.apache.kafka.streams.state.StoreBuilder;
import org.apache.kafka.streams.state.Stores;
import org.apache.kafka.streams.state.WindowStore;
import org.rocksdb.BlockBasedTableConfig;
import org.rocksdb.Cache;
import org.rocksdb.LRUCache;
import org.rocksdb.Options;

public final class Application {
  static final int KEYS = Integer.getInteger("keys", 12_000);
  static final int UPDATES = Integer.getInteger("updates", 24_000);
  static final int QUERIES = Integer.getInteger("queries", 20_000);
  static final int WARM = Integer.getInteger("warm", 0);
  static final int EVENTS = Integer.getInteger("events", 0);
  static final long CACHE = Long.getLong("cache", 512 << 10);
  static final int TOTALS = 3;
  static final int VALUE_CHARS = 400;
  static final int BATCH = 2000;
  static final int ASKING_BATCH = 8000;
  static final int LOOKUPS_PER_UPDATE = 16;
  static final String ASKS = "ask";
  static final long WINDOW_MS = 600_000;

  // A cache for each store, as is Kafka Streams' default, but one that its data do not fit.
  public static final class SmallCaches implements RocksDBConfigSetter {
    private static final Map<Options, Cache> CACHES = new ConcurrentHashMap<>();

    @Override
    public void setConfig(String store, Options options, Map<String, Object> configuration) {
      BlockBasedTableConfig table = (BlockBasedTableConfig) options.tableFormatConfig();
      Cache cache = new LRUCache(CACHE);
      CACHES.put(options, cache);
      options.setTableFormatConfig(table.setBlockCache(cache));
      options.setWriteBufferSize(512 << 10);
      if (Boolean.getBoolean("direct")) options.setUseDirectReads(true);
    }

    @Override
    public void close(String store, Options options) {
      CACHES.remove(options).close();
    }
  }

  static String padded(String text) {
    StringBuilder value = new StringBuilder(text).append(':');
    SplittableRandom random = new SplittableRandom(text.hashCode());
    while (value.length() < VALUE_CHARS) value.append(Long.toHexString(random.nextLong()));
    return value.substring(0, VALUE_CHARS);
  }

  static String key(int rank) {
    return String.format("key%08d", rank * 7919L % KEYS);
  }

  // Most are few, which lie spread over all of a store.
  static int skewed(SplittableRandom random) {
    double x = random.nextDouble();
    return (int) (KEYS * x * x);
  }

  // A total that tells every value that went into it, in their order.
  static String next(String total, String value) {
    long sum = total == null ? 0 : Long.parseLong(total.substring(0, total.indexOf(':')));
    return padded(Long.toString((sum * 31 + value.hashCode()) >>> 1));
  }

  // TopologyTestDriver flushes all stores after each record that it is given. So a record is many
  // orders: "FILL first count", "UPDATE seed count", or "ASK seed count", of which one in 16 updates.
  static final class Split implements Processor<String, String, String, String> {
    private ProcessorContext<String, String> context;
    private KeyValueStore<String, String> customers;
    private long now_ms = 0;

    @Override
    public void init(ProcessorContext<String, String> context) {
      this.context = context;
      customers = context.getStateStore("customers");
    }

    @Override
    public void process(Record<String, String> batch) {
      String[] words = batch.value().split(" ");
      int from = Integer.parseInt(words[1]);
      int count = Integer.parseInt(words[2]);
      boolean fills = words[0].equals("FILL");
      SplittableRandom random = new SplittableRandom(from);
      for (int i = 0; i < count; ++i) {
        String key = key(fills ? from + i : skewed(random));
        if (fills) customers.put(key, padded("customer" + key));
        boolean asks = words[0].equals("ASK") && i % LOOKUPS_PER_UPDATE != 0;
        context.forward(new Record<>(key, asks ? ASKS : "order" + i, now_ms += 100));
      }
    }
  }

  static final class Total implements Processor<String, String, String, String> {
    private final String name;
    private ProcessorContext<String, String> context;
    private KeyValueStore<String, String> store;

    Total(String name) {
      this.name = name;
    }

    @Override
    public void init(ProcessorContext<String, String> context) {
      this.context = context;
      store = context.getStateStore(name);
    }

    @Override
    public void process(Record<String, String> order) {
      String total = store.get(order.key());
      if (!order.value().equals(ASKS)) {
        total = next(total, order.value() + name);
        store.put(order.key(), total);
      }
      context.forward(order.withValue(total));
    }
  }

  // Totals of ten minutes; and what the customer's record is, beside.
  static final class Window implements Processor<String, String, String, String> {
    private ProcessorContext<String, String> context;
    private WindowStore<String, String> windows;
    private KeyValueStore<String, String> customers;

    @Override
    public void init(ProcessorContext<String, String> context) {
      this.context = context;
      windows = context.getStateStore("windows");
      customers = context.getStateStore("customers");
    }

    @Override
    public void process(Record<String, String> order) {
      long start_ms = order.timestamp() - order.timestamp() % WINDOW_MS;
      String total = windows.fetch(order.key(), start_ms);
      if (!order.value().equals(ASKS)) {
        total = next(total, order.value());
        windows.put(order.key(), total, start_ms);
      }
      context.forward(order.withValue(total + customers.get(order.key())));
    }
  }

  static StoreBuilder<KeyValueStore<String, String>> keyValueStore(String name) {
    return Stores.keyValueStoreBuilder(
        Stores.persistentKeyValueStore(name), Serdes.String(),
        Serdes.String());
  }

  static Topology application() {
    Topology topology = new Topology();
    topology.addSource("source", "orders").addProcessor("split", Split::new, "source");
    for (int i = 0; i < TOTALS; ++i) {
      String name = "totals" + i;
      topology.addProcessor(name, () -> new Total(name), "split")
          .addStateStore(keyValueStore(name), name).addSink("sink" + i, "sent", name);
    }
    topology.addProcessor("windows", Window::new, "split").addSink("sink", "sent", "windows");
    topology.addStateStore(keyValueStore("customers"), "split", "windows");
    topology.addStateStore(Stores.windowStoreBuilder(
        Stores.persistentWindowStore("windows",
            Duration.ofHours(2), Duration.ofMillis(WINDOW_MS), false),
        Serdes.String(), Serdes.String()), "windows");
    return topology;
  }

  final MessageDigest sent = MessageDigest.getInstance("SHA-256");
  final MessageDigest queried = MessageDigest.getInstance("SHA-256");
  final TopologyTestDriver driver;
  final TestInputTopic<String, String> orders;
  final TestOutputTopic<String, String> output;
  long sent_count = 0;

  Application() throws Exception {
    Properties properties = new Properties();
    properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "stores");
    properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "none:1");
    properties.put(StreamsConfig.STATE_DIR_CONFIG, System.getProperty("java.io.tmpdir") + "/state");
    properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.DEFAULT_VALUE_SERDE_CLASS_CONFIG, Serdes.StringSerde.class);
    properties.put(StreamsConfig.ROCKSDB_CONFIG_SETTER_CLASS_CONFIG, SmallCaches.class);
    driver = new TopologyTestDriver(application(), properties, Instant.EPOCH);
    orders = driver.createInputTopic("orders", new StringSerializer(), new StringSerializer());
    output = driver.createOutputTopic("sent", new StringDeserializer(), new StringDeserializer());
  }

  static void add(MessageDigest digest, Object key, Object value) {
    digest.update((key + "=" + value + "\n").getBytes(StandardCharsets.UTF_8));
  }

  void pipe(String kind, int from, int count) {
    orders.pipeInput("batch", kind + " " + from + " " + count);
    for (KeyValue<String, String> record : output.readKeyValuesToList()) {
      add(sent, record.key, record.value);
      ++sent_count;
    }
    // This would restore the stores after a loss: nobody reads it here, and the driver keeps it.
    for (String topic : driver.producedTopicNames()) {
      if (topic.equals("sent")) continue;
      driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
          .readRecordsToList();
    }
  }

  void fill() {
    for (int first = 0; first < KEYS; first += BATCH) {
      pipe("FILL", first, Math.min(BATCH, KEYS - first));
    }
  }

  void update() {
    for (int done = 0; done < UPDATES; done += BATCH) {
      pipe("UPDATE", done / BATCH, Math.min(BATCH, UPDATES - done));
    }
  }

  void ask(int seed, int count) {
    for (int done = 0; done < count; done += ASKING_BATCH) {
      pipe("ASK", seed + done, Math.min(ASKING_BATCH, count - done));
    }
  }

  // As interactive queries do.
  void query() {
    SplittableRandom random = new SplittableRandom(5);
    for (int i = 0; i < QUERIES; ++i) {
      String key = key(skewed(random));
      KeyValueStore<String, String> totals = driver.getKeyValueStore("totals" + i % TOTALS);
      add(queried, key, totals.get(key));
    }
  }

  static long digest(KeyValueIterator<?, ?> all, MessageDigest into) {
    long count = 0;
    try (all) {
      for (; all.hasNext(); ++count) {
        KeyValue<?, ?> record = all.next();
        add(into, record.key, record.value);
      }
    }
    return count;
  }

  void report() throws Exception {
    MessageDigest stores = MessageDigest.getInstance("SHA-256");
    long entries = digest(driver.getKeyValueStore("customers").all(), stores);
    for (int i = 0; i < TOTALS; ++i) {
      entries += digest(driver.getKeyValueStore("totals" + i).all(), stores);
    }
    entries += digest(driver.getWindowStore("windows").all(), stores);
    System.out.println("sent=" + sent_count);
    System.out.println("entries=" + entries);
    System.out.println("digest.sent=" + HexFormat.of().formatHex(sent.digest()));
    System.out.println("digest.queried=" + HexFormat.of().formatHex(queried.digest()));
    System.out.println("digest.stores=" + HexFormat.of().formatHex(stores.digest()));
  }

  public static void main(String[] arguments) throws Exception {
    String command = arguments.length == 0 ? "" : arguments[0];
    Application application = new Application();
    if (!command.equals("query")) {
      application.fill();
      application.update();
    }
    for (String time : List.of("first", "second")) {
      Cost before = Cost.now();
      application.query();
      System.out.println("reads." + time + "=" + before.callsUntil(Cost.now()));
    }
    application.ask(1_000_000, WARM);
    Cost before = Cost.now();
    application.ask(100_000_000, EVENTS);
    if (EVENTS > 0) before.print("measured", EVENTS, Cost.now());
    application.report();
    System.out.println("done");
    if (command.equals("exit")) System.exit(0);
    application.driver.close();
  }
}

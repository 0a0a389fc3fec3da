import type { Log } from '../../../services/contracts/service.ts';
import { jsonLine, logLevels, oneLine, textLine, type LogEntry, type LogLevel } from './format.ts';
import { redactFields, redactText } from './redact.ts';

export type { LogEntry, LogLevel } from './format.ts';

export interface LogOptions {
  readonly level: LogLevel;
  readonly format: 'text' | 'json';
  /**
   * Writes one line without its line end. Default: stderr, since stdout is reserved for the `ready` line and
   * commands.
   */
  readonly write?: (line: string) => void;
  /** Number of entries in memory for the Log page. Default 2,000. */
  readonly keep?: number;
  /** ms since the epoch. */
  readonly now?: () => number;
}

/** Log of a part. `enabled` lets a hot path skip building unused fields. */
export interface PartLog extends Log {
  enabled(level: LogLevel): boolean;
}

export interface LogFilter {
  /** Minimum level. */
  readonly level?: LogLevel;
  readonly service?: string;
  /** Text in the message or the fields, ignoring case. */
  readonly text?: string;
  /** Only entries after this id. */
  readonly after?: number;
  /** Maximum number of newest entries, returned oldest first. Default 200. */
  readonly limit?: number;
}

/** Log of a host; direct entries belong to the service `host`. */
export interface HostLog extends PartLog {
  /** Can be changed while running. */
  level: LogLevel;
  /** Can be changed while running. */
  format: LogOptions['format'];
  /** Returns the log of a service or of a part of the host. */
  child(name: string): PartLog;
  recent(filter?: LogFilter): readonly LogEntry[];
  subscribe(listener: (entry: LogEntry) => void): Disposable;
}

/**
 * Creates the structured log, one line per event. Secrets are removed by field name and by pattern before anything
 * else receives the entry, so neither the file nor the Log page can contain one.
 */
export function createLog(options: LogOptions): HostLog {
  const { keep = 2000, now = Date.now } = options;
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  let { format } = options;
  const ring = new EntryRing(keep);
  const listeners = new Set<(entry: LogEntry) => void>();
  let threshold = logLevels.indexOf(options.level);
  let last = 0;

  const isEnabled = (level: LogLevel): boolean => logLevels.indexOf(level) >= threshold;

  const record: RecordEntry = (service, level, message, fields) => {
    if (!isEnabled(level)) return;
    const entry: LogEntry = {
      id: (last += 1),
      at: now(),
      level,
      service,
      message: redactText(oneLine(String(message))),
      fields: fields === undefined ? {} : redactFields(fields),
    };
    ring.add(entry);
    write(format === 'json' ? jsonLine(entry) : textLine(entry));
    for (const listener of listeners) {
      try {
        listener(entry);
      } catch (error) {
        listeners.delete(listener);
        record('host', 'error', 'a reader of the log failed and was taken off', { error });
      }
    }
  };

  const part = (service: string): PartLog => createPartLog(service, record, isEnabled);

  return {
    ...part('host'),
    child: part,
    get level() {
      return logLevels[threshold] ?? 'info';
    },
    set level(level) {
      threshold = logLevels.indexOf(level);
    },
    get format() {
      return format;
    },
    set format(next) {
      format = next;
    },
    recent: (filter = {}) =>
      ring
        .list()
        .filter(createFilter(filter))
        .slice(-Math.max(1, filter.limit ?? 200)),
    subscribe(listener) {
      // Wrapped, so that one function subscribed twice is two subscriptions.
      const wrapped = (entry: LogEntry): void => listener(entry);
      listeners.add(wrapped);
      return { [Symbol.dispose]: () => void listeners.delete(wrapped) };
    },
  };
}

type RecordEntry = (service: string, level: LogLevel, message: string, fields?: Record<string, unknown>) => void;

function createPartLog(service: string, record: RecordEntry, enabled: PartLog['enabled']): PartLog {
  return {
    debug: (message, fields) => record(service, 'debug', message, fields),
    info: (message, fields) => record(service, 'info', message, fields),
    warn: (message, fields) => record(service, 'warn', message, fields),
    error: (message, fields) => record(service, 'error', message, fields),
    enabled,
  };
}

/** Newest entries in memory. */
class EntryRing {
  readonly #capacity: number;
  readonly #entries: LogEntry[] = [];
  /** Index of the oldest entry, once the ring is full. */
  #oldest = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** Adds an entry in place of the oldest one. */
  add(entry: LogEntry): void {
    if (this.#entries.length < this.#capacity) this.#entries.push(entry);
    else if (this.#capacity > 0) {
      this.#entries[this.#oldest] = entry;
      this.#oldest = (this.#oldest + 1) % this.#capacity;
    }
  }

  /** Returns the entries, oldest first. */
  list(): LogEntry[] {
    return [...this.#entries.slice(this.#oldest), ...this.#entries.slice(0, this.#oldest)];
  }
}

/** Returns a predicate for entries and parsed lines. */
export function createFilter(filter: LogFilter): (entry: Omit<LogEntry, 'id'> & { readonly id?: number }) => boolean {
  const least = filter.level === undefined ? 0 : logLevels.indexOf(filter.level);
  const text = filter.text?.toLowerCase();
  return (entry) =>
    logLevels.indexOf(entry.level) >= least &&
    (filter.service === undefined || entry.service === filter.service) &&
    (filter.after === undefined || (entry.id ?? 0) > filter.after) &&
    (text === undefined || `${entry.message} ${JSON.stringify(entry.fields)}`.toLowerCase().includes(text));
}

import * as m from '#messages/parts';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { replaceFileSync } from '../../../services/kit/platform/file-replacement.ts';
import type { Pulse } from '../../../services/contracts/control/overview.ts';
import type { Clock, Log, ServiceManifest } from '../../../services/contracts/service.ts';
import type { HostMetrics } from './metrics.ts';
import { parseJson } from '../../../services/contracts/parse-json.ts';
import { SingleFlight } from '../../../services/kit/single-flight.ts';

const hourMs = 3_600_000;
const hoursShown = 24;
/** Interval of writes, whose data a crash can lose. */
const sampleIntervalMs = 5 * 60_000;

/** By service: hours since the epoch -> count in that hour. */
const StoredPulse = z.record(z.string(), z.record(z.string(), z.number()));

type Counted = Pick<ServiceManifest, 'id' | 'listeners' | 'pulse'>;

/**
 * Hourly activity of each service: growth of its counter, stored in a small file. Counters begin at 0 with the
 * process, and survive a restart of their service.
 */
export class Pulses implements AsyncDisposable {
  readonly #metrics: Pick<HostMetrics, 'total'>;
  readonly #manifests: readonly Counted[];
  readonly #file: string;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #hours: Map<string, Map<number, number>>;
  readonly #seen = new Map<string, number>();
  readonly #timer: Disposable;
  readonly #sampling = new SingleFlight(() => this.#count());

  constructor(options: {
    readonly dataDir: string;
    readonly manifests: readonly Counted[];
    readonly metrics: Pick<HostMetrics, 'total'>;
    readonly clock: Clock;
    readonly log: Log;
  }) {
    const { dataDir, metrics, clock, log } = options;
    // Skips services without listeners and without a counter.
    this.#manifests = options.manifests.filter(
      ({ pulse, listeners = [] }) => pulse !== undefined || listeners.length > 0,
    );
    this.#metrics = metrics;
    this.#clock = clock;
    this.#log = log;
    this.#file = join(dataDir, 'pulse.json');
    this.#hours = read(this.#file);
    this.#timer = clock.every(sampleIntervalMs, () => void this.#sample());
  }

  async list(): Promise<readonly Pulse[]> {
    await this.#sample();
    const now = Math.floor(this.#clock.now() / hourMs);
    return this.#manifests.map(({ id, pulse }) => {
      const counted = this.#hours.get(id);
      const hours = Array.from({ length: hoursShown }, (_, index) => counted?.get(now - hoursShown + 1 + index) ?? 0);
      const count = hours.reduce((sum, hourCount) => sum + hourCount, 0);
      return { service: id, total: (pulse?.total ?? m.requestsInDay)({ count }), hours };
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer[Symbol.dispose]();
    await this.#sample();
  }

  /** Runs one sample at a time: concurrent ones would count the same growth twice. */
  #sample(): Promise<void> {
    return this.#sampling.run();
  }

  async #count(): Promise<void> {
    const hour = Math.floor(this.#clock.now() / hourMs);
    let changed = false;
    for (const { id, pulse } of this.#manifests) {
      const total = await this.#metrics.total(id, pulse?.counter, pulse?.labels);
      const increase = total - (this.#seen.get(id) ?? 0);
      this.#seen.set(id, total);
      if (increase <= 0) continue;
      const hours = this.#hours.get(id) ?? new Map<number, number>();
      this.#hours.set(id, hours);
      hours.set(hour, (hours.get(hour) ?? 0) + increase);
      for (const old of hours.keys()) if (old <= hour - hoursShown) hours.delete(old);
      changed = true;
    }
    if (changed) this.#save();
  }

  #save(): void {
    const stored = Object.fromEntries([...this.#hours].map(([id, hours]) => [id, Object.fromEntries(hours)]));
    try {
      writeFileSync(`${this.#file}.new`, JSON.stringify(stored), { mode: 0o600 });
      replaceFileSync(`${this.#file}.new`, this.#file);
    } catch (error) {
      this.#log.warn('service activity not saved', { error });
    }
  }
}

/** A missing or truncated file counts as empty: only a chart is lost. */
function read(file: string): Map<string, Map<number, number>> {
  try {
    const stored = StoredPulse.parse(parseJson(readFileSync(file, 'utf8')));
    return new Map(
      Object.entries(stored).map(([id, hours]) => [
        id,
        new Map(Object.entries(hours).map(([hour, count]) => [Number(hour), count])),
      ]),
    );
  } catch {
    return new Map();
  }
}

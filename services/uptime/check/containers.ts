import { judgeContainer, parseContainer, type ContainerSnapshot } from '../domain/container.ts';
import { fetchEngineJson, requestEngine } from './engine.ts';
import { createTargetFailure } from './failure.ts';
import type { EngineAddress } from './messages.ts';
import type { CheckOutcome, CheckContext } from './probe.ts';
import { parseJson } from '../../contracts/parse-json.ts';
import { toRecord } from '../../contracts/is-record.ts';
import { getListedDelayMs } from '../../kit/backoff.ts';
import { pauseFor } from '../../kit/pause.ts';
import { systemTimer } from '../../kit/system-timer.ts';

const backoffMs = [1000, 2000, 5000, 15_000, 60_000];
const maxLineLength = 1024 * 1024;

/**
 * Checks containers. Each container is inspected on its schedule, and the event stream of its engine triggers an
 * immediate check after a change.
 */
export class Containers implements Disposable {
  readonly #snapshots = new Map<number, ContainerSnapshot>();
  readonly #streams = new Map<number, AbortController>();
  readonly #changed: (engine: number, names: readonly string[]) => void;

  constructor(changed: (engine: number, names: readonly string[]) => void) {
    this.#changed = changed;
  }

  async probe({ id, config, signal, engine }: CheckContext): Promise<CheckOutcome> {
    const host = config.docker_host === null ? undefined : engine(config.docker_host);
    if (host === undefined) throw createTargetFailure('engine_missing', {});
    const name = encodeURIComponent(config.docker_container ?? '');
    const state = parseContainer(await fetchEngineJson(host, `/containers/${name}/json`, signal));
    const verdict = judgeContainer(state, this.#snapshots.get(id));
    this.#snapshots.set(id, { restartCount: state.restartCount, startedAt: state.startedAt });
    return verdict;
  }

  forget(id: number): void {
    this.#snapshots.delete(id);
  }

  /** Subscribes to the events of these engines and ends all other subscriptions. */
  follow(engines: readonly EngineAddress[]): void {
    const engineIds = new Set(engines.map(({ id }) => id));
    for (const [id, stream] of this.#streams) {
      if (engineIds.has(id)) continue;
      stream.abort();
      this.#streams.delete(id);
    }
    for (const engine of engines) {
      if (this.#streams.has(engine.id)) continue;
      const stream = new AbortController();
      this.#streams.set(engine.id, stream);
      void this.#follow(engine, stream.signal);
    }
  }

  [Symbol.dispose](): void {
    this.follow([]);
  }

  /** Reconnects until the signal is aborted. Unreachable engines are reported by the checks of their containers. */
  async #follow(engine: EngineAddress, signal: AbortSignal): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const opened = await this.#readEvents(engine, signal).catch(() => false);
      if (opened) failures = 0;
      await pauseFor(getListedDelayMs(backoffMs, failures + 1), systemTimer, signal);
    }
  }

  /** Reads events until the stream ends; returns false when the engine refused it. */
  async #readEvents(engine: EngineAddress, signal: AbortSignal): Promise<boolean> {
    const filters = encodeURIComponent('{"type":["container"]}');
    const response = await requestEngine(engine, `/events?filters=${filters}`, signal);
    if (response.statusCode !== 200) {
      response.destroy();
      return false;
    }
    let remainder = '';
    try {
      for await (const part of response as AsyncIterable<Buffer>) {
        const lines = (remainder + part.toString('utf8')).split('\n');
        remainder = (lines.pop() ?? '').slice(-maxLineLength);
        for (const line of lines) this.#handleLine(engine.id, line);
      }
    } catch (error) {
      if (!signal.aborted && !(error instanceof Error)) throw error;
    }
    return true;
  }

  #handleLine(engine: number, line: string): void {
    const names = parseContainerNames(line);
    if (names.length > 0) this.#changed(engine, names);
  }
}

/** Returns the names and IDs of the container in an event. */
function parseContainerNames(line: string): string[] {
  // Incomplete events are ignored.
  const event = toRecord(parseJson(line));
  const { ID, Attributes } = toRecord(event['Actor']);
  return [event['id'], ID, toRecord(Attributes)['name']].filter((name) => typeof name === 'string');
}

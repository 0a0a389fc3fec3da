import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { sql } from 'kysely';
import { it } from 'vitest';
import { openDatabase } from '../../../../main/host/database/open.ts';
import { jobsMigrations } from '../../../../main/host/jobs/jobs.ts';
import { createFakeClock } from '../../../support/clock.ts';
import { eachDialect } from '../../../support/database.ts';
import { silentLog, type DatabaseLocation } from '../../../support/database-location.ts';
import { mountSmall, smallDisk, unmount } from './disk.ts';
import type { Event } from './history.ts';
import type { Doomed } from './host.ts';
import { judge } from './judge.ts';
import { Living } from './life.ts';
import { arbitraryProgram, type Step } from './program.ts';

/** Jobs per life. */
const numbersOfALife = 10_000;

/** Number of tried programs; `seed` makes them reproducible. */
export interface Size {
  readonly seed?: number;
  /** Numbers of programs with stopped hosts and with killed ones; a server takes ten times as long. */
  readonly programs: { readonly sqlite: number; readonly postgres: number };
  readonly killed: { readonly sqlite: number; readonly postgres: number };
  readonly steps: number;
}

const limits = { endOnFailure: true };
/** Maximum duration of a soak. */
const timeoutMs = 1_800_000;

/**
 * Executes random programs on the engine, with hosts that stop, are killed and restart, and on disks that are
 * temporarily full. Checks each history against the guarantees of the engine.
 */
export function describeModel({ seed, programs, killed, steps }: Size): void {
  eachDialect((name, _open, createLocation) => {
    const program = arbitraryProgram(steps, name === 'sqlite');
    const seeded = seed === undefined ? {} : { seed };
    const hosts = name === 'sqlite' ? [1] : [1, 2, 3];

    it(
      'keeps its guarantees under random operations and restarts',
      async () => {
        const lives = fc.record({
          lives: fc.array(program, { minLength: 1, maxLength: 3 }),
          hosts: fc.constantFrom(...hosts),
        });
        const property = fc.asyncProperty(lives, async (scenario) => {
          await using modelRun = new ModelRun(createLocation());
          for (const life of scenario.lives) await modelRun.live(life, scenario.hosts);
          await modelRun.live([], 1, true);
          judge(modelRun.history, scenario.hosts > 1);
        });
        await fc.assert(property, { ...seeded, ...limits, numRuns: programs[name] });
      },
      timeoutMs,
    );

    it(
      'keeps its guarantees when the process is killed',
      async () => {
        const life = fc.record({ program, moments: fc.integer({ min: 1, max: steps * 5 }) });
        const property = fc.asyncProperty(fc.array(life, { minLength: 1, maxLength: 3 }), async (lives) => {
          await using modelRun = new ModelRun(createLocation());
          for (const { program: steps, moments } of lives) await modelRun.liveAndBeKilled(steps, moments);
          await modelRun.live([], 1, true);
          judge(modelRun.history, false);
        });
        await fc.assert(property, { ...seeded, ...limits, numRuns: killed[name] });
      },
      timeoutMs,
    );
  });
}

/** Lives of hosts over one store. */
class ModelRun implements AsyncDisposable {
  readonly history: Event[] = [];
  readonly #location: DatabaseLocation;
  readonly #mounted: boolean;
  readonly #folder = mkdtempSync(join(tmpdir(), 'model-'));
  #startCount = 0;
  #now = createFakeClock().now();

  constructor(location: DatabaseLocation) {
    const small = location.url === undefined ? mountSmall() : undefined;
    this.#location = small === undefined ? location : { ...location, folder: small };
    this.#mounted = small !== undefined;
  }

  /** Runs a life that ends like a stopping host; `drain`: after everything possible has happened. */
  async live(program: readonly Step[], hosts: number, drain = false): Promise<void> {
    await using stack = new AsyncDisposableStack();
    const databases = await Promise.all(
      Array.from({ length: hosts }, () => openDatabase({ ...this.#location, log: silentLog })),
    );
    for (const database of databases) stack.use(database);
    const [first] = databases;
    if (first === undefined) throw new Error('nobody lives');
    const disk = smallDisk(this.#location.folder, this.#mounted, first);
    await disk?.free();
    await first.migrate(jobsMigrations);
    // Hosts of earlier lives were other processes, which have ended.
    const owner = sql`replace(lease_owner, ${`|${process.pid}|`}, '|999999999|')`;
    await sql`update jobs set lease_owner = ${owner} where lease_owner is not null`.execute(first.kysely);
    const clock = createFakeClock(this.#now);
    const record = (event: Event): void => void this.history.push(event);
    const living = await Living.begin({
      databases,
      clock,
      record,
      disk,
      base: this.#base(),
      knownIds: this.#getKnownIds(),
    });
    await living.execute(program);
    if (drain) await living.drain();
    await living.end();
    await disk?.free();
    this.#now = clock.now();
  }

  /** Runs a life in a separate process, which is killed after a number of events, or stops if there are fewer. */
  async liveAndBeKilled(program: readonly Step[], moments: number): Promise<void> {
    const file = join(this.#folder, String(this.#startCount));
    const scenario: Doomed = {
      location: this.#location,
      file,
      program,
      moments,
      start: this.#now,
      mounted: this.#mounted,
      base: this.#base(),
      knownIds: [...this.#getKnownIds()],
    };
    const child = spawn(process.execPath, [fileURLToPath(import.meta.resolve('./host.ts')), JSON.stringify(scenario)], {
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
    if (code !== 0 && signal !== 'SIGKILL') throw new Error(`the host ended with ${String(code ?? signal)}`);
    for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
      const { now, ...event } = JSON.parse(line) as Event & { readonly now: number };
      this.#now = now;
      this.history.push(event);
    }
    this.history.push({ what: 'killed' });
  }

  #base(): number {
    this.#startCount += 1;
    return this.#startCount * numbersOfALife;
  }

  #getKnownIds(): ReadonlyMap<string, number> {
    const knownIds = new Map<string, number>();
    for (const event of this.history) {
      if (event.what === 'ack' && event.id !== undefined && !knownIds.has(event.id)) knownIds.set(event.id, event.n);
    }
    return knownIds;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    rmSync(this.#folder, { recursive: true, force: true });
    if (this.#mounted) unmount(this.#location.folder);
  }
}

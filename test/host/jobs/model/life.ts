import { setImmediate as nextTurn, setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import type { Database } from '../../../../main/host/database/open.ts';
import { defineJob, type JobAttempt, type JobKind } from '../../../../services/contracts/jobs.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import type { FakeClock } from '../../../support/clock.ts';
import { openJobsFixture, type JobsFixture } from '../jobs-fixture.ts';
import type { Record } from './history.ts';
import { kindNames, type KindName, type PlannedJob, type Step, type Turnout } from './program.ts';

/** Age at which jobs of the model become dead letters. */
export const giveUpMs = 3_600_000;
const policy = { maxAgeMs: giveUpMs, backoffMs: [5_000, 60_000, 600_000], concurrency: 3 };

const Payload = z.object({
  n: z.int(),
  plan: z.array(z.object({ how: z.enum(['ok', 'fail', 'final', 'aside']), pace: z.enum(['now', 'turn', 'held']) })),
});
type Payload = z.infer<typeof Payload>;
const Result = z.object({ n: z.int() });

const kinds: { readonly [name in KindName]: JobKind<Payload> } = {
  kept: defineJob('model.kept', Payload, { ...policy, timeoutMs: 1e9 }),
  told: defineJob('model.told', Payload, { ...policy, timeoutMs: 1e9, deleteWhenDone: true }),
  plain: defineJob('model.plain', Payload, { ...policy, timeoutMs: 30_000, deleteWhenDone: true }),
};

/** Separate disk for the database. */
export interface Disk {
  fill(): void | Promise<void>;
  free(): void | Promise<void>;
}

export interface Life {
  /** Dependencies of one host; hosts of one life share a table. */
  readonly databases: readonly Database[];
  readonly clock: FakeClock;
  readonly record: Record;
  readonly disk?: Disk | undefined;
  /** First job number. */
  readonly base: number;
  /** Jobs of earlier lives with known ids. */
  readonly knownIds: ReadonlyMap<string, number>;
}

/** Executes a program on real engines, whose handlers follow the plans of their jobs. */
export class Living {
  readonly #life: Life;
  readonly #fixtures: JobsFixture[] = [];
  readonly #handling: Map<KindName, Disposable>[] = [];
  readonly #ids: Map<string, number>;
  readonly #releases: (() => void)[] = [];
  readonly #adding: Promise<unknown>[] = [];
  #fault: 'none' | 'refuse' | 'doubt' = 'none';
  #next: number;
  /** No handler is held any more. */
  #draining = false;

  private constructor(life: Life) {
    this.#life = life;
    this.#next = life.base;
    this.#ids = new Map(life.knownIds);
  }

  static async begin(life: Life): Promise<Living> {
    const living = new Living(life);
    life.record({ what: 'life' });
    await life.databases[0]?.kysely.schema.createTable('recorded').ifNotExists().addColumn('n', 'integer').execute();
    for (const [host, database] of life.databases.entries()) {
      living.#fixtures.push(await openJobsFixture(living.#faulty(database), { clock: life.clock }));
      living.#handling.push(new Map());
      for (const kind of kindNames) living.#handle(host, kind);
    }
    return living;
  }

  async execute(program: readonly Step[]): Promise<void> {
    for (const step of program) await this.#step(step);
  }

  /** Stops like a host. */
  async end(): Promise<void> {
    await Promise.all(this.#fixtures.map((fixture) => fixture[Symbol.asyncDispose]()));
    await Promise.all(this.#adding);
  }

  /** Lets everything possible happen, and reports the result. */
  async drain(): Promise<void> {
    this.#draining = true;
    this.#fault = 'none';
    await this.#life.disk?.free();
    const { clock } = this.#life;
    const end = clock.now() + 48 * 3_600_000;
    await Promise.all(this.#adding);
    for (let quiet = 0; ;) {
      for (const go of this.#releases.splice(0)) go();
      await nextTurn();
      const active = await this.#active();
      if (active.length === 0) break;
      if (clock.now() > end || quiet > 5_000)
        throw new Error(`at ${clock.now()} there still are ${JSON.stringify(active.slice(-3))}`);
      const next = Math.min(...active.map(({ state, runAt }) => (state === 'waiting' ? runAt : 0)));
      if (next > clock.now()) clock.advance(next - clock.now());
      else if ((quiet += 1) % 10 === 0) clock.advance(1_000);
      await (quiet % 5 === 4 ? delay(1) : nextTurn());
    }
    const rows = await Promise.all(this.#fixtures.slice(0, 1).map(({ jobs }) => jobs.list({ limit: 5_000 })));
    const recorded = await this.#life.databases[0]?.kysely.selectFrom('recorded').select('n').execute();
    // Ends are reported shortly after they are stored.
    for (let turns = 0; turns < 5; turns += 1) await nextTurn();
    this.#life.record({
      what: 'over',
      rows: rows.flat().map(({ id, kind, state }) => ({ id, kind, state })),
      recorded: (recorded ?? []).map(({ n }) => Number(n)),
    });
  }

  /** In one read, since a retried job changes between these states. */
  async #active() {
    const lists = await Promise.all(this.#fixtures.map(({ jobs }) => jobs.list({ limit: 5_000 })));
    return lists.flat().filter(({ state }) => state === 'waiting' || state === 'running');
  }

  async #step(step: Step): Promise<void> {
    const { clock, record, disk } = this.#life;
    const fixture = this.#roomAt(step.at);
    // Attempts that end at the old time are judged by it.
    if (step.do === 'advance' || step.do === 'jump') await nextTurn();
    if (step.do === 'add') return this.#add(fixture, step);
    if (step.do === 'undo') return this.#undo(fixture, step.job);
    if (step.do === 'finish') this.#releases.splice(step.which % Math.max(1, this.#releases.length), 1)[0]?.();
    else if (step.do === 'retry') await this.#retry(fixture, step.which);
    else if (step.do === 'drop') await this.#drop(fixture, step.which);
    else if (step.do === 'hasten')
      await attempt(() => fixture.jobs.retryNow(kinds[step.kind], `${step.kind} ${step.order}`));
    else if (step.do === 'advance') await this.#advance(step.ms);
    else if (step.do === 'jump' && this.#fixtures.length === 1) clock.set(clock.now() + step.ms);
    else if (step.do === 'rehandle') await this.#rehandle(step.at % this.#fixtures.length, step.kind, step.turns);
    else if (step.do === 'fault') {
      this.#fault = step.how;
      if (step.how !== 'none') record({ what: 'fault', how: step.how });
    } else if (step.do === 'disk') {
      if (step.full) record({ what: 'fault', how: 'disk' });
      await (step.full ? disk?.fill() : disk?.free());
    } else if (step.do === 'turns') for (let turn = 0; turn < step.count; turn += 1) await nextTurn();
    else await Promise.all([attempt(() => fixture.jobs.count('dead')), attempt(() => fixture.jobs.flush())]);
  }

  /**
   * Advances the clock only for hosts whose leases cannot expire; concurrent hosts renew their leases in the meantime.
   */
  async #advance(ms: number): Promise<void> {
    const { clock, databases } = this.#life;
    if (databases.length === 1) return clock.advance(ms);
    if (this.#fault !== 'none') return;
    for (let remainingMs = ms; remainingMs > 0; remainingMs -= 10_000) {
      clock.advance(Math.min(remainingMs, 10_000));
      await Promise.all(databases.map((database) => database.note(async () => undefined)));
    }
  }

  async #add(fixture: JobsFixture, { jobs, together, wait }: Extract<Step, { do: 'add' }>): Promise<void> {
    const host = this.#fixtures.indexOf(fixture);
    const numbered = jobs.map((job) => ({ n: this.#next++, job }));
    const adding = together
      ? kindNames.flatMap((kind) => {
          const ofKind = numbered.filter(({ job }) => job.kind === kind);
          return ofKind.length === 0 ? [] : [this.#addAll(fixture, host, kind, ofKind)];
        })
      : numbered.map(({ n, job }) => this.#addOne(fixture, host, n, job));
    this.#adding.push(...adding);
    if (wait) await Promise.all(adding);
  }

  async #addOne({ database, jobs }: JobsFixture, host: number, n: number, job: PlannedJob): Promise<void> {
    const { record } = this.#life;
    record({ what: 'call', n, job, host });
    const id = await attempt(() =>
      database.commit((transaction) => jobs.enqueue(transaction, kinds[job.kind], ...this.#buildJobArguments(n, job))),
    );
    if (id === undefined) return record({ what: 'refused', n });
    record({ what: 'ack', n, id });
    if (!this.#ids.has(id)) this.#ids.set(id, n);
  }

  async #addAll(
    { database, jobs }: JobsFixture,
    host: number,
    kind: KindName,
    numbered: readonly { readonly n: number; readonly job: PlannedJob }[],
  ): Promise<void> {
    const { record } = this.#life;
    for (const { n, job } of numbered) record({ what: 'call', n, job, host });
    const many = numbered.map(({ n, job }) => {
      const [payload, options] = this.#buildJobArguments(n, job);
      return { payload, ...options };
    });
    const stored = await attempt(async () => {
      await database.commit((transaction) => jobs.enqueueAll(transaction, kinds[kind], many));
      return true;
    });
    for (const { n } of numbered) record(stored === true ? { what: 'ack', n } : { what: 'refused', n });
  }

  async #undo({ database, jobs }: JobsFixture, job: PlannedJob): Promise<void> {
    const n = this.#next++;
    this.#life.record({ what: 'call', n, job, host: -1 });
    const undone = new Error('undone');
    try {
      await database.commit(async (transaction) => {
        await jobs.enqueue(transaction, kinds[job.kind], ...this.#buildJobArguments(n, job));
        throw undone;
      });
    } catch (error) {
      if (error !== undone && !(error instanceof Problem)) throw error;
    }
    this.#life.record({ what: 'undone', n });
  }

  #buildJobArguments(n: number, { kind, order, key, delayMs, plan }: PlannedJob) {
    const runAt = delayMs === 0 ? {} : { runAt: this.#life.clock.now() + delayMs };
    const orderKey = order === undefined ? {} : { orderKey: `${kind} ${order}` };
    return [
      { n, plan: [...plan] },
      { ...runAt, ...orderKey, ...(key === undefined ? {} : { key }) },
    ] as const;
  }

  async #retry({ jobs }: JobsFixture, which: number): Promise<void> {
    const { id, n } = (await this.#pick(which)) ?? {};
    if (id === undefined || n === undefined) return;
    this.#life.record({ what: 'retrying', n });
    await attempt(() => jobs.retry(id));
  }

  async #drop({ jobs }: JobsFixture, which: number): Promise<void> {
    const { id, n } = (await this.#pick(which)) ?? {};
    if (id === undefined || n === undefined) return;
    this.#life.record({ what: 'dropping', n });
    const dropped = await attempt(() => jobs.drop(id));
    this.#life.record({ what: 'dropped', n, dropped });
  }

  /**
   * Picks a job with a known id. Enqueueing with a taken key returned another job's id; the row identifies its owner.
   */
  async #pick(which: number): Promise<{ readonly id: string; readonly n: number } | undefined> {
    const [id, n] = [...this.#ids][which % Math.max(1, this.#ids.size)] ?? [];
    if (id === undefined || n === undefined) return undefined;
    const rows = this.#life.databases[0]?.kysely.selectFrom('jobs').select('payload').where('id', '=', Number(id));
    const { payload } = (await rows?.executeTakeFirst()) ?? {};
    return { id, n: Payload.safeParse(JSON.parse(payload ?? 'null')).data?.n ?? n };
  }

  async #rehandle(host: number, kind: KindName, turns: number): Promise<void> {
    this.#handling[host]?.get(kind)?.[Symbol.dispose]();
    for (let turn = 0; turn < turns; turn += 1) await nextTurn();
    this.#handle(host, kind);
  }

  #handle(host: number, name: KindName): void {
    const { record } = this.#life;
    const onDone = (results: readonly { readonly n: number }[]): void =>
      results.forEach(({ n }) => record({ what: 'stored', n }));
    const onDead = ({ payload: { n } }: { readonly payload: Payload }): void => record({ what: 'dead', n });
    const event = {
      ...{ onDone, onDead },
      async record(transaction: Database['kysely'], results: readonly { readonly n: number }[]): Promise<void> {
        await transaction
          .insertInto('recorded')
          .values(results.map(({ n }) => ({ n })))
          .execute();
      },
      ...(name === 'told' ? { result: Result } : {}),
    };
    const handling = name === 'kept' ? { onDone, onDead } : event;
    const handler = (attempt: JobAttempt<Payload>) => this.#work(attempt);
    this.#handling[host]?.set(name, this.#roomAt(host).jobs.handle(kinds[name], handler, handling));
  }

  async #work({ payload: { n, plan }, attempt: count, hasSuccessors: inLine, createdAt, signal }: JobAttempt<Payload>) {
    const { record, clock } = this.#life;
    record({ what: 'begin', n, inLine, attempt: count });
    const { how, pace } = plan[Math.min(count, plan.length) - 1] ?? ({ how: 'ok', pace: 'now' } satisfies Turnout);
    if (pace === 'turn') await nextTurn();
    if (pace === 'held' && !this.#draining) await this.#untilLet(signal);
    const late = (signal.reason as Problem | undefined)?.code === 'jobs.timeout';
    const result = signal.aborted ? (late ? 'fail' : 'aborted') : how;
    record({ what: 'end', n, how: result, age: clock.now() - createdAt });
    if (result === 'aborted') throw signal.reason;
    if (result === 'fail') throw new Problem('model.away', 503, 'Away.');
    if (result === 'final') throw new Problem('model.gone', 410, 'Gone.', { retryable: false });
    if (result === 'aside') throw new Problem('model.odd', 503, 'Odd.', { stepsAside: true });
    return { n };
  }

  #untilLet(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      signal.addEventListener('abort', () => resolve());
      this.#releases.push(resolve);
    });
  }

  #roomAt(index: number): JobsFixture {
    const fixture = this.#fixtures[index % this.#fixtures.length];
    if (fixture === undefined) throw new Error('nobody lives here');
    return fixture;
  }

  /** Fails like a full disk, or stores and reports failure like a lost response. */
  #faulty(database: Database): Database {
    const full = (): Problem => new Problem('database.full', 507, 'The disk is full.');
    const through =
      (take: Database['commit']): Database['commit'] =>
      async (work) => {
        this.#life.record({ what: 'moment' });
        if (this.#fault === 'refuse') throw full();
        const isUncertain = this.#fault === 'doubt';
        const value = await take(work);
        this.#life.record({ what: 'moment' });
        if (isUncertain) throw full();
        return value;
      };
    const [commit, note, mark] = [through(database.commit), through(database.note), through(database.mark)];
    return { ...database, commit, note, mark };
  }
}

/** Returns undefined when the database refused. */
async function attempt<T>(work: () => Promise<T>): Promise<T | undefined> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}

import { mkdtempSync, rmSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { startFixtureSite, type FixtureSite } from '../../support/fixture-site/site.ts';
import { startHostProcess, type HostProcess } from '../../support/host-process.ts';
import { Client, partBytes, processesNaming, requireEngines, streams } from './rig.ts';

const bound = 2;
const running = ['preparing', 'downloading', 'postprocessing'];

/** Creates a generator of numbers from 0 to below 1, repeatable by seed (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Model of the expected state of the queue. */
class Model {
  /** Downloads that were not cancelled, in the requested order. */
  order: string[] = [];
  readonly cancelled: string[] = [];
  /** Failed downloads that were not cancelled, which are rows of the history. */
  readonly failed: string[] = [];
  readonly paused = new Set<string>();
  readonly rates = new Map<string, number>();
  /** Maximum number of partial bytes that were observed at a pause. */
  readonly partialBytes = new Map<string, number>();
  host!: HostProcess;
  readonly #site: FixtureSite;
  readonly #random: () => number;
  readonly #dataDir: string;
  #rate = 500;
  readonly log: string[] = [];

  constructor(site: FixtureSite, random: () => number, dataDir: string) {
    this.#site = site;
    this.#random = random;
    this.#dataDir = dataDir;
  }

  get client(): Client {
    return new Client(this.host.url('downloads'));
  }

  async start(): Promise<void> {
    const environment = {
      ...{ ALLOW_PRIVATE_ADDRESSES: 'true', DOWNLOAD_MODE: 'concurrent', MAX_CONCURRENT_DOWNLOADS: String(bound) },
    };
    this.host = await startHostProcess(this.#dataDir, { environment });
  }

  #pick<T>(from: readonly T[]): T | undefined {
    return from[Math.floor(this.#random() * from.length)];
  }

  async #pickRandom(): Promise<readonly string[]> {
    const queue = await this.client.order();
    const selected = queue.filter(() => this.#random() < 0.4);
    return selected.length > 0 ? selected : queue.slice(0, 1);
  }

  /** Performs a random step and returns its name for the log. */
  async step(): Promise<void> {
    const ops = [
      'add',
      'pause',
      'pause',
      'resume',
      'resume',
      'pauseAll',
      'resumeAll',
      'reorder',
      'cancel',
      'fail',
      'retry',
      'kill',
      'killWhileAdding',
    ] as const;
    const op = this.#pick(ops) ?? 'add';
    const selected = await this.#pickRandom();
    this.log.push(`${op} ${selected.join(' ')}`);
    if (op === 'add') await this.add();
    else if (op === 'kill') await this.#kill();
    else if (op === 'killWhileAdding') await this.#killWhileAdding();
    else if (op === 'fail') await this.#fail();
    else if (op === 'retry') await this.#retry();
    else if (op === 'pauseAll') await this.#pause({}, await this.client.order());
    else if (op === 'resumeAll') await this.resumeAll();
    else if (selected.length === 0) return;
    else if (op === 'pause') await this.#pause({ ids: selected }, selected);
    else if (op === 'resume') await this.#resume(selected);
    else if (op === 'cancel') await this.#cancel(selected.slice(0, 1));
    else await this.#reorder(selected);
  }

  async add(): Promise<void> {
    // The rate is part of the path, so that the site distinguishes the downloads.
    const rate = this.#nextRate();
    // Some files are converted after the transfer, which counts towards the limit as well.
    const format = this.#random() < 0.3 ? 'mkv' : 'any';
    const uid = await this.client.add(this.#site.slow(rate), { format });
    this.order.push(uid);
    this.rates.set(uid, rate);
  }

  #nextRate(): number {
    return (this.#rate += 1);
  }

  async resumeAll(): Promise<void> {
    await this.client.post('/resume', {});
    this.paused.clear();
  }

  async #resume(uids: readonly string[]): Promise<void> {
    await this.client.post('/resume', { ids: uids });
    for (const uid of uids) this.paused.delete(uid);
  }

  async #fail(): Promise<void> {
    const { uid = '' } = await this.client.post('/add', {
      url: this.#site.url(`/s/404?${this.#nextRate()}`),
      quality: 'best',
    });
    this.failed.push(uid);
  }

  async #retry(): Promise<void> {
    const uid = this.#pick(this.failed);
    if (uid === undefined) return;
    expect(await this.client.post('/retry', { id: uid })).toMatchObject({ status: 'error', uid });
  }

  /** Allows the last row to be missing; rows stored before must exist. */
  async #killWhileAdding(): Promise<void> {
    const rate = this.#nextRate();
    const url = this.#site.slow(rate);
    const cut = this.client.add(url).catch(() => undefined);
    await this.host.kill();
    await cut;
    await this.start();
    const { queue } = await this.client.history();
    const added = queue.find((row) => row.url === url);
    if (added === undefined) return;
    this.order.push(added.uid);
    this.rates.set(added.uid, rate);
  }

  async #pause(body: object, uids: readonly string[]): Promise<void> {
    await this.client.post('/pause', body);
    for (const { uid, status } of (await this.client.history()).queue) {
      if (!uids.includes(uid) || status !== 'paused') continue;
      this.paused.add(uid);
      expect(await processesNaming(uid), 'nothing of a paused download runs').toEqual([]);
      this.partialBytes.set(uid, Math.max(this.partialBytes.get(uid) ?? 0, await partBytes(this.#dataDir, uid)));
    }
  }

  async #reorder(selected: readonly string[]): Promise<void> {
    const moved = selected.toSorted(() => this.#random() - 0.5);
    const rest = (await this.client.order()).filter((uid) => !moved.includes(uid));
    const before = this.#pick(rest);
    if (before === undefined) return;
    const response = await this.client.post('/reorder', { ids: moved, before });
    // Any of them may have finished in the meantime.
    if (response.status !== 'ok') return;
    const remaining = this.order.filter((uid) => !moved.includes(uid));
    remaining.splice(remaining.indexOf(before), 0, ...(response.uids ?? []));
    this.order = [...remaining, ...moved.filter((uid) => !remaining.includes(uid))];
  }

  async #cancel(uids: readonly string[]): Promise<void> {
    await this.client.post('/delete', { where: 'queue', ids: uids });
    const { done } = await this.client.history();
    const missing = uids.filter((uid) => !done.some((row) => row.uid === uid));
    this.cancelled.push(...missing);
    this.order = this.order.filter((uid) => !missing.includes(uid));
  }

  async #kill(): Promise<void> {
    await this.host.kill();
    await this.start();
  }

  async check(): Promise<void> {
    const { queue, done, pending } = await this.client.history();
    const all = [...queue, ...done, ...pending].map(({ uid }) => uid);
    expect(all.toSorted(), 'no row is lost, none comes twice').toEqual([...this.order, ...this.failed].toSorted());
    const open = queue.map(({ uid }) => uid);
    expect(open, 'the order is what was asked for').toEqual(this.order.filter((uid) => open.includes(uid)));
    const active = queue.filter(({ status }) => running.includes(status));
    expect(active.length, 'the bound holds').toBeLessThanOrEqual(bound);
    const unfinished = done.filter(({ status }) => status !== 'finished').map(({ uid }) => uid);
    expect(unfinished.toSorted(), 'nothing fails by itself').toEqual(this.failed.toSorted());
    const wentOn = queue.filter(({ uid, status }) => this.paused.has(uid) && status !== 'paused');
    expect(wentOn, 'what is paused stays paused').toEqual([]);
  }
}

/**
 * Describes the queue under random operations, once for each seed of the generator. `QUEUE_SEED=… vitest run …` repeats
 * another one.
 */
export function describeQueueModel(defaultSeeds: readonly number[]): void {
  const seeds = process.env['QUEUE_SEED'] === undefined ? defaultSeeds : [Number(process.env['QUEUE_SEED'])];
  let dataDir: string;
  beforeEach(async () => {
    await requireEngines();
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-laws-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it.each(seeds)('keeps the invariants of the queue under random operations (seed %i)', async (seed) => {
    await using site = await startFixtureSite();
    const random = numbers(seed);
    const model = new Model(site, random, dataDir);
    await model.start();
    try {
      for (let count = 0; count < 5; count += 1) await model.add();
      for (let count = 0; count < 16; count += 1) {
        await model.step();
        await model.check();
      }
      await model.resumeAll();
      for (const uid of model.order) expect(await model.client.ended(uid)).toMatchObject({ status: 'finished' });
      await model.check();
      const files = await readdir(join(dataDir, 'Downloads'));
      expect(files, 'each has a file of its own').toHaveLength(model.order.length);
      for (const name of files) expect(await streams(join(dataDir, 'Downloads', name))).toEqual(['h264/720', 'aac']);
      await vi.waitFor(async () => expect(await readdir(join(dataDir, 'downloads', 'temp'))).toEqual([]));
      for (const [uid, rate] of model.rates) {
        const starts = site
          .stats()
          .ranges.filter(({ path }) => path === `/slow/${rate}/big.mp4`)
          .map(({ start }) => start);
        expect(starts, 'no byte is fetched twice').toEqual(starts.toSorted((a, b) => a - b));
        const attempts = model.partialBytes.get(uid) ?? 0;
        if (attempts > 0 && !model.cancelled.includes(uid))
          expect(Math.max(...starts)).toBeGreaterThanOrEqual(attempts);
        expect(await processesNaming(uid)).toEqual([]);
      }
      expect(site.stats().maxConcurrent).toBeLessThanOrEqual(bound);
    } catch (error) {
      throw new Error(`seed ${seed}, after ${model.log.join('; ')}`, { cause: error });
    } finally {
      await model.host[Symbol.asyncDispose]();
    }
  });
}

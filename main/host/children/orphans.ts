import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../../services/contracts/service.ts';
import { isRunning } from '../../../services/kit/platform/process-identity.ts';
import { childrenEndWithParent, signalTree } from '../../../services/kit/platform/process-tree.ts';

/** Time from the stop signal until the process is killed. */
const graceMs = 5000;
const pollIntervalMs = 50;

/**
 * Records the running programs of a service on disk: a file per process, named by its pid, with its start time, so
 * that a reused pid is not affected. Records nothing where the system ends children with their parent.
 */
export class Orphans {
  readonly #folder: string;
  readonly #platform: NodeJS.Platform;

  constructor(folder: string, platform: NodeJS.Platform) {
    this.#folder = folder;
    this.#platform = platform;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** `identity` is the result of `findProcessIdentity`. */
  record(pid: number, identity: string): void {
    writeFileSync(join(this.#folder, String(pid)), identity);
  }

  forget(pid: number): void {
    rmSync(join(this.#folder, String(pid)), { force: true });
  }

  /** Ends the processes that a killed host left running, with their descendants. */
  async end(log: Log): Promise<void> {
    await Promise.all(readdirSync(this.#folder).map((name) => this.#endOne(name, log)));
  }

  async #endOne(name: string, log: Log): Promise<void> {
    const platform = this.#platform;
    // Earlier versions left records there, which contain no start time.
    if (childrenEndWithParent(platform)) return rmSync(join(this.#folder, name), { force: true });
    const pid = Number(name);
    const identity = readFileSync(join(this.#folder, name), 'utf8');
    if (Number.isSafeInteger(pid) && pid > 1 && (await isRunning(identity, platform))) {
      log.warn('orphaned child process ended', { pid });
      signalTree(pid, 'SIGTERM', platform);
      const deadline = Date.now() + graceMs;
      while (Date.now() < deadline && (await isRunning(identity, platform))) await setTimeout(pollIntervalMs);
      signalTree(pid, 'SIGKILL', platform);
    }
    rmSync(join(this.#folder, name), { force: true });
  }
}

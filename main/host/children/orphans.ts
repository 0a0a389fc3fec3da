import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../../services/contracts/service.ts';
import { isRunning, signalGroup } from '../../../services/kit/platform/process-tree.ts';

/** Time from the stop signal until the process is killed. */
const graceMs = 5000;
const pollIntervalMs = 50;

/**
 * Records the running programs of a service on disk: a file per process, named by its pid, with its start time, so
 * that a reused pid is not affected.
 */
export class Orphans {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
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
    const pid = Number(name);
    const identity = readFileSync(join(this.#folder, name), 'utf8');
    if (Number.isSafeInteger(pid) && pid > 1 && (await isRunning(identity))) {
      log.warn('orphaned child process ended', { pid });
      signalGroup(pid, 'SIGTERM');
      const deadline = Date.now() + graceMs;
      while (Date.now() < deadline && (await isRunning(identity))) await setTimeout(pollIntervalMs);
      signalGroup(pid, 'SIGKILL');
    }
    rmSync(join(this.#folder, name), { force: true });
  }
}

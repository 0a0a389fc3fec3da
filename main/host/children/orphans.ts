import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Log } from '../../../services/contracts/service.ts';
import { isRunning, signalGroup } from '../../../services/kit/process-group.ts';

/** From the request to end to the end by force. */
const graceMs = 5000;
const lookEveryMs = 50;

/**
 * Which programs of a service run, noted on disk: a file for each, named by its pid, with the time of its start in it, so
 * that a pid that another program has by now is left alone.
 */
export class Orphans {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /** `identity` as `identityOf` gives it. */
  note(pid: number, identity: string): void {
    writeFileSync(join(this.#folder, String(pid)), identity);
  }

  forget(pid: number): void {
    rmSync(join(this.#folder, String(pid)), { force: true });
  }

  /** Ends what a host that was killed has left behind, with all it started. */
  async end(log: Log): Promise<void> {
    await Promise.all(readdirSync(this.#folder).map((name) => this.#endOne(name, log)));
  }

  async #endOne(name: string, log: Log): Promise<void> {
    const pid = Number(name);
    const identity = readFileSync(join(this.#folder, name), 'utf8');
    if (Number.isSafeInteger(pid) && pid > 1 && (await isRunning(identity))) {
      log.warn('a program of the last run is still there and is ended', { pid });
      signalGroup(pid, 'SIGTERM');
      const deadline = Date.now() + graceMs;
      while (Date.now() < deadline && (await isRunning(identity))) await setTimeout(lookEveryMs);
      signalGroup(pid, 'SIGKILL');
    }
    rmSync(join(this.#folder, name), { force: true });
  }
}

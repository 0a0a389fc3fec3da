import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';

/** Two starts of the computer are further apart; clocks are corrected by less. */
const bootToleranceSeconds = 120;

/**
 * The monitors whose checks are running, in a file. It outlives the process but is not synced: after a crash of the process
 * it names the monitors that may have caused it, after a power failure it does not matter.
 */
export class CheckJournal implements Disposable {
  readonly #descriptor: number;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'w', 0o600);
  }

  write(ids: Iterable<number>): void {
    writeSync(this.#descriptor, `${JSON.stringify({ boot: bootTime(), ids: [...ids] })}\n`, 0);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/** Returns the monitors that were being checked when a process died, and forgets them. Empty after a restart of the computer. */
export function takeJournal(file: string): readonly number[] {
  try {
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    const { boot, ids } = JSON.parse(line) as { readonly boot: number; readonly ids: readonly number[] };
    return Math.abs(boot - bootTime()) > bootToleranceSeconds ? [] : ids;
  } catch {
    return []; // There is no file, or nothing was checked yet.
  } finally {
    rmSync(file, { force: true });
  }
}

function bootTime(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

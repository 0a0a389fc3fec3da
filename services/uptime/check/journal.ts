import { closeSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs';
import { uptime } from 'node:os';
import { parseJson } from '../../contracts/parse-json.ts';

/** Tolerance that is shorter than a reboot and longer than a clock correction. */
const bootToleranceSeconds = 120;

/**
 * Lists the monitors whose checks are running in a file. The file survives a crash of the process but is not synced:
 * after a crash it names the monitors that may have caused it, and after a power failure it is not needed.
 */
export class CheckJournal implements Disposable {
  readonly #descriptor: number;

  constructor(file: string) {
    this.#descriptor = openSync(file, 'w', 0o600);
  }

  write(ids: Iterable<number>): void {
    writeSync(this.#descriptor, `${JSON.stringify({ boot: getBootTime(), ids: [...ids] })}\n`, 0);
  }

  [Symbol.dispose](): void {
    closeSync(this.#descriptor);
  }
}

/**
 * Returns the monitors that were being checked when the process ended, and deletes the journal. Empty after a restart
 * of the computer.
 */
export function takeJournal(file: string): readonly number[] {
  try {
    const [line = ''] = readFileSync(file, 'utf8').split('\n');
    const { boot, ids } = parseJson(line) as { readonly boot: number; readonly ids: readonly number[] };
    return Math.abs(boot - getBootTime()) > bootToleranceSeconds ? [] : ids;
  } catch {
    return []; // There is no file, or nothing was checked yet.
  } finally {
    rmSync(file, { force: true });
  }
}

function getBootTime(): number {
  return Math.round(Date.now() / 1000 - uptime());
}

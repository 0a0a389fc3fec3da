import type { Clock } from '../../contracts/service.ts';
import { LimitedProcesses } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import type { ParsedMail } from '../domain/notification.ts';
import { abridge, countLines } from './shorten-source.ts';
import { parseMail } from './parse.ts';

/** Mails up to this size and with no more lines are read at once, which takes milliseconds even for a hostile one. */
const smallBytes = 256 * 1024;
const fewLines = 4000;
/** A larger one is given up after this time and shown as raw text. */
const patienceMs = 20_000;
const shownBytes = 64 * 1024;
const mebibyte = 1024 * 1024;

/**
 * Reads mails without ever holding up the process: large ones in a child process with a limit on time and
 * memory, one after another, so that several take no more memory than one.
 */
export class MailReader {
  readonly #processes: LimitedProcesses;

  constructor(clock: Clock) {
    this.#processes = new LimitedProcesses(getThreadFile('parse-process', import.meta.url), {
      clock,
      memoryMb: 512,
      timeoutMs: patienceMs,
      maxInputBytes: 256 * mebibyte,
      maxOutputBytes: 256 * mebibyte,
    });
  }

  async read(source: Uint8Array): Promise<ParsedMail> {
    if (source.byteLength <= smallBytes && countLines(source) <= fewLines) return parseMail(source);
    // Cut where the first part may end in the middle: readers of mail take that for an unterminated one.
    const beginning = Uint8Array.from(source.subarray(0, shownBytes));
    const { raw, cut } = abridge(source);
    return (await this.#readInProcess(raw, cut)) ?? (await parseMail(beginning, true));
  }

  /** Returns undefined when a limit was exceeded. */
  async #readInProcess(raw: Uint8Array, cut: boolean): Promise<ParsedMail | undefined> {
    try {
      return await this.#processes.run<ParsedMail>({ raw, cut });
    } catch (error) {
      // Whatever the mail did to it, what came is shown instead.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }
}

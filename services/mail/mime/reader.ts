import type { Clock } from '../../contracts/service.ts';
import { LimitedProcesses } from '../../kit/limited-process.ts';
import { getThreadFile } from '../../kit/limited-thread.ts';
import type { ParsedMail } from '../domain/notification.ts';
import { shortenSource, countLines } from './shorten-source.ts';
import { parseMail } from './parse.ts';

/**
 * Maximum size and number of lines of mails that are parsed in this process, which takes milliseconds even for hostile
 * ones.
 */
const maxInProcessBytes = 256 * 1024;
const maxInProcessLines = 4000;
/** Milliseconds after which parsing a larger mail is stopped and its raw text is shown. */
const parseTimeoutMs = 20_000;
const maxShownBytes = 64 * 1024;
const mebibyte = 1024 * 1024;

/**
 * Parses mails without blocking the process: large ones in a child process with time and memory limits, one at a time
 * to bound memory.
 */
export class MailReader {
  readonly #processes: LimitedProcesses;

  constructor(clock: Clock) {
    this.#processes = new LimitedProcesses(getThreadFile('parse-process', import.meta.url), {
      clock,
      memoryMb: 512,
      timeoutMs: parseTimeoutMs,
      maxInputBytes: 256 * mebibyte,
      maxOutputBytes: 256 * mebibyte,
    });
  }

  async read(source: Uint8Array): Promise<ParsedMail> {
    if (source.byteLength <= maxInProcessBytes && countLines(source) <= maxInProcessLines) return parseMail(source);
    // Marked as shortened, because the first part may end in the middle: parsers accept this as an unterminated part.
    const head = Uint8Array.from(source.subarray(0, maxShownBytes));
    const { raw, isShortened } = shortenSource(source);
    return (await this.#readInProcess(raw, isShortened)) ?? (await parseMail(head, true));
  }

  /** Returns undefined when a limit was exceeded. */
  async #readInProcess(raw: Uint8Array, isShortened: boolean): Promise<ParsedMail | undefined> {
    try {
      return await this.#processes.run<ParsedMail>({ raw, isShortened });
    } catch (error) {
      // After any failure, the raw mail is shown instead.
      if (!(error instanceof Error)) throw error;
      return undefined;
    }
  }
}

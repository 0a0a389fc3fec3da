import { closeSync, existsSync, fstatSync, openSync, rmSync, writeSync } from 'node:fs';
import { replaceFileSync } from '../../../services/kit/platform/file-replacement.ts';

export interface LogFileOptions {
  /** Maximum size before the file is rotated. Default 10 MiB. */
  readonly maxBytes?: number;
  /** Number of rotated files (`path.1` is the newest). Default 5. */
  readonly keep?: number;
}

export interface LogFile extends Disposable {
  /** Appends one line. Never throws: lines refused by a full disk are counted, and the count is written later. */
  write(line: string): void;
  /** Reopens the file after an external program has moved it. */
  reopen(): void;
}

/**
 * Opens a rotating log file. Lines are written synchronously, so that the last ones before a crash are preserved; the
 * file is readable by its owner only.
 */
export function logFile(path: string, options: LogFileOptions = {}): LogFile {
  const maxBytes = options.maxBytes ?? 10 * 1024 * 1024;
  const keep = Math.max(0, options.keep ?? 5);
  let handle: number | undefined;
  let size = 0;
  let rotateAtBytes = maxBytes;
  let lostLines = 0;
  let closed = false;

  const open = (): number => {
    const opened = openSync(path, 'a', 0o600);
    size = fstatSync(opened).size;
    return opened;
  };

  const close = (): void => {
    if (handle === undefined) return;
    const closing = handle;
    handle = undefined;
    closeSync(closing);
  };

  /** Another program may have a file open that then cannot be renamed; the log grows until a later attempt. */
  const turnOver = (): void => {
    close();
    try {
      shiftFiles(path, keep);
      rotateAtBytes = maxBytes;
    } catch {
      rotateAtBytes = size + maxBytes / 10;
    }
  };

  const append = (line: string): void => {
    const bytes = Buffer.from(`${line}\n`);
    handle ??= open();
    if (size > 0 && size + bytes.length > rotateAtBytes) {
      turnOver();
      handle = open();
    }
    const written = writeSync(handle, bytes);
    size += written;
    if (written < bytes.length) throw new Error('The line was written in part only.');
  };

  return {
    write(line) {
      if (closed) return;
      try {
        if (lostLines > 0) {
          append(`{"level":"warn","service":"log","message":"lines lost","count":${lostLines}}`);
          lostLines = 0;
        }
        append(line);
      } catch {
        // The loss is reported in this file once it can be written again.
        lostLines += 1;
      }
    },
    reopen: close,
    [Symbol.dispose]() {
      closed = true;
      close();
    },
  };
}

/** Removes the oldest file, and gives each other one the next number. */
function shiftFiles(path: string, keep: number): void {
  rmSync(`${path}.${keep}`, { force: true });
  if (keep === 0) rmSync(path, { force: true });
  for (let number = keep - 1; number >= 0; number -= 1) {
    const from = number === 0 ? path : `${path}.${number}`;
    if (existsSync(from)) replaceFileSync(from, `${path}.${number + 1}`);
  }
}

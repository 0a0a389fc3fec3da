import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logFile } from './file.ts';
import { createLog, type HostLog, type LogLevel } from './log.ts';

/** Where the log of a data folder is. */
export function logPath(dataDir: string): string {
  return join(dataDir, 'logs', 'homeport.log');
}

/** The log of the host: its lines go to `write` and to the file in the data folder, which `opening` closes. */
export function openLog(
  opening: AsyncDisposableStack,
  given: {
    readonly dataDir: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly write: ((line: string) => void) | undefined;
  },
): HostLog {
  const path = logPath(given.dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = opening.use(logFile(path));
  const write = given.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];
  const wanted = given.environment['LOG_LEVEL']?.toLowerCase() ?? '';
  return createLog({
    // The settings are not read yet; whatever is wrong with them must be seen.
    level: levels.includes(wanted) ? (wanted as LogLevel) : 'info',
    format: given.environment['LOG_FORMAT'] === 'json' ? 'json' : 'text',
    write(line) {
      write(line);
      file.write(line);
    },
  });
}

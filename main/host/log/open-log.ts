import { mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { logFile } from './file.ts';
import { createLog, type HostLog, type LogLevel } from './log.ts';

/** Returns the path of the log in a data folder. */
export function logPath(dataDir: string): string {
  return join(dataDir, 'logs', 'homeport.log');
}

/** Opens the log of the host, which writes to `write` and to the file in the data folder; `opening` closes it. */
export function openLog(
  opening: AsyncDisposableStack,
  options: {
    readonly dataDir: string;
    readonly environment: NodeJS.ProcessEnv;
    readonly write: ((line: string) => void) | undefined;
  },
): HostLog {
  const path = logPath(options.dataDir);
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  const file = opening.use(logFile(path));
  const write = options.write ?? ((line: string) => void process.stderr.write(`${line}\n`));
  const levels: readonly string[] = ['debug', 'info', 'warn', 'error'] satisfies LogLevel[];
  const configuredLevel = options.environment['LOG_LEVEL']?.toLowerCase() ?? '';
  return createLog({
    // The settings are not read yet; errors in them must be logged.
    level: levels.includes(configuredLevel) ? (configuredLevel as LogLevel) : 'info',
    format: options.environment['LOG_FORMAT'] === 'json' ? 'json' : 'text',
    write(line) {
      write(line);
      file.write(line);
    },
  });
}

import { mkdirSync } from 'node:fs';
import { userInfo } from 'node:os';
import { dirname } from 'node:path';
import type { SecurityEvent } from '../../../services/contracts/control/security-log.ts';
import { systemClock } from '../runtime/clock.ts';
import { logFile } from './file.ts';
import { createLog, type LogOptions } from './log.ts';
import { logPath } from './open-log.ts';
import { createSecurityLog, securityLogName } from './security-log.ts';

/**
 * Records a command in the security log of a data folder, also while a host is running on it. The account is the user
 * of the operating system. A log that cannot be written does not fail the command.
 */
export function recordCommand(
  { dataDir, format }: { readonly dataDir: string; readonly format: LogOptions['format'] },
  event: SecurityEvent,
): void {
  const path = logPath(dataDir);
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  } catch {
    return;
  }
  // Only the host rotates the file: it keeps the file open.
  using file = logFile(path, { maxBytes: Infinity });
  const log = createLog({ level: 'info', format, write: (line) => file.write(line) });
  createSecurityLog(log.child(securityLogName), systemClock).record({ account: userName(), service: 'host', ...event });
}

function userName(): string {
  try {
    return `${userInfo().username} (command line)`;
  } catch {
    return 'command line';
  }
}

import type { ChildOptions } from '../../contracts/children.ts';
import { processUser } from './process-user.ts';

/**
 * Builds the command of a program of PostgreSQL. A program that runs as another user receives the data folder as an
 * inherited file descriptor, since the path may not be accessible to that user.
 */
export function buildCommand(
  name: string,
  file: string,
  folder: string,
  args: (dataFolder: string) => readonly string[],
): ChildOptions {
  const passesDescriptor = processUser !== undefined && process.platform === 'linux';
  const command: ChildOptions = {
    name,
    file,
    args: args(passesDescriptor ? '/proc/self/fd/3' : folder),
    folder: process.platform === 'win32' ? folder : '/',
    environment: { LC_ALL: 'C', TZ: 'UTC' },
  };
  if (processUser === undefined) return command;
  return passesDescriptor
    ? { ...command, user: processUser, inheritedFolder: folder }
    : { ...command, user: processUser };
}

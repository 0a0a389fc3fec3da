import type { ChildOptions } from '../../contracts/children.ts';
import { findDescriptorPath, hasWindowsPaths } from '../../kit/platform/file-systems.ts';
import { processUser } from './process-user.ts';

/** Descriptor of {@link ChildOptions.inheritedFolder} in the child. */
const inheritedDescriptor = 3;

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
  const descriptorPath = processUser === undefined ? undefined : findDescriptorPath(inheritedDescriptor);
  const command: ChildOptions = {
    name,
    file,
    args: args(descriptorPath ?? folder),
    folder: hasWindowsPaths() ? folder : '/',
    environment: { LC_ALL: 'C', TZ: 'UTC' },
  };
  if (processUser === undefined) return command;
  return descriptorPath === undefined
    ? { ...command, user: processUser }
    : { ...command, user: processUser, inheritedFolder: folder };
}

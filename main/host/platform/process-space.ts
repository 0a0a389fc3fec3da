import { existsSync, readFileSync, readlinkSync } from 'node:fs';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';

const bootFile = '/proc/sys/kernel/random/boot_id';
const namespaceLink = '/proc/self/ns/pid';

/**
 * Returns a name of the boot and of the container in which process ids are valid; empty where the system does not
 * report them.
 */
export function getProcessSpace(platform: NodeJS.Platform = currentPlatform): string {
  if (platform !== 'linux') return '';
  const boot = existsSync(bootFile) ? readFileSync(bootFile, 'utf8').trim() : '';
  const namespace = existsSync(namespaceLink) ? readlinkSync(namespaceLink) : '';
  return `${boot}/${namespace}`;
}

import { hasWindowsPaths, ignoresCase } from '../../kit/platform/file-systems.ts';

/** Names of devices, which Windows reserves with any extension. */
const devicePattern = /^(?:con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3])(?:\.|$)/i;

/**
 * Returns the reason why a repository on this system cannot store a new reference: Git stores references as files, so
 * that a branch would replace another one or open a device.
 * @param existing References of the repository after the change, without the new one.
 */
export function findNameCollision(
  ref: string,
  existing: Iterable<string>,
  platform: NodeJS.Platform,
): string | undefined {
  const segments = ref.split('/');
  if (hasWindowsPaths(platform)) {
    const unusable = segments.find((segment) => devicePattern.test(segment) || /[<>"|]|[. ]$/.test(segment));
    if (unusable !== undefined) return `Windows, which Homeport runs on, cannot store a name with "${unusable}"`;
  }
  if (!ignoresCase(platform)) return undefined;
  for (const other of existing) {
    const otherSegments = other.split('/');
    const index = segments.findIndex((segment, position) => segment !== otherSegments[position]);
    const [segment, otherSegment] = [segments[index], otherSegments[index]];
    if (segment === undefined || otherSegment === undefined || fold(segment) !== fold(otherSegment)) continue;
    return `it differs from ${other} only by case, and the computer of Homeport cannot store both`;
  }
  return undefined;
}

function fold(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

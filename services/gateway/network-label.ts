import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { replaceFileSync } from '../kit/platform/file-replacement.ts';
import { announcesHostName } from '../kit/platform/host-name.ts';
import { buildOwnLabel, isHostLabel, toHostLabel } from './domain/names.ts';

const fileName = 'network-name';

interface LabelOptions {
  /** Name in the settings; empty for the default. */
  readonly name: string;
  readonly hostname: string;
  readonly platform: NodeJS.Platform;
}

/**
 * Returns the label before `.local` of this computer: the name in the settings, else the host name. Where the system
 * announces the host name itself, the default is a label of its own, which is stored in the folder of the service, since
 * devices store addresses with it and the host name may change with the network.
 */
export function getNetworkLabel(files: string, { name, hostname, platform }: LabelOptions): string {
  if (name !== '') return name;
  if (!announcesHostName(platform)) return toHostLabel(hostname);
  const stored = readLabel(join(files, fileName));
  // The computer may have been given the stored name later.
  if (stored !== undefined && stored !== toHostLabel(hostname)) return stored;
  const label = buildOwnLabel(hostname);
  writeLabel(files, label);
  return label;
}

function readLabel(file: string): string | undefined {
  try {
    const text = readFileSync(file, 'utf8').trim();
    return isHostLabel(text) ? text : undefined;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

function writeLabel(files: string, label: string): void {
  mkdirSync(files, { recursive: true, mode: 0o700 });
  writeFileSync(join(files, `${fileName}.new`), `${label}\n`, { mode: 0o600 });
  replaceFileSync(join(files, `${fileName}.new`), join(files, fileName));
}

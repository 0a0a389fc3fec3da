import { open, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { parseJson } from '../../contracts/parse-json.ts';
import { replaceFile } from '../../kit/platform/file-replacement.ts';

/** File that identifies the folder with the repositories. */
export const markerName = 'homeport-repositories.json';

const markerSchema = z.object({
  /** Random id of the folder. */
  id: z.string().min(8),
  /** Fingerprint of the vault key of the installation. */
  installation: z.string().min(8),
});
export type FolderMarker = z.infer<typeof markerSchema>;

/**
 * Reads the marker of a folder; undefined if there is none, `empty` for an empty file.
 * @throws an error with a system code if it cannot be read.
 */
export async function readMarker(folder: string): Promise<FolderMarker | 'empty' | undefined> {
  const text = await readFile(join(folder, markerName), 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  });
  if (text === undefined) return undefined;
  return text.trim() === '' ? 'empty' : markerSchema.parse(parseJson(text));
}

/** Creates an empty marker. Resolves with false if there already is one, as when another host creates it. */
export async function reserveMarker(folder: string): Promise<boolean> {
  try {
    await (await open(join(folder, markerName), 'wx', 0o600)).close();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}

/** Writes the marker. Hosts that read it at the same time see the former or the new one. */
export async function writeMarker(folder: string, marker: FolderMarker): Promise<void> {
  const path = join(folder, markerName);
  const newPath = `${path}.${marker.id}`;
  await writeFile(newPath, `${JSON.stringify(marker)}\n`, { mode: 0o600 });
  await replaceFile(newPath, path);
}

export async function removeMarker(folder: string): Promise<void> {
  await rm(join(folder, markerName), { force: true });
}

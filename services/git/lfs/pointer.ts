import type { LfsObject } from './lfs-store.ts';

/** Maximum size of a pointer file, bytes. */
export const maxPointerBytes = 1024;

/** Parses an LFS pointer file. Returns undefined for other files. */
export function parsePointer(bytes: Buffer): LfsObject | undefined {
  if (bytes.length > maxPointerBytes) return undefined;
  const text = bytes.toString('utf8');
  if (!text.startsWith('version https://git-lfs.github.com/spec/v1\n')) return undefined;
  const oid = /^oid sha256:([0-9a-f]{64})$/m.exec(text)?.[1];
  const size = /^size (\d{1,15})$/m.exec(text)?.[1];
  return oid === undefined || size === undefined ? undefined : { oid, size: Number(size) };
}

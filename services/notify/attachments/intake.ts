import type { Readable } from 'node:stream';
import type { Context } from '../../contracts/service.ts';
import type { AttachmentFolder, NewFile, StoredFile } from './folder.ts';
import { longestName } from './file-name.ts';
import { storeSources, type AttachmentLimits, type AttachmentSource } from './sources.ts';

/** The files of one call. The disposal removes what was not handed on. */
export interface Intake extends AsyncDisposable {
  /** The files so far, in order. */
  readonly kept: readonly StoredFile[];
  /** Takes a file of a form; false when it is refused. */
  readonly take: (stream: Readable, file: NewFile) => Promise<boolean>;
  /** Takes the files a call names; false when one is refused. */
  readonly fetch: (sources: readonly AttachmentSource[]) => Promise<boolean>;
  /** Someone else looks after the files from now on. */
  readonly release: () => void;
}

/** Opens the intake of a call's files, under the limits of the settings. */
export function openIntake(
  context: Pick<Context, 'fetch' | 'log'>,
  folder: AttachmentFolder,
  limits: AttachmentLimits,
): Intake {
  const { attachmentBytes, maxAttachments } = limits;
  const byPlace = new Map<number, StoredFile>();
  let kept: StoredFile[] = [];
  let released = false;
  const fits = (count: number): boolean => maxAttachments === 0 || count <= maxAttachments;
  return {
    get kept() {
      return kept;
    },
    async take(stream, file) {
      if (!fits(file.place + 1) || file.name.length > longestName) {
        for await (const _chunk of stream);
        return false;
      }
      const stored = await folder.write(stream, file, attachmentBytes);
      if (stored === undefined) return false;
      byPlace.set(file.place, stored);
      kept = [...byPlace].sort(([a], [b]) => a - b).map(([, each]) => each);
      return true;
    },
    async fetch(sources) {
      if (!fits(kept.length + sources.length)) return false;
      const stored = await storeSources(context, folder, sources, limits);
      if (stored === undefined) return false;
      kept = [...kept, ...stored];
      return true;
    },
    release: () => void (released = true),
    async [Symbol.asyncDispose]() {
      if (!released) await folder.remove(kept.map(({ file }) => file));
    },
  };
}
